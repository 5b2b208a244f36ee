//! The package's public API, driven inside a page.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Backend, Browser,
    backend::{OWNER, TOKEN},
};

/// What a record looks like to the app.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The device's name.
    pub id: String,
    /// The server's.
    pub server_id: Option<String>,
    /// `pending` or `synced`.
    pub sync_state: String,
    /// Why it waits for a person.
    pub parked: Option<Value>,
    /// What was committed.
    pub values: Value,
    /// How often it was sent.
    pub attempts: u32,
}

/// An open outbox in the page that the browser shows.
#[derive(Clone, Copy)]
pub struct Queue<'a> {
    browser: &'a Browser,
}

impl<'a> Queue<'a> {
    /// Goes to the bare page and opens the outbox there; it sends by itself from then on.
    ///
    /// # Errors
    /// When the page or the package fails.
    pub async fn open(browser: &'a Browser, backend: &Backend) -> Result<Self> {
        browser.goto(&backend.url("blank.html")).await?;
        Self::here(browser, &backend.url("")).await
    }

    /// Opens the outbox in the page that is shown.
    ///
    /// # Errors
    /// When the package fails.
    pub async fn here(browser: &'a Browser, base: &str) -> Result<Self> {
        browser.run(OPEN, json!({ "owner": OWNER, "token": TOKEN, "base": base })).await?;
        Ok(Self { browser })
    }

    /// The one that a script has put into `window.outbox`.
    #[must_use]
    pub fn shown(browser: &'a Browser) -> Self {
        Self { browser }
    }

    /// Opens it paused: nothing is sent until [`Self::resume`].
    ///
    /// # Errors
    /// When the page or the package fails.
    pub async fn paused(browser: &'a Browser, backend: &Backend) -> Result<Self> {
        browser.goto(&backend.url("blank.html")).await?;
        let queue = Self::here(browser, &backend.url("")).await?;
        queue.run("outbox.pause()", Value::Null).await?;
        Ok(queue)
    }

    /// Lets it send.
    ///
    /// # Errors
    /// When the script fails.
    pub async fn resume(&self) -> Result<()> {
        self.run("outbox.resume()", Value::Null).await.map(drop)
    }

    /// Runs the body of an async function with `outbox` at hand.
    ///
    /// # Errors
    /// What the script throws.
    pub async fn run(&self, body: &str, input: Value) -> Result<Value> {
        self.browser.run(&format!("const outbox = window.outbox; {body}"), input).await
    }

    /// Commits memories at once; gives their ids in the order given.
    ///
    /// # Errors
    /// When a commit rejects.
    pub async fn commit(&self, memories: &[(String, String)]) -> Result<Vec<String>> {
        let values: Vec<Value> = memories.iter().map(|(title, body)| json!({ "title": title, "body": body })).collect();
        let ids = self
            .run(
                "const entries = await Promise.all(input.map((values) => outbox.begin('memory').commit(values)));
                 return entries.map((entry) => entry.id);",
                values.into(),
            )
            .await?;
        Ok(serde_json::from_value(ids)?)
    }

    /// Every record of the queue by its id, page after page.
    ///
    /// # Errors
    /// When listing fails, or a page repeats a record.
    pub async fn entries(&self) -> Result<BTreeMap<String, Entry>> {
        let all = self.run(ALL, Value::Null).await?;
        let all: Vec<Entry> = serde_json::from_value(all).context("reading the entries")?;
        let count = all.len();
        let by_id: BTreeMap<_, _> = all.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
        ensure!(by_id.len() == count, "{count} entries were listed, {} different ones", by_id.len());
        Ok(by_id)
    }

    /// Waits until nothing is pending but what is parked.
    ///
    /// # Errors
    /// When the deadline passes.
    pub async fn drained(&self, deadline: Duration) -> Result<()> {
        let script = "const { pending, sending } = window.outbox.status.getSnapshot();
            return pending === 0 && !sending ? true : null;";
        self.browser.until("the queue to drain", deadline, script, Value::Null).await.map(drop)
    }

    /// Every committed memory has one row, the id of that row is written back, and the texts arrived as they were.
    ///
    /// # Errors
    /// Names what is missing, doubled or changed.
    pub async fn matches(&self, backend: &Backend, memories: &[(String, String)]) -> Result<()> {
        let (rows, texts, entries) = (backend.rows().await?, backend.texts().await?, self.entries().await?);
        ensure!(rows.len() == memories.len(), "{} rows for {} memories", rows.len(), memories.len());
        ensure!(entries.len() == memories.len(), "{} entries for {} memories", entries.len(), memories.len());
        for (id, entry) in &entries {
            ensure!(entry.sync_state == "synced", "{id} is {}: {entry:?}", entry.sync_state);
            ensure!(
                entry.server_id.as_ref() == rows.get(id),
                "{id}: {:?} here, {:?} there",
                entry.server_id,
                rows.get(id)
            );
            let text = (entry.values["title"].as_str(), entry.values["body"].as_str());
            let stored = texts.get(id).map(|(title, body)| (Some(title.as_str()), Some(body.as_str())));
            ensure!(stored == Some(text), "{id} arrived with another text");
        }
        let mut sent: Vec<_> = memories.to_vec();
        let mut arrived: Vec<_> = texts.into_values().collect();
        sent.sort();
        arrived.sort();
        ensure!(sent == arrived, "the texts on the server are not those that were written");
        Ok(())
    }
}

const OPEN: &str = "
    await window.ready;
    if (!window.warifu) throw new Error('the package did not load');
    window.token = input.token;
    window.events = [];
    window.outbox = await window.warifu.Outbox.open({
      owner: input.owner,
      baseUrl: input.base,
      headers: () => ({ Authorization: `Bearer ${window.token}` }),
    });
    window.outbox.subscribe((event) => window.events.push(event));";

const ALL: &str = "
    const all = [];
    for (let after; ; ) {
      const { items, next } = await outbox.list('memory', { limit: 500, ...(after && { after }) });
      all.push(...items);
      if (next === null) return all;
      after = next;
    }";

//! The server commits, the answer is lost: one row.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};
use tokio::sync::Notify;
use warifu_end_to_end::{
    Backend, Browser, Queue,
    backend::{Fault, Seen},
};

use crate::memories::hundred;

const DRAIN: Duration = Duration::from_secs(120);

/// Commits, then loses the answer of every request with an item that never came before.
fn lose_first_answers() -> impl FnMut(&Seen) -> Fault + Send + 'static {
    let mut known = BTreeSet::new();
    move |seen| {
        let before = known.len();
        known.extend(seen.items.iter().map(|(id, _)| id.clone()));
        if known.len() > before { Fault::DropAfter } else { Fault::Pass }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_memories_get_a_hundred_rows_though_every_first_answer_is_lost() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    backend.wire.plan(lose_first_answers());
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    ensure!(backend.wire.same_bytes()? == 100, "every item came again: {:?}", backend.wire.attempts());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_in_the_middle_changes_nothing() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    backend.wire.plan(lose_first_answers());
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    reached(&backend, 1).await?;
    let queue = Queue::open(&browser, &backend).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    ensure!(backend.wire.same_bytes()? == 100, "every item came again: {:?}", backend.wire.attempts());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_the_commits_and_before_the_first_request() -> Result<()> {
    let (mut backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    let queue = Queue::open(&browser, &backend).await?;
    backend.stop().await;
    queue.commit(&memories).await?;
    let profile = browser.kill()?;
    ensure!(backend.wire.seen().is_empty());
    backend.start_again().await?;
    backend.wire.plan(lose_first_answers());
    finish(Browser::with(profile).await?, &backend, &memories).await
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_first_request_is_under_way_and_nothing_is_stored() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    let came = at_first(&backend, Fault::Hang);
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    came.notified().await;
    let profile = browser.kill()?;
    ensure!(backend.rows().await?.is_empty());
    backend.wire.plan(lose_first_answers());
    finish(Browser::with(profile).await?, &backend, &memories).await
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_servers_commit_and_the_loss_of_its_answer() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    let came = at_first(&backend, Fault::DropAfter);
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    came.notified().await;
    let profile = browser.kill()?;
    backend.wire.plan(lose_first_answers());
    finish(Browser::with(profile).await?, &backend, &memories).await
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_as_the_first_answer_comes_in() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    let came = at_first(&backend, Fault::Pass);
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    came.notified().await;
    let profile = browser.kill()?;
    backend.wire.plan(lose_first_answers());
    let browser = Browser::with(profile).await?;
    let queue = Queue::open(&browser, &backend).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    backend.wire.same_bytes().map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_still_committing_loses_nothing_that_was_confirmed() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, hundred());
    backend.wire.plan(lose_first_answers());
    let queue = Queue::open(&browser, &backend).await?;
    let all: Vec<Value> = memories.iter().map(|(title, body)| json!({ "title": title, "body": body })).collect();
    queue.run(COMMIT_ON, all.into()).await?;
    let enough = "return window.confirmed.length >= 40 ? window.confirmed : null";
    let confirmed = browser.until("40 confirmed commits", DRAIN, enough, Value::Null).await?;
    let confirmed: Vec<String> = serde_json::from_value(confirmed)?;
    let browser = Browser::with(browser.kill()?).await?;
    let queue = Queue::open(&browser, &backend).await?;
    queue.drained(DRAIN).await?;
    let (rows, entries) = (backend.rows().await?, queue.entries().await?);
    for id in &confirmed {
        ensure!(rows.contains_key(id), "{id} was confirmed and has no row");
        ensure!(entries.get(id).is_some_and(|entry| entry.server_id.as_ref() == rows.get(id)), "{id} is not bound");
    }
    ensure!(rows.keys().eq(entries.keys()), "the halves differ");
    ensure!(rows.len() <= memories.len());
    backend.wire.same_bytes().map(drop)
}

/// After the kill: all drain, each memory once, and what was sent before is repeated to the letter.
async fn finish(browser: Browser, backend: &Backend, memories: &[(String, String)]) -> Result<()> {
    let queue = Queue::open(&browser, backend).await?;
    queue.drained(DRAIN).await?;
    queue.matches(backend, memories).await?;
    ensure!(backend.wire.same_bytes()? == 100, "every item came again: {:?}", backend.wire.attempts());
    Ok(())
}

/// This becomes of the first request; the notice says that it came. Those after it pass.
fn at_first(backend: &Backend, fault: Fault) -> Arc<Notify> {
    let came = Arc::new(Notify::new());
    let (notice, fault) = (came.clone(), Mutex::new(Some(fault)));
    backend.wire.plan(move |_| {
        notice.notify_one();
        fault.lock().map_or(None, |mut fault| fault.take()).unwrap_or(Fault::Pass)
    });
    came
}

async fn reached(backend: &Backend, requests: usize) -> Result<()> {
    for _ in 0..600 {
        if backend.wire.seen().len() >= requests {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("{requests} requests did not come within 30 s")
}

const COMMIT_ON: &str = "
    window.confirmed = [];
    (async () => {
      for (const values of input) {
        const entry = await outbox.begin('memory').commit(values);
        window.confirmed.push(entry.id);
      }
    })();";

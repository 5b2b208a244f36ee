//! A page of another origin than its backend, as an app in a webview is.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{
    Backend, Browser, Queue, Site,
    backend::{Fault, answer},
    root,
};
use warifu_server::Limits;

use crate::memories::short;

const DRAIN: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_allowed_origin_syncs_and_reads_retry_after() -> Result<()> {
    let (site, browser, memories) = (Site::start().await?, Browser::fresh().await?, short(30));
    let origin = site.origin();
    let pages = root().join("tests/end_to_end/pages");
    let backend = Backend::with(&pages, Limits::default(), std::slice::from_ref(&origin)).await?;
    // As the server's own 503 comes: with what lets a page of that origin read it.
    let allowed = [("access-control-expose-headers", "Retry-After, Date"), ("retry-after", "4")];
    backend.wire.plan(move |seen| {
        let headers = [allowed[0], allowed[1], ("access-control-allow-origin", origin.as_str())];
        if seen.number == 1 { answer(503, &headers, "").unwrap_or(Fault::Hang) } else { Fault::Pass }
    });
    browser.goto(&site.url("blank.html")).await?;
    let queue = Queue::here(&browser, &backend.url("")).await?;
    queue.commit(&memories).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    let seen = backend.wire.seen();
    let second = seen.get(1).context("one request only")?;
    ensure!(
        second.at.saturating_sub(seen[0].at) >= Duration::from_millis(3_950),
        "Retry-After was not read across origins"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_any_other_origin_keeps_everything_and_gets_no_answer() -> Result<()> {
    let (site, backend, browser) = (Site::start().await?, Backend::start().await?, Browser::fresh().await?);
    browser.goto(&site.url("blank.html")).await?;
    let queue = Queue::here(&browser, &backend.url("")).await?;
    queue.commit(&short(3)).await?;
    let trouble = "return window.outbox.status.getSnapshot().trouble";
    let told = browser.until("the attempt to be refused by the browser", DRAIN, trouble, Value::Null).await?;
    ensure!(told == json!("no_answer"), "{told}");
    ensure!(backend.rows().await?.is_empty());
    ensure!(queue.entries().await?.values().all(|entry| entry.sync_state == "pending" && entry.parked.is_none()));
    Ok(())
}

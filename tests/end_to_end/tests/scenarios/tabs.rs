//! Two tabs, one queue.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser, Queue, backend::Fault};

use crate::memories::short;

const DRAIN: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread")]
async fn two_tabs_drain_one_queue_of_300_and_both_show_all_ids() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(300));
    let first = Queue::paused(&browser, &backend).await?;
    let (one, half) = (browser.here().await?, memories.len() / 2);
    first.commit(&memories[..half]).await?;
    let two = browser.tab(&backend.url("blank.html")).await?;
    let second = Queue::here(&browser, &backend.url("")).await?;
    second.run("outbox.pause()", Value::Null).await?;
    second.commit(&memories[half..]).await?;

    // A little time in each request, so that a second sender would be seen.
    backend.wire.plan(|_| Fault::Delay(Duration::from_millis(150)));
    for tab in [&one, &two] {
        browser.switch(tab).await?;
        first.run("outbox.resume(); outbox.sync()", Value::Null).await?;
    }
    let mut shown = Vec::new();
    for tab in [&one, &two] {
        browser.switch(tab).await?;
        first.drained(DRAIN).await?;
        let entries = first.entries().await?;
        shown.push(entries.into_iter().map(|(id, entry)| (id, entry.server_id)).collect::<BTreeSet<_>>());
    }
    first.matches(&backend, &memories).await?;
    ensure!(shown[0] == shown[1], "the tabs show different ids");
    let repeated: Vec<_> = backend.wire.attempts().into_iter().filter(|(_, count)| *count != 1).collect();
    ensure!(repeated.is_empty(), "sent more than once: {repeated:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tab_goes_on_when_the_sending_one_is_closed_in_the_middle() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(200));
    backend.wire.plan(|seen| if seen.number == 1 { Fault::Hang } else { Fault::Pass });
    let queue = Queue::open(&browser, &backend).await?;
    let one = browser.here().await?;
    queue.commit(&memories).await?;
    let two = browser.tab(&backend.url("blank.html")).await?;
    let second = Queue::here(&browser, &backend.url("")).await?;
    browser.switch(&one).await?;
    browser
        .until("the first tab to send", DRAIN, "return window.outbox.status.getSnapshot().sending", json!(null))
        .await?;
    browser.client.close_window().await?;
    browser.switch(&two).await?;
    second.drained(DRAIN).await?;
    second.matches(&backend, &memories).await?;
    backend.wire.same_bytes().map(drop)
}

//! The server is away for a while, and long queues.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use warifu_end_to_end::{Backend, Browser, Queue, long};

use crate::memories::short;

const DRAIN: Duration = Duration::from_secs(180);

/// What a chunk may hold: what the server takes at once.
const CHUNK_ITEMS: usize = 100;
const CHUNK_BYTES: usize = 1 << 20;

/// How much more memory the page may use for a queue ten times as long.
const ALLOWED_GROWTH: u64 = 24 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_server_comes_back_and_all_drain_without_a_touch() -> Result<()> {
    let (mut backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(120));
    let queue = Queue::open(&browser, &backend).await?;
    backend.stop().await;
    queue.commit(&memories).await?;
    let refused = "return window.events.some(({ type }) => type === 'answer_lost') || null";
    browser.until("an attempt without an answer", DRAIN, refused, Value::Null).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let entries = queue.entries().await?;
    ensure!(entries.values().all(|entry| entry.sync_state == "pending" && entry.parked.is_none()), "{entries:?}");
    backend.start_again().await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_queue_drains_in_chunks_with_progress_and_bounded_memory() -> Result<()> {
    let count = if long() { 10_000 } else { 1_000 };
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(count));
    let queue = Queue::paused(&browser, &backend).await?;
    for part in memories.chunks(500) {
        queue.commit(part).await?;
    }
    queue.run(FOLLOW, Value::Null).await?;
    let before = memory(&browser).await?;
    queue.resume().await?;
    queue.drained(DRAIN).await?;
    let after = memory(&browser).await?;
    ensure!(after < before + ALLOWED_GROWTH, "memory grew from {before} to {after} bytes");

    let progress = queue.run("return window.progress", Value::Null).await?;
    let steps: Vec<(u64, u64)> = serde_json::from_value(progress)?;
    ensure!(steps.len() >= count / CHUNK_ITEMS / 2, "progress was told {} times: {steps:?}", steps.len());
    ensure!(steps.iter().all(|(done, total)| done <= total), "{steps:?}");
    ensure!(steps.is_sorted_by_key(|(done, _)| *done), "progress went back: {steps:?}");
    for seen in backend.wire.seen() {
        ensure!(seen.items.len() <= CHUNK_ITEMS, "{} items at once", seen.items.len());
        ensure!(seen.body.len() <= CHUNK_BYTES, "{} bytes at once", seen.body.len());
    }
    queue.matches(&backend, &memories).await
}

const FOLLOW: &str = "
    window.progress = [];
    outbox.status.subscribe(({ progress }) => {
      const last = window.progress.at(-1);
      if (progress && (last?.[0] !== progress.done || last?.[1] !== progress.total)) window.progress.push([progress.done, progress.total]);
    });";

/// What the page holds: its JavaScript after a collection, and the WebAssembly memory, which never shrinks.
async fn memory(browser: &Browser) -> Result<u64> {
    browser.devtools("HeapProfiler.collectGarbage", serde_json::json!({})).await?;
    let heap = browser.devtools("Runtime.getHeapUsage", serde_json::json!({})).await?;
    let used = heap["usedSize"].as_f64().context("the browser told no heap size")?;
    let wasm = browser.run("return window.wasmMemory.buffer.byteLength", Value::Null).await?;
    Ok(format!("{used:.0}").parse::<u64>()? + wasm.as_u64().context("there is no WebAssembly memory")?)
}

//! The device's storage is full.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser, Queue};

use crate::memories::short;

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_a_typed_error_of_its_own_caller_and_the_others_stay() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(5));
    let queue = Queue::paused(&browser, &backend).await?;
    queue.commit(&memories).await?;
    let origin = backend.url("").trim_end_matches('/').to_owned();
    browser.devtools("Storage.overrideQuotaForOrigin", json!({ "origin": origin, "quotaSize": 1_000_000 })).await?;
    let told = queue.run(TOO_LARGE, Value::Null).await?;
    ensure!(told == json!({ "typed": true, "code": "storage_full", "path": null }), "{told}");
    browser.devtools("Storage.overrideQuotaForOrigin", json!({ "origin": origin })).await?;
    ensure!(queue.entries().await?.len() == memories.len());
    queue.resume().await?;
    queue.drained(Duration::from_secs(60)).await?;
    queue.matches(&backend, &memories).await
}

const TOO_LARGE: &str = "
    // Letters that do not compress: the database packs what it stores.
    const letters = crypto.getRandomValues(new Uint16Array(30_000));
    const text = Array.from({ length: 40 }, () => String.fromCharCode(...letters.map((letter) => 0x4e00 + (letter % 20_000)))).join('');
    try {
      await outbox.begin('memory').commit({ title: '大きい', body: text });
      return 'stored';
    } catch (error) {
      return { typed: error instanceof window.warifu.WarifuError, code: error.code, path: error.path };
    }";

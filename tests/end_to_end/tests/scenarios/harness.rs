//! The harness itself: what the other scenarios stand on has to hold, and to fail where it should.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_script_gives_json_back_and_its_error_names_what_the_console_said() -> Result<()> {
    let backend = Backend::start().await?;
    let browser = Browser::fresh().await?;
    browser.goto(&backend.url("blank.html")).await?;
    let text = "𠮷野家 👩‍👩‍👧‍👦 か\u{3099} \u{0}";
    ensure!(browser.run("return { same: input }", json!(text)).await? == json!({ "same": text }));
    let failed = browser.run("console.error('said before'); throw new TypeError('on purpose')", Value::Null).await;
    let told = format!("{:#}", failed.err().unwrap_or_else(|| anyhow::anyhow!("it passed")));
    ensure!(told.contains("on purpose") && told.contains("said before"), "{told}");
    let late = browser.until("what never comes", Duration::from_millis(300), "return null", Value::Null).await;
    ensure!(late.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_opens_again_with_what_was_durable() -> Result<()> {
    let backend = Backend::start().await?;
    let browser = Browser::fresh().await?;
    browser.goto(&backend.url("blank.html")).await?;
    browser.run(WRITE, json!("kept")).await?;
    let browser = Browser::with(browser.kill()?).await?;
    browser.goto(&backend.url("blank.html")).await?;
    ensure!(browser.run(READ, Value::Null).await? == json!("kept"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_backend_answers_nothing_and_comes_back_at_its_address() -> Result<()> {
    let mut backend = Backend::start().await?;
    let browser = Browser::fresh().await?;
    browser.goto(&backend.url("blank.html")).await?;
    let ask = "return await fetch('/api/capabilities').then((answer) => answer.status, () => 'no answer')";
    ensure!(browser.run(ask, Value::Null).await? == json!(200));
    backend.stop().await;
    ensure!(browser.run(ask, Value::Null).await? == json!("no answer"));
    backend.start_again().await?;
    ensure!(browser.run(ask, Value::Null).await? == json!(200));
    Ok(())
}

const WRITE: &str = "
    const open = indexedDB.open('harness');
    open.onupgradeneeded = () => open.result.createObjectStore('store');
    await new Promise((done, failed) => Object.assign(open, { onsuccess: done, onerror: failed }));
    const transaction = open.result.transaction('store', 'readwrite', { durability: 'strict' });
    transaction.objectStore('store').put(input, 1);
    await new Promise((done, failed) => Object.assign(transaction, { oncomplete: done, onabort: failed }));";

const READ: &str = "
    const open = indexedDB.open('harness');
    await new Promise((done, failed) => Object.assign(open, { onsuccess: done, onerror: failed }));
    const get = open.result.transaction('store').objectStore('store').get(1);
    return await new Promise((done, failed) => Object.assign(get, { onsuccess: () => done(get.result), onerror: failed }));";

//! One intent is one operation: on the real page, and through the package.

use std::time::Duration;

use anyhow::{Result, ensure};
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser, Queue, wait::until};

const DRAIN: Duration = Duration::from_secs(60);

/// How long a second operation would have to show itself.
const SETTLING: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread")]
async fn save_clicked_twice_is_one_memory() -> Result<()> {
    let both = "document.querySelector('#save').click(); document.querySelector('#save').click();";
    saved_once(both).await
}

#[tokio::test(flavor = "multi_thread")]
async fn enter_and_a_click_at_once_are_one_memory() -> Result<()> {
    let both = "document.querySelector('#composer').requestSubmit(); document.querySelector('#save').click();";
    saved_once(both).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_double_click_is_one_memory() -> Result<()> {
    let (backend, browser) = written().await?;
    slow(&browser).await?;
    let save = browser.find("#save").await?;
    // All four at once: the browser queues them, as it does with a quick hand.
    let click = |actions: MouseActions| {
        let button = MOUSE_BUTTON_LEFT;
        actions.then(PointerAction::Down { button }).then(PointerAction::Up { button })
    };
    let there = MouseActions::new("mouse".into()).then(PointerAction::MoveToElement {
        element: save,
        duration: None,
        x: 0.,
        y: 0.,
    });
    browser.client.perform_actions(click(click(there))).await?;
    one_row(&backend, &browser).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_enter_pressed_twice_and_a_click_save_one_memory() -> Result<()> {
    let (backend, browser) = written().await?;
    slow(&browser).await?;
    browser.find("#title").await?.send_keys("\u{E007}\u{E007}").await?;
    browser.run("document.querySelector('#save').click()", Value::Null).await?;
    one_row(&backend, &browser).await
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_called_twice_at_once_is_one_operation() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let queue = Queue::open(&browser, &backend).await?;
    let told = queue.run(TWICE, Value::Null).await?;
    ensure!(told == json!({ "same": true, "again": true, "other": "already_committed", "key": true }), "{told}");
    queue.drained(DRAIN).await?;
    ensure!(backend.rows().await?.len() == 1 && queue.entries().await?.len() == 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn two_begun_operations_with_the_same_text_are_two() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let queue = Queue::open(&browser, &backend).await?;
    let same = vec![("同じ".to_owned(), "本文".to_owned()); 2];
    let ids = queue.commit(&same).await?;
    ensure!(ids[0] != ids[1]);
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &same).await
}

/// The real page with a memory in its form.
async fn written() -> Result<(Backend, Browser)> {
    let (backend, browser) = (Backend::with_page().await?, Browser::fresh().await?);
    browser.goto(&backend.url("?lang=ja")).await?;
    let ready = "return document.querySelector('#app')?.hidden === false || null";
    browser.until("the page to be ready", DRAIN, ready, Value::Null).await?;
    browser.find("#title").await?.send_keys("海").await?;
    browser.find("#body").await?.send_keys("夕方、二人で歩いた。").await?;
    Ok((backend, browser))
}

/// So that the second half of what a person does comes while the first is still being stored.
async fn slow(browser: &Browser) -> Result<()> {
    browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 20 })).await.map(drop)
}

async fn saved_once(script: &str) -> Result<()> {
    let (backend, browser) = written().await?;
    browser.run(script, Value::Null).await?;
    one_row(&backend, &browser).await
}

/// The page shows one memory with both ids, and the server has one row.
async fn one_row(backend: &Backend, browser: &Browser) -> Result<()> {
    until("the memory to arrive", DRAIN, || async {
        let rows = backend.page_rows().await?;
        Ok(if rows > 0 { Ok(()) } else { Err(rows) })
    })
    .await?;
    tokio::time::sleep(SETTLING).await;
    let rows = backend.page_rows().await?;
    ensure!(rows == 1, "the server has {rows} rows");
    ensure!(backend.wire.attempts().len() == 1, "{:?}", backend.wire.attempts());
    let shown = browser.run("return document.querySelectorAll('#list > li').length", Value::Null).await?;
    ensure!(shown == json!(1), "the page shows {shown} memories");
    Ok(())
}

const TWICE: &str = "
    const operation = outbox.begin('memory');
    const values = { title: '海', body: '' };
    const [one, two] = await Promise.all([operation.commit(values), operation.commit(values)]);
    const again = await operation.commit({ body: '', title: '海' });
    const other = await operation.commit({ title: '山', body: '' }).catch((error) => error.code);
    return { same: one.id === two.id, again: again.id === one.id, other, key: operation.key === operation.id };";

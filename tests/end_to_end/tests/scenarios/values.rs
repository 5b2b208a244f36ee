//! Values that cannot be sent as they are: a typed error with the path, before anything is stored.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser, Queue};

/// A value as JavaScript writes it, and the path that the error has to name.
const REFUSED: [(&str, &str); 24] = [
    ("{ title: 'a\\uD83D', body: '' }", "title"),
    ("{ title: '\\uDE00b', body: '' }", "title"),
    ("{ title: 'a\\u0000b', body: '' }", "title"),
    ("{ title: '', body: '', score: NaN }", "score"),
    ("{ title: '', body: '', score: Infinity }", "score"),
    ("{ title: '', body: '', big: 2n ** 63n }", "big"),
    ("{ title: '', body: '', run() {} }", "run"),
    ("{ title: '', body: '', name: Symbol('s') }", "name"),
    ("(() => { const cycle = { title: '', body: '' }; cycle.self = cycle; return cycle; })()", "self"),
    ("{ title: '', body: '', at: new Date(0) }", "at"),
    ("{ title: '', body: '', map: new Map([['a', 1]]) }", "map"),
    ("{ title: '', body: '', set: new Set([1]) }", "set"),
    ("{ title: '', body: '', bytes: new Uint8Array(3) }", "bytes"),
    ("{ title: '', body: '', bytes: new ArrayBuffer(3) }", "bytes"),
    ("{ title: '', body: '', gone: undefined }", "gone"),
    ("{ title: '', body: '', list: [1, , 3] }", "list[1]"),
    ("{ title: '', body: '', tags: [{ name: 'ok' }, { name: 'x\\uD800' }] }", "tags[1].name"),
    ("{ title: '', body: '', deep: { a: [[undefined]] } }", "deep.a[0][0]"),
    ("{ title: '', body: '', file: new Blob(['x']) }", "file"),
    ("{ title: '', body: '', match: /x/ }", "match"),
    ("{ title: '', body: '', wait: Promise.resolve(1) }", "wait"),
    ("{ title: '', body: '', error: new Error('x') }", "error"),
    ("{ title: '', body: '', clientMemoryId: 'mine' }", "clientMemoryId"),
    ("{ title: '', body: '', memory_id: 1 }", "memory_id"),
];

/// Values that are no object at all.
const NO_OBJECTS: [&str; 6] = ["null", "undefined", "'text'", "7", "[]", "new Map()"];

#[tokio::test(flavor = "multi_thread")]
async fn what_json_cannot_carry_is_a_typed_error_with_its_path_and_stores_nothing() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let queue = Queue::open(&browser, &backend).await?;
    let all = REFUSED.iter().copied().chain(NO_OBJECTS.iter().map(|value| (*value, "")));
    for (value, path) in all {
        let told = queue.run(&COMMIT.replace("VALUE", value), Value::Null).await?;
        ensure!(told["typed"] == true, "{value}: {told}");
        ensure!(told["code"] == "invalid_value", "{value}: {told}");
        ensure!(told["path"].as_str().unwrap_or_default() == path, "{value} should name {path:?}: {told}");
        ensure!(told["retryable"] == false, "{value}: {told}");
        ensure!(told["message"].as_str().is_some_and(|text| text.len() > 10), "{value}: {told}");
    }
    ensure!(queue.entries().await?.is_empty(), "something was stored");
    // Nothing crashed: the same outbox goes on.
    queue.commit(&[("まだ動く".into(), String::new())]).await?;
    queue.drained(Duration::from_secs(30)).await?;
    ensure!(backend.rows().await?.len() == 1 && backend.wire.seen().len() == 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_json_can_carry_comes_back_equal_and_as_plain_objects() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let queue = Queue::open(&browser, &backend).await?;
    let same = queue.run(ROUND_TRIP, Value::Null).await?;
    ensure!(same == json!({ "equal": true, "plain": true, "negativeZero": true }), "{same}");
    queue.drained(Duration::from_secs(30)).await?;
    let sent = backend.wire.seen().into_iter().next().context("nothing was sent")?;
    let item: Value = serde_json::from_str(&sent.items[0].1)?;
    ensure!(item["nested"]["a"][1]["b"] == json!("👩‍👩‍👧‍👦 か\u{3099} 𠮷"), "{item}");
    ensure!(sent.items[0].1.contains("-0.0"), "minus zero was lost: {item}");
    Ok(())
}

const COMMIT: &str = "
    try {
      await outbox.begin('memory').commit(VALUE);
      return { stored: true };
    } catch (error) {
      const { code, path, retryable, message } = error;
      return { typed: error instanceof window.warifu.WarifuError, code, path, retryable, message };
    }";

const ROUND_TRIP: &str = "
    const values = {
      title: '', body: 'x', flag: false, none: null, zero: 0, minus: -0, tiny: 5e-324, huge: 1.7976931348623157e308,
      safe: Number.MAX_SAFE_INTEGER, third: 1 / 3, nested: { a: [1, { b: '👩‍👩‍👧‍👦 か\\u3099 𠮷' }], '': 'empty name', '𠮷': 1 },
    };
    const { id } = await outbox.begin('memory').commit(values);
    const back = (await outbox.get('memory', id)).values;
    const plain = (value) => value === null || typeof value !== 'object' || Array.isArray(value)
      ? !Array.isArray(value) || value.every(plain)
      : Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(plain);
    const sorted = (value) => JSON.stringify(value, (_, inner) => inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner);
    return { equal: sorted(back) === sorted(values), plain: plain(back), negativeZero: Object.is(back.minus, -0) };";

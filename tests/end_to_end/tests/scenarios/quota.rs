//! The device's storage is full: a transaction aborts at its commit.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use warifu_end_to_end::{Backend, Browser, Queue};

use crate::memories::short;

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_a_typed_error_of_its_own_caller_and_the_others_stay() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(9));
    let queue = Queue::open(&browser, &backend).await?;
    queue.run(FULL_FOR_ONE, Value::Null).await?;
    queue.commit(&memories[..2]).await?;
    let told = queue.run(TOGETHER, json!(memories[2..])).await?;
    let full = json!({ "typed": true, "code": "storage_full", "path": null, "retryable": true });
    let expected: Vec<Value> = (0..8).map(|place| if place == 3 { full.clone() } else { json!("stored") }).collect();
    ensure!(told["verdicts"] == json!(expected), "{told}");
    ensure!(told["aborted"].as_u64() >= Some(1), "the fault was never met: {told}");
    queue.drained(Duration::from_secs(60)).await?;
    ensure!(!backend.wire.seen().iter().any(|seen| seen.holds("大きい")), "what was refused was sent");
    queue.matches(&backend, &memories).await
}

/// Chromium aborts the transaction only when it commits, tells the reason only there, and not on the request. Its own
/// quota cannot be lowered from outside (`Storage.overrideQuotaForOrigin` changes nothing for IndexedDB), so the abort is
/// the browser's own and the reason is set.
const FULL_FOR_ONE: &str = "
    window.aborted = 0;
    const text = new TextDecoder();
    const holds = (value) => typeof value === 'string' ? value.includes('大きい')
      : ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? text.decode(value).includes('大きい')
      : typeof value === 'object' && value !== null && Object.values(value).some(holds);
    for (const method of ['add', 'put']) {
      const write = IDBObjectStore.prototype[method];
      IDBObjectStore.prototype[method] = function (...given) {
        const request = write.apply(this, given);
        if (!given.some(holds)) return request;
        const { transaction } = this;
        request.addEventListener('success', () => {
          window.aborted += 1;
          Object.defineProperty(transaction, 'error', { value: new DOMException('full', 'QuotaExceededError') });
          transaction.abort();
        });
        return request;
      };
    }";

const TOGETHER: &str = "
    const all = input.map(([title, body]) => ({ title, body }));
    all.splice(3, 0, { title: '大きい', body: '入らない' });
    const verdicts = await Promise.all(all.map((values) => outbox.begin('memory').commit(values).then(
      () => 'stored',
      (error) => ({ typed: error instanceof window.warifu.WarifuError, code: error.code, path: error.path, retryable: error.retryable }),
    )));
    return { verdicts, aborted: window.aborted };";

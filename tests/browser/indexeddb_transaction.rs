//! What a transaction that fails, hangs or is left early comes to.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use futures_util::future::join;
use warifu::adapter::IndexedDbStore;
use warifu::core::time::Time;
use warifu::port::{Change, DueQuery, Durability, Filter, ListQuery, Store, StoreError, Write, WriteOutcome};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::script::{Planted, fresh, global, plant, run, store};
use crate::suite::{all, change, id, ids, insert, record};

/// All requests of a transaction that puts a record of this id succeed, and then its commit fails with that error: once,
/// or every time.
fn plant_failing_commit(id: &str, error: &str, every_time: bool) -> Planted {
    plant(&format!(
        "const add = IDBObjectStore.prototype.add;
         let failing = true;
         IDBObjectStore.prototype.add = function (row) {{
           const request = add.call(this, row);
           if (failing && row.i === '{id}') {{
             failing = {every_time};
             const transaction = this.transaction, put = this.transaction.objectStore('meta').get(0);
             put.onsuccess = () => {{
               const last = transaction.objectStore('meta').get(0);
               last.onsuccess = () => {{
                 const error = {error};
                 Object.defineProperty(transaction, 'error', {{ get: () => error }});
                 transaction.abort();
               }};
             }};
           }}
           return request;
         }};
         return () => {{ IDBObjectStore.prototype.add = add; }};"
    ))
}

fn inserting(n: u32) -> Write {
    Write { changes: vec![Change::Insert(record(n))], ..Write::default() }
}

#[wasm_bindgen_test]
async fn a_full_disk_at_the_commit_is_told_to_its_caller_alone() {
    let store = store(&fresh("quota")).await;
    insert(&store, record(1)).await;
    let planted = plant_failing_commit(&id(2).to_string(), "new DOMException('full', 'QuotaExceededError')", true);
    let (failed, other) = join(store.write(inserting(2)), store.write(inserting(3))).await;
    assert_eq!(failed, Err(StoreError::Full));
    assert!(matches!(other, Ok(WriteOutcome::Done(_))), "{other:?}");
    assert_eq!(ids(&all(&store, "memory").await), [id(3), id(1)]);
    assert_eq!(store.meta().await.unwrap().pending, 2);
    drop(planted);
    let late = insert(&store, record(2)).await;
    assert_eq!(late.order, 3, "what was not kept has used no order up");
}

#[wasm_bindgen_test]
async fn a_commit_that_is_aborted_by_nobody_is_run_again_once() {
    let store = store(&fresh("abort once")).await;
    let lost = "new DOMException('Connection to Indexed Database server lost', 'UnknownError')";
    for (n, error) in [(1, "null"), (2, lost)] {
        let _planted = plant_failing_commit(&id(n).to_string(), error, false);
        assert!(matches!(store.write(inserting(n)).await, Ok(WriteOutcome::Done(_))));
    }
    assert_eq!(ids(&all(&store, "memory").await), [id(2), id(1)]);

    let _planted = plant_failing_commit(&id(3).to_string(), lost, true);
    let Err(StoreError::Lost(text)) = store.write(inserting(3)).await else { panic!("not lost") };
    assert!(text.contains("server lost"), "{text}");
    assert_eq!(store.get("memory", id(3)).await.unwrap(), None);
    assert_eq!(store.meta().await.unwrap().pending, 2);
}

#[wasm_bindgen_test]
async fn a_write_resolves_at_complete_and_says_how_durable() {
    let store = store(&fresh("complete")).await;
    let _planted = plant(
        "const begin = IDBDatabase.prototype.transaction;
         globalThis.completed = [];
         IDBDatabase.prototype.transaction = function (stores, mode, options) {
           const transaction = begin.call(this, stores, mode, options);
           if (mode === 'readwrite') {
             transaction.addEventListener('complete', () => globalThis.completed.push(transaction.durability));
           }
           return transaction;
         };
         return () => { IDBDatabase.prototype.transaction = begin; };",
    );
    let completed = || js_sys::Array::from(&global("completed")).join(" ").as_string().unwrap();
    store.write(inserting(1)).await.unwrap();
    assert_eq!(completed(), "strict");
    store.write(Write { durability: Durability::Relaxed, ..inserting(2) }).await.unwrap();
    assert_eq!(completed(), "strict relaxed");
}

/// Drives a future until it has been polled that many times, and drops it.
async fn left_after(polls: u32, work: impl Future) {
    let mut work = pin!(work);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        assert!(work.as_mut().poll(context).is_pending(), "it ended before it was left");
        if polled == polls { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[wasm_bindgen_test]
async fn a_write_that_is_left_early_changes_nothing() {
    let store = store(&fresh("left")).await;
    // The first poll asks for what stands, the second for the changes.
    for polls in 1..=2 {
        left_after(polls, store.write(inserting(1))).await;
        assert_eq!(store.get("memory", id(1)).await.unwrap(), None, "after {polls}");
        assert_eq!(store.meta().await.unwrap().pending, 0, "after {polls}");
    }
    insert(&store, record(1)).await;
}

#[wasm_bindgen_test]
async fn a_transaction_that_does_not_end_times_out_and_is_undone() {
    let name = fresh("hangs");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    // Another tab's transaction that goes on and on.
    run(&format!(
        "const database = await new Promise((done, fail) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); request.onerror = fail; }});
         globalThis.hold = true;
         const meta = database.transaction(['records', 'meta'], 'readwrite').objectStore('meta');
         const again = () => {{ if (globalThis.hold) meta.get(0).onsuccess = again; else database.close(); }};
         again();"
    ))
    .await;
    let began = js_sys::Date::now();
    assert_eq!(store.write(inserting(2)).await, Err(StoreError::TimedOut));
    let took = js_sys::Date::now() - began;
    assert!((350.0..3000.0).contains(&took), "{took} ms");
    run("globalThis.hold = false").await;
    assert_eq!(ids(&all(&store, "memory").await), [id(1)]);
    insert(&store, record(2)).await;
}

/// Rows under these orders that no version of this library has written.
async fn spoil(name: &str, orders: std::ops::RangeInclusive<u32>) {
    let (from, to) = (orders.start(), orders.end());
    run(&format!(
        "const database = await new Promise((done) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); }});
         const transaction = database.transaction('records', 'readwrite'), records = transaction.objectStore('records');
         for (let o = {from}; o <= {to}; o++)
           records.put({{ o, n: -o, r: 1, k: 'memory', i: 'spoilt ' + o, w: 0, t: 0, c: 'no bytes' }});
         await new Promise((done) => {{ transaction.oncomplete = done; }});
         database.close();"
    ))
    .await;
}

#[wasm_bindgen_test]
async fn a_row_that_cannot_be_read_stays_and_blocks_no_other() {
    let name = fresh("corrupt");
    let store: IndexedDbStore = store(&name).await;
    for n in 1..=100 {
        insert(&store, record(n)).await;
    }
    spoil(&name, 2..=99).await;
    let query = DueQuery { now: Time(1), horizon: Time(2), max_items: 10, max_bytes: 1 << 20 };
    let due = store.due(query).await.unwrap();
    assert_eq!((ids(&due.records), due.more), (vec![id(1), id(100)], false));
    let due = store.due(DueQuery { max_items: 1, ..query }).await.unwrap();
    assert_eq!((ids(&due.records), due.more), (vec![id(1)], true));
    let list = ListQuery { kind: "memory".into(), filter: Filter::Pending, before: None, limit: 1 };
    let page = store.list(&list).await.unwrap();
    assert_eq!((ids(&page.records), page.more), (vec![id(100)], true));
    let page = store.list(&ListQuery { before: Some(100), ..list }).await.unwrap();
    assert_eq!((ids(&page.records), page.more), (vec![id(1)], false));
    assert_eq!(ids(&store.load(&[1, 2, 100]).await.unwrap()), [id(1), id(100)]);
    assert_eq!(store.unreadable(), 98);

    let remove = Write { changes: vec![Change::Remove { order: 2, revision: 1 }], ..Write::default() };
    assert!(matches!(store.write(remove).await, Err(StoreError::Corrupt(_))));
    change(&store, vec![Change::Remove { order: 100, revision: 1 }]).await;
    let left = run(&format!(
        "const database = await new Promise((done) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); }});
         const count = database.transaction('records').objectStore('records').count();
         await new Promise((done) => {{ count.onsuccess = done; }});
         database.close();
         return count.result;"
    ))
    .await;
    assert_eq!(left, 99.0);
}

#[wasm_bindgen_test]
async fn asking_for_an_unreadable_row_by_name_is_an_error() {
    let name = fresh("corrupt get");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    run(&format!(
        "const database = await new Promise((done) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); }});
         const records = database.transaction('records', 'readwrite').objectStore('records');
         const row = await new Promise((done) => {{ const get = records.get(1); get.onsuccess = () => done(get.result); }});
         row.p = 'not a key';
         await new Promise((done) => {{ records.put(row).transaction.oncomplete = done; }});
         database.close();"
    ))
    .await;
    assert_eq!(store.get("memory", id(1)).await, Err(StoreError::Corrupt("key".into())));
    assert_eq!(store.write(inserting(1)).await, Err(StoreError::Corrupt("key".into())));
    insert(&store, record(2)).await;
}

//! Connections that do not come about, break, or stand in another tab's way.

use futures_util::future::{join, join_all};
use warifu::adapter::{BrowserClock, IndexedDbStore, database_name};
use warifu::core::time::Millis;
use warifu::port::{Change, Clock, Store, StoreError, Write, WriteOutcome};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::script::{Planted, SHORT, fresh, global, plant, plant_value, run, store};
use crate::suite::{all, id, ids, insert, record};

/// Calls of `transaction()` on the database of that name throw, that many times.
fn plant_throwing(name: &str, times: &str) -> Planted {
    plant(&format!(
        "const begin = IDBDatabase.prototype.transaction;
         let left = {times};
         IDBDatabase.prototype.transaction = function (...all) {{
           if (this.name === '{name}' && left-- > 0)
             throw new DOMException('The database connection is closing.', 'InvalidStateError');
           return begin.apply(this, all);
         }};
         return () => {{ IDBDatabase.prototype.transaction = begin; }};"
    ))
}

/// Counts calls of `indexedDB.open` in `globalThis.opened`, and keeps the last database in `globalThis.database`.
fn plant_watch() -> Planted {
    plant(
        "const open = IDBFactory.prototype.open, begin = IDBDatabase.prototype.transaction;
         globalThis.opened = 0;
         IDBFactory.prototype.open = function (...all) { globalThis.opened++; return open.apply(this, all); };
         IDBDatabase.prototype.transaction = function (...all) { globalThis.database = this; return begin.apply(this, all); };
         return () => { IDBFactory.prototype.open = open; IDBDatabase.prototype.transaction = begin; };",
    )
}

fn inserting(n: u32) -> Write {
    Write { changes: vec![Change::Insert(record(n))], ..Write::default() }
}

#[wasm_bindgen_test]
async fn a_connection_that_is_closing_is_replaced() {
    let name = fresh("closing");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    let watch = plant_watch();
    let _planted = plant_throwing(&name, "1");
    insert(&store, record(2)).await;
    assert_eq!(global("opened"), 1.0);
    drop(watch);
    assert_eq!(ids(&all(&store, "memory").await), [id(2), id(1)]);
}

#[wasm_bindgen_test]
async fn a_connection_that_keeps_failing_is_lost() {
    let name = fresh("lost");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    let planted = plant_throwing(&name, "Infinity");
    for outcome in [store.write(inserting(2)).await.map(drop), store.meta().await.map(drop)] {
        let Err(error @ StoreError::Lost(_)) = outcome else { panic!("{outcome:?}") };
        assert!(error.retryable() && error.to_string().contains("InvalidStateError"), "{error}");
    }
    drop(planted);
    insert(&store, record(2)).await;
    assert_eq!(store.meta().await.unwrap().pending, 2);
}

#[wasm_bindgen_test]
async fn a_close_event_makes_all_calls_share_one_new_connection() {
    let store = store(&fresh("close")).await;
    let _watch = plant_watch();
    insert(&store, record(1)).await;
    // The browser closes by force, as when its storage process dies.
    run("globalThis.database.close(); globalThis.database.dispatchEvent(new Event('close'));").await;
    let outcomes = join_all((2..12).map(|n| store.write(inserting(n)))).await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(WriteOutcome::Done(_)))));
    assert_eq!(global("opened"), 1.0);
    assert_eq!(store.meta().await.unwrap().pending, 11);
}

#[wasm_bindgen_test]
async fn a_silent_open_times_out() {
    let _planted = plant_value("IDBFactory.prototype", "open", "() => new EventTarget()");
    let began = js_sys::Date::now();
    assert_eq!(IndexedDbStore::open(&fresh("silent"), SHORT).await.err(), Some(StoreError::TimedOut));
    let took = js_sys::Date::now() - began;
    assert!((350.0..3000.0).contains(&took), "{took} ms");
}

#[wasm_bindgen_test]
async fn an_open_that_succeeds_too_late_leaves_no_connection_behind() {
    let name = fresh("late");
    // A deletion that waits for a tab which does not let go holds every later open up.
    run(&format!(
        "globalThis.held = await new Promise((done) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); }});
         globalThis.gone = new Promise((done) => {{ indexedDB.deleteDatabase('{name}').onsuccess = done; }});"
    ))
    .await;
    assert_eq!(IndexedDbStore::open(&name, SHORT).await.err(), Some(StoreError::TimedOut));
    let _planted = plant(
        "const close = IDBDatabase.prototype.close;
         globalThis.letGo = [];
         IDBDatabase.prototype.close = function () { globalThis.letGo.push(this.name); close.call(this); };
         return () => { IDBDatabase.prototype.close = close; };",
    );
    let outcome = run(&format!(
        "globalThis.held.close();
         await globalThis.gone;
         await new Promise((done) => setTimeout(done, 100));
         if (globalThis.letGo.join() !== '{name},{name}') return 'left open';
         return new Promise((done) => {{
           const request = indexedDB.deleteDatabase('{name}');
           request.onblocked = () => done('blocked'); request.onsuccess = () => done('deleted'); }});"
    ))
    .await;
    assert_eq!(outcome, "deleted");
}

/// A newer version of the library, as far as opening goes.
fn plant_newer() -> Planted {
    plant(
        "const open = IDBFactory.prototype.open;
         IDBFactory.prototype.open = function (name, version) { return open.call(this, name, version && 2); };
         return () => { IDBFactory.prototype.open = open; };",
    )
}

async fn hold(name: &str) {
    run(&format!(
        "globalThis.held = await new Promise((done) => {{
           const request = indexedDB.open('{name}'); request.onsuccess = () => done(request.result); }});"
    ))
    .await;
}

#[wasm_bindgen_test]
async fn an_upgrade_that_another_tab_blocks_is_told() {
    let name = fresh("blocked");
    let old = store(&name).await;
    insert(&old, record(1)).await;
    old.close();
    hold(&name).await;
    let _planted = plant_newer();
    assert_eq!(IndexedDbStore::open(&name, SHORT).await.err(), Some(StoreError::Blocked));
    // One that lets go a moment later is waited for.
    let release = async {
        BrowserClock.sleep(Millis(100)).await;
        run("globalThis.held.close()").await;
    };
    let (store, ()) = join(IndexedDbStore::open(&name, SHORT), release).await;
    assert_eq!(ids(&all(&store.unwrap(), "memory").await), [id(1)]);
}

#[wasm_bindgen_test]
async fn another_tab_can_upgrade_and_this_one_then_is_too_old() {
    let name = fresh("upgrade");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    let planted = plant_newer();
    let newer = IndexedDbStore::open(&name, SHORT).await.unwrap();
    drop(planted);
    let too_new = StoreError::TooNew { found: 2, known: 1 };
    assert_eq!(store.write(inserting(2)).await, Err(too_new.clone()));
    assert_eq!(IndexedDbStore::open(&name, SHORT).await.err(), Some(too_new.clone()));
    assert!(!too_new.retryable());
    assert_eq!(ids(&all(&newer, "memory").await), [id(1)]);
}

#[wasm_bindgen_test]
async fn where_there_is_no_storage_it_is_said() {
    let private_window = "() => {
      const request = new EventTarget();
      request.error = new DOMException('A mutation operation was attempted', 'InvalidStateError');
      setTimeout(() => request.onerror(new Event('error')));
      return request;
    }";
    for (object, name, value) in [
        ("globalThis", "indexedDB", "undefined"),
        ("globalThis", "indexedDB", "null"),
        ("IDBFactory.prototype", "open", "() => { throw new DOMException('denied', 'SecurityError'); }"),
        ("IDBFactory.prototype", "open", private_window),
    ] {
        let planted = plant_value(object, name, value);
        let outcome = IndexedDbStore::open(&fresh("none"), SHORT).await.err();
        assert!(matches!(outcome, Some(StoreError::Unavailable(_))), "{outcome:?}");
        drop(planted);
    }
    store(&fresh("again")).await;
}

#[wasm_bindgen_test]
async fn data_that_was_deleted_is_told_and_the_store_goes_on_empty() {
    let name = fresh("deleted");
    let store = store(&name).await;
    insert(&store, record(1)).await;
    run(&format!(
        "await new Promise((done, fail) => {{
           const request = indexedDB.deleteDatabase('{name}'); request.onsuccess = done; request.onblocked = fail; }});"
    ))
    .await;
    let outcome = store.write(inserting(2)).await;
    assert_eq!(outcome, Err(StoreError::Lost("the data was deleted".into())));
    insert(&store, record(2)).await;
    assert_eq!(ids(&all(&store, "memory").await), [id(2)]);
}

#[wasm_bindgen_test]
async fn a_closed_store_says_so_and_lets_go() {
    let name = fresh("closed");
    let store = store(&name).await;
    let (last, ()) = join(store.write(inserting(1)), async { store.close() }).await;
    assert!(matches!(last, Ok(WriteOutcome::Done(_))), "what runs comes to its end: {last:?}");
    assert_eq!(store.meta().await, Err(StoreError::Closed));
    assert_eq!(store.clone().write(inserting(2)).await, Err(StoreError::Closed));
    let outcome = run(&format!(
        "return new Promise((done) => {{
           const request = indexedDB.deleteDatabase('{name}');
           request.onblocked = () => done('blocked'); request.onsuccess = () => done('deleted'); }});"
    ))
    .await;
    assert_eq!(outcome, "deleted");
}

#[wasm_bindgen_test]
fn a_name_tells_owners_and_backends_apart() {
    let names = [
        database_name("aki", "https://a.test/"),
        database_name("aki", "https://a.test/b/"),
        database_name("aki@https://a.test/", "b"),
        database_name("aki", "https://a.test/@b"),
        database_name("aki%40", ""),
        database_name("aki@", ""),
        database_name("aki", "@"),
        database_name("秋", ""),
    ];
    for (n, name) in names.iter().enumerate() {
        assert!(name.starts_with("warifu:") && !names[..n].contains(name), "{name}");
    }
    assert_eq!(names[0], "warifu:aki@https%3A%2F%2Fa.test%2F");
}

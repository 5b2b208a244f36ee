//! Clock, randomness, lock, and word between tabs.

use std::cell::RefCell;
use std::pin::pin;
use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use warifu::adapter::{BrowserClock, BrowserEntropy, TabChannel, WebLock};
use warifu::core::time::Millis;
use warifu::port::{Channel, Clock, Entropy, Lock, NoEntropy};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::script::{fresh, global, plant, plant_value, run};

#[wasm_bindgen_test]
async fn a_sleep_lasts_about_as_long_as_asked() {
    let began = BrowserClock.now();
    assert!(began.0 > 1_700_000_000_000, "{began:?}");
    BrowserClock.sleep(Millis(0)).await;
    BrowserClock.sleep(Millis(60)).await;
    let slept = BrowserClock.now().since(began).0;
    assert!((58..2000).contains(&slept), "{slept} ms");
}

#[wasm_bindgen_test]
async fn a_sleep_longer_than_a_timer_can_count_is_slept_in_parts() {
    let _planted = plant(
        "const real = globalThis.setTimeout;
         globalThis.slept = [];
         globalThis.setTimeout = (run, millis) => { globalThis.slept.push(millis); return real(run, 0); };
         return () => { globalThis.setTimeout = real; };",
    );
    BrowserClock.sleep(Millis((1 << 32) + 5)).await;
    assert_eq!(js_sys::Array::from(&global("slept")).join(" "), "2147483647 2147483647 7");
}

#[wasm_bindgen_test]
async fn a_sleep_that_is_dropped_takes_its_timer_along() {
    let _planted = plant(
        "const { setTimeout, clearTimeout } = globalThis;
         globalThis.timers = new Set();
         globalThis.setTimeout = (run, millis) => {
           const id = setTimeout(() => { timers.delete(id); run(); }, millis); timers.add(id); return id; };
         globalThis.clearTimeout = (id) => { timers.delete(id); clearTimeout(id); };
         return () => { Object.assign(globalThis, { setTimeout, clearTimeout }); };",
    );
    let count = async || run("return globalThis.timers.size").await;
    let mut sleep = Box::pin(BrowserClock.sleep(Millis(1_000_000)));
    assert!(sleep.as_mut().now_or_never().is_none());
    assert_eq!(count().await, 1.0);
    drop(sleep);
    assert_eq!(count().await, 0.0);
}

#[wasm_bindgen_test]
fn randomness_fills_all_bytes() {
    let (mut one, mut two) = (vec![0; 200_000], vec![0; 200_000]);
    BrowserEntropy.fill(&mut one).unwrap();
    BrowserEntropy.fill(&mut two).unwrap();
    assert!(one != two);
    // 64 zeros in a row do not happen: 2^-512.
    assert!(one.chunks(64).all(|part| part.iter().any(|byte| *byte != 0)));
    BrowserEntropy.fill(&mut []).unwrap();
}

#[wasm_bindgen_test]
fn without_a_secure_source_there_are_no_bytes() {
    for source in ["undefined", "{ getRandomValues() { throw new Error('no'); } }"] {
        let _planted = plant_value("globalThis", "crypto", source);
        assert_eq!(BrowserEntropy.fill(&mut [0; 16]), Err(NoEntropy));
    }
}

/// How many hold the lock of that name and how many wait for it.
async fn standing(name: &str) -> String {
    let script = format!(
        "const {{ held, pending }} = await navigator.locks.query();
         const count = (locks) => locks.filter((lock) => lock.name === '{name}').length;
         return count(held) + ' ' + count(pending);"
    );
    run(&script).await.as_string().unwrap()
}

#[wasm_bindgen_test]
async fn one_holds_the_lock_at_a_time() {
    let name = fresh("lock");
    let (here, there) = (WebLock::new(&name), WebLock::new(&name));
    let guard = here.acquire().await;
    assert_eq!(standing(&name).await, "1 0");
    let mut waiting = Box::pin(there.acquire());
    {
        let moment = pin!(BrowserClock.sleep(Millis(50)));
        assert!(matches!(select(&mut waiting, moment).await, Either::Right(_)));
    }
    assert_eq!(standing(&name).await, "1 1");
    drop(guard);
    let guard = waiting.await;
    assert_eq!(standing(&name).await, "1 0");
    drop(guard);
    BrowserClock.sleep(Millis(20)).await;
    assert_eq!(standing(&name).await, "0 0");
    WebLock::new(&fresh("other")).acquire().await;
}

#[wasm_bindgen_test]
async fn a_wait_for_the_lock_can_be_given_up() {
    let name = fresh("withdrawn");
    let lock = WebLock::new(&name);
    let guard = lock.acquire().await;
    let mut waiting = Box::pin(lock.acquire());
    assert!(waiting.as_mut().now_or_never().is_none());
    BrowserClock.sleep(Millis(20)).await;
    assert_eq!(standing(&name).await, "1 1");
    drop(waiting);
    BrowserClock.sleep(Millis(20)).await;
    assert_eq!(standing(&name).await, "1 0");

    // Given up at the very moment it is granted, it is free for the next.
    let mut waiting = Box::pin(lock.acquire());
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(guard);
    BrowserClock.sleep(Millis(20)).await;
    drop(waiting);
    BrowserClock.sleep(Millis(20)).await;
    assert_eq!(standing(&name).await, "0 0");
}

#[wasm_bindgen_test]
async fn without_web_locks_everybody_has_the_right() {
    for locks in [
        "undefined",
        "{ request: () => Promise.reject(new DOMException('no', 'SecurityError')) }",
        "{ request() { throw new Error('no'); } }",
    ] {
        let _planted = plant_value("navigator", "locks", locks);
        let lock = WebLock::new("none");
        let (_one, _two) = (lock.acquire().await, lock.acquire().await);
    }
}

type Heard = Rc<RefCell<Vec<String>>>;

fn listen(name: &str) -> (TabChannel, Heard) {
    let heard = Heard::default();
    let channel = TabChannel::open(name, {
        let heard = Rc::clone(&heard);
        move |text| heard.borrow_mut().push(text)
    });
    (channel, heard)
}

#[wasm_bindgen_test]
async fn word_goes_to_the_others() {
    let name = fresh("channel");
    let (here, heard_here) = listen(&name);
    let (there, heard_there) = listen(&name);
    let (_other, heard_elsewhere) = listen(&fresh("other"));
    here.post("思い出 👩‍👩‍👧‍👦");
    run(&format!("new BroadcastChannel('{name}').postMessage({{ no: 'text' }})")).await;
    there.post("two");
    BrowserClock.sleep(Millis(50)).await;
    assert_eq!(*heard_there.borrow(), ["思い出 👩‍👩‍👧‍👦"]);
    assert_eq!(*heard_here.borrow(), ["two"]);
    assert!(heard_elsewhere.borrow().is_empty());
    let _planted = plant(
        "const close = BroadcastChannel.prototype.close;
         globalThis.letGo = [];
         BroadcastChannel.prototype.close = function () { globalThis.letGo.push(this.name); close.call(this); };
         return () => { BroadcastChannel.prototype.close = close; };",
    );
    drop(there);
    assert_eq!(run("return globalThis.letGo.join()").await, name.as_str());
    here.post("three");
    BrowserClock.sleep(Millis(50)).await;
    assert_eq!(heard_there.borrow().len(), 1);
}

#[wasm_bindgen_test]
fn without_a_channel_nothing_is_said() {
    let _planted = plant_value("globalThis", "BroadcastChannel", "undefined");
    let (channel, heard) = listen("none");
    channel.post("one");
    assert!(heard.borrow().is_empty());
}

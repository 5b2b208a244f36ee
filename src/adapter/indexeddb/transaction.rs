//! One transaction. All of its requests are made without waiting for each: they succeed in the order in which they were
//! made, so the last one's success is that of all, and one callback serves a whole transaction.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbDatabase, IdbObjectStore, IdbRequest, IdbTransaction};

use super::fault::Fault;
use super::schema::{META, RECORDS};
use crate::adapter::timers::BrowserClock;
use crate::core::time::Millis;
use crate::port::{Clock, Durability, StoreError};

/// A page that was frozen finds its timers overdue before it hears of anything that happened meanwhile. Waiting in
/// parts gives what has happened the time to be heard of.
const PARTS: u64 = 4;

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write(Durability),
}

/// A transaction on both object stores. Dropped before its end, it is aborted.
pub(super) struct Transaction {
    raw: IdbTransaction,
    heard: Rc<Heard>,
    hear: Closure<dyn FnMut(Event)>,
    deadline: RefCell<Pin<Box<dyn Future<Output = ()>>>>,
    /// Nobody needs to know how it ends.
    released: Cell<bool>,
}

/// What the callback has heard.
#[derive(Default)]
struct Heard {
    success: Cell<bool>,
    end: Cell<Option<End>>,
    waiting: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    Aborted,
}

impl Transaction {
    /// Begins it.
    pub(super) fn begin(database: &IdbDatabase, mode: Mode, limit: Millis) -> Result<Self, Fault> {
        let raw = begin(database, mode)?;
        let heard = Rc::new(Heard::default());
        let hear = Closure::new({
            let heard = Rc::clone(&heard);
            move |event: Event| heard.hear(&event.type_())
        });
        let listener: &Function = hear.as_ref().unchecked_ref();
        raw.set_oncomplete(Some(listener));
        raw.set_onabort(Some(listener));
        let deadline = async move {
            for _ in 0..PARTS {
                BrowserClock.sleep(Millis(limit.0.div_ceil(PARTS))).await;
            }
        };
        Ok(Self { raw, heard, hear, deadline: RefCell::new(Box::pin(deadline)), released: Cell::new(false) })
    }

    /// The object store of the records.
    pub(super) fn records(&self) -> Result<IdbObjectStore, Fault> {
        Ok(self.raw.object_store(RECORDS)?)
    }

    /// The object store of the header.
    pub(super) fn meta(&self) -> Result<IdbObjectStore, Fault> {
        Ok(self.raw.object_store(META)?)
    }

    /// Waits until this request and all that were made before it have succeeded. The transaction is alive for further
    /// requests right after it, until the next wait for anything else.
    pub(super) async fn succeeded(&self, last: &IdbRequest) -> Result<(), Fault> {
        self.heard.success.set(false);
        last.set_onsuccess(Some(self.hear.as_ref().unchecked_ref()));
        let outcome = poll_fn(|context| {
            if self.heard.success.get() {
                return Poll::Ready(Ok(()));
            }
            self.poll_end(context).map(|end| end.and(Err(self.failure())))
        })
        .await;
        last.set_onsuccess(None);
        outcome
    }

    /// Waits until all of it is done, as sure as the mode says.
    pub(super) async fn complete(self) -> Result<(), Fault> {
        match poll_fn(|context| self.poll_end(context)).await? {
            End::Complete => Ok(()),
            End::Aborted => Err(self.failure()),
        }
    }

    /// Lets it end by itself: it has changed nothing.
    pub(super) fn release(self) {
        self.released.set(true);
    }

    /// Undoes it, and waits until that is done.
    pub(super) async fn abort(self) {
        // It throws when the transaction has ended already, as it does after a failed request.
        let _ = self.raw.abort();
        let _ = poll_fn(|context| self.poll_end(context)).await;
    }

    fn poll_end(&self, context: &mut Context<'_>) -> Poll<Result<End, Fault>> {
        if let Some(end) = self.heard.end.get() {
            return Poll::Ready(Ok(end));
        }
        self.heard.waiting.replace(Some(context.waker().clone()));
        self.deadline.borrow_mut().as_mut().poll(context).map(|()| Err(Fault::Final(StoreError::TimedOut)))
    }

    fn failure(&self) -> Fault {
        // Quota may show at the commit alone, where no request has an error.
        Fault::from_js(&self.raw.error().map(JsValue::from).unwrap_or_default())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.raw.set_oncomplete(None);
        self.raw.set_onabort(None);
        if self.heard.end.get().is_none() && !self.released.get() {
            // Leaving early must not commit what was asked for so far. It throws when the commit has begun.
            let _ = self.raw.abort();
        }
    }
}

impl Heard {
    fn hear(&self, event: &str) {
        match event {
            "success" => self.success.set(true),
            "complete" => self.end.set(Some(End::Complete)),
            "abort" => self.end.set(Some(End::Aborted)),
            _ => return,
        }
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
    }
}

fn begin(database: &IdbDatabase, mode: Mode) -> Result<IdbTransaction, JsValue> {
    let stores = Array::of2(&RECORDS.into(), &META.into());
    let (mode, durability) = match mode {
        Mode::Read => ("readonly", "default"),
        Mode::Write(Durability::Strict) => ("readwrite", "strict"),
        Mode::Write(Durability::Relaxed) => ("readwrite", "relaxed"),
    };
    let options = js_sys::Object::new().unchecked_into::<TransactionOptions>();
    options.set_durability(durability);
    database.unchecked_ref::<DurableDatabase>().transaction(&stores, mode, &options)
}

// web-sys has the third argument among its unstable interfaces only, and those need a flag for the whole build.
#[wasm_bindgen]
extern "C" {
    type DurableDatabase;
    #[wasm_bindgen(method, catch)]
    fn transaction(
        this: &DurableDatabase,
        stores: &Array,
        mode: &str,
        options: &TransactionOptions,
    ) -> Result<IdbTransaction, JsValue>;

    type TransactionOptions;
    #[wasm_bindgen(method, setter)]
    fn set_durability(this: &TransactionOptions, durability: &str);
}

//! One open outbox, as JavaScript holds it. Every method takes `&self` and gives a promise, so that overlapping calls and
//! calls from inside a listener are nothing special.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::Future;
use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect};
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{future_to_promise, spawn_local};

use super::errors::Failure;
use super::json::object_to_json;
use super::options::Options;
use super::view;
use crate::adapter::{
    Bounds, BrowserClock, BrowserEntropy, FetchTransport, IndexedDbStore, TabChannel, WebLock, database_name,
};
use crate::core::engine::{Call, CallError, Engine, Replied, Reply};
use crate::core::event::{Event, Status};
use crate::core::operation::Record;
use crate::driver::{Handle, Observer, Ports, start};
use crate::id::ClientMemoryId;
use crate::port::{Clock, Entropy, Filter, ListQuery, Store};

/// The one kind of record that this version knows.
const MEMORY: &str = "memory";
/// How many records a page has by default, and at most.
const PAGE: u32 = 50;
const PAGE_MAX: u32 = 1000;

/// One open outbox.
#[wasm_bindgen]
pub struct Client {
    handle: Handle,
    store: IndexedDbStore,
    shared: Rc<Shared>,
}

/// What the observer and the client both know.
struct Shared {
    status: RefCell<Option<Status>>,
    listening: Cell<bool>,
    closed: Cell<bool>,
    on_event: Function,
    on_status: Function,
}

#[wasm_bindgen]
impl Client {
    /// Opens an outbox. `on_event` is called with each event, or with `undefined` while nobody listens; `on_status` with
    /// each status.
    pub fn open(options: &JsValue, on_event: Function, on_status: Function) -> Promise {
        let options = Options::parse(options);
        promise(async move { open(options?, on_event, on_status).await.map(JsValue::from) })
    }

    /// The name of a new record.
    #[wasm_bindgen(js_name = newId)]
    pub fn new_id(&self) -> Result<String, JsValue> {
        Ok(new_id()?.to_string())
    }

    /// Checks what an operation begins with, and gives the id in canonical form.
    #[wasm_bindgen(js_name = checkId)]
    pub fn check_id(&self, kind: &str, id: &JsValue) -> Result<String, JsValue> {
        check_kind(kind)?;
        Ok(parse_id(id)?.to_string())
    }

    /// Writes an operation down.
    pub fn commit(&self, kind: String, id: &JsValue, values: &JsValue) -> Promise {
        let call = parse_id(id)
            .and_then(|id| Ok(Call::Commit { kind, id, values: object_to_json(values)? }))
            .map(|call| self.handle.call(call));
        self.entry_of(call)
    }

    /// Corrects a refused create.
    pub fn correct(&self, kind: String, id: &JsValue, values: &JsValue) -> Promise {
        let call = parse_id(id)
            .and_then(|id| Ok(Call::Correct { kind, id, values: object_to_json(values)? }))
            .map(|call| self.handle.call(call));
        self.entry_of(call)
    }

    /// One entry, or undefined.
    pub fn get(&self, kind: String, id: &JsValue) -> Promise {
        let (store, shared, id) = (self.store.clone(), Rc::clone(&self.shared), parse_id(id));
        promise(async move {
            shared.check_open()?;
            check_kind(&kind)?;
            let record = store.get(&kind, id?).await?;
            Ok(record.map_or(JsValue::UNDEFINED, |record| shared.entry(&record)))
        })
    }

    /// A page of entries, newest first.
    pub fn list(&self, kind: String, query: &JsValue) -> Promise {
        let (store, shared) = (self.store.clone(), Rc::clone(&self.shared));
        let query = list_query(kind, query);
        promise(async move {
            shared.check_open()?;
            let page = store.list(&query?).await?;
            let next = page.records.last().filter(|_| page.more).map(|record| record.order.to_string());
            let items: Array = page.records.iter().map(|record| shared.entry(record)).collect();
            Ok(view::page(&items, next))
        })
    }

    /// Sends what is due; resolves with the status.
    pub fn sync(&self) -> Promise {
        let replied = self.handle.call(Call::Sync);
        promise(async move {
            match replied.await? {
                Reply::Status(status) => Ok(view::status(&status)),
                _ => Ok(JsValue::UNDEFINED),
            }
        })
    }

    /// Sends nothing until `resume`.
    pub fn pause(&self) {
        drop(self.handle.call(Call::Pause));
    }

    /// Goes on.
    pub fn resume(&self) {
        drop(self.handle.call(Call::Resume));
    }

    /// Sends a parked operation again, or, without an id, all of them.
    pub fn retry(&self, id: &JsValue) -> Promise {
        if id.is_undefined() {
            return done(Ok(self.handle.call(Call::RetryAll(MEMORY.to_owned()))));
        }
        self.decide(id, |id| Call::Retry(MEMORY.to_owned(), id))
    }

    /// Gives an operation up.
    pub fn discard(&self, id: &JsValue) -> Promise {
        self.decide(id, |id| Call::Discard(MEMORY.to_owned(), id))
    }

    /// Stores a record whose id is taken under another one.
    #[wasm_bindgen(js_name = saveAsNew)]
    pub fn save_as_new(&self, id: &JsValue) -> Promise {
        let call = parse_id(id)
            .and_then(|id| Ok(Call::SaveAsNew(MEMORY.to_owned(), id, new_id()?)))
            .map(|call| self.handle.call(call));
        done(call)
    }

    /// Passes the browser's hint on.
    pub fn online(&self, online: bool) {
        self.handle.online(online);
    }

    /// Tells whether anybody wants whole events.
    #[wasm_bindgen(js_name = setListening)]
    pub fn set_listening(&self, listening: bool) {
        self.shared.listening.set(listening);
    }

    /// Stops. What is unsent stays.
    pub fn close(&self) -> Promise {
        let (replied, store, shared) = (self.handle.close(), self.store.clone(), Rc::clone(&self.shared));
        promise(async move {
            shared.closed.set(true);
            match replied.await {
                Ok(_) | Err(CallError::Closed) => {}
                Err(error) => return Err(error.into()),
            }
            store.close();
            Ok(JsValue::UNDEFINED)
        })
    }

    fn decide(&self, id: &JsValue, call: impl FnOnce(ClientMemoryId) -> Call) -> Promise {
        done(parse_id(id).map(|id| self.handle.call(call(id))))
    }

    fn entry_of(&self, call: Result<impl Future<Output = Replied> + 'static, Failure>) -> Promise {
        let shared = Rc::clone(&self.shared);
        promise(async move {
            match call?.await? {
                Reply::Record(record) => Ok(shared.entry(&record)),
                _ => Ok(JsValue::UNDEFINED),
            }
        })
    }
}

impl Shared {
    fn entry(&self, record: &Record) -> JsValue {
        self.with_status(|status| view::entry(record, status, BrowserClock.now()))
    }

    fn with_status<T>(&self, use_it: impl FnOnce(&Status) -> T) -> T {
        use_it(self.status.borrow().as_ref().unwrap_or(&Status::default()))
    }

    fn check_open(&self) -> Result<(), Failure> {
        if self.closed.get() { Err(CallError::Closed.into()) } else { Ok(()) }
    }
}

impl Observer for Rc<Shared> {
    fn event(&self, event: &Event) {
        let told = if self.listening.get() {
            self.with_status(|status| view::event(event, status, BrowserClock.now()))
        } else {
            JsValue::UNDEFINED
        };
        // The callbacks are our own JavaScript, which reports what listeners throw.
        let _ = self.on_event.call1(&JsValue::NULL, &told);
    }

    fn status(&self, status: &Status) {
        *self.status.borrow_mut() = Some(status.clone());
        let _ = self.on_status.call1(&JsValue::NULL, &view::status(status));
    }
}

async fn open(options: Options, on_event: Function, on_status: Function) -> Result<Client, Failure> {
    if !Reflect::has(&js_sys::global(), &"indexedDB".into()).unwrap_or(false) {
        return Err(Failure::new("unsupported", "This environment has no IndexedDB; Warifu runs in browsers."));
    }
    let mut seed = [0; 8];
    fill(&mut seed)?;
    let name = database_name(options.owner.as_str(), &options.base_url);
    let store = IndexedDbStore::open(&name, Bounds::default()).await?;
    let shared = Rc::new(Shared {
        status: RefCell::default(),
        listening: Cell::new(false),
        closed: Cell::new(false),
        on_event,
        on_status,
    });
    let cell = Rc::new(OnceCell::<Handle>::new());
    let hears = Rc::clone(&cell);
    let channel = TabChannel::open(&name, move |text: String| {
        if let Some(handle) = hears.get() {
            handle.message(&text);
        }
    });
    let ports = Ports {
        store: store.clone(),
        transport: FetchTransport::new(&options.base_url, options.headers, options.credentials),
        clock: BrowserClock,
        lock: WebLock::new(&name),
        channel,
    };
    let engine = Engine::new(options.config, u64::from_le_bytes(seed));
    let (handle, run) = start(engine, ports, Rc::clone(&shared));
    let _ = cell.set(handle.clone());
    spawn_local(run);
    handle.open().await?;
    Ok(Client { handle, store, shared })
}

fn promise(work: impl Future<Output = Result<JsValue, Failure>> + 'static) -> Promise {
    future_to_promise(async move { work.await.map_err(JsValue::from) })
}

fn done(call: Result<impl Future<Output = Replied> + 'static, Failure>) -> Promise {
    promise(async move {
        call?.await?;
        Ok(JsValue::UNDEFINED)
    })
}

fn new_id() -> Result<ClientMemoryId, Failure> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    Ok(ClientMemoryId::from_random(bytes))
}

fn fill(bytes: &mut [u8]) -> Result<(), Failure> {
    BrowserEntropy.fill(bytes).map_err(|_| {
        Failure::new("unsupported", "This environment has no secure source of randomness, so no safe key can be made.")
    })
}

fn parse_id(id: &JsValue) -> Result<ClientMemoryId, Failure> {
    let text = id.as_string().unwrap_or_default();
    text.parse().map_err(|error: crate::id::IdError| Failure::invalid("id", format!("It is {error}.")))
}

fn check_kind(kind: &str) -> Result<(), Failure> {
    if kind == MEMORY {
        return Ok(());
    }
    Err(Failure::invalid("kind", format!("There is no kind \"{kind}\"; this version knows \"{MEMORY}\".")))
}

fn list_query(kind: String, query: &JsValue) -> Result<ListQuery, Failure> {
    #[derive(Deserialize, Default)]
    struct Query {
        #[serde(default)]
        limit: Option<f64>,
        #[serde(default)]
        after: Option<String>,
        #[serde(default)]
        only: Option<Only>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Only {
        Pending,
        Synced,
        Parked,
    }
    check_kind(&kind)?;
    let query: Query = if query.is_undefined() || query.is_null() {
        Query::default()
    } else {
        serde_wasm_bindgen::from_value(query.clone()).map_err(|error| Failure::invalid("query", error.to_string()))?
    };
    let limit = match query.limit {
        None => PAGE,
        Some(limit) => (1..=PAGE_MAX)
            .find(|whole| f64::from(*whole) == limit)
            .ok_or_else(|| Failure::invalid("limit", format!("It must be a whole number from 1 to {PAGE_MAX}.")))?,
    };
    let before = match query.after {
        None => None,
        Some(after) => {
            Some(after.parse().map_err(|_| Failure::invalid("after", "It must be the `next` of another page."))?)
        }
    };
    let filter = match query.only {
        None => Filter::All,
        Some(Only::Pending) => Filter::Pending,
        Some(Only::Synced) => Filter::Synced,
        Some(Only::Parked) => Filter::Parked,
    };
    Ok(ListQuery { kind, filter, before, limit })
}

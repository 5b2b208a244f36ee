//! The one connection of a handle: opened when it is needed, dropped when it breaks.
//!
//! ```text
//!          ┌───────── close event, fault, timeout ─────────┐
//!          ▼                                                │
//! none ──open──▶ opening ──success──▶ open ──versionchange──▶ none (let go for another tab's upgrade)
//!                  │ blocked, too new, refused, silent: a typed error within a bound
//! ```

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::pin::pin;
use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use futures_util::lock::Mutex;
use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction, IdbVersionChangeEvent};

use super::Bounds;
use super::fault::Fault;
use super::schema;
use crate::adapter::number::whole_from;
use crate::adapter::timers::BrowserClock;
use crate::port::{Clock, StoreError};

/// Keeps a database open.
pub(super) struct Connection {
    name: String,
    bounds: Bounds,
    current: RefCell<Option<Rc<Database>>>,
    /// Held while opening, so that calls made at once open one connection.
    opening: Mutex<()>,
    opened_before: Cell<bool>,
    closed: Cell<bool>,
}

impl Connection {
    pub(super) fn new(name: &str, bounds: Bounds) -> Self {
        Self {
            name: name.to_owned(),
            bounds,
            current: RefCell::default(),
            opening: Mutex::new(()),
            opened_before: Cell::new(false),
            closed: Cell::new(false),
        }
    }

    /// The open database.
    pub(super) async fn database(&self) -> Result<Rc<Database>, Fault> {
        if let Some(database) = self.current()? {
            return Ok(database);
        }
        let _opening = self.opening.lock().await;
        if let Some(database) = self.current()? {
            return Ok(database);
        }
        let database = Rc::new(open(&self.name, self.bounds).await?);
        if self.closed.get() {
            return Err(Fault::Final(StoreError::Closed));
        }
        let deleted_meanwhile = database.created && self.opened_before.replace(true);
        self.current.replace(Some(Rc::clone(&database)));
        self.opened_before.set(true);
        if deleted_meanwhile {
            // Said once: from here on the empty database is the store.
            return Err(Fault::Final(StoreError::Lost("the data was deleted".into())));
        }
        Ok(database)
    }

    /// Forgets a database that does not work any more, unless another one has taken its place.
    pub(super) fn drop_database(&self, broken: &Rc<Database>) {
        let mut current = self.current.borrow_mut();
        if current.as_ref().is_some_and(|current| Rc::ptr_eq(current, broken)) {
            *current = None;
        }
    }

    pub(super) fn close(&self) {
        self.closed.set(true);
        self.current.replace(None);
    }

    fn current(&self) -> Result<Option<Rc<Database>>, Fault> {
        if self.closed.get() {
            return Err(Fault::Final(StoreError::Closed));
        }
        Ok(self.current.borrow().as_ref().filter(|database| database.open.get()).cloned())
    }
}

/// An open database. Dropped, it is closed once its transactions have ended.
pub(super) struct Database {
    raw: IdbDatabase,
    /// It was made just now.
    created: bool,
    open: Rc<Cell<bool>>,
    _let_go: Closure<dyn FnMut(Event)>,
}

impl Database {
    fn new(raw: IdbDatabase, created: bool) -> Self {
        let open = Rc::new(Cell::new(true));
        let let_go = Closure::new({
            let (raw, open) = (raw.clone(), Rc::clone(&open));
            move |_: Event| {
                open.set(false);
                raw.close();
            }
        });
        let listener: &Function = let_go.as_ref().unchecked_ref();
        raw.set_onversionchange(Some(listener));
        raw.set_onclose(Some(listener));
        Self { raw, created, open, _let_go: let_go }
    }

    pub(super) fn raw(&self) -> &IdbDatabase {
        &self.raw
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.raw.set_onversionchange(None);
        self.raw.set_onclose(None);
        self.raw.close();
    }
}

async fn open(name: &str, bounds: Bounds) -> Result<Database, Fault> {
    match within(request(name, Some(schema::VERSION))?, bounds).await {
        Err(Refused::VersionTooOld) => {
            // The error does not tell which version it is.
            let found = match within(request(name, None)?, bounds).await {
                Ok(newer) => u32::try_from(whole_from(newer.raw.version())).unwrap_or(u32::MAX),
                Err(_) => schema::VERSION + 1,
            };
            Err(Fault::Final(StoreError::TooNew { found, known: schema::VERSION }))
        }
        Err(Refused::By(fault)) => Err(fault),
        Ok(database) => Ok(database),
    }
}

enum Refused {
    VersionTooOld,
    By(Fault),
}

fn request(name: &str, version: Option<u32>) -> Result<IdbOpenDbRequest, Fault> {
    let unavailable = |text: &str| Fault::Final(StoreError::Unavailable(text.into()));
    let factory = Reflect::get(&js_sys::global(), &JsValue::from_str("indexedDB")).unwrap_or_default();
    if factory.is_undefined() || factory.is_null() {
        return Err(unavailable("IndexedDB is missing"));
    }
    let factory: IdbFactory = factory.unchecked_into();
    let request = match version {
        Some(version) => factory.open_with_u32(name, version),
        None => factory.open(name),
    };
    request.map_err(|error| refused_at_open(&error))
}

/// Waits for the answer to a request to open, but not for ever.
async fn within(request: IdbOpenDbRequest, bounds: Bounds) -> Result<Database, Refused> {
    let (report_blocked, blocked) = oneshot::channel();
    let opened = watch(request, report_blocked);
    let silence = async {
        let patience = BrowserClock.sleep(bounds.open);
        match select(blocked, pin!(patience)).await {
            Either::Left((Ok(()), _)) => {
                BrowserClock.sleep(bounds.blocked).await;
                StoreError::Blocked
            }
            // It has settled.
            Either::Left((Err(_), _)) => pending().await,
            Either::Right(_) => StoreError::TimedOut,
        }
    };
    match select(opened, pin!(silence)).await {
        Either::Left((Ok(outcome), _)) => outcome,
        Either::Left((Err(_), _)) => Err(Refused::By(Fault::Lost("the request to open was dropped".into()))),
        Either::Right((error, _)) => Err(Refused::By(Fault::Final(error))),
    }
}

/// Sees a request to open through to its end, also when nobody waits for it any more: a connection that nobody holds
/// would block every later upgrade, so it is closed.
fn watch(request: IdbOpenDbRequest, blocked: oneshot::Sender<()>) -> oneshot::Receiver<Result<Database, Refused>> {
    let (settle, settled) = oneshot::channel();
    let created = Rc::new(Cell::new(false));
    let listener = Closure::new({
        let (request, created) = (request.clone(), Rc::clone(&created));
        let (mut settle, mut blocked) = (Some(settle), Some(blocked));
        move |event: Event| match event.type_().as_str() {
            "upgradeneeded" => created.set(upgrade(&request, event.unchecked_ref())),
            "blocked" => send(&mut blocked, ()),
            _ => {
                blocked = None;
                send(&mut settle, ());
            }
        }
    });
    let set = {
        let request = request.clone();
        move |listener: Option<&Function>| {
            request.set_onupgradeneeded(listener);
            request.set_onblocked(listener);
            request.set_onsuccess(listener);
            request.set_onerror(listener);
        }
    };
    set(Some(listener.as_ref().unchecked_ref()));
    let (tell, told) = oneshot::channel();
    spawn_local(async move {
        // The sender lives in the listener, which lives here.
        let _ = settled.await;
        set(None);
        drop(listener);
        let outcome = outcome(&request).map(|raw| Database::new(raw, created.get()));
        // Told to nobody, it comes back, and its drop closes it.
        drop(tell.send(outcome));
    });
    told
}

/// Whether the database was made just now.
fn upgrade(request: &IdbOpenDbRequest, event: &IdbVersionChangeEvent) -> bool {
    let from = u32::try_from(whole_from(event.old_version())).unwrap_or(u32::MAX);
    let upgraded = request.result().and_then(|database| {
        let database: IdbDatabase = database.unchecked_into();
        schema::upgrade(&database, from)
    });
    if upgraded.is_err()
        && let Some(transaction) = request.transaction()
    {
        // The request then ends with an error, and the database is as it was.
        let _ = IdbTransaction::abort(&transaction);
    }
    from == 0
}

fn outcome(request: &IdbOpenDbRequest) -> Result<IdbDatabase, Refused> {
    match request.error() {
        Ok(None) => request.result().map(JsCast::unchecked_into).map_err(|error| Refused::By(error.into())),
        Ok(Some(error)) if error.name() == "VersionError" => Err(Refused::VersionTooOld),
        Ok(Some(error)) => Err(Refused::By(refused_at_open(&error))),
        Err(error) => Err(Refused::By(error.into())),
    }
}

/// At opening, an invalid state is no broken connection: some browsers refuse a private window its storage that way.
fn refused_at_open(error: &JsValue) -> Fault {
    match Fault::from_js(error) {
        Fault::Lost(text) if text.starts_with("InvalidStateError") => Fault::Final(StoreError::Unavailable(text)),
        fault => fault,
    }
}

fn send(sender: &mut Option<oneshot::Sender<()>>, (): ()) {
    if let Some(sender) = sender.take() {
        let _ = sender.send(());
    }
}

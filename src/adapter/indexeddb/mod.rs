//! The store on IndexedDB. A write is done at its transaction's `complete`, never before.
//!
//! A row that cannot be read stays where it is and blocks no other: lists leave it out and the console names it once,
//! while asking for it by name is an error.

mod codec;
mod connection;
mod fault;
mod name;
mod read;
mod schema;
mod transaction;
mod write;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use wasm_bindgen::JsValue;

pub use name::database_name;

use self::codec::{Flaw, Row};
use self::connection::Connection;
use self::fault::Fault;
use self::transaction::{Mode, Transaction};
use super::number::whole_from;
use super::timers::BrowserClock;
use crate::core::operation::Record;
use crate::core::time::Millis;
use crate::id::ClientMemoryId;
use crate::port::{Clock, Due, DueQuery, ListQuery, Meta, Page, Store, StoreError, Write, WriteOutcome};

/// How long to wait for the browser. It is known to fall silent at each of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// For the database to open.
    pub open: Millis,
    /// For other tabs to let go of an older version.
    pub blocked: Millis,
    /// For a transaction to end.
    pub transaction: Millis,
    /// Before a broken connection is opened again.
    pub pause: Millis,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { open: Millis(10_000), blocked: Millis(3_000), transaction: Millis(30_000), pause: Millis(100) }
    }
}

/// A store on IndexedDB. A clone is the same handle; another tab's handle comes from opening it again.
#[derive(Clone)]
pub struct IndexedDbStore {
    shared: Rc<Shared>,
}

struct Shared {
    connection: Connection,
    bounds: Bounds,
    unreadable: RefCell<BTreeSet<u64>>,
}

impl IndexedDbStore {
    /// Opens the database of that name, and makes it when it is not there. See [`database_name`].
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Blocked`], [`StoreError::TooNew`], [`StoreError::TimedOut`],
    /// [`StoreError::Full`] or [`StoreError::Lost`], each within the bounds.
    pub async fn open(name: &str, bounds: Bounds) -> Result<Self, StoreError> {
        let connection = Connection::new(name, bounds);
        let shared = Shared { connection, bounds, unreadable: RefCell::default() };
        let store = Self { shared: Rc::new(shared) };
        store.retrying(async || store.shared.connection.database().await.map(drop)).await?;
        Ok(store)
    }

    /// Closes it. What runs comes to its end; what is asked later is [`StoreError::Closed`].
    pub fn close(&self) {
        self.shared.connection.close();
    }

    /// How many rows were met that cannot be read.
    #[must_use]
    pub fn unreadable(&self) -> usize {
        self.shared.unreadable.borrow().len()
    }

    /// Runs a transaction. When its connection breaks, the whole of it is run once more on a new one: a transaction
    /// that did not complete has kept nothing, and should it have completed unheard, its own conditions refuse it.
    async fn run<T>(&self, mode: Mode, work: impl AsyncFn(&Transaction) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.retrying(async || {
            let connection = &self.shared.connection;
            let database = connection.database().await?;
            let outcome = run_once(&database, mode, self.shared.bounds.transaction, &work).await;
            if let Err(Fault::Lost(_) | Fault::Final(StoreError::TimedOut)) = outcome {
                connection.drop_database(&database);
            }
            outcome
        })
        .await
    }

    async fn retrying<T>(&self, attempt: impl AsyncFn() -> Result<T, Fault>) -> Result<T, StoreError> {
        match attempt().await {
            Err(Fault::Lost(_)) => {
                BrowserClock.sleep(self.shared.bounds.pause).await;
                Ok(attempt().await?)
            }
            outcome => Ok(outcome?),
        }
    }

    fn report(&self, row: &Row, flaw: Flaw) {
        let order = row.order().as_f64().map(whole_from).unwrap_or_default();
        if self.shared.unreadable.borrow_mut().insert(order) {
            let text = format!("warifu: the stored record {order} cannot be read ({flaw}). It is kept, and left out.");
            web_sys::console::error_1(&JsValue::from_str(&text));
        }
    }
}

async fn run_once<T>(
    database: &connection::Database,
    mode: Mode,
    limit: Millis,
    work: &impl AsyncFn(&Transaction) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction = Transaction::begin(database.raw(), mode, limit)?;
    match work(&transaction).await {
        Ok(value) if mode == Mode::Read => {
            transaction.release();
            Ok(value)
        }
        Ok(value) => transaction.complete().await.map(|()| value),
        Err(fault) => {
            if fault != Fault::Final(StoreError::TimedOut) {
                transaction.abort().await;
            }
            Err(fault)
        }
    }
}

impl Store for IndexedDbStore {
    async fn meta(&self) -> Result<Meta, StoreError> {
        self.run(Mode::Read, async |transaction| read::meta(transaction).await).await
    }

    async fn get(&self, kind: &str, id: ClientMemoryId) -> Result<Option<Record>, StoreError> {
        self.run(Mode::Read, async |transaction| read::get(transaction, kind, id).await).await
    }

    async fn load(&self, orders: &[u64]) -> Result<Vec<Record>, StoreError> {
        let unreadable = |row: &Row, flaw| self.report(row, flaw);
        self.run(Mode::Read, async |transaction| read::load(transaction, orders, &unreadable).await).await
    }

    async fn due(&self, query: DueQuery) -> Result<Due, StoreError> {
        let unreadable = |row: &Row, flaw| self.report(row, flaw);
        self.run(Mode::Read, async |transaction| read::due(transaction, query, &unreadable).await).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        let unreadable = |row: &Row, flaw| self.report(row, flaw);
        self.run(Mode::Read, async |transaction| read::list(transaction, query, &unreadable).await).await
    }

    async fn write(&self, write: Write) -> Result<WriteOutcome, StoreError> {
        let mode = Mode::Write(write.durability);
        self.run(mode, async |transaction| write::write(transaction, &write).await).await
    }
}

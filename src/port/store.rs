//! The durable store. Every change of state is one atomic, conditional write.

use crate::core::operation::Record;
use crate::core::time::Time;
use crate::id::ClientMemoryId;

/// A store of records. Several engines, in several tabs, use one store at the same time.
#[allow(async_fn_in_trait, reason = "one thread: no future needs to be Send")]
pub trait Store {
    /// The few facts about the whole queue.
    async fn meta(&self) -> Result<Meta, StoreError>;

    /// One record by its name.
    async fn get(&self, kind: &str, id: ClientMemoryId) -> Result<Option<Record>, StoreError>;

    /// Records by their order, as asked; those that are gone are left out.
    async fn load(&self, orders: &[u64]) -> Result<Vec<Record>, StoreError>;

    /// What may be sent at a time.
    async fn due(&self, query: DueQuery) -> Result<Due, StoreError>;

    /// A page of records, newest first.
    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError>;

    /// Makes all of the changes, or none. Resolves after they are durable, never before.
    async fn write(&self, write: Write) -> Result<WriteOutcome, StoreError>;
}

/// The few facts about the whole queue, in one row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// Counted up whenever a tab begins to be the sender; a sender with an older number is fenced off.
    pub generation: u64,
    /// How many records wait to be sent, the parked ones not counted. Kept by the store in every write.
    pub pending: u64,
    /// How many are parked. Kept by the store in every write.
    pub parked: u64,
    /// How the sending goes.
    pub queue: QueueState,
}

/// How the sending goes, so that a reload does not forget to be patient.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueState {
    /// How often in a row the endpoint gave no verdict.
    pub failures: u32,
    /// When the endpoint may be asked next.
    pub due: Time,
    /// Before when the endpoint itself said not to ask.
    pub floor: Time,
    /// When something was last acknowledged.
    pub last_synced_at: Option<Time>,
}

/// What may be sent: waiting, not parked, and `due <= now` or `due > horizon`. Nothing is ever scheduled beyond the
/// horizon, so a time there was written by a clock that was wrong, and must not strand the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueQuery {
    /// The present.
    pub now: Time,
    /// The latest time that a record can honestly wait for.
    pub horizon: Time,
    /// The most records to give.
    pub max_items: u32,
    /// The most bytes of content to give; the first record is given however large it is.
    pub max_bytes: u32,
}

/// The records that may be sent, by due time and then by order; those beyond the horizon first, since they would
/// otherwise wait behind what is tried again and again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Due {
    /// The first of them, within the limits.
    pub records: Vec<Record>,
    /// Whether others are due beyond the limits.
    pub more: bool,
    /// The earliest due time after `now` and not beyond the horizon.
    pub next: Option<Time>,
}

/// Which records a page is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// All of the kind.
    #[default]
    All,
    /// Not settled: waiting or parked.
    Pending,
    /// Settled.
    Synced,
    /// Waiting for a person.
    Parked,
}

/// A page to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// The kind of record.
    pub kind: String,
    /// Which of them.
    pub filter: Filter,
    /// Only those with an order below this.
    pub before: Option<u64>,
    /// The most records to give.
    pub limit: u32,
}

/// A page of records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Newest first.
    pub records: Vec<Record>,
    /// Whether older ones follow.
    pub more: bool,
}

/// One atomic write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Write {
    /// How sure the write must be when it resolves.
    pub durability: Durability,
    /// Only if the store's generation is this one.
    pub fence: Option<u64>,
    /// Count the generation up: this engine begins to send.
    pub claim: bool,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// How the sending goes from here on.
    pub queue: Option<QueueState>,
}

/// How sure a write is when it resolves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Flushed to the disk: it survives a power cut.
    #[default]
    Strict,
    /// In the hands of the operating system: it survives a crash of the browser.
    Relaxed,
}

/// One change of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A new record. Only if its kind and id are not there. The store gives it an order and revision 1.
    Insert(Record),
    /// Another state of a record. Only if the store's revision of it is `record.revision`, which is counted up, and its
    /// kind and id are the same.
    Replace(Record),
    /// A record goes. Only if the store's revision of it is this.
    Remove {
        /// The record's order.
        order: u64,
        /// The revision that the decision was made on.
        revision: u64,
    },
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// All of it is done and durable.
    Done(Written),
    /// Nothing was changed: another engine has become the sender.
    Fenced,
    /// Nothing was changed: these records are not as expected. Here they are as they stand now.
    Stale(Vec<Mismatch>),
    /// Nothing was changed: the server id in the change at this index belongs to another record of the kind. Told only
    /// when nothing is stale.
    Clash(usize),
}

/// A write that is done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The facts about the queue after it.
    pub meta: Meta,
    /// For each change the order of its record.
    pub orders: Vec<u64>,
}

/// A record that is not as a change expected it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The index of the change.
    pub index: usize,
    /// The record as it stands; `None` when it is gone.
    pub current: Option<Record>,
}

/// Why the store could not do it. Nothing of a failed write is kept, unless it says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no room. Free some, then try again.
    #[error("there is no room left on this device")]
    Full,
    /// There is no store in this environment, or the browser refuses it.
    #[error("the browser does not offer storage here: {0}")]
    Unavailable(String),
    /// Another tab holds an older version of the store open.
    #[error("another tab holds an older version of the storage open; close it")]
    Blocked,
    /// The store was written by a newer version of this library.
    #[error("the storage was written by a newer version ({found}; this one knows {known})")]
    TooNew {
        /// The version found.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// The connection broke and could not be opened again, or the data was deleted.
    #[error("the connection to the storage was lost: {0}")]
    Lost(String),
    /// It did not settle in time: it may still be done.
    #[error("the storage did not answer in time")]
    TimedOut,
    /// A row that cannot be read.
    #[error("a stored record cannot be read: {0}")]
    Corrupt(String),
    /// It was closed.
    #[error("closed")]
    Closed,
}

impl StoreError {
    /// Whether the same call may succeed later without anyone doing anything.
    #[must_use]
    pub fn retryable(&self) -> bool {
        matches!(self, StoreError::Full | StoreError::Blocked | StoreError::Lost(_) | StoreError::TimedOut)
    }
}

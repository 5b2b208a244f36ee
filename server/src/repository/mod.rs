//! What the server keeps, and the one door to it. Each database implements [`Repository`]; nothing else speaks SQL.

mod sqlite;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use warifu::id::{ClientMemoryId, Owner};

use crate::canonical::Fingerprint;

/// The server's name for a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(pub i64);

/// A bearer token as it is stored: its SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// Hashes a token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }
}

/// A memory about to be stored: checked, and with the fingerprint of its create.
#[derive(Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// The device's name for it.
    pub client_memory_id: ClientMemoryId,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// When the device says it was written, verbatim.
    pub created_at: Option<String>,
    /// The members without a column, as the text of a JSON object.
    pub extra: String,
    /// What the create was.
    pub fingerprint: Fingerprint,
}

impl std::fmt::Debug for NewMemory {
    // People's words have no place in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewMemory").field("client_memory_id", &self.client_memory_id).finish_non_exhaustive()
    }
}

/// What an insert came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Creation {
    /// The row's id.
    pub id: MemoryId,
    /// The row's revision now.
    pub revision: u64,
    /// For a row that was there before: what it was created as, and whether it was deleted since.
    pub existing: Option<Existing>,
}

/// A row that was there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    /// What it was created as.
    pub original: Fingerprint,
    /// Deleted since.
    pub deleted: bool,
}

/// A row as a listing shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredMemory {
    /// The row's id.
    pub id: MemoryId,
    /// The device's name for it.
    pub client_memory_id: ClientMemoryId,
    /// The row's revision.
    pub revision: u64,
    /// The owner's change number of its last change.
    pub change: u64,
    /// Its content; `None` once it is deleted.
    pub content: Option<Content>,
}

/// What a person wrote.
#[derive(Clone, PartialEq, Eq)]
pub struct Content {
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// When the device says it was written, verbatim.
    pub created_at: Option<String>,
    /// The members without a column, as the text of a JSON object.
    pub extra: String,
}

/// Why the store did not do it. Nothing of the call was kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Others hold the store; the same call may succeed soon.
    #[error("the store is busy")]
    Busy,
    /// There is no such row.
    #[error("no such memory")]
    NotFound,
    /// It holds what it should not, or was made by a newer version.
    #[error("the store cannot be read: {0}")]
    Corrupt(String),
    /// The database's own error.
    #[error("the store failed")]
    Failed(#[source] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the schema could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
}

/// The store behind the API. Every call is one transaction, done wholly or not at all.
#[async_trait]
pub trait Repository: Send + Sync + 'static {
    /// The owner a token belongs to.
    async fn owner_of(&self, token: TokenHash) -> Result<Option<Owner>, StoreError>;

    /// Gives an owner one more token; makes the owner if need be.
    async fn add_token(&self, owner: &Owner, token: TokenHash) -> Result<(), StoreError>;

    /// Stores what is new and finds what is not, one [`Creation`] for each in the order given. Sort by id before: rows
    /// are locked in this order. Rows that exist are not touched.
    async fn create_all(&self, owner: &Owner, memories: Vec<NewMemory>) -> Result<Vec<Creation>, StoreError>;

    /// The rows changed after a change number, oldest change first: at most `limit`, and no more than one beyond
    /// `max_bytes` of text.
    async fn changed_after(
        &self,
        owner: &Owner,
        change: u64,
        limit: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredMemory>, StoreError>;

    /// Replaces a memory's title and text; its revision counts up. Returns the new revision.
    async fn edit(&self, owner: &Owner, id: MemoryId, title: &str, body: &str) -> Result<u64, StoreError>;

    /// Leaves a tombstone in place of a memory: its words go, its names stay. Deleting twice is no error.
    async fn delete(&self, owner: &Owner, id: MemoryId) -> Result<(), StoreError>;

    /// The names of all rows of an owner, tombstones too.
    async fn names(&self, owner: &Owner) -> Result<Vec<(ClientMemoryId, MemoryId)>, StoreError>;

    /// Makes the next id greater than `id`. For tests of large ids.
    async fn advance_ids(&self, id: MemoryId) -> Result<(), StoreError>;

    /// Waits for running calls and closes. Later calls fail.
    async fn close(&self);
}

/// Where the rows are kept.
#[derive(Debug, Clone)]
pub struct Database {
    place: Place,
    busy_timeout: Duration,
}

#[derive(Debug, Clone)]
enum Place {
    Memory,
    Path(PathBuf),
}

impl Database {
    /// In memory, gone at the end.
    #[must_use]
    pub fn memory() -> Self {
        Self { place: Place::Memory, busy_timeout: Self::BUSY_TIMEOUT }
    }

    /// An SQLite file, made if it is not there.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self { place: Place::Path(path.into()), busy_timeout: Self::BUSY_TIMEOUT }
    }

    /// How long a call waits for others before it is [`StoreError::Busy`].
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Opens the database and brings its schema up to date.
    ///
    /// # Errors
    /// When it cannot be opened, or was made by a newer version.
    pub async fn open(&self) -> Result<Arc<dyn Repository>, StoreError> {
        let path = match &self.place {
            Place::Memory => None,
            Place::Path(path) => Some(path.as_path()),
        };
        Ok(Arc::new(sqlite::Sqlite::open(path, self.busy_timeout).await?))
    }

    const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
}

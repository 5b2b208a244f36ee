//! What the server keeps, apart from how.

use std::fmt;

use sha2::{Digest, Sha256};
use warifu::id::ClientMemoryId;

use crate::canonical::Fingerprint;
use crate::resource::{Resource, Unique};

/// The server's name for a memory, or for another resource's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub i64);

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

impl fmt::Debug for Content {
    // People's words have no place in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Content(..)")
    }
}

/// A memory about to be stored: checked, and with the fingerprint of its create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// The device's name for it, which is its create's key too.
    pub client_memory_id: ClientMemoryId,
    /// Its words.
    pub content: Content,
    /// What the create was.
    pub fingerprint: Fingerprint,
}

/// What one create of a batch came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    /// The row was inserted now.
    Created(RowId),
    /// The row was there before. It was not touched.
    Found {
        /// The row's id.
        id: RowId,
        /// The row's revision now.
        revision: u64,
        /// It was deleted since.
        deleted: bool,
        /// What it was created as.
        original: Fingerprint,
    },
    /// The key belongs to another kind of operation.
    Taken,
}

/// A memory as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMemory {
    /// The row's id.
    pub id: RowId,
    /// The device's name for it.
    pub client_memory_id: ClientMemoryId,
    /// The row's revision.
    pub revision: u64,
    /// The owner's change number of its last change.
    pub change: u64,
    /// Its content; `None` once it is deleted.
    pub content: Option<Content>,
}

/// A row of a [`Resource`]: the values of its fields, in the order in which they are declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// The row's id.
    pub id: RowId,
    /// The owner's change number of its insert.
    pub change: u64,
    /// Its values.
    pub values: Vec<String>,
}

/// An operation about to be done, named by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Its key, unique within the owner.
    pub key: String,
    /// What is asked, such as `invoices.create`.
    pub endpoint: &'static str,
    /// The row that the address names; empty for a create.
    pub target: String,
    /// What the request was.
    pub fingerprint: Fingerprint,
    /// When the key may be forgotten, in Unix seconds; `None` is never.
    pub expires_at: Option<i64>,
}

/// An operation that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOperation {
    /// What was asked.
    pub endpoint: String,
    /// The row that the address named; empty for a create.
    pub target: String,
    /// The row it made or changed.
    pub row: RowId,
    /// What the request was.
    pub fingerprint: Fingerprint,
    /// Its answer, where one was kept.
    pub answer: Option<String>,
}

/// A change of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The revision that the person saw.
    pub base_revision: u64,
    /// The words from now on. Without a `created_at` the old one stays.
    pub content: Content,
}

/// Writes the answer that tells of a memory.
pub type RenderMemory = fn(&StoredMemory) -> String;

/// Writes the answer that tells of a resource's row.
pub type RenderRecord = fn(&Resource, &StoredRecord) -> String;

/// What an operation came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Performed {
    /// Done now; the answer, kept for replays.
    Done {
        /// The row it made or changed.
        row: RowId,
        /// The body of the answer.
        answer: String,
    },
    /// The key was used before: by this, or so says its fingerprint. Nothing was done.
    Known(StoredOperation),
    /// It cannot be done. Nothing was, and the key is free.
    Refused(Refused),
}

/// Why an operation cannot be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// Another row has the same business identity; the constraint that says so.
    Unique(&'static Unique),
    /// There is no such row of this owner.
    NotFound,
    /// The row was deleted before.
    Gone,
    /// The row has another revision than the person saw; the row as it is.
    Revision(Box<StoredMemory>),
}

/// Why the store did not do it. Nothing of the call was kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Others hold the store, or it cannot be reached; the same call may succeed soon.
    #[error("the store is busy")]
    Busy,
    /// The first operation under this key is still running.
    #[error("an operation under this key is still running")]
    InProgress,
    /// The database chose this transaction to end a deadlock or a conflict of serialization: it can be run again, whole.
    #[error("the transaction was rolled back in favour of another")]
    Victim,
    /// Nobody answers at its address, or refuses to let us in. Only when it is opened.
    #[error("the database cannot be reached")]
    Unreachable(#[source] sqlx::Error),
    /// It holds what it should not, or was made by a newer version.
    #[error("the store cannot be read: {0}")]
    Corrupt(String),
    /// The database's own error.
    #[error("the store failed")]
    Failed(#[source] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the schema could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The database's address cannot be read.
    #[error("not a database's URL: {0}")]
    Url(String),
}

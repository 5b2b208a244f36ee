//! What the server keeps, and the one door to it. Each database implements [`Repository`]; nothing else speaks SQL.

mod database;
mod error;
mod model;
mod postgres;
mod sqlite;

use async_trait::async_trait;
use warifu::id::{ClientMemoryId, Owner};

use crate::resource::Resource;

pub use database::Database;
pub use model::{
    Content, Creation, Edit, NewMemory, Operation, Performed, Refused, RenderMemory, RenderRecord, RowId, StoreError,
    StoredMemory, StoredOperation, StoredRecord, TokenHash,
};

/// What creates of memories are called where keys are kept.
pub const CREATE_MEMORY: &str = "memories.create";

/// The store behind the API. Every call is one transaction, done wholly or not at all, and sees one owner's rows only.
#[async_trait]
pub trait Repository: Send + Sync + 'static {
    /// The owner a token belongs to.
    async fn owner_of(&self, token: TokenHash) -> Result<Option<Owner>, StoreError>;

    /// Makes an owner, if it is not there yet. Only an owner that was made can have rows.
    async fn add_owner(&self, owner: &Owner) -> Result<(), StoreError>;

    /// Gives an owner one more token; makes the owner if need be.
    async fn add_token(&self, owner: &Owner, token: TokenHash) -> Result<(), StoreError>;

    /// What was done under a key. For telling a replay early: only the calls below decide whether something is done.
    async fn operation(&self, owner: &Owner, key: &str) -> Result<Option<StoredOperation>, StoreError>;

    /// Stores what is new and finds what is not, one [`Creation`] for each in the order given. Sort by id before, each
    /// once: keys are taken in this order. Rows that exist are not touched.
    async fn create_all(&self, owner: &Owner, memories: &[NewMemory]) -> Result<Vec<Creation>, StoreError>;

    /// Creates one memory. `answer` writes the answer that is kept for replays.
    async fn create_memory(
        &self,
        owner: &Owner,
        operation: &Operation,
        memory: &NewMemory,
        answer: RenderMemory,
    ) -> Result<Performed, StoreError>;

    /// Creates one row of a resource, its values in the order of the resource's fields.
    async fn create_record(
        &self,
        owner: &Owner,
        operation: &Operation,
        resource: &'static Resource,
        values: &[String],
        answer: RenderRecord,
    ) -> Result<Performed, StoreError>;

    /// Replaces a memory's words; its revision counts up.
    async fn edit_memory(
        &self,
        owner: &Owner,
        operation: &Operation,
        id: RowId,
        edit: &Edit,
        answer: RenderMemory,
    ) -> Result<Performed, StoreError>;

    /// Leaves a tombstone in place of a memory: its words go, from kept answers too; its names stay.
    async fn delete_memory(&self, owner: &Owner, operation: &Operation, id: RowId) -> Result<Performed, StoreError>;

    /// One memory, its tombstone too.
    async fn memory(&self, owner: &Owner, id: RowId) -> Result<Option<StoredMemory>, StoreError>;

    /// The memories changed after a change number, oldest change first: at most `limit`, and no more than one beyond
    /// `max_bytes` of text.
    async fn changed_after(
        &self,
        owner: &Owner,
        change: u64,
        limit: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredMemory>, StoreError>;

    /// One row of a resource.
    async fn record(
        &self,
        owner: &Owner,
        resource: &'static Resource,
        id: RowId,
    ) -> Result<Option<StoredRecord>, StoreError>;

    /// The rows of a resource inserted after a change number, oldest first, at most `limit`.
    async fn records_after(
        &self,
        owner: &Owner,
        resource: &'static Resource,
        change: u64,
        limit: u32,
    ) -> Result<Vec<StoredRecord>, StoreError>;

    /// The names of all memories of an owner, tombstones too.
    async fn names(&self, owner: &Owner) -> Result<Vec<(ClientMemoryId, RowId)>, StoreError>;

    /// Forgets the keys that expired before a time in Unix seconds. Gives how many.
    async fn forget_expired(&self, now: i64) -> Result<u64, StoreError>;

    /// Makes the next memory's id greater than `id`. For tests of large ids.
    async fn advance_ids(&self, id: RowId) -> Result<(), StoreError>;

    /// Whether the database answers now.
    async fn ready(&self) -> Result<(), StoreError>;

    /// Waits for running calls and closes. Later calls fail.
    async fn close(&self);
}

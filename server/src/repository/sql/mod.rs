//! The statements, in the SQL that both databases understand. What differs is in the module above, one for each.

mod listing;
mod memories;
mod operations;
mod records;

use std::time::Duration;

use async_trait::async_trait;
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use warifu::id::{ClientMemoryId, Owner};

use super::super::Repository;
use super::super::model::{
    Creation, Edit, NewMemory, Operation, Performed, RenderMemory, RenderRecord, RowId, StoreError, StoredMemory,
    StoredOperation, StoredRecord, TokenHash,
};
use super::{Connection, Store};
use crate::resource::Resource;

/// How often a transaction that the database sacrificed is run again.
const RERUNS: u32 = 8;

/// The steps of a schema as a migrator.
pub(super) fn migrator(steps: &[(i64, &'static str, &'static str)]) -> Migrator {
    let steps = steps.iter().map(|(version, name, sql)| {
        Migration::new(*version, (*name).into(), MigrationType::Simple, (*sql).into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

/// Runs a transaction, again and whole if the database sacrificed it to others.
macro_rules! rerun {
    ($transaction:expr) => {{
        let mut reruns = 0;
        loop {
            match $transaction.await {
                Err(StoreError::Victim) if reruns < RERUNS => {
                    reruns += 1;
                    step_back(reruns).await;
                }
                Err(StoreError::Victim) => break Err(StoreError::Busy),
                done => break done,
            }
        }
    }};
}

/// Waits a little before a rerun, each for another while.
async fn step_back(reruns: u32) {
    let mut byte = [0_u8];
    // Without randomness they only meet more often.
    let _ = getrandom::fill(&mut byte);
    tokio::time::sleep(Duration::from_micros(u64::from(byte[0]) * 40 * u64::from(reruns))).await;
}

#[async_trait]
impl Repository for Store {
    async fn owner_of(&self, token: TokenHash) -> Result<Option<Owner>, StoreError> {
        let name: Option<String> = sqlx::query_scalar("SELECT owner FROM tokens WHERE token_hash = $1")
            .bind(&token.0[..])
            .fetch_optional(self.readers())
            .await?;
        name.map(|name| name.parse().map_err(|_| StoreError::Corrupt("an owner's name".to_owned()))).transpose()
    }

    async fn add_owner(&self, owner: &Owner) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        insert_owner(&mut tx, owner).await?;
        Ok(tx.commit().await?)
    }

    async fn add_token(&self, owner: &Owner, token: TokenHash) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        insert_owner(&mut tx, owner).await?;
        sqlx::query(
            "INSERT INTO tokens (token_hash, owner) VALUES ($1, $2)
             ON CONFLICT (token_hash) DO UPDATE SET owner = excluded.owner",
        )
        .bind(&token.0[..])
        .bind(owner.as_str())
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    async fn operation(&self, owner: &Owner, key: &str) -> Result<Option<StoredOperation>, StoreError> {
        operations::find(&mut *self.readers().acquire().await?, owner, key).await
    }

    async fn create_all(&self, owner: &Owner, memories: &[NewMemory]) -> Result<Vec<Creation>, StoreError> {
        rerun!(memories::create_all(self, owner, memories))
    }

    async fn create_memory(
        &self,
        owner: &Owner,
        operation: &Operation,
        memory: &NewMemory,
        answer: RenderMemory,
    ) -> Result<Performed, StoreError> {
        rerun!(memories::create(self, owner, operation, memory, answer))
    }

    async fn create_record(
        &self,
        owner: &Owner,
        operation: &Operation,
        resource: &'static Resource,
        values: &[String],
        answer: RenderRecord,
    ) -> Result<Performed, StoreError> {
        rerun!(records::create(self, owner, operation, resource, values, answer))
    }

    async fn edit_memory(
        &self,
        owner: &Owner,
        operation: &Operation,
        id: RowId,
        edit: &Edit,
        answer: RenderMemory,
    ) -> Result<Performed, StoreError> {
        rerun!(memories::edit(self, owner, operation, id, edit, answer))
    }

    async fn delete_memory(&self, owner: &Owner, operation: &Operation, id: RowId) -> Result<Performed, StoreError> {
        rerun!(memories::delete(self, owner, operation, id))
    }

    async fn memory(&self, owner: &Owner, id: RowId) -> Result<Option<StoredMemory>, StoreError> {
        listing::memory(&mut *self.readers().acquire().await?, owner, id, "").await
    }

    async fn changed_after(
        &self,
        owner: &Owner,
        change: u64,
        limit: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        listing::changed_after(&mut *self.readers().acquire().await?, owner, change, limit, max_bytes).await
    }

    async fn record(
        &self,
        owner: &Owner,
        resource: &'static Resource,
        id: RowId,
    ) -> Result<Option<StoredRecord>, StoreError> {
        records::find(&mut *self.readers().acquire().await?, owner, resource, id).await
    }

    async fn records_after(
        &self,
        owner: &Owner,
        resource: &'static Resource,
        change: u64,
        limit: u32,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        records::after(&mut *self.readers().acquire().await?, owner, resource, change, limit).await
    }

    async fn names(&self, owner: &Owner) -> Result<Vec<(ClientMemoryId, RowId)>, StoreError> {
        listing::names(&mut *self.readers().acquire().await?, owner).await
    }

    async fn forget_expired(&self, now: i64) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let forgotten = operations::forget_expired(&mut tx, now).await?;
        tx.commit().await?;
        Ok(forgotten)
    }

    async fn advance_ids(&self, id: RowId) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        super::advance_ids(&mut tx, id.0).await?;
        Ok(tx.commit().await?)
    }

    async fn ready(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(self.readers()).await?;
        Ok(())
    }

    async fn close(&self) {
        self.close().await;
    }
}

async fn insert_owner(connection: &mut Connection, owner: &Owner) -> Result<(), StoreError> {
    // Looked for first: an insert would wait for whoever is just changing the owner's row, conflict or not.
    sqlx::query(
        "INSERT INTO owners (owner) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM owners WHERE owner = $1)
         ON CONFLICT (owner) DO NOTHING",
    )
    .bind(owner.as_str())
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes the owner's next change numbers, and the owner's lock until the transaction ends: the last thing it waits for.
/// Gives the first of them.
async fn draw_changes(connection: &mut Connection, owner: &Owner, count: usize) -> Result<i64, StoreError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last: i64 =
        sqlx::query_scalar("UPDATE owners SET last_change = last_change + $2 WHERE owner = $1 RETURNING last_change")
            .bind(owner.as_str())
            .bind(count)
            .fetch_one(connection)
            .await?;
    Ok(last - count + 1)
}

fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| StoreError::Corrupt("a negative count".to_owned()))
}

//! The embedded database: one writer at a time, readers beside it.

use std::path::Path;
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Sqlite, SqliteConnection, SqlitePool, SqliteTransaction};
use tokio::time::Instant;

use super::database::Database;
use super::model::StoreError;
use crate::resource::Resource;

// The same text is compiled for each database.
#[allow(clippy::duplicate_mod)]
#[path = "sql/mod.rs"]
mod sql;

type Db = Sqlite;
type Connection = SqliteConnection;
type Row = SqliteRow;

/// The schema's steps, in order. One that was released is never changed again.
const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "memories", include_str!("../../migrations/sqlite/0001_memories.sql")),
    (2, "operations", include_str!("../../migrations/sqlite/0002_operations.sql")),
];

/// A writer holds the whole database already.
const FOR_UPDATE: &str = "";

/// How a decimal is written and read back: as text it keeps every digit by itself.
const DECIMAL_IN: &str = "";
const DECIMAL_OUT: &str = "";

/// Opening takes its time on a loaded machine, however impatient the calls are that come later.
const OPEN_AT_LEAST: Duration = Duration::from_secs(10);

const READERS: u32 = 4;

pub(super) struct Store {
    /// One connection: writers in this process wait in a fair line for it instead of polling the file's lock.
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Store {
    pub(super) async fn open(path: Option<&Path>, database: &Database) -> Result<Self, StoreError> {
        let busy_timeout = database.busy_timeout;
        let options = match path {
            Some(path) => {
                SqliteConnectOptions::new().filename(path).create_if_missing(true).journal_mode(SqliteJournalMode::Wal)
            }
            None => SqliteConnectOptions::new().in_memory(true),
        };
        // FULL: what was answered survives a power cut.
        let options = options
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(busy_timeout)
            .disable_statement_logging();
        let pool = |connections: u32| {
            PoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(busy_timeout)
                .idle_timeout(None)
                .max_lifetime(None)
        };
        let writer = pool(1).connect_lazy_with(options.clone());
        // A database in memory belongs to its one connection.
        let readers = if path.is_some() { pool(READERS).connect_lazy_with(options) } else { writer.clone() };
        let store = Self { writer, readers };
        // Changing to WAL can meet another opener without waiting for it, so this waits by itself.
        let give_up = Instant::now() + busy_timeout.max(OPEN_AT_LEAST);
        loop {
            match store.migrate().await {
                Err(StoreError::Busy) if Instant::now() < give_up => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                done => return done.map(|()| store),
            }
        }
    }

    /// All inside one transaction: two processes that open a new file together take turns.
    async fn migrate(&self) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        sql::migrator(&MIGRATIONS).run_direct(None, &mut *tx, false).await?;
        Ok(tx.commit().await?)
    }

    async fn begin(&self) -> Result<SqliteTransaction<'static>, StoreError> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }

    fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}

/// Takes the next ids of a table.
async fn draw_ids(connection: &mut Connection, table: &str, count: usize) -> Result<Vec<i64>, StoreError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let last: i64 = sqlx::query_scalar("UPDATE sequences SET last = last + $2 WHERE name = $1 RETURNING last")
        .bind(table)
        .bind(count)
        .fetch_one(connection)
        .await?;
    Ok((last - count + 1..=last).collect())
}

/// Makes the next memory's id greater than `id`, and than any there is.
async fn advance_ids(connection: &mut Connection, id: i64) -> Result<(), StoreError> {
    sqlx::query("UPDATE sequences SET last = max(last, $1) WHERE name = 'memories'")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Whether an insert broke the resource's business constraint. SQLite names the columns, not the constraint.
fn broke_business_key(error: &sqlx::Error, resource: &Resource) -> bool {
    let sqlx::Error::Database(error) = error else {
        return false;
    };
    let columns: Vec<String> = std::iter::once("owner")
        .chain(resource.business.fields.iter().copied())
        .map(|column| format!("{}.{column}", resource.name))
        .collect();
    error.is_unique_violation() && error.message().ends_with(&format!(": {}", columns.join(", ")))
}

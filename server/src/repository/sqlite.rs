//! The embedded database: one writer at a time, readers beside it.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::pool::PoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Row as _, SqlSafeStr as _, SqlitePool, SqliteTransaction};
use tokio::time::Instant;
use warifu::id::{ClientMemoryId, Owner};

use super::{Content, Creation, Existing, MemoryId, NewMemory, Repository, StoreError, StoredMemory, TokenHash};
use crate::canonical::Fingerprint;

/// The schema's steps, in order. One that was released is never changed again.
const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "memories", include_str!("../../migrations/sqlite/0001_memories.sql"))];

/// Opening takes its time on a loaded machine, however impatient the calls are that come later.
const OPEN_AT_LEAST: Duration = Duration::from_secs(10);

const READERS: u32 = 4;

pub(super) struct Sqlite {
    /// One connection: writers in this process wait in a fair line for it instead of polling the file's lock.
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Sqlite {
    pub(super) async fn open(path: Option<&Path>, busy_timeout: Duration) -> Result<Self, StoreError> {
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

    async fn migrate(&self) -> Result<(), StoreError> {
        let steps = MIGRATIONS.map(|(version, name, sql)| {
            Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
        });
        let migrator = Migrator::with_migrations(steps.to_vec());
        // All inside one transaction: two processes that open a new file together take turns.
        let mut tx = self.begin().await?;
        migrator.run_direct(None, &mut *tx, false).await?;
        Ok(tx.commit().await?)
    }

    async fn begin(&self) -> Result<SqliteTransaction<'static>, StoreError> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }
}

#[async_trait]
impl Repository for Sqlite {
    async fn owner_of(&self, token: TokenHash) -> Result<Option<Owner>, StoreError> {
        let name: Option<String> = sqlx::query_scalar("SELECT owner FROM tokens WHERE token_hash = ?")
            .bind(&token.0[..])
            .fetch_optional(&self.readers)
            .await?;
        name.map(|name| name.parse().map_err(|_| StoreError::Corrupt("an owner's name".to_owned()))).transpose()
    }

    async fn add_token(&self, owner: &Owner, token: TokenHash) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        ensure_owner(&mut tx, owner).await?;
        sqlx::query(
            "INSERT INTO tokens (token_hash, owner) VALUES (?, ?)
             ON CONFLICT (token_hash) DO UPDATE SET owner = excluded.owner",
        )
        .bind(&token.0[..])
        .bind(owner.as_str())
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    async fn create_all(&self, owner: &Owner, memories: Vec<NewMemory>) -> Result<Vec<Creation>, StoreError> {
        let mut tx = self.begin().await?;
        ensure_owner(&mut tx, owner).await?;
        let mut results = Vec::with_capacity(memories.len());
        for memory in &memories {
            results.push(match insert(&mut tx, owner, memory).await? {
                Some(id) => Creation { id, revision: 1, existing: None },
                None => find(&mut tx, owner, memory.client_memory_id).await?,
            });
        }
        let new: Vec<MemoryId> = results.iter().filter(|r| r.existing.is_none()).map(|r| r.id).collect();
        number_changes(&mut tx, owner, &new).await?;
        tx.commit().await?;
        Ok(results)
    }

    async fn changed_after(
        &self,
        owner: &Owner,
        change: u64,
        limit: u32,
        max_bytes: usize,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let Ok(change) = i64::try_from(change) else {
            return Ok(Vec::new());
        };
        let mut rows = sqlx::query(
            "SELECT id, client_memory_id, revision, change_number, deleted, title, body, created_at, extra
             FROM memories WHERE owner = ? AND change_number > ? ORDER BY change_number LIMIT ?",
        )
        .bind(owner.as_str())
        .bind(change)
        .bind(limit)
        .fetch(&self.readers);
        let (mut memories, mut bytes) = (Vec::new(), 0_usize);
        while let Some(row) = rows.try_next().await? {
            let memory = read_memory(&row)?;
            bytes += memory.content.as_ref().map_or(0, |c| c.title.len() + c.body.len() + c.extra.len());
            memories.push(memory);
            if bytes >= max_bytes {
                break;
            }
        }
        Ok(memories)
    }

    async fn edit(&self, owner: &Owner, id: MemoryId, title: &str, body: &str) -> Result<u64, StoreError> {
        let mut tx = self.begin().await?;
        let revision: Option<i64> = sqlx::query_scalar(
            "UPDATE memories SET title = ?, body = ?, revision = revision + 1
             WHERE owner = ? AND id = ? AND deleted = 0 RETURNING revision",
        )
        .bind(title)
        .bind(body)
        .bind(owner.as_str())
        .bind(id.0)
        .fetch_optional(&mut *tx)
        .await?;
        let revision = unsigned(revision.ok_or(StoreError::NotFound)?)?;
        number_changes(&mut tx, owner, &[id]).await?;
        tx.commit().await?;
        Ok(revision)
    }

    async fn delete(&self, owner: &Owner, id: MemoryId) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        let deleted: Option<i64> = sqlx::query_scalar("SELECT deleted FROM memories WHERE owner = ? AND id = ?")
            .bind(owner.as_str())
            .bind(id.0)
            .fetch_optional(&mut *tx)
            .await?;
        if deleted.ok_or(StoreError::NotFound)? == 0 {
            sqlx::query(
                "UPDATE memories SET title = '', body = '', created_at = NULL, extra = '{}', deleted = 1,
                 revision = revision + 1 WHERE id = ?",
            )
            .bind(id.0)
            .execute(&mut *tx)
            .await?;
            number_changes(&mut tx, owner, &[id]).await?;
        }
        Ok(tx.commit().await?)
    }

    async fn names(&self, owner: &Owner) -> Result<Vec<(ClientMemoryId, MemoryId)>, StoreError> {
        let rows = sqlx::query("SELECT client_memory_id, id FROM memories WHERE owner = ? ORDER BY id")
            .bind(owner.as_str())
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(|row| Ok((client_id(row, 0)?, MemoryId(row.try_get(1)?)))).collect()
    }

    async fn advance_ids(&self, id: MemoryId) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        // SQLite's own table has no unique column to conflict on.
        sqlx::query("DELETE FROM sqlite_sequence WHERE name = 'memories'").execute(&mut *tx).await?;
        sqlx::query(
            "INSERT INTO sqlite_sequence (name, seq) SELECT 'memories', max(?, coalesce(max(id), 0)) FROM memories",
        )
        .bind(id.0)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }
}

async fn ensure_owner(tx: &mut SqliteTransaction<'_>, owner: &Owner) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO owners (name) VALUES (?) ON CONFLICT (name) DO NOTHING")
        .bind(owner.as_str())
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn insert(
    tx: &mut SqliteTransaction<'_>,
    owner: &Owner,
    memory: &NewMemory,
) -> Result<Option<MemoryId>, StoreError> {
    let id: Option<i64> = sqlx::query_scalar(
        "INSERT INTO memories (owner, client_memory_id, title, body, created_at, extra, fingerprint_version,
         fingerprint, raw_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (owner, client_memory_id) DO NOTHING RETURNING id",
    )
    .bind(owner.as_str())
    .bind(memory.client_memory_id.to_string())
    .bind(&memory.title)
    .bind(&memory.body)
    .bind(&memory.created_at)
    .bind(&memory.extra)
    .bind(memory.fingerprint.version)
    .bind(&memory.fingerprint.canonical[..])
    .bind(&memory.fingerprint.raw[..])
    .fetch_optional(&mut **tx)
    .await?;
    Ok(id.map(MemoryId))
}

async fn find(tx: &mut SqliteTransaction<'_>, owner: &Owner, id: ClientMemoryId) -> Result<Creation, StoreError> {
    let row = sqlx::query(
        "SELECT id, revision, deleted, fingerprint_version, fingerprint, raw_hash
         FROM memories WHERE owner = ? AND client_memory_id = ?",
    )
    .bind(owner.as_str())
    .bind(id.to_string())
    .fetch_one(&mut **tx)
    .await?;
    let hash = |index: usize| -> Result<[u8; 32], StoreError> {
        let bytes: Vec<u8> = row.try_get(index)?;
        bytes.try_into().map_err(|_| StoreError::Corrupt("a fingerprint".to_owned()))
    };
    Ok(Creation {
        id: MemoryId(row.try_get(0)?),
        revision: unsigned(row.try_get(1)?)?,
        existing: Some(Existing {
            deleted: row.try_get(2)?,
            original: Fingerprint { version: row.try_get(3)?, canonical: hash(4)?, raw: hash(5)? },
        }),
    })
}

/// Gives each of the rows the owner's next change number.
async fn number_changes(tx: &mut SqliteTransaction<'_>, owner: &Owner, ids: &[MemoryId]) -> Result<(), StoreError> {
    for id in ids {
        sqlx::query("UPDATE owners SET last_change = last_change + 1 WHERE name = ?")
            .bind(owner.as_str())
            .execute(&mut **tx)
            .await?;
        sqlx::query(
            "UPDATE memories SET change_number = (SELECT last_change FROM owners WHERE name = owner) WHERE id = ?",
        )
        .bind(id.0)
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

fn read_memory(row: &SqliteRow) -> Result<StoredMemory, StoreError> {
    let content = if row.try_get(4)? {
        None
    } else {
        Some(Content {
            title: row.try_get(5)?,
            body: row.try_get(6)?,
            created_at: row.try_get(7)?,
            extra: row.try_get(8)?,
        })
    };
    Ok(StoredMemory {
        id: MemoryId(row.try_get(0)?),
        client_memory_id: client_id(row, 1)?,
        revision: unsigned(row.try_get(2)?)?,
        change: unsigned(row.try_get(3)?)?,
        content,
    })
}

fn client_id(row: &SqliteRow, index: usize) -> Result<ClientMemoryId, StoreError> {
    row.try_get::<String, _>(index)?.parse().map_err(|_| StoreError::Corrupt("a clientMemoryId".to_owned()))
}

fn unsigned(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| StoreError::Corrupt("a negative count".to_owned()))
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        const SQLITE_BUSY: u32 = 5;
        const SQLITE_LOCKED: u32 = 6;
        let busy = match &error {
            sqlx::Error::PoolTimedOut => true,
            // The low byte is the kind; the rest says which of its cases.
            sqlx::Error::Database(e) => {
                let code = e.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
                matches!(code, Some(SQLITE_BUSY | SQLITE_LOCKED))
            }
            _ => false,
        };
        if busy { Self::Busy } else { Self::Failed(error) }
    }
}

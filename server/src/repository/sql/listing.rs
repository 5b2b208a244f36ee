//! Reading memories.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Row as _};
use warifu::id::{ClientMemoryId, Owner};

use super::super::{Connection, Row};
use super::unsigned;
use crate::repository::model::{Content, RowId, StoreError, StoredMemory};

const COLUMNS: &str = "id, client_memory_id, revision, change_number, deleted, title, body, created_at, extra";

/// One memory; `lock` is what the database wants to hold the row until the transaction ends.
pub(super) async fn memory(
    connection: &mut Connection,
    owner: &Owner,
    id: RowId,
    lock: &'static str,
) -> Result<Option<StoredMemory>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM memories WHERE owner = $1 AND id = $2{lock}");
    let row = sqlx::query(AssertSqlSafe(sql)).bind(owner.as_str()).bind(id.0).fetch_optional(connection).await?;
    row.as_ref().map(read).transpose()
}

pub(super) async fn changed_after(
    connection: &mut Connection,
    owner: &Owner,
    change: u64,
    limit: u32,
    max_bytes: usize,
) -> Result<Vec<StoredMemory>, StoreError> {
    let Ok(change) = i64::try_from(change) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE owner = $1 AND change_number > $2 ORDER BY change_number LIMIT $3"
    );
    let mut rows =
        sqlx::query(AssertSqlSafe(sql)).bind(owner.as_str()).bind(change).bind(i64::from(limit)).fetch(connection);
    let (mut memories, mut bytes) = (Vec::new(), 0_usize);
    while let Some(row) = rows.try_next().await? {
        let memory = read(&row)?;
        bytes += memory.content.as_ref().map_or(0, |c| c.title.len() + c.body.len() + c.extra.len());
        memories.push(memory);
        if bytes >= max_bytes {
            break;
        }
    }
    Ok(memories)
}

pub(super) async fn names(
    connection: &mut Connection,
    owner: &Owner,
) -> Result<Vec<(ClientMemoryId, RowId)>, StoreError> {
    let rows = sqlx::query("SELECT client_memory_id, id FROM memories WHERE owner = $1 ORDER BY id")
        .bind(owner.as_str())
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| Ok((client_id(row, 0)?, RowId(row.try_get(1)?)))).collect()
}

fn read(row: &Row) -> Result<StoredMemory, StoreError> {
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
        id: RowId(row.try_get(0)?),
        client_memory_id: client_id(row, 1)?,
        revision: unsigned(row.try_get(2)?)?,
        change: unsigned(row.try_get(3)?)?,
        content,
    })
}

fn client_id(row: &Row, index: usize) -> Result<ClientMemoryId, StoreError> {
    row.try_get::<String, _>(index)?.parse().map_err(|_| StoreError::Corrupt("a clientMemoryId".to_owned()))
}

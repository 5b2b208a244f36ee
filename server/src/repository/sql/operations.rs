//! Keys, and what was done under them.

use std::collections::{HashMap, HashSet};

use sqlx::{QueryBuilder, Row as _};
use warifu::id::Owner;

use super::super::{Connection, Db, Row};
use super::unsigned;
use crate::canonical::Fingerprint;
use crate::repository::CREATE_MEMORY;
use crate::repository::model::{Creation, NewMemory, Operation, RowId, StoreError, StoredOperation};

/// How many rows one statement takes; the databases bound its parameters.
pub(super) const ROWS_AT_ONCE: usize = 1000;

pub(super) async fn find(
    connection: &mut Connection,
    owner: &Owner,
    key: &str,
) -> Result<Option<StoredOperation>, StoreError> {
    let row = sqlx::query(
        "SELECT endpoint, target, row_id, answer, fingerprint_version, fingerprint, raw_hash
         FROM operations WHERE owner = $1 AND key = $2",
    )
    .bind(owner.as_str())
    .bind(key)
    .fetch_optional(connection)
    .await?;
    row.map(|row| {
        Ok(StoredOperation {
            endpoint: row.try_get(0)?,
            target: row.try_get(1)?,
            row: RowId(row.try_get(2)?),
            answer: row.try_get(3)?,
            fingerprint: fingerprint(&row, 4)?,
        })
    })
    .transpose()
}

/// Takes the key for this transaction: `false` when it is taken. Waits for another transaction that is taking it, and
/// that wait is the only one that ends as [`StoreError::InProgress`].
pub(super) async fn claim(
    connection: &mut Connection,
    owner: &Owner,
    operation: &Operation,
    row: RowId,
    answer: Option<&str>,
) -> Result<bool, StoreError> {
    let claimed = sqlx::query(
        "INSERT INTO operations (owner, key, endpoint, target, row_id, fingerprint_version, fingerprint, raw_hash,
         answer, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (owner, key) DO NOTHING",
    )
    .bind(owner.as_str())
    .bind(&operation.key)
    .bind(operation.endpoint)
    .bind(&operation.target)
    .bind(row.0)
    .bind(i64::from(operation.fingerprint.version))
    .bind(&operation.fingerprint.canonical[..])
    .bind(&operation.fingerprint.raw[..])
    .bind(answer)
    .bind(operation.expires_at)
    .execute(connection)
    .await
    .map_err(|error| match StoreError::from(error) {
        StoreError::Busy => StoreError::InProgress,
        error => error,
    })?;
    Ok(claimed.rows_affected() == 1)
}

/// Takes the keys of many creates, in their order; gives those that were free.
pub(super) async fn claim_creates(
    connection: &mut Connection,
    owner: &Owner,
    creates: &[(&NewMemory, i64)],
) -> Result<HashSet<String>, StoreError> {
    let mut claimed = HashSet::with_capacity(creates.len());
    for creates in creates.chunks(ROWS_AT_ONCE) {
        let mut query = QueryBuilder::<Db>::new(
            "INSERT INTO operations (owner, key, endpoint, target, row_id, fingerprint_version, fingerprint, raw_hash) ",
        );
        query.push_values(creates, |mut row, (memory, id)| {
            row.push_bind(owner.as_str())
                .push_bind(memory.client_memory_id.to_string())
                .push_bind(CREATE_MEMORY)
                .push_bind("")
                .push_bind(*id)
                .push_bind(i64::from(memory.fingerprint.version))
                .push_bind(&memory.fingerprint.canonical[..])
                .push_bind(&memory.fingerprint.raw[..]);
        });
        query.push(" ON CONFLICT (owner, key) DO NOTHING RETURNING key");
        let keys: Vec<String> = query.build_query_scalar().fetch_all(&mut *connection).await?;
        claimed.extend(keys);
    }
    Ok(claimed)
}

/// What was done under the keys of creates.
pub(super) async fn find_creates(
    connection: &mut Connection,
    owner: &Owner,
    keys: &[String],
) -> Result<HashMap<String, Creation>, StoreError> {
    let mut found = HashMap::with_capacity(keys.len());
    for keys in keys.chunks(ROWS_AT_ONCE) {
        let mut query = QueryBuilder::<Db>::new(
            "SELECT o.key, m.id, m.revision, m.deleted, o.fingerprint_version, o.fingerprint, o.raw_hash
             FROM operations o
             LEFT JOIN memories m ON m.owner = o.owner AND m.id = o.row_id AND o.endpoint = 'memories.create'
             WHERE o.owner = ",
        );
        query.push_bind(owner.as_str()).push(" AND o.key IN (");
        let mut list = query.separated(", ");
        for key in keys {
            list.push_bind(key);
        }
        query.push(")");
        for row in query.build().fetch_all(&mut *connection).await? {
            let id: Option<i64> = row.try_get(1)?;
            let creation = match id {
                None => Creation::Taken,
                Some(id) => Creation::Found {
                    id: RowId(id),
                    revision: unsigned(row.try_get(2)?)?,
                    deleted: row.try_get(3)?,
                    original: fingerprint(&row, 4)?,
                },
            };
            found.insert(row.try_get(0)?, creation);
        }
    }
    Ok(found)
}

/// Keeps an answer for replays.
pub(super) async fn keep_answer(
    connection: &mut Connection,
    owner: &Owner,
    key: &str,
    answer: &str,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE operations SET answer = $3 WHERE owner = $1 AND key = $2")
        .bind(owner.as_str())
        .bind(key)
        .bind(answer)
        .execute(connection)
        .await?;
    Ok(())
}

/// Takes a deleted memory's words out of the answers kept for it.
pub(super) async fn drop_answers(connection: &mut Connection, owner: &Owner, id: RowId) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE operations SET answer = NULL
         WHERE owner = $1 AND row_id = $2 AND answer IS NOT NULL AND endpoint IN ('memories.create', 'memories.edit')",
    )
    .bind(owner.as_str())
    .bind(id.0)
    .execute(connection)
    .await?;
    Ok(())
}

/// The one statement about all owners.
pub(super) async fn forget_expired(connection: &mut Connection, now: i64) -> Result<u64, StoreError> {
    let forgotten = sqlx::query("DELETE FROM operations WHERE expires_at IS NOT NULL AND expires_at < $1")
        .bind(now)
        .execute(connection)
        .await?;
    Ok(forgotten.rows_affected())
}

fn fingerprint(row: &Row, from: usize) -> Result<Fingerprint, StoreError> {
    let hash = |index: usize| -> Result<[u8; 32], StoreError> {
        let bytes: Vec<u8> = row.try_get(index)?;
        bytes.try_into().map_err(|_| StoreError::Corrupt("a fingerprint".to_owned()))
    };
    let version: i64 = row.try_get(from)?;
    Ok(Fingerprint {
        version: u32::try_from(version).map_err(|_| StoreError::Corrupt("a fingerprint's version".to_owned()))?,
        canonical: hash(from + 1)?,
        raw: hash(from + 2)?,
    })
}

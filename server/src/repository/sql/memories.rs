//! Memories: made in batches or one by one, changed, and deleted.

use sqlx::QueryBuilder;
use warifu::id::Owner;

use super::super::{Connection, Db, FOR_UPDATE, Store, draw_ids};
use super::operations::ROWS_AT_ONCE;
use super::{draw_changes, listing, operations, unsigned};
use crate::repository::model::{
    Creation, Edit, NewMemory, Operation, Performed, Refused, RenderMemory, RowId, StoreError, StoredMemory,
};

pub(super) async fn create_all(
    store: &Store,
    owner: &Owner,
    memories: &[NewMemory],
) -> Result<Vec<Creation>, StoreError> {
    let keys: Vec<String> = memories.iter().map(|memory| memory.client_memory_id.to_string()).collect();
    // What is known already needs no transaction. That a key is missing here decides nothing.
    let mut creations = operations::find_creates(&mut *store.readers().acquire().await?, owner, &keys).await?;
    let new: Vec<&NewMemory> =
        memories.iter().zip(&keys).filter(|(_, key)| !creations.contains_key(*key)).map(|(memory, _)| memory).collect();
    if !new.is_empty() {
        let mut tx = store.begin().await?;
        let ids = draw_ids(&mut tx, "memories", new.len()).await?;
        let creates: Vec<(&NewMemory, i64)> = new.into_iter().zip(ids).collect();
        let claimed = operations::claim_creates(&mut tx, owner, &creates).await?;
        let (claimed, lost): (Vec<_>, Vec<_>) =
            creates.into_iter().partition(|(memory, _)| claimed.contains(&memory.client_memory_id.to_string()));
        if !lost.is_empty() {
            let lost: Vec<String> = lost.iter().map(|(memory, _)| memory.client_memory_id.to_string()).collect();
            creations.extend(operations::find_creates(&mut tx, owner, &lost).await?);
        }
        if !claimed.is_empty() {
            let first_change = draw_changes(&mut tx, owner, claimed.len()).await?;
            insert(&mut tx, owner, &claimed, first_change).await?;
        }
        tx.commit().await?;
        let created =
            claimed.into_iter().map(|(memory, id)| (memory.client_memory_id.to_string(), Creation::Created(RowId(id))));
        creations.extend(created);
    }
    keys.iter()
        .map(|key| {
            creations.remove(key).ok_or_else(|| StoreError::Corrupt("a key that is neither new nor known".into()))
        })
        .collect()
}

pub(super) async fn create(
    store: &Store,
    owner: &Owner,
    operation: &Operation,
    memory: &NewMemory,
    answer: RenderMemory,
) -> Result<Performed, StoreError> {
    let mut tx = store.begin().await?;
    let row = RowId(one(draw_ids(&mut tx, "memories", 1).await?)?);
    let answer = answer(&StoredMemory {
        id: row,
        client_memory_id: memory.client_memory_id,
        revision: 1,
        // Not told, and not drawn yet.
        change: 0,
        content: Some(memory.content.clone()),
    });
    if !operations::claim(&mut tx, owner, operation, row, Some(&answer)).await? {
        return known(&mut tx, owner, operation).await;
    }
    let change = draw_changes(&mut tx, owner, 1).await?;
    insert(&mut tx, owner, &[(memory, row.0)], change).await?;
    tx.commit().await?;
    Ok(Performed::Done { row, answer })
}

pub(super) async fn edit(
    store: &Store,
    owner: &Owner,
    operation: &Operation,
    id: RowId,
    edit: &Edit,
    answer: RenderMemory,
) -> Result<Performed, StoreError> {
    let mut tx = store.begin().await?;
    if !operations::claim(&mut tx, owner, operation, id, None).await? {
        return known(&mut tx, owner, operation).await;
    }
    let Some(mut memory) = listing::memory(&mut tx, owner, id, FOR_UPDATE).await? else {
        return Ok(Performed::Refused(Refused::NotFound));
    };
    if memory.revision != edit.base_revision {
        return Ok(Performed::Refused(Refused::Revision(Box::new(memory))));
    }
    let Some(old) = memory.content.take() else {
        return Ok(Performed::Refused(Refused::Gone));
    };
    let mut content = edit.content.clone();
    content.created_at = content.created_at.or(old.created_at);
    let change = draw_changes(&mut tx, owner, 1).await?;
    sqlx::query(
        "UPDATE memories SET title = $3, body = $4, created_at = $5, extra = $6, revision = revision + 1,
         change_number = $7 WHERE owner = $1 AND id = $2",
    )
    .bind(owner.as_str())
    .bind(id.0)
    .bind(&content.title)
    .bind(&content.body)
    .bind(&content.created_at)
    .bind(&content.extra)
    .bind(change)
    .execute(&mut *tx)
    .await?;
    memory.revision += 1;
    memory.change = unsigned(change)?;
    memory.content = Some(content);
    let answer = answer(&memory);
    operations::keep_answer(&mut tx, owner, &operation.key, &answer).await?;
    tx.commit().await?;
    Ok(Performed::Done { row: id, answer })
}

pub(super) async fn delete(
    store: &Store,
    owner: &Owner,
    operation: &Operation,
    id: RowId,
) -> Result<Performed, StoreError> {
    let mut tx = store.begin().await?;
    if !operations::claim(&mut tx, owner, operation, id, None).await? {
        return known(&mut tx, owner, operation).await;
    }
    let Some(memory) = listing::memory(&mut tx, owner, id, FOR_UPDATE).await? else {
        return Ok(Performed::Refused(Refused::NotFound));
    };
    if memory.content.is_none() {
        return Ok(Performed::Refused(Refused::Gone));
    }
    operations::drop_answers(&mut tx, owner, id).await?;
    let change = draw_changes(&mut tx, owner, 1).await?;
    sqlx::query(
        "UPDATE memories SET title = '', body = '', created_at = NULL, extra = '{}', deleted = TRUE,
         revision = revision + 1, change_number = $3 WHERE owner = $1 AND id = $2",
    )
    .bind(owner.as_str())
    .bind(id.0)
    .bind(change)
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(Performed::Done { row: id, answer: String::new() })
}

/// What was done under a key that turned out to be taken. The transaction has done nothing, and is rolled back by being
/// dropped.
pub(super) async fn known(
    connection: &mut Connection,
    owner: &Owner,
    operation: &Operation,
) -> Result<Performed, StoreError> {
    let found = operations::find(connection, owner, &operation.key).await?;
    // Forgotten in just this moment: to be asked again.
    found.map(Performed::Known).ok_or(StoreError::InProgress)
}

/// One of the ids that were drawn.
pub(super) fn one(ids: Vec<i64>) -> Result<i64, StoreError> {
    ids.into_iter().next().ok_or_else(|| StoreError::Corrupt("a sequence".to_owned()))
}

async fn insert(
    connection: &mut Connection,
    owner: &Owner,
    creates: &[(&NewMemory, i64)],
    first_change: i64,
) -> Result<(), StoreError> {
    let mut changes = first_change..;
    for creates in creates.chunks(ROWS_AT_ONCE) {
        let mut query = QueryBuilder::<Db>::new(
            "INSERT INTO memories (owner, id, client_memory_id, title, body, created_at, extra, change_number) ",
        );
        query.push_values(creates.iter().zip(changes.by_ref()), |mut row, ((memory, id), change)| {
            row.push_bind(owner.as_str())
                .push_bind(*id)
                .push_bind(memory.client_memory_id.to_string())
                .push_bind(&memory.content.title)
                .push_bind(&memory.content.body)
                .push_bind(&memory.content.created_at)
                .push_bind(&memory.content.extra)
                .push_bind(change);
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

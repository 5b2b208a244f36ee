//! The rows of the declared resources. Every name in this SQL is one that `resource.rs` declares.

use sqlx::{AssertSqlSafe, Row as _};
use warifu::id::Owner;

use super::super::{Connection, DECIMAL_IN, DECIMAL_OUT, Row, Store, broke_business_key, draw_ids};
use super::memories::{known, one};
use super::{draw_changes, operations, unsigned};
use crate::repository::model::{Operation, Performed, Refused, RenderRecord, RowId, StoreError, StoredRecord};
use crate::resource::{Field, Kind, Resource};

pub(super) async fn create(
    store: &Store,
    owner: &Owner,
    operation: &Operation,
    resource: &'static Resource,
    values: &[String],
    answer: RenderRecord,
) -> Result<Performed, StoreError> {
    let mut tx = store.begin().await?;
    let row = RowId(one(draw_ids(&mut tx, resource.name, 1).await?)?);
    let answer = answer(resource, &StoredRecord { id: row, change: 0, values: values.to_vec() });
    if !operations::claim(&mut tx, owner, operation, row, Some(&answer)).await? {
        return known(&mut tx, owner, operation).await;
    }
    // The owner's lock first: of two with one business identity the second waits there, and not in the index with a lock
    // that the first still needs.
    let change = draw_changes(&mut tx, owner, 1).await?;
    match insert(&mut tx, owner, operation, resource, (row, change), values).await {
        Err(error) if broke_business_key(&error, resource) => {
            return Ok(Performed::Refused(Refused::Unique(&resource.business)));
        }
        inserted => inserted?,
    }
    tx.commit().await?;
    Ok(Performed::Done { row, answer })
}

pub(super) async fn find(
    connection: &mut Connection,
    owner: &Owner,
    resource: &'static Resource,
    id: RowId,
) -> Result<Option<StoredRecord>, StoreError> {
    let sql = format!("SELECT {} FROM {} WHERE owner = $1 AND id = $2", columns(resource), resource.name);
    let row = sqlx::query(AssertSqlSafe(sql)).bind(owner.as_str()).bind(id.0).fetch_optional(connection).await?;
    row.as_ref().map(|row| read(row, resource)).transpose()
}

pub(super) async fn after(
    connection: &mut Connection,
    owner: &Owner,
    resource: &'static Resource,
    change: u64,
    limit: u32,
) -> Result<Vec<StoredRecord>, StoreError> {
    let Ok(change) = i64::try_from(change) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {} FROM {} WHERE owner = $1 AND change_number > $2 ORDER BY change_number LIMIT $3",
        columns(resource),
        resource.name
    );
    let rows = sqlx::query(AssertSqlSafe(sql))
        .bind(owner.as_str())
        .bind(change)
        .bind(i64::from(limit))
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| read(row, resource)).collect()
}

async fn insert(
    connection: &mut Connection,
    owner: &Owner,
    operation: &Operation,
    resource: &'static Resource,
    (row, change): (RowId, i64),
    values: &[String],
) -> Result<(), sqlx::Error> {
    let names: Vec<&str> = resource.fields.iter().map(|field| field.name).collect();
    let places: Vec<String> = resource
        .fields
        .iter()
        .zip(5..)
        .map(|(field, place)| format!("${place}{}", if field.kind == Kind::Decimal { DECIMAL_IN } else { "" }))
        .collect();
    let sql = format!(
        "INSERT INTO {} (owner, id, idempotency_key, change_number, {}) VALUES ($1, $2, $3, $4, {})",
        resource.name,
        names.join(", "),
        places.join(", ")
    );
    let mut query = sqlx::query(AssertSqlSafe(sql)).bind(owner.as_str()).bind(row.0).bind(&operation.key).bind(change);
    for value in values {
        query = query.bind(value);
    }
    query.execute(connection).await.map(|_| ())
}

fn columns(resource: &Resource) -> String {
    let out = |field: &Field| format!("{}{}", field.name, if field.kind == Kind::Decimal { DECIMAL_OUT } else { "" });
    let columns = ["id".to_owned(), "change_number".to_owned()].into_iter().chain(resource.fields.iter().map(out));
    columns.collect::<Vec<_>>().join(", ")
}

fn read(row: &Row, resource: &Resource) -> Result<StoredRecord, StoreError> {
    let values = (2..).take(resource.fields.len()).map(|index| row.try_get(index));
    Ok(StoredRecord {
        id: RowId(row.try_get(0)?),
        change: unsigned(row.try_get(1)?)?,
        values: values.collect::<Result<_, _>>()?,
    })
}

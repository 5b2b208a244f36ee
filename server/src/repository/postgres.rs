//! PostgreSQL: any number of servers on one database.

use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgRow};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool, PgTransaction, Postgres};

use super::database::Database;
use super::model::StoreError;
use crate::resource::Resource;

// The same text is compiled for each database.
#[allow(clippy::duplicate_mod)]
#[path = "sql/mod.rs"]
mod sql;

type Db = Postgres;
type Connection = PgConnection;
type Row = PgRow;

/// The schema's steps, in order. One that was released is never changed again.
const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "schema", include_str!("../../migrations/postgres/0001_schema.sql"))];

const FOR_UPDATE: &str = " FOR UPDATE";

/// How a decimal is written and read back, since it travels as text.
const DECIMAL_IN: &str = "::numeric";
const DECIMAL_OUT: &str = "::text";

/// A connection is renewed after this, so that new addresses behind one name are found.
const CONNECTION_LIFETIME: Duration = Duration::from_secs(30 * 60);

pub(super) struct Store {
    pool: PgPool,
}

impl Store {
    pub(super) async fn open(url: &str, database: &Database) -> Result<Self, StoreError> {
        let milliseconds = |time: Duration| time.as_millis().to_string();
        let options: PgConnectOptions = url.parse().map_err(|_| StoreError::Url("its parts".to_owned()))?;
        let options = options
            .application_name("warifu-server")
            .options([
                ("lock_timeout", milliseconds(database.busy_timeout)),
                ("statement_timeout", milliseconds(database.statement_timeout)),
                ("idle_in_transaction_session_timeout", milliseconds(database.statement_timeout)),
                ("default_transaction_isolation", "read committed".to_owned()),
            ])
            .disable_statement_logging();
        // The pool would only say that it waited.
        let first = PgConnection::connect_with(&options).await.map_err(StoreError::Unreachable)?;
        first.close().await?;
        let pool = PoolOptions::new()
            .max_connections(database.connections)
            .acquire_timeout(database.busy_timeout)
            .max_lifetime(CONNECTION_LIFETIME)
            .connect_lazy_with(options);
        // Servers that start together take turns: this holds a lock of its own.
        sql::migrator(&MIGRATIONS).run(&pool).await?;
        Ok(Self { pool })
    }

    async fn begin(&self) -> Result<PgTransaction<'static>, StoreError> {
        Ok(self.pool.begin().await?)
    }

    fn readers(&self) -> &PgPool {
        &self.pool
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}

/// Takes the next ids of a table.
async fn draw_ids(connection: &mut Connection, table: &str, count: usize) -> Result<Vec<i64>, StoreError> {
    let ids = sqlx::query_scalar("SELECT nextval(format('%I', $1 || '_id')::regclass) FROM generate_series(1, $2)")
        .bind(table)
        .bind(i64::try_from(count).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    Ok(ids)
}

/// Makes the next memory's id greater than `id`, and than any there is.
async fn advance_ids(connection: &mut Connection, id: i64) -> Result<(), StoreError> {
    sqlx::query("SELECT setval('memories_id', greatest($1, nextval('memories_id')))")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Whether an insert broke the resource's business constraint. A partition's own index, and a shard's, has another name,
/// but is made of the same columns.
fn broke_business_key(error: &sqlx::Error, resource: &Resource) -> bool {
    let sqlx::Error::Database(error) = error else {
        return false;
    };
    let columns = format!("owner, {}", resource.business.fields.join(", "));
    let detail = error.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::detail).unwrap_or_default();
    let named = detail.split_once('(').and_then(|(_, rest)| rest.split_once(")=")).map(|(columns, _)| columns);
    error.is_unique_violation() && (error.constraint() == Some(resource.business.name) || named == Some(&*columns))
}

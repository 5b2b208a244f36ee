//! Where a test's rows are: each test runs on both databases.

use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Row as _};
use tempfile::TempDir;
use warifu_server::resource::RESOURCES;
use warifu_server::{Database, Running};
use warifu_test_postgres::Cluster;

use crate::common::*;

/// The tables that hold an owner's rows, the owners first.
pub(crate) fn tables() -> Vec<&'static str> {
    let resources = RESOURCES.iter().map(|resource| resource.name);
    ["owners", "operations", "memories"].into_iter().chain(resources).collect()
}

/// A new, empty database.
pub(crate) struct Place {
    database: Database,
    /// How the program is told of it.
    pub(crate) url: String,
    _folder: Option<TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.sqlite");
        let url = format!("sqlite:{}", path.display());
        Self { database: Database::path(path), url, _folder: Some(folder) }
    }

    pub(crate) fn postgres() -> Self {
        Self::at(&Cluster::shared().database("server").unwrap())
    }

    /// A database that is there.
    pub(crate) fn at(url: &str) -> Self {
        Self { database: Database::url(url).unwrap(), url: url.to_owned(), _folder: None }
    }

    /// PostgreSQL with every table that holds an owner's rows cut into partitions by owner.
    pub(crate) async fn partitioned() -> Self {
        let place = Self::postgres();
        place.database().open().await.unwrap().close().await;
        let mut sql = String::new();
        for table in tables() {
            // LIKE takes every constraint along: PostgreSQL refuses a unique one that does not hold the owner.
            sql += &format!(
                "ALTER TABLE {table} RENAME TO {table}_whole;
                 CREATE TABLE {table} (LIKE {table}_whole INCLUDING ALL) PARTITION BY HASH (owner);"
            );
            for part in 0..4 {
                sql += &format!(
                    "CREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES WITH (MODULUS 4, REMAINDER {part});"
                );
            }
            if table != "owners" {
                sql += &format!("ALTER TABLE {table} ADD FOREIGN KEY (owner) REFERENCES owners (owner);");
            }
        }
        sql += "ALTER TABLE tokens DROP CONSTRAINT tokens_owner_fkey;
                ALTER TABLE tokens ADD FOREIGN KEY (owner) REFERENCES owners (owner);
";
        // The owners last, since the others refer to them.
        tables().iter().rev().for_each(|table| sql += &format!("DROP TABLE {table}_whole;"));
        place.run(sql).await;
        place
    }

    /// Runs statements beside the server.
    pub(crate) async fn run(&self, sql: impl Into<String>) {
        sqlx::raw_sql(AssertSqlSafe(sql.into())).execute(&mut self.beside().await).await.unwrap();
    }

    /// A number that a statement gives.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql.to_owned());
        let row = sqlx::raw_sql(sql).fetch_one(&mut self.beside().await).await.unwrap();
        row.try_get(0).unwrap()
    }

    /// A connection of our own.
    pub(crate) async fn beside(&self) -> AnyConnection {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.url).await.unwrap();
        if !self.is_postgres() {
            sqlx::raw_sql("PRAGMA busy_timeout = 20000").execute(&mut connection).await.unwrap();
        }
        connection
    }

    /// To be opened by as many servers as a test likes.
    pub(crate) fn database(&self) -> Database {
        self.database.clone()
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.url.starts_with("postgres:")
    }

    /// One more server on it, and its first owner's way there.
    pub(crate) async fn start(&self) -> (Running, Api) {
        let server = builder(self.database()).start().await.unwrap();
        let api = Api::new(&server.url(), TOKEN);
        (server, api)
    }
}

/// Makes three tests of each function: on SQLite, on PostgreSQL, and on PostgreSQL partitioned by owner.
macro_rules! on_each {
    ($($name:ident),* $(,)?) => {
        $(mod $name {
            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                super::$name(crate::place::Place::sqlite()).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                super::$name(crate::place::Place::postgres()).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn partitioned() {
                super::$name(crate::place::Place::partitioned().await).await;
            }
        })*
    };
}
pub(crate) use on_each;

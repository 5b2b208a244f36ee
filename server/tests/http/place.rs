//! Where a test's rows are: each test runs on both databases.

use tempfile::TempDir;
use warifu_server::{Database, Running};
use warifu_test_postgres::Cluster;

use crate::common::*;

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
        let url = Cluster::shared().database("server").unwrap();
        Self { database: Database::url(&url).unwrap(), url, _folder: None }
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

/// Makes two tests of each function: one on SQLite, one on PostgreSQL.
macro_rules! on_both {
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
        })*
    };
}
pub(crate) use on_both;

//! Which database, and how patiently.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Repository, StoreError, postgres, sqlite};

/// Where the rows are kept.
#[derive(Clone)]
pub struct Database {
    place: Place,
    pub(super) busy_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) connections: u32,
}

#[derive(Clone)]
enum Place {
    Memory,
    Path(PathBuf),
    Postgres(String),
}

impl Database {
    /// In memory, gone at the end.
    #[must_use]
    pub fn memory() -> Self {
        Self::at(Place::Memory)
    }

    /// An SQLite file, made if it is not there.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self::at(Place::Path(path.into()))
    }

    /// What a `DATABASE_URL` names: `postgres://…`, or `sqlite:FILE`, where `sqlite::memory:` keeps nothing.
    ///
    /// # Errors
    /// For any other.
    pub fn url(url: &str) -> Result<Self, StoreError> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::at(Place::Postgres(url.to_owned())));
        }
        match url.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path)) {
            Some(":memory:") => Ok(Self::memory()),
            Some(path) if !path.is_empty() => Ok(Self::path(path)),
            // Not quoted whole: it may hold a password.
            _ => Err(StoreError::Url("it must begin with postgres:// or sqlite:".to_owned())),
        }
    }

    /// How long a call waits for others before it is [`StoreError::Busy`] or [`StoreError::InProgress`].
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How long one statement may take on PostgreSQL before it is [`StoreError::Busy`].
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// How many connections are held open at most, on PostgreSQL; at least one.
    #[must_use]
    pub fn connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Opens the database and brings its schema up to date.
    ///
    /// # Errors
    /// When it cannot be opened, or was made by a newer version.
    pub async fn open(&self) -> Result<Arc<dyn Repository>, StoreError> {
        Ok(match &self.place {
            Place::Memory => Arc::new(sqlite::Store::open(None, self).await?),
            Place::Path(path) => Arc::new(sqlite::Store::open(Some(path), self).await?),
            Place::Postgres(url) => Arc::new(postgres::Store::open(url, self).await?),
        })
    }

    /// How many connections to PostgreSQL, unless told otherwise.
    pub const CONNECTIONS: u32 = 10;

    const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
    const STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);

    fn at(place: Place) -> Self {
        Self {
            place,
            busy_timeout: Self::BUSY_TIMEOUT,
            statement_timeout: Self::STATEMENT_TIMEOUT,
            connections: Self::CONNECTIONS,
        }
    }
}

impl std::fmt::Debug for Database {
    // A URL may hold a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.place {
            Place::Memory => "Database(memory)",
            Place::Path(_) => "Database(sqlite)",
            Place::Postgres(_) => "Database(postgres)",
        })
    }
}

//! Data that nobody else has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use crate::config::Values;

/// Makes the records of a run, each unlike any other.
pub(crate) struct Minter {
    run: String,
    base: u64,
    made: AtomicU64,
}

/// The numbers of one run stay below the next second's.
const PER_SECOND: u64 = 2000;

impl Minter {
    pub(crate) fn new() -> Self {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let run = Uuid::new_v4().simple().to_string();
        // They fit 32 bits, and repeat after eleven days; the marker does not.
        Self { run: run[..8].to_owned(), base: (seconds % 1_000_000) * PER_SECOND, made: AtomicU64::new(0) }
    }

    /// What every record of this run is marked with.
    pub(crate) fn marker(&self) -> String {
        format!("warifu-check-{}", self.run)
    }

    pub(crate) fn record(&self) -> Record {
        let count = self.made.fetch_add(1, Ordering::Relaxed);
        let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut record = Record {
            values: Values {
                uuid: Uuid::new_v4().to_string(),
                number: (self.base + count).to_string(),
                marker: format!("{}-{count}", self.marker()),
                now,
                ..Values::default()
            },
            count,
        };
        record.set_version(1);
        record
    }
}

/// A record as it is to be created.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    values: Values,
    count: u64,
}

impl Record {
    fn set_version(&mut self, version: u64) {
        self.values.text = format!("warifu-conformance test, may be deleted, version {version}");
        self.values.amount = format!("{}.{:02}", 10 + version, self.count % 100);
    }

    /// The same record with other content.
    pub(crate) fn version(&self, version: u64) -> Self {
        let mut other = self.clone();
        other.set_version(version);
        other
    }

    /// What the placeholders stand for.
    pub(crate) fn values(&self, key: &str) -> Values {
        Values { key: key.to_owned(), ..self.values.clone() }
    }
}

//! The checkers. They see a trace and nothing else, and know nothing of how faults are made.

mod end;
mod pace;
mod store;
mod word;

use crate::trace::Trace;

/// What was found to be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which promise is broken.
    pub kind: Kind,
    /// When, in virtual milliseconds.
    pub at: u64,
    /// How.
    pub text: String,
}

/// The promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// What a commit confirmed is kept until it is acknowledged or discarded.
    Lost,
    /// One operation, one row.
    Doubled,
    /// Everything settles once faults stop.
    Stuck,
    /// An item's bytes never change.
    Bytes,
    /// The map of ids is never rewritten, and tells the truth.
    Map,
    /// Nothing is sent before the fact that it is being sent is durable.
    Unmarked,
    /// Nothing is removed before its acknowledgement has come.
    Removed,
    /// The store's counts are those of its rows.
    Counters,
    /// What was discarded before any attempt never reaches the server.
    Discarded,
    /// What is told is so: confirmed, synced, stored only when durable.
    Early,
    /// Each tab's counts agree with the store at rest.
    Status,
    /// What happens to an operation is told.
    Events,
    /// An endpoint that is down is left in peace.
    Backoff,
    /// Nobody comes before the time that the server named.
    Floor,
    /// An item is on its way once at a time.
    InFlight,
    /// The store never has to refuse a write by its law.
    Law,
    /// What waits for a person does so for a reason.
    Parked,
}

impl Violation {
    pub(crate) fn new(kind: Kind, at: u64, text: impl Into<String>) -> Self {
        Self { kind, at, text: text.into() }
    }
}

/// Everything that is wrong in a run.
pub(crate) fn check(trace: &Trace) -> Vec<Violation> {
    let mut found = store::check(trace);
    found.extend(end::check(trace));
    found.extend(word::check(trace));
    found.extend(pace::check(trace));
    found
}

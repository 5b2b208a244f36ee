//! What a run leaves behind: all that the checkers see.

use std::fmt::Write as _;

use warifu::core::event::{EventKind, Pause};
use warifu::core::operation::{Cause, Record};
use warifu::id::ClientMemoryId;

use crate::executor::Party;
use crate::fault::Fault;

/// One thing that happened.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Virtual milliseconds since the run began.
    pub(crate) at: u64,
    pub(crate) what: Happened,
}

/// A row of the store, as far as the checkers look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: ClientMemoryId,
    pub(crate) server_id: Option<String>,
    pub(crate) content: u64,
    pub(crate) pending: bool,
    pub(crate) attempts: u32,
    pub(crate) parked: Option<Cause>,
    pub(crate) code: String,
}

impl Row {
    pub(crate) fn of(record: &Record) -> Self {
        let parked = record.pending.as_ref().and_then(|pending| pending.parked.as_ref());
        Self {
            id: record.id,
            server_id: record.server_id.as_ref().map(ToString::to_string),
            content: digest(&record.content.bytes),
            pending: record.pending.is_some(),
            attempts: record.pending.as_ref().map_or(0, |pending| pending.attempts),
            parked: parked.map(|parked| parked.cause),
            code: parked.map(|parked| parked.code.clone()).unwrap_or_default(),
        }
    }

    pub(crate) fn waits(&self) -> bool {
        self.pending && self.parked.is_none()
    }
}

/// One row's change in a write.
#[derive(Debug, Clone)]
pub(crate) struct Changed {
    pub(crate) order: u64,
    pub(crate) before: Option<Row>,
    pub(crate) after: Option<Row>,
}

/// A call of the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Open,
    Commit(ClientMemoryId, u64),
    Correct(ClientMemoryId),
    Retry(ClientMemoryId),
    RetryAll,
    Discard(ClientMemoryId),
    SaveAsNew(ClientMemoryId, ClientMemoryId),
    Sync,
    Pause,
    Resume,
    Close,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Came {
    Good,
    /// It may have been done all the same.
    Unknown,
    Failed(String),
}

/// What the server says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Stored,
    Conflict,
    Rejected,
}

/// The kinds of entry.
#[allow(dead_code, reason = "some of it is only for people to read")]
#[derive(Debug, Clone)]
pub(crate) enum Happened {
    Opened {
        tab: Party,
    },
    Killed {
        tab: Party,
    },
    Closed {
        tab: Party,
    },
    PowerCut {
        kept: usize,
    },
    Frozen {
        tab: Party,
    },
    Thawed {
        tab: Party,
    },
    Stolen {
        from: Party,
        to: Party,
    },
    ClockJump {
        by: i64,
    },
    Online {
        tab: Party,
        online: bool,
    },
    Fault(Fault),
    /// The server cannot take this one.
    Poisoned {
        id: ClientMemoryId,
        fault: Fault,
    },
    OutageBegins {
        until: u64,
        kind: &'static str,
    },
    FaultsEnd,
    Call {
        tab: Party,
        call: u32,
        asked: Asked,
    },
    CallDone {
        tab: Party,
        call: u32,
        came: Came,
    },
    Wrote {
        tab: Party,
        index: usize,
        strict: bool,
        claim: bool,
        floor: u64,
        rows: Vec<Changed>,
        pending: u64,
        parked: u64,
    },
    /// The store refused a write that would break its law.
    Breach {
        tab: Party,
        rule: String,
    },
    Request {
        tab: Party,
        request: u32,
        items: Vec<(ClientMemoryId, u64)>,
    },
    Delivered {
        tab: Party,
        request: u32,
        how: String,
        floor: Option<u64>,
    },
    /// The server let a request in, by whatever way.
    Arrived {
        request: u32,
        items: Vec<(ClientMemoryId, u64)>,
    },
    Inserted {
        id: ClientMemoryId,
        server_id: String,
        content: u64,
        foreign: bool,
    },
    Answered {
        request: u32,
        id: ClientMemoryId,
        said: Said,
        server_id: Option<String>,
    },
    /// The server failed on a batch or refused it as a whole.
    Refused {
        request: u32,
        status: u16,
        ids: Vec<ClientMemoryId>,
    },
    Event {
        tab: Party,
        kind: EventKind,
        id: Option<ClientMemoryId>,
    },
    Status {
        tab: Party,
        pending: u64,
        parked: u64,
        paused: Option<Pause>,
    },
    /// Nothing more is expected to happen.
    Rest {
        pending: u64,
        parked: u64,
        rows: Vec<Row>,
    },
    /// The run ended before all had settled.
    OutOfTime,
    OutOfSteps,
}

/// Everything that happened, in order.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) entries: Vec<Entry>,
    pub(crate) faults: u64,
}

impl Trace {
    pub(crate) fn push(&mut self, at: u64, what: Happened) {
        self.entries.push(Entry { at, what });
    }

    /// The trace as lines for people.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for entry in &self.entries {
            let _ = writeln!(text, "{:>12} {:?}", entry.at, entry.what);
        }
        text
    }

    /// A number that differs when anything in the run differs.
    pub(crate) fn digest(&self) -> u64 {
        digest(self.text().as_bytes())
    }
}

/// FNV-1a.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

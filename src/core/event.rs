//! What callers see: events, the status, and the word that tabs pass to each other.

use serde::{Deserialize, Serialize};

use crate::core::answer::Trouble;
use crate::core::operation::Record;
use crate::core::time::Time;
use crate::id::ClientMemoryId;

/// What can happen to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// It is durable on the device.
    Stored,
    /// A request with it was begun.
    Attempted,
    /// No answer came to a request with it.
    AnswerLost,
    /// It is acknowledged, durably.
    Synced,
    /// It waits for a person.
    Parked,
    /// It was given up.
    Discarded,
    /// The queue pauses, since nobody is signed in. It is about no operation.
    SignedOut,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// The record as it stands after it; `None` where it is gone or the event is about none.
    pub record: Option<Record>,
    /// The operation's key.
    pub key: Option<String>,
    /// Which attempt; 0 where it is about none.
    pub attempt: u32,
    /// When.
    pub at: Time,
}

/// Why the queue does not send though it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// Nobody is signed in.
    SignedOut,
    /// The endpoint refuses everything.
    Endpoint,
    /// The app asked for it.
    ByApp,
}

/// Which tab sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// This one.
    Here,
    /// Another one, as far as is known.
    OtherTab,
    /// None yet.
    #[default]
    Nobody,
}

/// How much of a pass is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Settled in this pass.
    pub done: u64,
    /// Settled and still waiting.
    pub total: u64,
}

/// How the queue stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The browser's hint.
    pub online: bool,
    /// A pass is under way.
    pub sending: bool,
    /// How many records wait to be sent, the parked ones not counted.
    pub pending: u64,
    /// How many wait for a person.
    pub parked: u64,
    /// Why nothing is sent.
    pub paused: Option<Pause>,
    /// How far the pass is.
    pub progress: Option<Progress>,
    /// When the next attempt is planned.
    pub next_attempt_at: Option<Time>,
    /// When something was last acknowledged.
    pub last_synced_at: Option<Time>,
    /// Why the last attempt had no verdict.
    pub trouble: Option<Trouble>,
    /// Which tab sends.
    pub sender: Sender,
}

impl Status {
    /// When a record is sent next, for people: nothing while it is parked, settled, or the queue pauses, and nothing
    /// when its turn is now.
    #[must_use]
    pub fn next_attempt_of(&self, record: &Record, now: Time) -> Option<Time> {
        let pending = record.pending.as_ref().filter(|pending| pending.parked.is_none() && self.paused.is_none())?;
        let planned = self.next_attempt_at.unwrap_or(Time::ZERO).max(pending.due);
        (planned > now).then_some(planned)
    }
}

/// What one tab tells the others. Each may be lost: the store is the truth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// Records changed.
    Happened {
        /// What happened to which.
        notes: Vec<Note>,
    },
    /// How the sender's pass goes.
    Sending {
        /// A pass is under way.
        sending: bool,
        /// How far.
        progress: Option<Progress>,
        /// Why nothing is sent.
        paused: Option<Pause>,
        /// When the next attempt is planned, in milliseconds since 1970.
        next: Option<u64>,
        /// The word for the trouble.
        trouble: Option<Trouble>,
    },
    /// A tab asks the sender for a pass, or, without `pass`, how things stand.
    Ask {
        /// Whether a pass is asked for.
        pass: bool,
    },
    /// The app asks the sender to go on after a pause, or to pause.
    Steer {
        /// Whether to pause.
        pause: bool,
    },
}

/// One event in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What.
    pub kind: EventKind,
    /// The record's place in the store.
    pub order: u64,
    /// The record's name.
    pub id: ClientMemoryId,
    /// The operation's key.
    pub key: Option<String>,
    /// Which attempt.
    pub attempt: u32,
    /// When, in milliseconds since 1970.
    pub at: u64,
}

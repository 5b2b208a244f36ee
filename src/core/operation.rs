//! One record, and the operation that is still to be settled for it.
//!
//! ```text
//! Recorded ──write done──▶ Persisted ──mark done──▶ InFlight ──answer──▶ Acknowledged
//!  (in memory)                ▲  ▲                     │
//!                             │  └──no verdict, backoff─┤
//!                             └──retry, edit── Parked ◀─┘ a refusal that no repetition changes
//! ```
//!
//! A record is stored whole in one row: its text is never in two places, and one write settles everything about it.

use std::fmt;

use crate::core::time::Time;
use crate::id::{ClientMemoryId, IdempotencyKey, ServerId};

/// A row of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The place in the queue and in lists, counted up by the store at insertion; 0 before that. Never reused.
    pub order: u64,
    /// Counted up by the store at every write of this row; conditional writes compare it.
    pub revision: u64,
    /// What sort of record it is, such as `memory`.
    pub kind: String,
    /// The device's name for it.
    pub id: ClientMemoryId,
    /// The server's name for it, once known. Never rewritten.
    pub server_id: Option<ServerId>,
    /// The revision of it that the server told of last.
    pub server_revision: Option<u64>,
    /// The server told that it has been deleted there.
    pub deleted: bool,
    /// How many attempts its settled or corrected operations took, for people.
    pub earlier_attempts: u32,
    /// Its text, in the exact bytes that are sent.
    pub content: Frozen,
    /// What is still to be sent; `None` when everything is acknowledged.
    pub pending: Option<Pending>,
}

/// A text encoded once: the exact bytes of every attempt, and where the person's own values begin in them.
#[derive(Clone, PartialEq, Eq)]
pub struct Frozen {
    /// One JSON object: the names first, then the values.
    pub bytes: Vec<u8>,
    /// The offset in `bytes` behind the names; from there to the end are the members of the values and the brace.
    pub values_at: u32,
}

/// An operation that is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The key of every attempt.
    pub key: IdempotencyKey,
    /// How many attempts were begun. Above 0 the outcome is unknown, and nothing of it may change or be merged.
    pub attempts: u32,
    /// When it may be sent next.
    pub due: Time,
    /// Why it waits for a person instead.
    pub parked: Option<Parked>,
}

/// A refusal that no repetition would change, kept for a person's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// What sort of refusal; it decides what the person can choose.
    pub cause: Cause,
    /// A stable word.
    pub code: String,
    /// The reason, as the server or the engine told it.
    pub detail: String,
    /// The value at fault.
    pub field: Option<String>,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// What else the server said, as JSON text.
    pub server: Option<String>,
}

/// The sorts of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The server holds the values to be invalid, and stored nothing.
    Rejected,
    /// The server has other content under the same id.
    Conflict,
    /// The server gave an id that already belongs to another record, or another id than the one it gave before.
    IdentityMismatch,
    /// This operation alone makes the server fail, while others pass.
    Unanswerable,
}

/// What a person can do with a parked operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Send the same bytes under the same key again.
    Retry,
    /// Store it as another record, under a new id and key.
    SaveAsNew,
    /// Give it up.
    Discard,
}

impl Cause {
    /// What the person can choose from. Correcting the values is possible where nothing was stored: see
    /// [`Cause::correctable`].
    #[must_use]
    pub fn choices(self) -> &'static [Choice] {
        match self {
            Cause::Rejected | Cause::IdentityMismatch | Cause::Unanswerable => &[Choice::Retry, Choice::Discard],
            Cause::Conflict => &[Choice::SaveAsNew, Choice::Discard],
        }
    }

    /// Whether corrected values may be sent under the same key: only the server's word that nothing was stored
    /// allows it.
    #[must_use]
    pub fn correctable(self) -> bool {
        self == Cause::Rejected
    }

    /// The word it is stored under.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::Rejected => "rejected",
            Cause::Conflict => "conflict",
            Cause::IdentityMismatch => "identity_mismatch",
            Cause::Unanswerable => "unanswerable",
        }
    }

    /// The sort that is stored under a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Cause::Rejected, Cause::Conflict, Cause::IdentityMismatch, Cause::Unanswerable]
            .into_iter()
            .find(|cause| cause.as_str() == word)
    }
}

impl Frozen {
    /// The values as the person gave them: one JSON object.
    #[must_use]
    pub fn values(&self) -> Vec<u8> {
        let at = usize::try_from(self.values_at).unwrap_or(usize::MAX);
        let members = self.bytes.get(at..).unwrap_or_default();
        let mut values = Vec::with_capacity(members.len() + 1);
        values.push(b'{');
        values.extend_from_slice(members);
        values
    }
}

impl fmt::Debug for Frozen {
    /// Hides what the person wrote.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frozen({} bytes)", self.bytes.len())
    }
}

impl Record {
    /// How many attempts were begun with it in all.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        let pending = self.pending.as_ref().map_or(0, |pending| pending.attempts);
        self.earlier_attempts.saturating_add(pending)
    }

    /// Whether it waits to be sent, as opposed to being settled or waiting for a person.
    #[must_use]
    pub fn waits_to_be_sent(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.parked.is_none())
    }

    /// Whether it waits for a person.
    #[must_use]
    pub fn is_parked(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.parked.is_some())
    }
}

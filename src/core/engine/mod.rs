//! The engine: the only place where an operation changes state. One input goes in, the outputs are drained, and nothing
//! is called in between. Time is an argument; randomness is a seed given at the beginning.
//!
//! Every tab has an engine, and all of them share one store, so any engine's picture may be stale. Therefore each change
//! is a conditional write; on a mismatch the engine takes the record as it stands and decides again.

mod command;
mod commit;
mod publish;
mod sender;
mod settle;
mod steer;

use std::collections::{BTreeMap, VecDeque};

use crate::core::event::{Event, Message, Status};
use crate::core::operation::Record;
use crate::core::time::Time;
use crate::core::values::InvalidValue;
use crate::id::ClientMemoryId;
use crate::port::{Delivery, Due, DueQuery, HttpRequest, ListQuery, Meta, Page, StoreError, Write, WriteOutcome};

use command::Command;
use commit::{Commits, Member};
use publish::Published;
use sender::{Chunk, SenderState};

/// Names a call, chosen by the caller; its reply carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Names a piece of work that was put out; its result carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

/// What the engine is told.
#[derive(Debug)]
pub enum Input {
    /// Begin.
    Open(Ticket),
    /// The app calls.
    Call(Ticket, Call),
    /// Stop, after what is being written is written.
    Close(Ticket),
    /// The right to send is here.
    LockAcquired,
    /// A read is done.
    Read(Token, Result<Found, StoreError>),
    /// A write is done.
    Write(Token, Result<WriteOutcome, StoreError>),
    /// A request is done.
    Sent(Token, Delivery),
    /// The app was asked for fresh credentials: whether it has any.
    Refreshed(bool),
    /// The time asked for has come.
    Wake,
    /// The browser's hint.
    Online(bool),
    /// Another tab says something.
    Message(Message),
}

/// What the app can ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Write a new operation down. `values` is the text of a JSON object.
    Commit {
        /// The kind of record.
        kind: String,
        /// The record's name, which is the operation's key, too.
        id: ClientMemoryId,
        /// The values.
        values: String,
    },
    /// Replace the values of a refused create.
    Correct {
        /// The kind of record.
        kind: String,
        /// The record's name.
        id: ClientMemoryId,
        /// The new values.
        values: String,
    },
    /// Send a parked operation again.
    Retry(String, ClientMemoryId),
    /// Send all parked operations again.
    RetryAll(String),
    /// Give an operation up.
    Discard(String, ClientMemoryId),
    /// Store a record whose id is taken under another one.
    SaveAsNew(String, ClientMemoryId, ClientMemoryId),
    /// Send what is due.
    Sync,
    /// Send nothing until `Resume`.
    Pause,
    /// Go on.
    Resume,
}

/// What a call comes to.
pub type Replied = Result<Reply, CallError>;

/// The good end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The record as it stands.
    Record(Box<Record>),
    /// How the queue stands.
    Status(Box<Status>),
    /// It is done.
    Done,
}

/// Why a call failed. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The values cannot be a record.
    #[error("{}: {}", .0.path, .0.reason)]
    Invalid(#[from] InvalidValue),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operation was committed with other values.
    #[error("this operation was already committed with other values; they are an edit, or a new operation")]
    AlreadyCommitted,
    /// There is no such record.
    #[error("there is no such record on this device")]
    NotFound,
    /// The record's state does not allow it.
    #[error("{0}")]
    NotPossible(&'static str),
    /// The outbox was closed.
    #[error("the outbox is closed")]
    Closed,
}

/// What the engine wants done.
#[derive(Debug)]
pub enum Output {
    /// Read from the store.
    Read(Token, Read),
    /// Write to the store.
    Write(Token, Write),
    /// Send a request.
    Send(Token, HttpRequest),
    /// Ask the app for fresh credentials.
    Refresh,
    /// Wait for the right to send.
    AcquireLock,
    /// Give it back, or stop waiting for it.
    ReleaseLock,
    /// Wake the engine at this time, and no more at the one before.
    WakeAt(Option<Time>),
    /// A call has come to its end.
    Reply(Ticket, Replied),
    /// Something happened.
    Event(Box<Event>),
    /// The status is now this.
    Status(Status),
    /// Tell the other tabs.
    Post(Message),
    /// Everything is written; stop all that runs.
    Closed(Ticket),
}

/// What to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// The facts about the queue.
    Meta,
    /// One record.
    Get(String, ClientMemoryId),
    /// Records by order.
    Load(Vec<u64>),
    /// What may be sent.
    Due(DueQuery),
    /// A page.
    List(ListQuery),
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// For [`Read::Meta`].
    Meta(Meta),
    /// For [`Read::Get`].
    Record(Option<Box<Record>>),
    /// For [`Read::Load`].
    Records(Vec<Record>),
    /// For [`Read::Due`].
    Due(Due),
    /// For [`Read::List`].
    Page(Page),
}

/// What an app tells of its backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The statuses by which the backend refuses dead credentials.
    pub signed_out_statuses: Vec<u16>,
}

impl Default for Config {
    fn default() -> Self {
        Self { signed_out_statuses: vec![401] }
    }
}

/// What the result of a piece of work is for.
#[derive(Debug)]
enum Purpose {
    Opening(Ticket),
    Meta,
    Notes(Vec<crate::core::event::Note>),
    Commit(Vec<Member>),
    Command(Box<Command>),
    Claim,
    Capabilities,
    Due,
    Part { depth: u32, orders: Vec<u64> },
    Suspects(Vec<sender::Suspect>),
    Mark(Chunk),
    Send(Chunk),
    Settle(Box<settle::Settlement>),
}

/// The decisions of one tab.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    random: fastrand::Rng,
    outputs: VecDeque<Output>,
    tokens: u64,
    waiting: BTreeMap<Token, Purpose>,
    meta: Meta,
    last_now: Time,
    commits: Commits,
    sender: SenderState,
    published: Published,
    closing: Option<Ticket>,
    closed: bool,
}

impl Engine {
    /// An engine that has done nothing yet. The seed is for jitter.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            config,
            random: fastrand::Rng::with_seed(seed),
            outputs: VecDeque::new(),
            tokens: 0,
            waiting: BTreeMap::new(),
            meta: Meta::default(),
            last_now: Time::ZERO,
            commits: Commits::default(),
            sender: SenderState::default(),
            published: Published::default(),
            closing: None,
            closed: false,
        }
    }

    /// Takes what has come in, all of it before it acts: commits that arrive together share a transaction. Afterwards
    /// the outputs are to be drained with [`Engine::poll`].
    pub fn handle(&mut self, inputs: impl IntoIterator<Item = Input>, now: Time) {
        self.notice_clock(now);
        for input in inputs {
            self.take(input, now);
        }
        if !self.closed {
            self.start_commits();
            self.advance(now);
            self.publish(now);
        }
        if let Some(ticket) = self.closing.filter(|_| !self.closed && self.nothing_is_being_written()) {
            self.closed = true;
            self.outputs.push_back(Output::Closed(ticket));
        }
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn take(&mut self, input: Input, now: Time) {
        match input {
            input if self.closed => self.refuse(&input),
            Input::Open(ticket) => self.read(Read::Meta, Purpose::Opening(ticket)),
            Input::Call(ticket, _) if self.closing.is_some() => self.reply(ticket, Err(CallError::Closed)),
            Input::Call(ticket, call) => self.call(ticket, call, now),
            Input::Close(ticket) if self.closing.is_some() => self.reply(ticket, Ok(Reply::Done)),
            Input::Close(ticket) => self.begin_to_close(ticket),
            Input::LockAcquired => self.claim(),
            Input::Read(token, found) => self.found(token, found, now),
            Input::Write(token, outcome) => self.written(token, outcome, now),
            Input::Sent(token, delivery) => self.sent(token, &delivery, now),
            Input::Refreshed(signed_in) => self.refreshed(signed_in, now),
            Input::Wake => self.published.wake = None,
            Input::Online(online) => self.noticed_online(online, now),
            Input::Message(message) => self.heard(message, now),
        }
    }

    fn call(&mut self, ticket: Ticket, call: Call, now: Time) {
        match call {
            Call::Commit { kind, id, values } => self.commit(ticket, kind, id, &values, now),
            Call::Sync => self.sync(ticket, now),
            Call::Pause => self.steer(ticket, true, now),
            Call::Resume => self.steer(ticket, false, now),
            Call::Correct { kind, id, values } => self.command(Command::correct(ticket, kind, id, values)),
            Call::Retry(kind, id) => self.command(Command::retry(ticket, kind, id)),
            Call::RetryAll(kind) => self.command(Command::retry_all(ticket, kind)),
            Call::Discard(kind, id) => self.command(Command::discard(ticket, kind, id)),
            Call::SaveAsNew(kind, id, new) => self.command(Command::save_as_new(ticket, kind, id, new)),
        }
    }

    fn found(&mut self, token: Token, found: Result<Found, StoreError>, now: Time) {
        match (self.waiting.remove(&token), found) {
            (Some(Purpose::Opening(ticket)), found) => self.opened(ticket, found),
            (Some(Purpose::Meta), Ok(Found::Meta(meta))) => {
                self.adopt_counts(&meta);
                if meta.pending > 0 {
                    self.sender.something_may_be_due();
                }
            }
            (Some(Purpose::Notes(notes)), Ok(Found::Records(records))) => self.retell(notes, records),
            (Some(Purpose::Command(command)), found) => self.command_found(*command, found, now),
            (Some(Purpose::Due), Ok(Found::Due(due))) => self.due_found(due),
            (Some(Purpose::Part { depth, orders }), Ok(Found::Records(records))) => {
                self.part_found(depth, &orders, records);
            }
            (Some(Purpose::Part { depth, orders }), _) => self.part_lost(depth, orders, now),
            (Some(Purpose::Suspects(suspects)), Ok(Found::Records(records))) => self.park_suspects(&suspects, records),
            (Some(Purpose::Due | Purpose::Suspects(_)), _) => self.store_failed(now),
            _ => {}
        }
    }

    fn written(&mut self, token: Token, outcome: Result<WriteOutcome, StoreError>, now: Time) {
        if let Ok(WriteOutcome::Done(written)) = &outcome {
            self.adopt_counts(&written.meta);
        }
        match self.waiting.remove(&token) {
            Some(Purpose::Commit(members)) => self.commit_written(members, outcome, now),
            Some(Purpose::Command(command)) => self.command_written(*command, outcome, now),
            Some(Purpose::Claim) => self.claimed(outcome, now),
            Some(Purpose::Mark(chunk)) => self.marked(chunk, &outcome, now),
            Some(Purpose::Settle(settlement)) => self.settled(*settlement, outcome, now),
            _ => {}
        }
    }

    fn sent(&mut self, token: Token, delivery: &Delivery, now: Time) {
        match self.waiting.remove(&token) {
            Some(Purpose::Send(chunk)) => self.answered(chunk, delivery, now),
            Some(Purpose::Capabilities) => self.adopt_capabilities(delivery),
            _ => {}
        }
    }

    fn opened(&mut self, ticket: Ticket, found: Result<Found, StoreError>) {
        match found {
            Ok(Found::Meta(meta)) => {
                self.meta = meta;
                self.request_lock();
                self.outputs.push_back(Output::Post(Message::Ask { pass: false }));
                self.reply(ticket, Ok(Reply::Done));
            }
            Ok(_) => self.reply(ticket, Err(StoreError::Corrupt("meta".to_owned()).into())),
            Err(error) => self.reply(ticket, Err(error.into())),
        }
    }

    fn begin_to_close(&mut self, ticket: Ticket) {
        self.closing = Some(ticket);
        for waiting in self.sender.take_syncs() {
            self.reply(waiting, Err(CallError::Closed));
        }
    }

    fn nothing_is_being_written(&self) -> bool {
        self.commits.is_empty()
            && !self.waiting.values().any(|purpose| {
                matches!(
                    purpose,
                    Purpose::Commit(_) | Purpose::Command(_) | Purpose::Mark(_) | Purpose::Settle(_) | Purpose::Claim
                )
            })
    }

    fn refuse(&mut self, input: &Input) {
        match input {
            Input::Close(ticket) => self.reply(*ticket, Ok(Reply::Done)),
            Input::Open(ticket) | Input::Call(ticket, _) => self.reply(*ticket, Err(CallError::Closed)),
            _ => {}
        }
    }

    fn reply(&mut self, ticket: Ticket, replied: Replied) {
        self.outputs.push_back(Output::Reply(ticket, replied));
    }

    fn token(&mut self, purpose: Purpose) -> Token {
        self.tokens += 1;
        let token = Token(self.tokens);
        self.waiting.insert(token, purpose);
        token
    }

    fn read(&mut self, read: Read, purpose: Purpose) {
        let token = self.token(purpose);
        self.outputs.push_back(Output::Read(token, read));
    }

    fn write(&mut self, write: Write, purpose: Purpose) {
        let token = self.token(purpose);
        self.outputs.push_back(Output::Write(token, write));
    }

    /// A clock that was set back takes the plans made by it along.
    fn notice_clock(&mut self, now: Time) {
        if now < self.last_now {
            let back = self.last_now.since(now).0;
            self.meta.queue.due = Time(self.meta.queue.due.0.saturating_sub(back));
            self.meta.queue.floor = Time(self.meta.queue.floor.0.saturating_sub(back));
            self.sender.clock_went_back(back);
        }
        self.last_now = now;
    }

    fn adopt_counts(&mut self, meta: &Meta) {
        self.meta.pending = meta.pending;
        self.meta.parked = meta.parked;
        self.meta.queue.last_synced_at = meta.queue.last_synced_at.or(self.meta.queue.last_synced_at);
    }
}

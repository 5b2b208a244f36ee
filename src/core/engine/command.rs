//! What a person decides about an operation: read it, decide, write if it is still the same, and otherwise decide again.

use super::{CallError, Engine, Found, Purpose, Read, Reply, Ticket};
use crate::core::event::EventKind;
use crate::core::operation::{Choice, Pending, Record};
use crate::core::time::Time;
use crate::core::values::{created_at, freeze, same_values};
use crate::id::ClientMemoryId;
use crate::port::{Change, Filter, ListQuery, StoreError, Write, WriteOutcome};

/// How many parked records are looked at together.
const PAGE: u32 = 500;

/// A decision on its way.
#[derive(Debug)]
pub(super) struct Command {
    ticket: Ticket,
    kind: String,
    action: Action,
    plan: Plan,
}

#[derive(Debug)]
enum Action {
    Correct(ClientMemoryId, String),
    Retry(ClientMemoryId),
    /// All parked ones with an order below this.
    RetryAll(Option<u64>),
    Discard(ClientMemoryId),
    SaveAsNew(ClientMemoryId, ClientMemoryId),
}

/// What will have happened when the write is done, and whether another page follows.
#[derive(Debug, Default)]
struct Plan {
    changes: Vec<Change>,
    happened: Vec<(EventKind, Record)>,
    reply: Option<Record>,
    more: bool,
}

impl Command {
    fn new(ticket: Ticket, kind: String, action: Action) -> Self {
        Self { ticket, kind, action, plan: Plan::default() }
    }

    pub(super) fn correct(ticket: Ticket, kind: String, id: ClientMemoryId, values: String) -> Self {
        Self::new(ticket, kind, Action::Correct(id, values))
    }

    pub(super) fn retry(ticket: Ticket, kind: String, id: ClientMemoryId) -> Self {
        Self::new(ticket, kind, Action::Retry(id))
    }

    pub(super) fn retry_all(ticket: Ticket, kind: String) -> Self {
        Self::new(ticket, kind, Action::RetryAll(None))
    }

    pub(super) fn discard(ticket: Ticket, kind: String, id: ClientMemoryId) -> Self {
        Self::new(ticket, kind, Action::Discard(id))
    }

    pub(super) fn save_as_new(ticket: Ticket, kind: String, id: ClientMemoryId, new: ClientMemoryId) -> Self {
        Self::new(ticket, kind, Action::SaveAsNew(id, new))
    }

    fn read(&self) -> Read {
        match &self.action {
            Action::Correct(id, _) | Action::Retry(id) | Action::Discard(id) | Action::SaveAsNew(id, _) => {
                Read::Get(self.kind.clone(), *id)
            }
            Action::RetryAll(before) => {
                Read::List(ListQuery { kind: self.kind.clone(), filter: Filter::Parked, before: *before, limit: PAGE })
            }
        }
    }

    fn decide(&self, record: Record, now: Time) -> Result<Plan, CallError> {
        match &self.action {
            Action::Correct(_, values) => correct(record, values),
            Action::Retry(_) => Ok(retry(record)),
            Action::RetryAll(_) => Ok(Plan::default()),
            Action::Discard(_) => discard(record),
            Action::SaveAsNew(_, new) => save_as_new(&record, *new, now),
        }
    }
}

impl Engine {
    pub(super) fn command(&mut self, command: Command) {
        let read = command.read();
        self.read(read, Purpose::Command(Box::new(command)));
    }

    pub(super) fn command_found(&mut self, mut command: Command, found: Result<Found, StoreError>, now: Time) {
        let plan = match found {
            Ok(Found::Record(Some(record))) => command.decide(*record, now),
            Ok(Found::Record(None)) => Err(CallError::NotFound),
            Ok(Found::Page(page)) => {
                command.action = Action::RetryAll(page.records.last().map(|record| record.order));
                Ok(Plan { more: page.more, ..page.records.into_iter().map(retry).collect() })
            }
            Ok(_) => Err(StoreError::Corrupt("an answer to another question".to_owned()).into()),
            Err(error) => Err(error.into()),
        };
        match plan {
            Ok(plan) => {
                command.plan = plan;
                self.carry_out(command, now);
            }
            Err(error) => self.reply(command.ticket, Err(error)),
        }
    }

    pub(super) fn command_written(&mut self, command: Command, outcome: Result<WriteOutcome, StoreError>, now: Time) {
        match outcome {
            Ok(WriteOutcome::Done(written)) => self.finish(command, &written.orders, now),
            // Another tab was faster: look again.
            Ok(WriteOutcome::Stale(_)) => {
                let action = match command.action {
                    Action::RetryAll(_) => Action::RetryAll(None),
                    action => action,
                };
                self.command(Command::new(command.ticket, command.kind, action));
            }
            Ok(WriteOutcome::Fenced | WriteOutcome::Clash(_)) => {
                self.reply(command.ticket, Err(StoreError::Corrupt("a plain write was fenced".to_owned()).into()));
            }
            Err(error) => self.reply(command.ticket, Err(error.into())),
        }
    }

    fn carry_out(&mut self, mut command: Command, now: Time) {
        if command.plan.changes.is_empty() {
            return self.finish(command, &[], now);
        }
        let changes = std::mem::take(&mut command.plan.changes);
        self.write(Write { changes, ..Write::default() }, Purpose::Command(Box::new(command)));
    }

    fn finish(&mut self, command: Command, orders: &[u64], now: Time) {
        for ((kind, mut record), order) in command.plan.happened.into_iter().zip(orders) {
            record.order = *order;
            record.revision += 1;
            self.happened(kind, &record, now);
        }
        self.sender.something_may_be_due();
        if command.plan.more {
            self.command(Command::new(command.ticket, command.kind, command.action));
        } else {
            let reply = command.plan.reply.map_or(Reply::Done, |record| Reply::Record(Box::new(record)));
            self.reply(command.ticket, Ok(reply));
        }
    }
}

impl Plan {
    fn replace(record: Record, kind: EventKind) -> Self {
        Plan {
            changes: vec![Change::Replace(record.clone())],
            reply: Some(Record { revision: record.revision + 1, ..record.clone() }),
            happened: vec![(kind, record)],
            more: false,
        }
    }

    fn nothing(record: Record) -> Self {
        Plan { reply: Some(record), ..Plan::default() }
    }
}

impl FromIterator<Plan> for Plan {
    fn from_iter<I: IntoIterator<Item = Plan>>(plans: I) -> Self {
        let mut all = Plan::default();
        for plan in plans {
            all.changes.extend(plan.changes);
            all.happened.extend(plan.happened);
        }
        all
    }
}

fn correct(record: Record, values: &str) -> Result<Plan, CallError> {
    let content = freeze(record.id, &created_at(&record.content), values)?;
    let correctable = record
        .pending
        .as_ref()
        .and_then(|pending| pending.parked.as_ref())
        .is_some_and(|parked| parked.cause.correctable());
    match record.pending {
        Some(pending) if correctable => {
            let earlier_attempts = record.earlier_attempts.saturating_add(pending.attempts);
            let pending = Pending { attempts: 0, due: Time::ZERO, parked: None, ..pending };
            Ok(Plan::replace(Record { content, earlier_attempts, pending: Some(pending), ..record }, EventKind::Stored))
        }
        _ if same_values(&record.content, &content) => Ok(Plan::nothing(record)),
        _ => Err(CallError::NotPossible("only a create that the server refused as invalid can be corrected")),
    }
}

fn retry(record: Record) -> Plan {
    let refusable = |pending: &Pending| {
        pending.parked.as_ref().is_none_or(|parked| parked.cause.choices().contains(&Choice::Retry))
    };
    match record.pending.clone() {
        Some(pending) if refusable(&pending) && (pending.parked.is_some() || pending.due > Time::ZERO) => {
            let pending = Pending { due: Time::ZERO, parked: None, ..pending };
            Plan::replace(Record { pending: Some(pending), ..record }, EventKind::Stored)
        }
        _ => Plan::default(),
    }
}

fn discard(record: Record) -> Result<Plan, CallError> {
    if record.pending.is_none() {
        return Err(CallError::NotPossible("it is on the server already; only what is unsettled can be discarded"));
    }
    let change = Change::Remove { order: record.order, revision: record.revision };
    Ok(Plan { changes: vec![change], happened: vec![(EventKind::Discarded, record)], ..Plan::default() })
}

fn save_as_new(record: &Record, new: ClientMemoryId, now: Time) -> Result<Plan, CallError> {
    let allowed = record
        .pending
        .as_ref()
        .and_then(|pending| pending.parked.as_ref())
        .is_some_and(|parked| parked.cause.choices().contains(&Choice::SaveAsNew));
    if !allowed {
        return Err(CallError::NotPossible("only a record whose id has other content on the server is saved as new"));
    }
    let values = record.content.values();
    let values = std::str::from_utf8(&values).map_err(|_| StoreError::Corrupt("values".to_owned()))?;
    let made = created_at(&record.content);
    let made = if made.is_empty() { now.to_rfc3339() } else { made };
    let fresh = Record {
        order: 0,
        revision: 0,
        id: new,
        server_id: None,
        server_revision: None,
        deleted: false,
        earlier_attempts: 0,
        content: freeze(new, &made, values)?,
        pending: Some(Pending { key: new.into(), attempts: 0, due: Time::ZERO, parked: None }),
        kind: record.kind.clone(),
    };
    Ok(Plan {
        changes: vec![Change::Remove { order: record.order, revision: record.revision }, Change::Insert(fresh.clone())],
        happened: vec![(EventKind::Discarded, record.clone()), (EventKind::Stored, fresh)],
        ..Plan::default()
    })
}

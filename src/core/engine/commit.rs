//! Writing operations down. Commits that arrive together share a transaction; each caller gets its own verdict.

use std::collections::{HashSet, VecDeque};

use super::{CallError, Engine, Purpose, Reply, Ticket};
use crate::core::event::EventKind;
use crate::core::limits::{COMMIT_BYTES, COMMIT_ITEMS};
use crate::core::operation::{Pending, Record};
use crate::core::time::Time;
use crate::core::values::{freeze, same_values};
use crate::id::ClientMemoryId;
use crate::port::{Change, StoreError, Write, WriteOutcome};

/// One commit on its way to the store.
#[derive(Debug)]
pub(super) struct Member {
    ticket: Ticket,
    record: Record,
}

/// The commits that are not durable yet.
#[derive(Debug, Default)]
pub(super) struct Commits {
    queue: VecDeque<Member>,
    writing: bool,
    /// So many at the head go each by itself, since they failed together.
    singly: usize,
}

impl Commits {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && !self.writing
    }

    /// The next group. The same record twice is never in one group: the second must see what became of the first.
    fn take_group(&mut self) -> Vec<Member> {
        let limit = if self.singly > 0 { 1 } else { COMMIT_ITEMS };
        self.singly = self.singly.saturating_sub(1);
        let (mut group, mut names, mut bytes) = (Vec::new(), HashSet::new(), 0);
        while let Some(member) = self.queue.front() {
            bytes += member.record.content.bytes.len();
            let fits = group.is_empty() || (group.len() < limit && bytes <= COMMIT_BYTES);
            if !fits || !names.insert((member.record.kind.clone(), member.record.id)) {
                break;
            }
            group.extend(self.queue.pop_front());
        }
        group
    }

    fn put_back(&mut self, members: Vec<Member>) {
        for member in members.into_iter().rev() {
            self.queue.push_front(member);
        }
    }
}

impl Engine {
    pub(super) fn commit(&mut self, ticket: Ticket, kind: String, id: ClientMemoryId, values: &str, now: Time) {
        let content = match freeze(id, &now.to_rfc3339(), values) {
            Ok(content) => content,
            Err(invalid) => return self.reply(ticket, Err(invalid.into())),
        };
        let pending = Pending { key: id.into(), attempts: 0, due: Time::ZERO, parked: None };
        let record = Record {
            order: 0,
            revision: 0,
            kind,
            id,
            server_id: None,
            server_revision: None,
            deleted: false,
            earlier_attempts: 0,
            content,
            pending: Some(pending),
        };
        self.commits.queue.push_back(Member { ticket, record });
    }

    pub(super) fn start_commits(&mut self) {
        if self.commits.writing || self.commits.queue.is_empty() {
            return;
        }
        let group = self.commits.take_group();
        let changes = group.iter().map(|member| Change::Insert(member.record.clone())).collect();
        self.commits.writing = true;
        self.write(Write { changes, ..Write::default() }, Purpose::Commit(group));
    }

    pub(super) fn commit_written(
        &mut self,
        mut members: Vec<Member>,
        outcome: Result<WriteOutcome, StoreError>,
        now: Time,
    ) {
        self.commits.writing = false;
        match outcome {
            Ok(WriteOutcome::Done(written)) => {
                for (mut member, order) in members.into_iter().zip(written.orders) {
                    member.record.order = order;
                    member.record.revision = 1;
                    self.happened(EventKind::Stored, &member.record, now);
                    self.reply(member.ticket, Ok(Reply::Record(Box::new(member.record))));
                }
                self.sender.something_may_be_due();
            }
            Ok(WriteOutcome::Stale(mismatches)) => {
                // From the back, so that the indices before stay right.
                for mismatch in mismatches.into_iter().rev() {
                    if mismatch.index < members.len() {
                        let member = members.remove(mismatch.index);
                        self.already_there(&member, mismatch.current);
                    }
                }
                self.commits.put_back(members);
            }
            Ok(WriteOutcome::Fenced | WriteOutcome::Clash(_)) => {
                self.fail_commits(&members, &StoreError::Corrupt("a plain commit was fenced".to_owned()));
            }
            Err(error) if members.len() > 1 && is_about_one(&error) => {
                self.commits.singly = members.len();
                self.commits.put_back(members);
            }
            Err(error) => self.fail_commits(&members, &error),
        }
    }

    fn already_there(&mut self, member: &Member, current: Option<Record>) {
        let replied = match current {
            Some(record) if same_values(&record.content, &member.record.content) => Ok(Reply::Record(Box::new(record))),
            Some(_) => Err(CallError::AlreadyCommitted),
            None => Err(StoreError::Corrupt("a record is there and is not".to_owned()).into()),
        };
        self.reply(member.ticket, replied);
    }

    fn fail_commits(&mut self, members: &[Member], error: &StoreError) {
        for member in members {
            self.reply(member.ticket, Err(error.clone().into()));
        }
    }
}

/// Whether one member may have spoilt the transaction for the others.
fn is_about_one(error: &StoreError) -> bool {
    matches!(error, StoreError::Full | StoreError::Corrupt(_))
}

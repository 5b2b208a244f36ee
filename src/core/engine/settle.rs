//! What an answer changes: decided on the records that were sent, written if they are still the same, and otherwise
//! decided again on the records as they stand.

use super::sender::{Chunk, SilentAlone, Suspect};
use super::{Engine, Output};
use crate::core::answer::{Refusal, Trouble, Verdict, classify};
use crate::core::chunk::{Bisection, Suspicion};
use crate::core::event::{EventKind, Pause};
use crate::core::limits::{ALONE_BEFORE_ENDPOINT, SILENT_ALONE_BEFORE_PARKED, SUSPECT_PAUSE};
use crate::core::operation::{Cause, Parked, Pending, Record};
use crate::core::reconcile::{Decision, acknowledged, identity_mismatch, reconcile};
use crate::core::retry::{backoff, postpone};
use crate::core::time::{Millis, Time};
use crate::port::{Change, Delivery, Durability, Mismatch, QueueState, StoreError, Write, WriteOutcome};

/// The changes that an answer asks for.
#[derive(Debug, Default)]
pub(super) struct Settlement {
    items: Vec<Item>,
    /// What a write that seemed to fail had done after all.
    done: Vec<Item>,
}

/// One record's change. The decision is kept, so that it can be made again on another state of the record.
#[derive(Debug)]
struct Item {
    record: Record,
    decided: Decided,
}

#[derive(Debug, Clone)]
enum Decided {
    Reconciled(Decision),
    /// Wait at least until then.
    Wait(Time),
    /// The request was never sent, so it was no attempt.
    Unsent,
    Park(Parked),
}

impl Item {
    fn new(record: Record, decided: Decided) -> Self {
        Self { record, decided }
    }

    /// The record as it shall be, and what that means to people.
    fn outcome(&self) -> Option<(Record, Option<EventKind>)> {
        match &self.decided {
            Decided::Reconciled(Decision::Acknowledge { server_id, revision, deleted }) => {
                let after = acknowledged(&self.record, server_id.clone(), *revision, *deleted);
                Some((after, Some(EventKind::Synced)))
            }
            Decided::Reconciled(Decision::Park(parked)) | Decided::Park(parked) => {
                Some((self.parked(parked)?, Some(EventKind::Parked)))
            }
            Decided::Wait(until) => Some((self.waiting(*until)?, None)),
            Decided::Unsent => Some((self.unsent()?, None)),
            Decided::Reconciled(Decision::Nothing) => None,
        }
    }

    /// Whether a record is as this change would leave it.
    fn is_done_by(&self, record: &Record) -> bool {
        let revised = |after: Record| Record { revision: after.revision + 1, ..after };
        self.outcome().is_some_and(|(after, _)| revised(after) == *record)
    }

    fn parked(&self, parked: &Parked) -> Option<Record> {
        let pending = Pending { parked: Some(parked.clone()), ..self.record.pending.clone()? };
        Some(Record { pending: Some(pending), ..self.record.clone() })
    }

    fn unsent(&self) -> Option<Record> {
        let pending = self.record.pending.clone()?;
        let pending = Pending { attempts: pending.attempts.saturating_sub(1), ..pending };
        Some(Record { pending: Some(pending), ..self.record.clone() })
    }

    fn waiting(&self, until: Time) -> Option<Record> {
        let pending = Pending { due: until, ..self.record.pending.clone()? };
        Some(Record { pending: Some(pending), ..self.record.clone() })
    }
}

impl Settlement {
    pub(super) fn write(&self, generation: u64, queue: QueueState) -> Write {
        let changes: Vec<Change> =
            self.items.iter().filter_map(Item::outcome).map(|(record, _)| Change::Replace(record)).collect();
        Write {
            durability: if changes.is_empty() { Durability::Relaxed } else { Durability::Strict },
            fence: Some(generation),
            changes,
            queue: Some(queue),
            ..Write::default()
        }
    }

    fn unsent(chunk: &Chunk) -> Self {
        let items = chunk.records.iter().map(|record| Item::new(record.clone(), Decided::Unsent)).collect();
        Self { items, ..Self::default() }
    }

    /// Takes the records as they stand. What is gone or settled meanwhile drops out.
    fn renew(&mut self, mismatches: Vec<Mismatch>) {
        for mismatch in mismatches.into_iter().rev() {
            let Some(item) = self.items.get(mismatch.index) else { continue };
            match mismatch.current {
                Some(record) if item.is_done_by(&record) => self.done.push(self.items.remove(mismatch.index)),
                Some(record) if record.pending.is_some() => self.items[mismatch.index].record = record,
                _ => drop(self.items.remove(mismatch.index)),
            }
        }
    }
}

impl Engine {
    pub(super) fn answered(&mut self, chunk: Chunk, delivery: &Delivery, now: Time) {
        self.sender.busy = false;
        if self.closing.is_some() {
            return;
        }
        let verdict = classify(delivery, &self.config.signed_out_statuses, now);
        if !matches!(verdict, Verdict::SignedOut { .. }) {
            self.sender.asked_for_credentials = false;
        }
        match verdict {
            Verdict::Results(results) => {
                let decisions = reconcile(&chunk.records, &results).decisions;
                if decisions.iter().all(|decision| *decision == Decision::Nothing) {
                    self.no_verdict(&chunk, Trouble::UnexpectedAnswer, None, now);
                } else {
                    self.verdicts(chunk, decisions, now);
                }
            }
            Verdict::Later { trouble, floor } => self.no_verdict(&chunk, trouble, floor, now),
            Verdict::Failed { floor } => self.failed(&chunk, floor, now),
            Verdict::SignedOut { by_server } => self.signed_out(&chunk, by_server, now),
            Verdict::Refused(refusal) => self.refused(&chunk, refusal, now),
        }
    }

    fn verdicts(&mut self, chunk: Chunk, decisions: Vec<Decision>, now: Time) {
        self.sender.passed += 1;
        self.sender.failed_alone = 0;
        self.sender.evidence |= !self.sender.bisection.is_over() || !self.sender.suspects.is_empty();
        self.sender.evidence |= chunk.depth.is_some();
        self.sender.sizer.answered();
        self.sender.trouble = None;
        let last_synced_at = if decisions.iter().any(|decision| matches!(decision, Decision::Acknowledge { .. })) {
            Some(now)
        } else {
            self.meta.queue.last_synced_at
        };
        self.meta.queue = QueueState { last_synced_at, ..QueueState::default() };
        let mut settlement = Settlement::default();
        for (record, decision) in chunk.records.into_iter().zip(decisions) {
            self.sender.silent_alone.remove(&record.order);
            let decided = match decision {
                Decision::Nothing => {
                    self.sender.something_may_be_due();
                    Decided::Wait(now + self.own_backoff(&record))
                }
                decision => Decided::Reconciled(decision),
            };
            settlement.items.push(Item::new(record, decided));
        }
        self.settle(settlement);
    }

    /// Nobody is to blame: the same keys again, later.
    fn no_verdict(&mut self, chunk: &Chunk, trouble: Trouble, floor: Option<Millis>, now: Time) {
        self.sender.trouble = Some(trouble);
        postpone(&mut self.meta.queue, now, floor, &mut self.random);
        let mut settlement = Settlement::default();
        if trouble.answer_lost() {
            for record in &chunk.records {
                self.happened(EventKind::AnswerLost, record, now);
            }
            self.sender.sizer.silent(chunk.records.len());
            // Its parts may be too large for this line; a new search begins when there is an answer again.
            self.sender.bisection = Bisection::default();
            if let [record] = chunk.records.as_slice() {
                let decided = self.silent_alone(record, trouble, now);
                settlement.items.push(Item::new(record.clone(), decided));
                self.sender.something_may_be_due();
                return self.settle(settlement);
            }
        }
        if trouble == Trouble::HeadersFailed {
            settlement = Settlement::unsent(chunk);
        }
        if !trouble.answer_lost() {
            self.take_again(chunk);
        }
        self.sender.something_may_be_due();
        self.settle(settlement);
    }

    /// One that gets no answer alone goes out of the way; if it keeps on while others pass, it is the cause.
    fn silent_alone(&mut self, record: &Record, trouble: Trouble, now: Time) -> Decided {
        let passed = self.sender.passed;
        let noted = self
            .sender
            .silent_alone
            .entry(record.order)
            .and_modify(|silent| silent.times += 1)
            .or_insert(SilentAlone { times: 1, passed_before: passed });
        if noted.times >= SILENT_ALONE_BEFORE_PARKED && passed > noted.passed_before {
            self.sender.silent_alone.remove(&record.order);
            let detail = "The server gives no answer to this one, while it answers to others.".to_owned();
            return Decided::Park(unanswerable(trouble.as_str(), detail, None));
        }
        Decided::Wait(now + self.own_backoff(record))
    }

    fn failed(&mut self, chunk: &Chunk, floor: Option<Millis>, now: Time) {
        self.sender.trouble = Some(Trouble::ServerError);
        self.sender.failed_alone += usize::from(chunk.records.len() == 1);
        if self.sender.failed_alone >= ALONE_BEFORE_ENDPOINT {
            // What passed before these says nothing of the server any more.
            self.sender.evidence = false;
        }
        if !self.sender.evidence || floor.is_some() {
            postpone(&mut self.meta.queue, now, floor, &mut self.random);
        }
        self.suspect(chunk, &Suspicion::Failed, now);
    }

    fn refused(&mut self, chunk: &Chunk, refusal: Refusal, now: Time) {
        if let Some(limits) = &refusal.limits {
            self.sender.sizer.adopt(limits);
            if chunk.records.len() > 1 && self.sender.sizer.is_exceeded_by(&chunk.records) {
                self.sender.something_may_be_due();
                return;
            }
        }
        self.suspect(chunk, &Suspicion::Refused(refusal), now);
    }

    /// Something in the chunk, or the endpoint: halves tell.
    fn suspect(&mut self, chunk: &Chunk, suspicion: &Suspicion, now: Time) {
        self.sender.something_may_be_due();
        let [record] = chunk.records.as_slice() else {
            let orders: Vec<u64> = chunk.records.iter().map(|record| record.order).collect();
            self.sender.bisection.split(chunk.depth.unwrap_or(0), &orders);
            return self.settle(Settlement::default());
        };
        let mut decided = Decided::Wait(now + self.suspect_pause(record, suspicion));
        if self.sender.evidence {
            decided = Decided::Park(accused(suspicion));
        } else if !self.sender.suspects.iter().any(|suspect| suspect.order == record.order) {
            self.sender.suspects.push(Suspect { order: record.order, suspicion: suspicion.clone() });
            if self.sender.suspects.len() >= ALONE_BEFORE_ENDPOINT {
                self.blame_the_endpoint();
            }
        }
        self.settle(Settlement { items: vec![Item::new(record.clone(), decided)], ..Settlement::default() });
    }

    /// Several failed alone and nothing passed: no operation pays for that.
    fn blame_the_endpoint(&mut self) {
        let refused = self.sender.suspects.iter().any(|suspect| matches!(suspect.suspicion, Suspicion::Refused(_)));
        if refused {
            self.sender.paused = Some(Pause::Endpoint);
        }
        self.sender.suspects.clear();
        self.sender.bisection = Bisection::default();
    }

    pub(super) fn park_suspects(&mut self, suspects: &[Suspect], records: Vec<Record>) {
        self.sender.busy = false;
        let mut settlement = Settlement::default();
        for record in records.into_iter().filter(Record::waits_to_be_sent) {
            if let Some(suspect) = suspects.iter().find(|suspect| suspect.order == record.order) {
                settlement.items.push(Item::new(record, Decided::Park(accused(&suspect.suspicion))));
            }
        }
        if !settlement.items.is_empty() {
            self.settle(settlement);
        }
    }

    fn signed_out(&mut self, chunk: &Chunk, by_server: bool, now: Time) {
        self.take_again(chunk);
        if by_server && !std::mem::replace(&mut self.sender.asked_for_credentials, true) {
            self.sender.busy = true;
            self.outputs.push_back(Output::Refresh);
        } else {
            self.sign_out(now);
            let settlement = if by_server { Settlement::default() } else { Settlement::unsent(chunk) };
            self.settle(settlement);
        }
    }

    pub(super) fn settled(&mut self, mut settlement: Settlement, outcome: Result<WriteOutcome, StoreError>, now: Time) {
        self.sender.busy = false;
        match outcome {
            Ok(WriteOutcome::Done(_)) => self.tell(&settlement, now),
            Ok(WriteOutcome::Stale(mismatches)) => {
                settlement.items.retain(|item| item.outcome().is_some());
                settlement.renew(mismatches);
                self.settle(settlement);
            }
            Ok(WriteOutcome::Clash(index)) => {
                settlement.items.retain(|item| item.outcome().is_some());
                if let Some(item) = settlement.items.get_mut(index)
                    && let Decided::Reconciled(Decision::Acknowledge { server_id, .. }) = &item.decided
                {
                    item.decided = Decided::Park(identity_mismatch(server_id));
                    self.settle(settlement);
                }
            }
            Ok(WriteOutcome::Fenced) => self.fenced(now),
            // It may be done or not: written again, it tells which.
            Err(_) => {
                self.store_failed(now);
                self.sender.unsettled = Some(settlement);
            }
        }
    }

    fn tell(&mut self, settlement: &Settlement, now: Time) {
        for item in settlement.items.iter().chain(&settlement.done) {
            if let Some((mut after, Some(kind))) = item.outcome() {
                after.revision += 1;
                if let Some(done) = &mut self.sender.pass {
                    *done += 1;
                }
                let attempt = item.record.pending.as_ref().map_or(0, |pending| pending.attempts);
                self.happened_at(kind, &after, attempt, now);
            }
        }
    }

    /// How long an operation stays out of the way while it is suspected: what failed may soon pass, what was refused waits
    /// for evidence.
    fn suspect_pause(&mut self, record: &Record, suspicion: &Suspicion) -> Millis {
        match suspicion {
            Suspicion::Failed => self.own_backoff(record),
            Suspicion::Refused(_) => SUSPECT_PAUSE,
        }
    }

    fn own_backoff(&mut self, record: &Record) -> Millis {
        backoff(record.pending.as_ref().map_or(1, |pending| pending.attempts), &mut self.random)
    }
}

fn accused(suspicion: &Suspicion) -> Parked {
    match suspicion {
        Suspicion::Failed => {
            let detail = "The server fails on this one, while others pass.".to_owned();
            unanswerable(Trouble::ServerError.as_str(), detail, Some(500))
        }
        Suspicion::Refused(refusal) => Parked {
            cause: Cause::Rejected,
            code: refusal.code.clone(),
            detail: refusal.detail.clone(),
            field: refusal.field.clone(),
            status: Some(refusal.status),
            server: refusal.body.clone(),
        },
    }
}

fn unanswerable(code: &str, detail: String, status: Option<u16>) -> Parked {
    Parked { cause: Cause::Unanswerable, code: code.to_owned(), detail, field: None, status, server: None }
}

//! The sender: takes what is due, marks it durably as attempted, sends it, and takes the next.
//!
//! ```text
//! Requested ──lock──▶ Claiming ──generation──▶ Active: Idle ─▶ reading ─▶ marking ─▶ sending ─▶ settling ─▶ Idle
//!     ▲                                          │
//!     └───────────── a while later ── Fenced ◀───┘ another tab has claimed since
//! ```

use std::collections::BTreeMap;

use super::settle::Settlement;
use super::{Engine, Output, Purpose, Read, Ticket};
use crate::core::answer::Trouble;
use crate::core::chunk::{Bisection, Sizer, Suspicion};
use crate::core::event::{EventKind, Pause};
use crate::core::limits::{BACKOFF_CAP, FENCED_PAUSE, LOOK_AGAIN, STORE_PAUSE};
use crate::core::operation::Record;
use crate::core::retry::{clamp, deadline};
use crate::core::time::Time;
use crate::port::{Change, Delivery, Due, DueQuery, Durability, HttpRequest, Method, StoreError, Write, WriteOutcome};
use crate::wire::{capabilities, sync};

/// How far this tab is on the way to sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    #[default]
    Asleep,
    Requested,
    Claiming,
    /// The claim could not be written; the lock is here.
    Unclaimed(Time),
    Active(u64),
    Fenced(Time),
}

/// Records that are sent together.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) records: Vec<Record>,
    /// The depth in the search for a spoiler; `None` for an ordinary chunk.
    pub(super) depth: Option<u32>,
}

/// An operation that failed alone, while it is not known whether the endpoint is at fault.
#[derive(Debug)]
pub(super) struct Suspect {
    pub(super) order: u64,
    pub(super) suspicion: Suspicion,
}

/// How often an operation alone got no answer, and how many chunks had passed before the first time.
#[derive(Debug, Clone, Copy)]
pub(super) struct SilentAlone {
    pub(super) times: u32,
    pub(super) passed_before: u64,
}

#[derive(Debug, Default)]
pub(super) struct SenderState {
    pub(super) role: Role,
    pub(super) busy: bool,
    pub(super) sizer: Sizer,
    pub(super) bisection: Bisection,
    pub(super) suspects: Vec<Suspect>,
    /// Whether a chunk passed since the first suspicion.
    pub(super) evidence: bool,
    /// How many failed alone since a chunk passed last.
    pub(super) failed_alone: usize,
    pub(super) silent_alone: BTreeMap<u64, SilentAlone>,
    /// How many chunks have passed.
    pub(super) passed: u64,
    pub(super) paused: Option<Pause>,
    pub(super) trouble: Option<Trouble>,
    /// How many were settled in the pass under way.
    pub(super) pass: Option<u64>,
    pub(super) asked_for_credentials: bool,
    pub(super) last_attempt: Time,
    /// What could not be written, as far as is known.
    pub(super) unsettled: Option<Settlement>,
    pub(super) dirty: bool,
    next_due: Option<Time>,
    pub(super) store_due: Time,
    /// When the store was looked at last, for what other tabs did without a word.
    looked: Time,
    pub(super) syncs: Vec<(Ticket, Time)>,
    capabilities_asked: bool,
}

impl SenderState {
    pub(super) fn something_may_be_due(&mut self) {
        self.dirty = true;
    }

    pub(super) fn take_syncs(&mut self) -> Vec<Ticket> {
        std::mem::take(&mut self.syncs).into_iter().map(|(ticket, _)| ticket).collect()
    }

    pub(super) fn is_active(&self) -> bool {
        matches!(self.role, Role::Active(_))
    }

    pub(super) fn clock_went_back(&mut self, back: u64) {
        let shift = |time: Time| Time(time.0.saturating_sub(back));
        self.store_due = shift(self.store_due);
        self.last_attempt = shift(self.last_attempt);
        self.looked = shift(self.looked);
        for (_, until) in &mut self.syncs {
            *until = shift(*until);
        }
        match &mut self.role {
            Role::Fenced(until) | Role::Unclaimed(until) => *until = shift(*until),
            _ => {}
        }
        self.dirty = true;
    }

    /// When the sender wants to be woken.
    pub(super) fn wake(&self, queue_due: Time) -> Option<Time> {
        let until = match self.role {
            Role::Fenced(until) | Role::Unclaimed(until) => Some(until),
            Role::Active(_) if !self.busy && self.unsettled.is_some() => Some(self.store_due),
            Role::Active(_) if !self.busy && self.paused.is_none() => {
                let next = if self.dirty { Some(Time::ZERO) } else { self.next_due };
                next.map(|next| next.max(queue_due).max(self.store_due))
            }
            _ => None,
        };
        let syncs = if self.is_active() { None } else { self.syncs.iter().map(|(_, until)| *until).min() };
        let look = (self.role != Role::Asleep).then_some(self.looked + LOOK_AGAIN);
        [until, syncs, look].into_iter().flatten().min()
    }
}

impl Engine {
    pub(super) fn request_lock(&mut self) {
        self.sender.role = Role::Requested;
        self.outputs.push_back(Output::AcquireLock);
    }

    pub(super) fn claim(&mut self) {
        if self.closing.is_none() {
            self.sender.role = Role::Claiming;
            self.write(Write { claim: true, ..Write::default() }, Purpose::Claim);
        }
    }

    pub(super) fn claimed(&mut self, outcome: Result<WriteOutcome, StoreError>, now: Time) {
        if let Ok(WriteOutcome::Done(written)) = outcome {
            self.sender.role = Role::Active(written.meta.generation);
            self.sender.dirty = true;
            // What this tab heard last as a sender may not have been written down.
            let floor = clamp(self.meta.queue.floor, now);
            self.meta.queue = written.meta.queue;
            self.meta.queue.floor = self.meta.queue.floor.max(floor);
            self.meta.queue.due = self.meta.queue.due.max(floor);
        } else {
            self.sender.role = Role::Unclaimed(now + STORE_PAUSE);
        }
    }

    /// Does the next thing there is to do, if nothing is under way.
    pub(super) fn advance(&mut self, now: Time) {
        if self.closing.is_some() {
            return;
        }
        self.give_up_on_other_tabs(now);
        if self.sender.role != Role::Asleep && self.sender.looked + LOOK_AGAIN <= now {
            self.sender.looked = now;
            self.read(Read::Meta, Purpose::Meta);
        }
        match self.sender.role {
            Role::Fenced(until) if now >= until => self.request_lock(),
            Role::Unclaimed(until) if now >= until => self.claim(),
            Role::Active(_) if !self.sender.busy => self.take_next(now),
            _ => {}
        }
    }

    fn take_next(&mut self, now: Time) {
        if self.sender.bisection.is_over() && self.sender.suspects.is_empty() {
            self.sender.evidence = false;
        }
        if self.sender.store_due <= now
            && let Some(settlement) = self.sender.unsettled.take()
        {
            return self.settle(settlement);
        }
        let waits = clamp(self.meta.queue.due, now) > now || self.sender.store_due > now;
        if self.sender.paused.is_some() || waits {
            return self.end_pass();
        }
        if self.sender.next_due.is_some_and(|due| clamp(due, now) <= now) {
            self.sender.dirty = true;
        }
        if let Some((depth, orders)) = self.sender.bisection.take() {
            self.sender.busy = true;
            self.read(Read::Load(orders.clone()), Purpose::Part { depth, orders });
        } else if self.sender.evidence && !self.sender.suspects.is_empty() {
            self.look_at_suspects();
        } else if self.sender.dirty {
            self.sender.busy = true;
            // What arrives while this is read must be looked for again.
            self.sender.dirty = false;
            let (max_items, max_bytes) = (self.sender.sizer.items(), self.sender.sizer.bytes());
            self.read(Read::Due(DueQuery { now, horizon: now + BACKOFF_CAP, max_items, max_bytes }), Purpose::Due);
        } else if !self.sender.suspects.is_empty() {
            // Nothing else is left that could tell whether the endpoint or the operation is at fault.
            self.look_at_suspects();
        } else {
            self.end_pass();
        }
    }

    fn look_at_suspects(&mut self) {
        let mut suspects = std::mem::take(&mut self.sender.suspects);
        if !self.sender.evidence {
            suspects.retain(|suspect| matches!(suspect.suspicion, Suspicion::Refused(_)));
        }
        if suspects.is_empty() {
            return self.end_pass();
        }
        self.sender.busy = true;
        let orders = suspects.iter().map(|suspect| suspect.order).collect();
        self.read(Read::Load(orders), Purpose::Suspects(suspects));
    }

    pub(super) fn due_found(&mut self, due: Due) {
        self.sender.busy = false;
        self.sender.dirty |= due.more;
        self.sender.next_due = due.next;
        if due.records.is_empty() {
            return;
        }
        if self.must_not_send() {
            self.sender.dirty = true;
            return;
        }
        let all = due.records.len();
        let records = self.keep_apart(due.records);
        self.sender.dirty |= records.len() < all;
        self.mark(Chunk { records, depth: None });
    }

    /// A record that got no answer alone goes alone again, so that it costs no other its turn.
    fn keep_apart(&self, mut records: Vec<Record>) -> Vec<Record> {
        let silent = |record: &Record| self.sender.silent_alone.contains_key(&record.order);
        match records.iter().position(silent) {
            Some(0) => records.truncate(1),
            Some(first) => records.truncate(first),
            None => {}
        }
        records
    }

    pub(super) fn part_found(&mut self, depth: u32, orders: &[u64], mut records: Vec<Record>) {
        self.sender.busy = false;
        records.retain(Record::waits_to_be_sent);
        records.sort_by_key(|record| orders.iter().position(|order| *order == record.order));
        if self.must_not_send() {
            self.sender.bisection.put_back(depth, orders.to_vec());
        } else if !records.is_empty() {
            self.mark(Chunk { records, depth: Some(depth) });
        }
    }

    fn must_not_send(&self) -> bool {
        self.closing.is_some() || self.sender.paused.is_some()
    }

    pub(super) fn part_lost(&mut self, depth: u32, orders: Vec<u64>, now: Time) {
        self.sender.bisection.put_back(depth, orders);
        self.store_failed(now);
    }

    pub(super) fn store_failed(&mut self, now: Time) {
        self.sender.busy = false;
        self.sender.dirty = true;
        self.sender.trouble = Some(Trouble::Storage);
        self.sender.store_due = now + STORE_PAUSE;
    }

    /// Nothing is sent before the fact that it is being sent is durable.
    fn mark(&mut self, mut chunk: Chunk) {
        let Role::Active(generation) = self.sender.role else {
            return;
        };
        let mut first = false;
        for pending in chunk.records.iter_mut().filter_map(|record| record.pending.as_mut()) {
            first |= pending.attempts == 0;
            pending.attempts = pending.attempts.saturating_add(1);
        }
        self.sender.busy = true;
        self.sender.pass.get_or_insert(0);
        let write = Write {
            durability: if first { Durability::Strict } else { Durability::Relaxed },
            fence: Some(generation),
            changes: chunk.records.iter().cloned().map(Change::Replace).collect(),
            ..Write::default()
        };
        self.write(write, Purpose::Mark(chunk));
    }

    pub(super) fn marked(&mut self, mut chunk: Chunk, outcome: &Result<WriteOutcome, StoreError>, now: Time) {
        self.sender.busy = false;
        match outcome {
            Ok(WriteOutcome::Done(_)) if self.must_not_send() => self.take_again(&chunk),
            Ok(WriteOutcome::Done(_)) => {
                for record in &mut chunk.records {
                    record.revision += 1;
                    self.happened(EventKind::Attempted, record, now);
                }
                self.send(chunk, now);
            }
            Ok(WriteOutcome::Fenced) => self.fenced(now),
            Ok(_) => self.take_again(&chunk),
            Err(_) => {
                self.take_again(&chunk);
                self.store_failed(now);
            }
        }
    }

    /// The records are not as they were read; read them again.
    pub(super) fn take_again(&mut self, chunk: &Chunk) {
        self.sender.dirty = true;
        if let Some(depth) = chunk.depth {
            let orders = chunk.records.iter().map(|record| record.order).collect();
            self.sender.bisection.put_back(depth, orders);
        }
    }

    fn send(&mut self, chunk: Chunk, now: Time) {
        self.sender.busy = true;
        self.sender.last_attempt = now;
        let body = sync::encode_request(chunk.records.iter().map(|record| record.content.bytes.as_slice()));
        let request = HttpRequest {
            method: Method::Post,
            path: sync::PATH.to_owned(),
            headers: Vec::new(),
            deadline: deadline(body.len()),
            body,
        };
        let token = self.token(Purpose::Send(chunk));
        self.outputs.push_back(Output::Send(token, request));
        if !std::mem::replace(&mut self.sender.capabilities_asked, true) {
            let token = self.token(Purpose::Capabilities);
            let request = HttpRequest {
                method: Method::Get,
                path: capabilities::PATH.to_owned(),
                headers: Vec::new(),
                deadline: deadline(0),
                body: Vec::new(),
            };
            self.outputs.push_back(Output::Send(token, request));
        }
    }

    pub(super) fn adopt_capabilities(&mut self, delivery: &Delivery) {
        if let Delivery::Answer(answer) = delivery
            && answer.status == 200
            && let Ok(limits) = serde_json::from_slice(&answer.body)
        {
            self.sender.sizer.adopt(&limits);
        }
    }

    /// Another tab has claimed since: this one stops, and asks for the right again later.
    pub(super) fn fenced(&mut self, now: Time) {
        self.sender.role = Role::Fenced(now + FENCED_PAUSE);
        self.sender.busy = false;
        self.sender.pass = None;
        self.sender.bisection = Bisection::default();
        self.sender.suspects.clear();
        self.sender.evidence = false;
        self.sender.unsettled = None;
        self.outputs.push_back(Output::ReleaseLock);
    }

    pub(super) fn refreshed(&mut self, signed_in: bool, now: Time) {
        self.sender.busy = false;
        self.sender.dirty = true;
        if !signed_in {
            self.sign_out(now);
        }
    }

    pub(super) fn sign_out(&mut self, now: Time) {
        self.sender.paused = Some(Pause::SignedOut);
        self.happened_to_none(EventKind::SignedOut, now);
    }

    fn end_pass(&mut self) {
        self.sender.pass = None;
        self.answer_syncs();
    }

    pub(super) fn settle(&mut self, settlement: Settlement) {
        let Role::Active(generation) = self.sender.role else {
            return;
        };
        self.sender.busy = true;
        let write = settlement.write(generation, self.meta.queue.clone());
        self.write(write, Purpose::Settle(Box::new(settlement)));
    }
}

//! What the app and the other tabs are told.

use std::collections::HashMap;

use super::{Engine, Output, Purpose, Read};
use crate::core::event::{Event, EventKind, Message, Note, Pause, Progress, Sender, Status};
use crate::core::operation::Record;
use crate::core::retry::clamp;
use crate::core::time::Time;

/// What was told last, so that only changes are told.
#[derive(Debug, Default)]
pub(super) struct Published {
    pub(super) online: bool,
    pub(super) wake: Option<Time>,
    status: Option<Status>,
    sending: Option<Message>,
    notes: Vec<Note>,
    /// What the sender in another tab last told.
    remote: Option<Message>,
}

impl Engine {
    /// Tells of a record as it stands now.
    pub(super) fn happened(&mut self, kind: EventKind, record: &Record, at: Time) {
        let attempt = record.pending.as_ref().map_or(0, |pending| pending.attempts);
        self.happened_at(kind, record, attempt, at);
    }

    /// The same, where the record no longer tells which attempt it was.
    pub(super) fn happened_at(&mut self, kind: EventKind, record: &Record, attempt: u32, at: Time) {
        // A settled create is known by its own name, which was its key.
        let key = record.pending.as_ref().map_or_else(|| record.id.to_string(), |pending| pending.key.to_string());
        let key = Some(key);
        self.published.notes.push(Note {
            kind,
            order: record.order,
            id: record.id,
            key: key.clone(),
            attempt,
            at: at.0,
        });
        let record = (kind != EventKind::Discarded).then(|| record.clone());
        self.outputs.push_back(Output::Event(Box::new(Event { kind, record, key, attempt, at })));
    }

    pub(super) fn happened_to_none(&mut self, kind: EventKind, at: Time) {
        self.outputs.push_back(Output::Event(Box::new(Event { kind, record: None, key: None, attempt: 0, at })));
    }

    /// Another tab's events, with the records as they stand.
    pub(super) fn retell(&mut self, notes: Vec<Note>, records: Vec<Record>) {
        let records: HashMap<u64, Record> = records.into_iter().map(|record| (record.order, record)).collect();
        for note in notes {
            let record = records.get(&note.order).filter(|record| record.id == note.id).cloned();
            self.outputs.push_back(Output::Event(Box::new(Event {
                kind: note.kind,
                record,
                key: note.key,
                attempt: note.attempt,
                at: Time(note.at),
            })));
        }
    }

    pub(super) fn heard(&mut self, message: Message, now: Time) {
        match message {
            Message::Happened { notes } => {
                let mut orders: Vec<u64> = notes.iter().map(|note| note.order).collect();
                orders.sort_unstable();
                orders.dedup();
                self.read(Read::Load(orders), Purpose::Notes(notes));
                self.read(Read::Meta, Purpose::Meta);
                self.sender.something_may_be_due();
            }
            Message::Sending { sending, paused, .. } => {
                if self.sender.is_active() {
                    return;
                }
                self.sender.paused = paused.filter(|pause| *pause == Pause::ByApp);
                self.published.remote = Some(message);
                if !sending {
                    self.answer_syncs();
                }
            }
            Message::Ask { pass } if self.sender.is_active() => {
                if pass {
                    self.hurry(now);
                }
                self.published.sending = None;
            }
            Message::Ask { .. } => {}
            Message::Steer { pause } => self.set_paused(pause, now),
        }
    }

    /// How the queue stands, as far as this tab knows.
    #[must_use]
    pub fn status(&self) -> Status {
        let mut status = Status {
            online: self.published.online,
            sending: self.sender.pass.is_some(),
            pending: self.meta.pending,
            parked: self.meta.parked,
            paused: self.sender.paused,
            progress: self.sender.pass.map(|done| Progress { done, total: done.saturating_add(self.meta.pending) }),
            next_attempt_at: self.next_attempt(),
            last_synced_at: self.meta.queue.last_synced_at,
            trouble: self.sender.trouble,
            sender: if self.sender.is_active() { Sender::Here } else { Sender::Nobody },
        };
        if let Some(Message::Sending { sending, progress, paused, next, trouble }) = &self.published.remote
            && !self.sender.is_active()
        {
            status.sender = Sender::OtherTab;
            status.sending = *sending;
            status.progress = *progress;
            status.paused = *paused;
            status.next_attempt_at = next.map(Time);
            status.trouble = *trouble;
        }
        status
    }

    pub(super) fn publish(&mut self, now: Time) {
        if !self.published.notes.is_empty() {
            let notes = std::mem::take(&mut self.published.notes);
            self.outputs.push_back(Output::Post(Message::Happened { notes }));
        }
        let status = self.status();
        if self.sender.is_active() {
            self.published.remote = None;
            let sending = Message::Sending {
                sending: status.sending,
                progress: status.progress,
                paused: status.paused,
                next: status.next_attempt_at.map(|time| time.0),
                trouble: status.trouble,
            };
            if self.published.sending.as_ref() != Some(&sending) {
                self.published.sending = Some(sending.clone());
                self.outputs.push_back(Output::Post(sending));
            }
        }
        if self.published.status.as_ref() != Some(&status) {
            self.published.status = Some(status.clone());
            self.outputs.push_back(Output::Status(status));
        }
        let wake = self.sender.wake(clamp(self.meta.queue.due, now));
        if wake != self.published.wake && self.closing.is_none() {
            self.published.wake = wake;
            self.outputs.push_back(Output::WakeAt(wake));
        }
    }

    fn next_attempt(&self) -> Option<Time> {
        if self.sender.paused.is_some() || self.meta.pending == 0 {
            return None;
        }
        let due = clamp(self.meta.queue.due, self.last_now);
        (due > self.last_now).then_some(due)
    }
}

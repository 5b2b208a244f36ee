//! What is told: events and counts, when they are so, and not before.

use std::collections::{BTreeMap, BTreeSet};

use warifu::core::event::EventKind;
use warifu::id::ClientMemoryId;

use super::{Kind, Violation};
use crate::executor::Party;
use crate::fault::Fault;
use crate::trace::{Asked, Came, Changed, Happened, Row, Trace};

#[derive(Default)]
struct Word {
    found: Vec<Violation>,
    dead: BTreeSet<Party>,
    stolen: bool,
    unsure: bool,
    gone: BTreeSet<Party>,
    /// The last counts each tab told.
    counts: BTreeMap<Party, (u64, u64)>,
    /// What is owed: a tab made a write, and has to tell of it.
    owed: BTreeMap<(Party, ClientMemoryId, u8), u64>,
    stored: BTreeSet<ClientMemoryId>,
    settled: BTreeSet<ClientMemoryId>,
    commits: BTreeMap<u32, ClientMemoryId>,
    loose: Vec<ClientMemoryId>,
}

pub(super) fn check(trace: &Trace) -> Vec<Violation> {
    let mut word = Word::default();
    for entry in &trace.entries {
        word.take(entry.at, &entry.what);
    }
    word.found
}

impl Word {
    fn take(&mut self, at: u64, what: &Happened) {
        match what {
            Happened::Killed { tab } => {
                self.dead.insert(*tab);
                self.gone.insert(*tab);
                self.owed.retain(|(by, _, _), _| by != tab);
            }
            // A tab that has lost the lock may never learn what its last write did.
            Happened::Stolen { .. } => {
                self.stolen = true;
                self.owed.clear();
            }
            Happened::Closed { tab } => {
                self.gone.insert(*tab);
                // One that closes does not wait to learn what a write did that gave no answer.
                if self.unsure {
                    self.owed.retain(|(by, _, _), _| by != tab);
                }
            }
            Happened::Fault(Fault::StoreTimeoutDone) => self.unsure = true,
            Happened::Status { tab, pending, parked, .. } => {
                self.counts.insert(*tab, (*pending, *parked));
            }
            Happened::Wrote { tab, strict, rows, .. } => {
                for changed in rows {
                    self.wrote(at, *tab, changed);
                }
                if *strict {
                    self.loose.clear();
                }
            }
            Happened::PowerCut { .. } => {
                for id in std::mem::take(&mut self.loose) {
                    self.stored.remove(&id);
                }
            }
            Happened::Event { tab, kind, id: Some(id) } => self.event(at, *tab, *kind, *id),
            Happened::Call { call, asked: Asked::Commit(id, _), .. } => {
                self.commits.insert(*call, *id);
            }
            Happened::CallDone { call, came: Came::Good, .. } => {
                if let Some(id) = self.commits.get(call)
                    && (!self.stored.contains(id) || self.loose.contains(id))
                {
                    let text = format!("the commit of {id} was confirmed before it was durable");
                    self.found.push(Violation::new(Kind::Early, at, text));
                }
            }
            Happened::Rest { pending, parked, .. } => self.rest(at, *pending, *parked),
            _ => {}
        }
    }

    fn wrote(&mut self, at: u64, tab: Party, changed: &Changed) {
        let id = match (&changed.before, &changed.after) {
            (_, Some(row)) | (Some(row), None) => row.id,
            (None, None) => return,
        };
        // A person was faster than the word of it.
        if self.unsure {
            self.owed.retain(|(_, other, _), _| *other != id);
        }
        if changed.before.is_none() {
            self.stored.insert(id);
            self.loose.push(id);
        }
        let was = |test: fn(&Row) -> bool| changed.before.as_ref().is_some_and(test);
        let kind = match &changed.after {
            None => return,
            Some(row) if !row.pending && was(|row| row.pending) => EventKind::Synced,
            Some(row) if row.parked.is_some() && was(Row::waits) => EventKind::Parked,
            Some(_) => return,
        };
        if kind == EventKind::Synced {
            self.settled.insert(id);
        }
        if !self.dead.contains(&tab) && !self.stolen {
            self.owed.insert((tab, id, kind as u8), at);
        }
    }

    fn event(&mut self, at: u64, tab: Party, kind: EventKind, id: ClientMemoryId) {
        self.owed.remove(&(tab, id, kind as u8));
        let early = match kind {
            EventKind::Synced => !self.settled.contains(&id),
            EventKind::Stored => !self.stored.contains(&id),
            _ => false,
        };
        if early {
            let text = format!("tab {tab} tells {kind:?} of {id}, which is not so");
            self.found.push(Violation::new(Kind::Early, at, text));
        }
    }

    fn rest(&mut self, at: u64, pending: u64, parked: u64) {
        for (tab, counts) in &self.counts {
            if !self.gone.contains(tab) && *counts != (pending, parked) {
                let text = format!("tab {tab} tells {counts:?}; the store has {:?}", (pending, parked));
                self.found.push(Violation::new(Kind::Status, at, text));
            }
        }
        for ((tab, id, kind), since) in &self.owed {
            let name = if *kind == EventKind::Synced as u8 { "synced" } else { "parked" };
            let text = format!("tab {tab} never told that {id} is {name}, since {since}");
            self.found.push(Violation::new(Kind::Events, at, text));
        }
    }
}

//! What each write may do, and what may be on the wire while the store says what.

use std::collections::{BTreeMap, BTreeSet};

use warifu::core::operation::Cause;
use warifu::id::ClientMemoryId;

use super::{Kind, Violation};
use crate::executor::Party;
use crate::trace::{Asked, Changed, Happened, Row, Said, Trace};

pub(super) fn check(trace: &Trace) -> Vec<Violation> {
    let mut checker = Checker::default();
    for entry in &trace.entries {
        checker.at = entry.at;
        checker.take(&entry.what);
    }
    checker.found
}

#[derive(Default)]
struct Checker {
    found: Vec<Violation>,
    at: u64,
    rows: BTreeMap<u64, Row>,
    /// The rows as a power cut would leave them, and the writes since.
    durable: BTreeMap<u64, Row>,
    loose: Vec<(usize, Vec<Changed>)>,
    /// Contents that ever were in the store, and those that were durably marked as attempted.
    contents: BTreeSet<(ClientMemoryId, u64)>,
    marked: BTreeSet<(ClientMemoryId, u64)>,
    attempted: BTreeSet<ClientMemoryId>,
    unsent: BTreeSet<ClientMemoryId>,
    /// The map, for ever.
    bound: BTreeMap<ClientMemoryId, String>,
    bound_to: BTreeMap<String, ClientMemoryId>,
    answers: BTreeMap<u32, Vec<(ClientMemoryId, String)>>,
    acknowledged: BTreeSet<(Party, ClientMemoryId, String)>,
    /// Whom the app of a tab asked to change or to remove.
    asked: BTreeSet<(Party, ClientMemoryId, bool)>,
    on_the_way: BTreeMap<ClientMemoryId, (Party, u32)>,
    stolen: bool,
}

impl Checker {
    fn violate(&mut self, kind: Kind, text: String) {
        self.found.push(Violation::new(kind, self.at, text));
    }

    fn take(&mut self, what: &Happened) {
        match what {
            Happened::Call { tab, asked, .. } => match asked {
                Asked::Correct(id) => {
                    self.asked.insert((*tab, *id, false));
                }
                Asked::Discard(id) | Asked::SaveAsNew(id, _) => {
                    self.asked.insert((*tab, *id, true));
                }
                _ => {}
            },
            Happened::Answered { request, id, said: Said::Stored, server_id: Some(server_id) } => {
                self.answers.entry(*request).or_default().push((*id, server_id.clone()));
            }
            Happened::Delivered { tab, request, how, .. } => {
                self.on_the_way.retain(|_, (_, on)| on != request);
                if how.starts_with("200") {
                    for (id, server_id) in self.answers.get(request).cloned().unwrap_or_default() {
                        self.acknowledged.insert((*tab, id, server_id));
                    }
                }
            }
            Happened::Wrote { tab, index, strict, rows, pending, parked, .. } => {
                for changed in rows {
                    self.change(*tab, changed);
                }
                self.loose.push((*index, rows.clone()));
                if *strict {
                    self.flush(usize::MAX);
                }
                self.count(*pending, *parked);
            }
            Happened::PowerCut { kept } => {
                self.flush(*kept);
                self.loose.clear();
                self.rows = self.durable.clone();
            }
            Happened::Breach { tab, rule } => {
                self.violate(Kind::Law, format!("tab {tab} would have broken this: {rule}"));
            }
            Happened::Stolen { .. } => self.stolen = true,
            Happened::Killed { tab } | Happened::Closed { tab } => self.on_the_way.retain(|_, (by, _)| by != tab),
            Happened::Request { tab, request, items } => {
                for (id, content) in items {
                    self.wire(*tab, *request, *id, *content);
                }
            }
            _ => {}
        }
    }

    fn change(&mut self, tab: Party, changed: &Changed) {
        let Changed { order, before, after } = changed;
        match (before, after) {
            (None, Some(after)) => {
                self.unsent.remove(&after.id);
            }
            (Some(before), None) => self.removed(tab, before),
            (Some(before), Some(after)) => self.replaced(tab, before, after),
            (None, None) => {}
        }
        match after {
            Some(row) => {
                self.contents.insert((row.id, row.content));
                self.bind(row);
                self.rows.insert(*order, row.clone());
            }
            None => {
                self.rows.remove(order);
            }
        }
    }

    fn removed(&mut self, tab: Party, before: &Row) {
        if !before.pending || !self.asked.contains(&(tab, before.id, true)) {
            self.violate(Kind::Removed, format!("{} was removed unasked: {before:?}", before.id));
        }
        if !self.attempted.contains(&before.id) {
            self.unsent.insert(before.id);
        }
    }

    fn replaced(&mut self, tab: Party, before: &Row, after: &Row) {
        let id = after.id;
        if before.id != after.id {
            self.violate(Kind::Map, format!("the row of {} became that of {id}", before.id));
        }
        if before.server_id.is_some() && before.server_id != after.server_id {
            self.violate(Kind::Map, format!("{id} was rebound: {before:?} {after:?}"));
        }
        if !before.pending && after.pending {
            self.violate(Kind::Removed, format!("{id} was settled and waits again"));
        }
        let corrected = before.parked == Some(Cause::Rejected) && self.asked.contains(&(tab, id, false));
        if before.content != after.content && !corrected {
            self.violate(Kind::Bytes, format!("the bytes of {id} changed: {before:?} {after:?}"));
        }
        if before.pending && !after.pending {
            let acknowledged = after
                .server_id
                .as_ref()
                .is_some_and(|server_id| self.acknowledged.contains(&(tab, id, server_id.clone())));
            if !acknowledged {
                self.violate(Kind::Removed, format!("{id} was settled without an acknowledgement"));
            }
        }
    }

    fn bind(&mut self, row: &Row) {
        let Some(server_id) = &row.server_id else { return };
        let own = self.bound.entry(row.id).or_insert_with(|| server_id.clone()).clone();
        let other = *self.bound_to.entry(server_id.clone()).or_insert(row.id);
        if own != *server_id || other != row.id {
            self.violate(Kind::Map, format!("{} is bound to {server_id}, {own}; {other}", row.id));
        }
    }

    fn flush(&mut self, kept: usize) {
        for (index, rows) in std::mem::take(&mut self.loose) {
            if index > kept {
                continue;
            }
            for changed in rows {
                match changed.after {
                    Some(row) => {
                        if row.attempts > 0 {
                            self.marked.insert((row.id, row.content));
                            self.attempted.insert(row.id);
                        }
                        self.durable.insert(changed.order, row);
                    }
                    None => {
                        self.durable.remove(&changed.order);
                    }
                }
            }
        }
    }

    fn count(&mut self, pending: u64, parked: u64) {
        let waiting = self.rows.values().filter(|row| row.waits()).count() as u64;
        let standing = self.rows.values().filter(|row| row.parked.is_some()).count() as u64;
        if (waiting, standing) != (pending, parked) {
            self.violate(Kind::Counters, format!("{pending} pending, {parked} parked; counted {waiting}, {standing}"));
        }
    }

    fn wire(&mut self, tab: Party, request: u32, id: ClientMemoryId, content: u64) {
        if !self.contents.contains(&(id, content)) {
            self.violate(Kind::Bytes, format!("{id} is sent with bytes that were never stored"));
        }
        if !self.marked.contains(&(id, content)) {
            self.violate(Kind::Unmarked, format!("{id} is sent before it is durably marked"));
        }
        if self.unsent.contains(&id) {
            self.violate(Kind::Discarded, format!("{id} is sent though it was discarded before any attempt"));
        }
        let before = self.on_the_way.insert(id, (tab, request));
        if let Some((other, earlier)) = before
            && !self.stolen
        {
            self.violate(
                Kind::InFlight,
                format!("{id} is sent by tab {tab} while request {earlier} of tab {other} is under way"),
            );
        }
    }
}

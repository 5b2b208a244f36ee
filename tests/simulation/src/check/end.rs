//! What is there at the end: nothing lost, nothing doubled, nothing left waiting.

use std::collections::{BTreeMap, BTreeSet};

use warifu::core::operation::Cause;
use warifu::id::ClientMemoryId;

use super::{Kind, Violation};
use crate::fault::Fault;
use crate::trace::{Asked, Came, Happened, Row, Said, Trace};

/// What the whole trace says of the operations and of the server.
#[derive(Default)]
struct Facts {
    confirmed: BTreeSet<ClientMemoryId>,
    asked: BTreeSet<ClientMemoryId>,
    given_up: BTreeSet<ClientMemoryId>,
    removed: BTreeSet<ClientMemoryId>,
    poisoned: BTreeSet<ClientMemoryId>,
    table: BTreeMap<ClientMemoryId, Vec<(String, u64, bool)>>,
    told: BTreeSet<(ClientMemoryId, String)>,
    said: BTreeSet<(ClientMemoryId, u8)>,
    alone: BTreeSet<(ClientMemoryId, u16)>,
    silent_alone: BTreeMap<ClientMemoryId, u32>,
    single: BTreeMap<u32, ClientMemoryId>,
}

pub(super) fn check(trace: &Trace) -> Vec<Violation> {
    let mut facts = Facts::default();
    let mut found = Vec::new();
    let mut open = BTreeMap::new();
    for entry in &trace.entries {
        match &entry.what {
            Happened::Call { tab, call, asked } => {
                if let Asked::Commit(id, _) | Asked::SaveAsNew(_, id) = asked {
                    facts.asked.insert(*id);
                }
                if let Asked::Discard(id) | Asked::SaveAsNew(id, _) = asked {
                    facts.given_up.insert(*id);
                }
                open.insert(*call, (*tab, *asked, entry.at));
            }
            Happened::CallDone { call, came, .. } => {
                if let (Some((_, Asked::Commit(id, _), _)), Came::Good) = (open.remove(call), came) {
                    facts.confirmed.insert(id);
                }
            }
            Happened::Killed { tab } => open.retain(|_, (by, _, _)| by != tab),
            Happened::OutOfTime => found.push(Violation::new(Kind::Stuck, entry.at, "time ran out")),
            Happened::OutOfSteps => found.push(Violation::new(Kind::Stuck, entry.at, "steps ran out: a hot loop")),
            Happened::Rest { rows, .. } => facts.at_rest(entry.at, rows, &mut found),
            other => facts.gather(other),
        }
    }
    let end = trace.entries.last().map_or(0, |entry| entry.at);
    for (_, (tab, asked, at)) in open {
        let text = format!("tab {tab} never heard what became of {asked:?}, made at {at}");
        found.push(Violation::new(Kind::Stuck, end, text));
    }
    found
}

impl Facts {
    fn gather(&mut self, what: &Happened) {
        match what {
            Happened::Poisoned { id, .. } => {
                self.poisoned.insert(*id);
            }
            Happened::Fault(Fault::ItemConflict) => {}
            Happened::Wrote { rows, .. } => {
                for changed in rows {
                    if let (Some(before), None) = (&changed.before, &changed.after)
                        && self.given_up.contains(&before.id)
                    {
                        self.removed.insert(before.id);
                    }
                }
            }
            Happened::Inserted { id, server_id, content, foreign } => {
                let row = (server_id.clone(), *content, *foreign);
                self.table.entry(*id).or_default().push(row);
            }
            Happened::Answered { id, said, server_id, .. } => {
                self.said.insert((*id, *said as u8));
                if let (Said::Stored, Some(server_id)) = (said, server_id) {
                    self.told.insert((*id, server_id.clone()));
                }
            }
            Happened::Refused { status, ids, .. } => {
                if let [id] = ids.as_slice() {
                    self.alone.insert((*id, *status));
                }
            }
            Happened::Request { request, items, .. } => {
                if let [(id, _)] = items.as_slice() {
                    self.single.insert(*request, *id);
                }
            }
            Happened::Delivered { request, how, .. } if how == "NoAnswer" || how == "DeadlinePassed" => {
                if let Some(id) = self.single.get(request) {
                    *self.silent_alone.entry(*id).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn at_rest(&self, at: u64, rows: &[Row], found: &mut Vec<Violation>) {
        let mut violate = |kind, text: String| found.push(Violation::new(kind, at, text));
        for (id, entries) in &self.table {
            if entries.len() > 1 {
                violate(Kind::Doubled, format!("{id} has {} rows", entries.len()));
            }
            if !self.asked.contains(id) {
                violate(Kind::Doubled, format!("the server has a row {id} that no operation is named"));
            }
        }
        let there: BTreeMap<ClientMemoryId, &Row> = rows.iter().map(|row| (row.id, row)).collect();
        for id in &self.confirmed {
            if !there.contains_key(id) && !self.removed.contains(id) {
                violate(Kind::Lost, format!("{id} was confirmed and is gone"));
            }
        }
        for row in rows {
            if row.waits() {
                if !self.poisoned.contains(&row.id) {
                    violate(Kind::Stuck, format!("{} still waits: {row:?}", row.id));
                }
            } else if let Some(cause) = row.parked {
                if !self.explains(row, cause) {
                    violate(Kind::Parked, format!("{} is parked for no reason: {row:?}", row.id));
                }
            } else {
                self.settled(row, &mut violate);
            }
        }
    }

    fn settled(&self, row: &Row, violate: &mut impl FnMut(Kind, String)) {
        let id = row.id;
        let (Some(server_id), Some([entry, ..])) = (&row.server_id, self.table.get(&id).map(Vec::as_slice)) else {
            return violate(Kind::Lost, format!("{id} is called synced, and the server has no row: {row:?}"));
        };
        if entry.1 != row.content {
            violate(Kind::Lost, format!("{id} is called synced, and the server has other bytes"));
        }
        if entry.0 != *server_id && !self.told.contains(&(id, server_id.clone())) {
            violate(Kind::Map, format!("{id} is bound to {server_id}; the server's row is {}", entry.0));
        }
    }

    fn explains(&self, row: &Row, cause: Cause) -> bool {
        let alone = |statuses: &[u16]| statuses.iter().any(|status| self.alone.contains(&(row.id, *status)));
        match cause {
            Cause::Rejected if row.code == "invalid_item" => self.said.contains(&(row.id, Said::Rejected as u8)),
            Cause::Rejected => alone(&[400, 403, 404, 405, 413, 422]),
            Cause::Conflict => self.said.contains(&(row.id, Said::Conflict as u8)),
            Cause::IdentityMismatch => self.told.iter().any(|(id, _)| *id == row.id),
            Cause::Unanswerable if row.code == "server_error" => alone(&[500]),
            Cause::Unanswerable => self.silent_alone.get(&row.id).is_some_and(|times| *times >= 5),
        }
    }
}

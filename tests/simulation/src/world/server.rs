//! A model of the backend: one table with `UNIQUE (owner, id)`, and answers by the contract.

use std::collections::BTreeMap;

use warifu::id::ClientMemoryId;
use warifu::wire::sync::SyncRequest;

use super::World;
use super::answer::{Answer, Said3, batch};
use crate::fault::Fault;
use crate::trace::{Happened, Said, digest};

/// One row of the table.
pub(crate) struct Entry {
    pub(crate) server_id: u64,
    pub(crate) content: u64,
}

/// The table, and what else the server knows.
pub(crate) struct Server {
    pub(crate) rows: BTreeMap<ClientMemoryId, Entry>,
    last_id: u64,
    /// Until when it is down, and how it answers then.
    pub(crate) outage: Option<(u64, Outage)>,
    /// Answers that a scenario has put up for the next batches, the next one last.
    pub(crate) script: Vec<Answer>,
    /// Answers every batch like this, until it is taken away.
    pub(crate) always: Option<Answer>,
    /// The one item that a scenario has poisoned.
    pub(crate) poison: Option<(ClientMemoryId, Fault)>,
    /// The one item that a scenario lets through.
    pub(crate) taken: Option<ClientMemoryId>,
}

/// How a server is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    Silent,
    Fails,
    Gateway,
    Portal,
    Busy,
    Refuses,
    Empty,
}

impl Outage {
    pub(crate) const ALL: [Outage; 7] =
        [Outage::Silent, Outage::Fails, Outage::Gateway, Outage::Portal, Outage::Busy, Outage::Refuses, Outage::Empty];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Outage::Silent => "silent",
            Outage::Fails => "fails",
            Outage::Gateway => "gateway",
            Outage::Portal => "portal",
            Outage::Busy => "busy",
            Outage::Refuses => "refuses",
            Outage::Empty => "empty",
        }
    }

    fn answer(self) -> Answer {
        match self {
            Outage::Silent => Answer::Silence,
            Outage::Fails => Answer::status(500),
            Outage::Gateway => Answer::status(502),
            Outage::Portal => Answer::html(),
            Outage::Busy => Answer::status(503),
            Outage::Refuses => Answer::problem(422, "refused"),
            Outage::Empty => Answer::body(200, "{\"results\":[]}"),
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            last_id: 9_007_199_254_740_992,
            outage: None,
            script: Vec::new(),
            always: None,
            poison: None,
            taken: None,
        }
    }
}

/// An item as it came.
pub(crate) struct Item {
    pub(crate) id: ClientMemoryId,
    pub(crate) content: u64,
    /// Its values are not what the server takes.
    pub(crate) invalid: bool,
}

/// The text that the server rejects.
pub(crate) const INVALID: &str = "\"title\":\"invalid\"";

/// Reads the items of a body.
pub(crate) fn items_of(body: &[u8]) -> Vec<Item> {
    let Ok(request) = serde_json::from_slice::<SyncRequest<'_>>(body) else {
        return Vec::new();
    };
    let read = |text: &str| {
        // The engine's items begin with their name.
        let id = text.get(19..55)?.parse().ok()?;
        Some(Item { id, content: digest(text.as_bytes()), invalid: text.contains(INVALID) })
    };
    request.items.iter().filter_map(|raw| read(raw.get())).collect()
}

impl World {
    /// The server takes a request in and answers it, as it would if every answer arrived.
    pub(crate) fn serve(&self, request: u32, items: &[Item]) -> Answer {
        let seen = items.iter().map(|item| (item.id, item.content)).collect();
        self.note(Happened::Arrived { request, items: seen });
        if let Some(answer) = self.refusal(items) {
            if let Answer::Http { status, .. } = &answer {
                self.refused(request, *status, items);
            }
            return answer;
        }
        let said: Vec<Said3> = items.iter().map(|item| self.create(request, item)).collect();
        self.mangle(request, items, batch(self, &said, items))
    }

    /// What the server says before it looks at single items.
    fn refusal(&self, items: &[Item]) -> Option<Answer> {
        let now = self.executor.now();
        {
            let mut server = self.server.borrow_mut();
            if let Some(answer) = server.script.pop() {
                return Some(answer);
            }
            if let Some(always) = &server.always {
                return Some(always.clone());
            }
            match server.outage {
                Some((until, outage)) if now < until => return Some(outage.answer()),
                _ => server.outage = None,
            }
        }
        if self.hit(Fault::Outage) {
            let (outage, length) = {
                let mut random = self.net.borrow_mut();
                let lengths = [10_000, 120_000, 900_000, 7_200_000];
                (Outage::ALL[random.usize(..Outage::ALL.len())], lengths[random.usize(..4)])
            };
            self.server.borrow_mut().outage = Some((now + length, outage));
            self.note(Happened::OutageBegins { until: now + length, kind: outage.name() });
            return Some(outage.answer());
        }
        if self.hit(Fault::TokenExpired) {
            self.token_valid.set(false);
        }
        if !self.token_valid.get() {
            return Some(if self.net.borrow_mut().u8(..4) == 0 {
                Answer::problem(403, "not_authenticated")
            } else {
                Answer::status(401)
            });
        }
        self.whim(items)
    }

    /// The answers that come for no reason, for too many items, or for a poisoned one.
    fn whim(&self, items: &[Item]) -> Option<Answer> {
        let pick = |choices: &[u16]| choices[self.net.borrow_mut().usize(..choices.len())];
        if self.hit(Fault::Patience) {
            return Some(self.patience(pick(&[408, 425, 429, 503, 503, 500, 407, 421])));
        }
        if self.hit(Fault::Gateway) {
            return Some(self.patience(pick(&[502, 504])));
        }
        if self.hit(Fault::Failure) {
            return Some(Answer::status(500));
        }
        if self.hit(Fault::Forbidden) {
            return Some(Answer::status(pick(&[403, 404, 405])));
        }
        if self.hit(Fault::Refusal) {
            return Some(Answer::problem(pick(&[400, 413, 422]), "refused"));
        }
        if let Some((most, bytes)) = self.plan.limits
            && (items.len() > most as usize || items.len() * 110 > bytes as usize && items.len() > 1)
            && self.faults_on.get()
        {
            self.struck(Fault::SmallLimits);
            return Some(Answer::limits(most, bytes));
        }
        let poisoned = |fault| items.iter().any(|item| self.is_poisoned(item.id, fault));
        if poisoned(Fault::PoisonFails) {
            return Some(Answer::status(500));
        }
        if poisoned(Fault::PoisonRefused) {
            return Some(Answer::problem(422, "refused"));
        }
        poisoned(Fault::PoisonSilent).then_some(Answer::Silence)
    }

    pub(crate) fn is_poisoned(&self, id: ClientMemoryId, fault: Fault) -> bool {
        let server = self.server.borrow();
        if server.taken.is_some_and(|taken| taken != id) && fault == Fault::PoisonRefused {
            return true;
        }
        if server.poison == Some((id, fault)) {
            return true;
        }
        let strikes = self.faults_on.get() || self.plan.poison_stays;
        strikes && self.plan.rates.has(fault) && self.lot(id, fault as u64) < self.plan.poison
    }

    /// Inserts one item unless it is there.
    fn create(&self, request: u32, item: &Item) -> Said3 {
        let there = self.server.borrow().rows.contains_key(&item.id);
        if !there && self.hit(Fault::ItemConflict) {
            self.insert(item.id, 1, true);
        }
        let server = self.server.borrow();
        let (said, server_id) = match server.rows.get(&item.id) {
            Some(row) if row.content == item.content => (Said::Stored, Some(row.server_id)),
            Some(row) => (Said::Conflict, Some(row.server_id)),
            None if item.invalid => (Said::Rejected, None),
            None => {
                drop(server);
                if self.hit(Fault::ItemRejected) {
                    (Said::Rejected, None)
                } else {
                    let server_id = self.insert(item.id, item.content, false);
                    self.answered(request, item.id, Said::Stored, Some(server_id.to_string()));
                    return Said3 {
                        said: Said::Stored,
                        server_id: Some(self.lie(request, item.id, server_id)),
                        fresh: true,
                    };
                }
            }
        };
        let server_id = server_id.map(|server_id| match said {
            Said::Stored => self.lie(request, item.id, server_id),
            _ => server_id,
        });
        self.answered(request, item.id, said, server_id.map(|id| id.to_string()));
        Said3 { said, server_id, fresh: false }
    }

    pub(crate) fn refused(&self, request: u32, status: u16, items: &[Item]) {
        let ids = items.iter().map(|item| item.id).collect();
        self.note(Happened::Refused { request, status, ids });
    }

    pub(crate) fn answered(&self, request: u32, id: ClientMemoryId, said: Said, server_id: Option<String>) {
        self.note(Happened::Answered { request, id, said, server_id });
    }

    /// The id that is told; a lie is another row's.
    fn lie(&self, request: u32, id: ClientMemoryId, server_id: u64) -> u64 {
        if !self.hit(Fault::IdentityLie) {
            return server_id;
        }
        let other = self.server.try_borrow().ok().and_then(|server| {
            let others = server.rows.values().map(|row| row.server_id).filter(|other| *other != server_id);
            let others: Vec<u64> = others.collect();
            let index = self.net.borrow_mut().usize(..others.len().max(1));
            others.get(index).copied()
        });
        let told = other.unwrap_or(server_id);
        self.answered(request, id, Said::Stored, Some(told.to_string()));
        told
    }

    pub(crate) fn insert(&self, id: ClientMemoryId, content: u64, foreign: bool) -> u64 {
        let mut server = self.server.borrow_mut();
        server.last_id += 1;
        let server_id = server.last_id;
        server.rows.insert(id, Entry { server_id, content });
        self.note(Happened::Inserted { id, server_id: server_id.to_string(), content, foreign });
        server_id
    }
}

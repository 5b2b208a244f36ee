//! What a conditional write does to the rows it concerns. Every store asks here, so that all of them mean the same:
//! it fetches the rows a write [`concerns`], lets it be [`decide`]d, and carries the decision out in one step.

use std::collections::BTreeMap;

use crate::core::law::breach;
use crate::core::operation::Record;
use crate::id::{ClientMemoryId, ServerId};
use crate::port::{Change, Meta, Mismatch, Write, WriteOutcome, Written};

/// The one row about the whole store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Header {
    /// The facts that engines see.
    pub(crate) meta: Meta,
    /// The order that was given last; none is given twice.
    pub(crate) last_order: u64,
}

/// Why a row is needed to decide about a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concern<'a> {
    /// The row with this order.
    Order(u64),
    /// The row of this kind and id.
    Name(&'a str, ClientMemoryId),
    /// The row of this kind that the server knows by this id.
    ServerId(&'a str, &'a ServerId),
}

/// What a write comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Nothing is to be changed.
    Refuse(WriteOutcome),
    /// All of this is to be stored in one step.
    Store(Effects),
    /// No engine may ask for this: the rule that it would break.
    Breach(&'static str),
}

/// What is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effects {
    /// The header from here on.
    pub(crate) header: Header,
    /// The rows from here on, in the order of their last change; `None` for a row that goes.
    pub(crate) rows: Vec<(u64, Option<Record>)>,
    /// The order of the record of each change.
    pub(crate) orders: Vec<u64>,
}

impl Effects {
    /// What to answer once it is stored.
    pub(crate) fn outcome(self) -> WriteOutcome {
        WriteOutcome::Done(Written { meta: self.header.meta, orders: self.orders })
    }
}

/// The rows that [`decide`] must see.
pub(crate) fn concerns(write: &Write) -> Vec<Concern<'_>> {
    let mut concerns = Vec::new();
    for change in &write.changes {
        match change {
            Change::Insert(record) => concerns.push(Concern::Name(&record.kind, record.id)),
            Change::Replace(record) => concerns.push(Concern::Order(record.order)),
            Change::Remove { order, .. } => concerns.push(Concern::Order(*order)),
        }
        if let Change::Insert(record) | Change::Replace(record) = change
            && let Some(server_id) = &record.server_id
        {
            concerns.push(Concern::ServerId(&record.kind, server_id));
        }
    }
    concerns
}

/// Decides about a write, given the header and the rows it [`concerns`].
pub(crate) fn decide(header: &Header, found: &BTreeMap<u64, Record>, write: &Write) -> Decision {
    if write.fence.is_some_and(|generation| generation != header.meta.generation) {
        return Decision::Refuse(WriteOutcome::Fenced);
    }
    let mut view = View::new(found);
    let mut header = header.clone();
    let mut orders = Vec::with_capacity(write.changes.len());
    let mut mismatches = Vec::new();
    let (mut clash, mut broken) = (None, None);
    for (index, change) in write.changes.iter().enumerate() {
        let (order, next) = match change {
            Change::Insert(record) => {
                if let Some(order) = view.named(&record.kind, record.id) {
                    mismatches.push(Mismatch { index, current: found.get(&order).cloned() });
                    continue;
                }
                header.last_order += 1;
                (header.last_order, Some(Record { order: header.last_order, revision: 1, ..record.clone() }))
            }
            Change::Replace(record) => {
                let expected = |current: &Record| {
                    (current.revision, &current.kind, current.id) == (record.revision, &record.kind, record.id)
                };
                if !view.get(record.order).is_some_and(expected) {
                    mismatches.push(Mismatch { index, current: found.get(&record.order).cloned() });
                    continue;
                }
                (record.order, Some(Record { revision: record.revision + 1, ..record.clone() }))
            }
            Change::Remove { order, revision } => {
                if view.get(*order).is_none_or(|current| current.revision != *revision) {
                    mismatches.push(Mismatch { index, current: found.get(order).cloned() });
                    continue;
                }
                (*order, None)
            }
        };
        if next.as_ref().is_some_and(|record| view.bound_elsewhere(record)) {
            clash = clash.or(Some(index));
            continue;
        }
        if let Some(rule) = breach(view.get(order), next.as_ref()) {
            broken = broken.or(Some(rule));
            continue;
        }
        count(&mut header.meta, view.get(order), next.as_ref());
        view.set(order, next);
        orders.push(order);
    }
    if !mismatches.is_empty() {
        return Decision::Refuse(WriteOutcome::Stale(mismatches));
    }
    if let Some(index) = clash {
        return Decision::Refuse(WriteOutcome::Clash(index));
    }
    if let Some(rule) = broken {
        return Decision::Breach(rule);
    }
    if write.claim {
        header.meta.generation += 1;
    }
    if let Some(queue) = &write.queue {
        header.meta.queue = queue.clone();
    }
    Decision::Store(Effects { header, rows: view.into_rows(), orders })
}

/// Keeps the counts through one change of a row.
fn count(meta: &mut Meta, before: Option<&Record>, after: Option<&Record>) {
    let is = |record: Option<&Record>, test: fn(&Record) -> bool| u64::from(record.is_some_and(test));
    let kept = |count: u64, test| (count + is(after, test)).saturating_sub(is(before, test));
    meta.pending = kept(meta.pending, Record::waits_to_be_sent);
    meta.parked = kept(meta.parked, Record::is_parked);
}

/// The rows as they would be after the changes looked at so far.
struct View<'a> {
    found: &'a BTreeMap<u64, Record>,
    changed: BTreeMap<u64, Option<Record>>,
    touched: Vec<u64>,
    /// Where to look for an id or a server id: every order that has or had it.
    names: BTreeMap<ClientMemoryId, Vec<u64>>,
    bindings: BTreeMap<ServerId, Vec<u64>>,
}

impl<'a> View<'a> {
    fn new(found: &'a BTreeMap<u64, Record>) -> Self {
        let mut view = View {
            found,
            changed: BTreeMap::new(),
            touched: Vec::new(),
            names: BTreeMap::new(),
            bindings: BTreeMap::new(),
        };
        for record in found.values() {
            view.index(record);
        }
        view
    }

    fn get(&self, order: u64) -> Option<&Record> {
        match self.changed.get(&order) {
            Some(changed) => changed.as_ref(),
            None => self.found.get(&order),
        }
    }

    fn set(&mut self, order: u64, next: Option<Record>) {
        if let Some(record) = &next {
            self.index(record);
        }
        if self.changed.insert(order, next).is_some() {
            self.touched.retain(|touched| *touched != order);
        }
        self.touched.push(order);
    }

    fn index(&mut self, record: &Record) {
        self.names.entry(record.id).or_default().push(record.order);
        if let Some(server_id) = &record.server_id {
            self.bindings.entry(server_id.clone()).or_default().push(record.order);
        }
    }

    fn named(&self, kind: &str, id: ClientMemoryId) -> Option<u64> {
        let mut candidates = self.names.get(&id).into_iter().flatten();
        candidates.find(|order| self.get(**order).is_some_and(|record| record.kind == kind)).copied()
    }

    fn bound_elsewhere(&self, record: &Record) -> bool {
        let candidates = record.server_id.as_ref().and_then(|server_id| self.bindings.get(server_id));
        candidates.into_iter().flatten().any(|order| {
            *order != record.order
                && self
                    .get(*order)
                    .is_some_and(|other| other.server_id == record.server_id && other.kind == record.kind)
        })
    }

    fn into_rows(mut self) -> Vec<(u64, Option<Record>)> {
        let taken = self.touched.iter().map(|order| (*order, self.changed.remove(order).flatten()));
        taken.collect()
    }
}

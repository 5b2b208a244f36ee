//! The store in memory: what the others are measured by. Nothing of it survives the process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::decide::{Concern, Decision, Header, concerns, decide};
use crate::core::operation::Record;
use crate::id::ClientMemoryId;
use crate::port::{Due, DueQuery, Filter, ListQuery, Meta, Page, Store, StoreError, Write, WriteOutcome};

/// A store in memory. A clone is another handle on the same store, as another tab has one.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    shared: Rc<RefCell<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    header: Header,
    rows: BTreeMap<u64, Record>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    async fn meta(&self) -> Result<Meta, StoreError> {
        Ok(self.shared.borrow().header.meta.clone())
    }

    async fn get(&self, kind: &str, id: ClientMemoryId) -> Result<Option<Record>, StoreError> {
        Ok(self.shared.borrow().find(&Concern::Name(kind, id)).cloned())
    }

    async fn load(&self, orders: &[u64]) -> Result<Vec<Record>, StoreError> {
        let shared = self.shared.borrow();
        Ok(orders.iter().filter_map(|order| shared.rows.get(order)).cloned().collect())
    }

    async fn due(&self, query: DueQuery) -> Result<Due, StoreError> {
        Ok(self.shared.borrow().due(query))
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        Ok(self.shared.borrow().list(query))
    }

    async fn write(&self, write: Write) -> Result<WriteOutcome, StoreError> {
        self.shared.borrow_mut().write(&write)
    }
}

impl Shared {
    fn find(&self, concern: &Concern<'_>) -> Option<&Record> {
        match concern {
            Concern::Order(order) => self.rows.get(order),
            Concern::Name(kind, id) => self.rows.values().find(|record| record.id == *id && record.kind == *kind),
            Concern::ServerId(kind, server_id) => {
                self.rows.values().find(|record| record.server_id.as_ref() == Some(server_id) && record.kind == *kind)
            }
        }
    }

    fn due(&self, query: DueQuery) -> Due {
        let waiting = || {
            let unparked = self.rows.values().filter(|record| record.waits_to_be_sent());
            unparked.filter_map(|record| record.pending.as_ref().map(|pending| (pending.due, record)))
        };
        let mut ready: Vec<_> = waiting().filter(|(due, _)| *due <= query.now || *due > query.horizon).collect();
        let sane = |due| query.horizon <= query.now || due <= query.horizon;
        ready.sort_by_key(|(due, record)| (sane(*due), *due, record.order));
        let next = waiting().map(|(due, _)| due).filter(|due| *due > query.now && *due <= query.horizon).min();

        let mut room = u64::from(query.max_bytes);
        let mut records = Vec::new();
        for (_, record) in &ready {
            let size = record.content.bytes.len() as u64;
            let fits = size <= room || records.is_empty();
            if records.len() as u64 >= u64::from(query.max_items) || !fits {
                break;
            }
            room = room.saturating_sub(size);
            records.push((*record).clone());
        }
        Due { more: records.len() < ready.len(), records, next }
    }

    fn list(&self, query: &ListQuery) -> Page {
        let wanted = |record: &&Record| {
            record.kind == query.kind
                && query.before.is_none_or(|before| record.order < before)
                && match query.filter {
                    Filter::All => true,
                    Filter::Pending => record.pending.is_some(),
                    Filter::Synced => record.pending.is_none(),
                    Filter::Parked => record.is_parked(),
                }
        };
        let mut newest_first = self.rows.values().rev().filter(wanted);
        let records = newest_first.by_ref().take(query.limit as usize).cloned().collect();
        Page { records, more: newest_first.next().is_some() }
    }

    fn write(&mut self, write: &Write) -> Result<WriteOutcome, StoreError> {
        let found = concerns(write).into_iter().filter_map(|concern| self.find(&concern));
        let found = found.map(|record| (record.order, record.clone())).collect();
        match decide(&self.header, &found, write) {
            Decision::Refuse(outcome) => Ok(outcome),
            Decision::Breach(rule) => Err(StoreError::Corrupt(rule.to_owned())),
            Decision::Store(effects) => {
                self.header = effects.header.clone();
                for (order, row) in &effects.rows {
                    match row {
                        Some(record) => self.rows.insert(*order, record.clone()),
                        None => self.rows.remove(order),
                    };
                }
                Ok(effects.outcome())
            }
        }
    }
}

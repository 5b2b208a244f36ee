//! Bugs that are planted around the ports, to see that the checkers find them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use uuid::Uuid;
use warifu::core::operation::Record;
use warifu::id::ClientMemoryId;
use warifu::port::{
    Change, Delivery, Due, DueQuery, Durability, HttpRequest, ListQuery, Meta, Page, Store, StoreError, Transport,
    Write, WriteOutcome, Written,
};

use crate::world::disk::{Connection, Disk};
use crate::world::network::Line;
use crate::world::server::items_of;

/// The bugs that can be planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// An operation leaves the outbox in one write, and its acknowledgement is written in the next.
    RemovedEarly,
    /// A commit resolves before its transaction is complete.
    ResolvedEarly,
    /// Each attempt gets a new key.
    NewKey,
    /// Results are matched by position.
    ByPosition,
    /// A request leaves before the mark is durable.
    SentEarly,
    /// Writes do not look at revisions or generations.
    Unconditional,
}

/// A port with a bug, or without.
pub(crate) struct Planted<P> {
    bug: Option<Bug>,
    port: P,
    attempts: RefCell<BTreeMap<ClientMemoryId, u64>>,
}

impl<P> Planted<P> {
    pub(crate) fn new(bug: Option<Bug>, port: P) -> Self {
        Self { bug, port, attempts: RefCell::default() }
    }
}

impl Store for Planted<Connection> {
    async fn meta(&self) -> Result<Meta, StoreError> {
        self.port.meta().await
    }

    async fn get(&self, kind: &str, id: ClientMemoryId) -> Result<Option<Record>, StoreError> {
        self.port.get(kind, id).await
    }

    async fn load(&self, orders: &[u64]) -> Result<Vec<Record>, StoreError> {
        self.port.load(orders).await
    }

    async fn due(&self, query: DueQuery) -> Result<Due, StoreError> {
        self.port.due(query).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.port.list(query).await
    }

    async fn write(&self, mut write: Write) -> Result<WriteOutcome, StoreError> {
        match self.bug {
            Some(Bug::RemovedEarly) if write.changes.iter().any(settles) => {
                let first = Write { changes: write.changes.iter().map(removal).collect(), ..write.clone() };
                let outcome = self.port.write(first).await?;
                if !matches!(outcome, WriteOutcome::Done(_)) {
                    return Ok(outcome);
                }
                for change in &mut write.changes {
                    if let Change::Replace(record) = change.clone()
                        && record.pending.is_none()
                    {
                        *change = Change::Insert(record);
                    } else if let Change::Replace(record) = change {
                        record.revision += 1;
                    }
                }
                self.port.write(write).await
            }
            Some(Bug::ResolvedEarly) if write.changes.iter().any(|change| matches!(change, Change::Insert(_))) => {
                write.durability = Durability::Relaxed;
                self.port.write(write).await
            }
            Some(Bug::SentEarly) if write.fence.is_some() && write.queue.is_none() && !write.changes.is_empty() => {
                let orders = write.changes.iter().filter_map(|change| match change {
                    Change::Replace(record) => Some(record.order),
                    _ => None,
                });
                let written = Written { meta: self.port.world.disk.borrow().meta(), orders: orders.collect() };
                let port = self.port.clone();
                self.port.world.spawn(async move {
                    let _ = port.write(write).await;
                });
                Ok(WriteOutcome::Done(written))
            }
            Some(Bug::Unconditional) => self.port.carry_out_as(write, ignore_conditions).await,
            _ => self.port.write(write).await,
        }
    }
}

fn settles(change: &Change) -> bool {
    matches!(change, Change::Replace(record) if record.pending.is_none())
}

fn removal(change: &Change) -> Change {
    match change {
        Change::Replace(record) if record.pending.is_none() => {
            Change::Remove { order: record.order, revision: record.revision }
        }
        other => other.clone(),
    }
}

/// Makes every condition of a write true.
fn ignore_conditions(disk: &Disk, mut write: Write) -> Write {
    write.fence = None;
    for change in &mut write.changes {
        let forced = match &*change {
            Change::Insert(record) => disk.get(record.id).map(|there| {
                Change::Replace(Record { order: there.order, revision: there.revision, ..record.clone() })
            }),
            Change::Replace(record) => Some(match disk.rows(&[record.order]).first() {
                Some(there) => Change::Replace(Record { revision: there.revision, ..record.clone() }),
                None => Change::Insert(record.clone()),
            }),
            Change::Remove { order, .. } => {
                disk.rows(&[*order]).first().map(|there| Change::Remove { order: *order, revision: there.revision })
            }
        };
        if let Some(forced) = forced {
            *change = forced;
        }
    }
    write
}

impl Transport for Planted<Line> {
    async fn send(&self, mut request: HttpRequest) -> Delivery {
        match self.bug {
            Some(Bug::NewKey) => {
                let renamed = self.rename(&mut request);
                let mut delivery = self.port.send(request).await;
                for (own, other) in renamed {
                    replace(&mut delivery, &other, &own);
                }
                delivery
            }
            Some(Bug::ByPosition) => {
                let items = items_of(&request.body);
                let mut delivery = self.port.send(request).await;
                let ids: Vec<String> = items.iter().map(|item| item.id.to_string()).collect();
                by_position(&mut delivery, &ids);
                delivery
            }
            _ => self.port.send(request).await,
        }
    }

    async fn refresh(&self) -> bool {
        self.port.refresh().await
    }
}

impl Planted<Line> {
    /// Gives what is sent again another name.
    fn rename(&self, request: &mut HttpRequest) -> Vec<(String, String)> {
        let mut renamed = Vec::new();
        let mut text = String::from_utf8_lossy(&request.body).into_owned();
        for item in items_of(&request.body) {
            let mut attempts = self.attempts.borrow_mut();
            let attempt = attempts.entry(item.id).or_default();
            *attempt += 1;
            if *attempt > 1 {
                let (high, low) = item.id.as_uuid().as_u64_pair();
                let other = Uuid::from_u64_pair(high ^ *attempt, low).to_string();
                text = text.replace(&item.id.to_string(), &other);
                renamed.push((item.id.to_string(), other));
            }
        }
        request.body = text.into_bytes();
        renamed
    }
}

fn replace(delivery: &mut Delivery, from: &str, to: &str) {
    if let Delivery::Answer(answer) = delivery {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let text = text.replace(from, to).replace(&from.to_uppercase(), to);
        answer.body = text.into_bytes();
    }
}

fn by_position(delivery: &mut Delivery, ids: &[String]) {
    if let Delivery::Answer(answer) = delivery
        && let Ok(mut body) = serde_json::from_slice::<serde_json::Value>(&answer.body)
        && let Some(results) = body.get_mut("results").and_then(|results| results.as_array_mut())
    {
        for (result, id) in results.iter_mut().zip(ids) {
            if let Some(name) = result.get_mut("clientMemoryId") {
                *name = id.as_str().into();
            }
        }
        answer.body = body.to_string().into_bytes();
    }
}

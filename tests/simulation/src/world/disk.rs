//! The device's disk with the reference store on it, and one tab's connection to it.

use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::FutureExt;
use warifu::adapter::MemoryStore;
use warifu::core::operation::Record;
use warifu::core::time::Time;
use warifu::id::ClientMemoryId;
use warifu::port::{
    Change, Due, DueQuery, Durability, Filter, ListQuery, Meta, Page, Store, StoreError, Write, WriteOutcome,
};

use super::World;
use crate::executor::Party;
use crate::fault::Fault;
use crate::trace::{Changed, Happened, Row};

/// What is on the disk, with the history of writes that a power cut may shorten.
#[derive(Default)]
pub(crate) struct Disk {
    store: MemoryStore,
    log: Vec<Write>,
    /// So many writes of the log survive a power cut.
    durable: usize,
    /// Counted up by a power cut: what was under way before it never ends.
    epoch: u32,
    pub(crate) pending: u64,
}

impl Disk {
    /// Makes a write in one step.
    pub(crate) fn apply(&mut self, write: &Write) -> Result<(WriteOutcome, Vec<Changed>), StoreError> {
        let orders = |outcome: &WriteOutcome| match outcome {
            WriteOutcome::Done(written) => written.orders.clone(),
            _ => Vec::new(),
        };
        let touched: Vec<u64> = write.changes.iter().filter_map(order_of).collect();
        let before = self.rows(&touched);
        let answer = self.store.write(write.clone()).now_or_never();
        let outcome = answer.unwrap_or_else(|| Err(StoreError::Corrupt("late".to_owned())))?;
        let after = self.rows(&orders(&outcome));
        let mut changed: Vec<Changed> = Vec::new();
        for order in orders(&outcome) {
            let find = |rows: &[Record]| rows.iter().find(|row| row.order == order).map(Row::of);
            changed.push(Changed { order, before: find(&before), after: find(&after) });
        }
        if let WriteOutcome::Done(written) = &outcome {
            self.pending = written.meta.pending;
            self.log.push(write.clone());
            if write.durability == Durability::Strict {
                self.durable = self.log.len();
            }
        }
        Ok((outcome, changed))
    }

    /// Loses what was not flushed, but for a part that happened to be.
    pub(crate) fn cut_power(&mut self, random: &mut fastrand::Rng) -> usize {
        let kept = random.usize(self.durable..=self.log.len());
        self.log.truncate(kept);
        self.durable = kept;
        self.epoch += 1;
        self.store = MemoryStore::new();
        for write in &self.log {
            let _ = ready(self.store.write(write.clone()));
        }
        self.pending = self.meta().pending;
        kept
    }

    pub(crate) fn meta(&self) -> Meta {
        ready(self.store.meta()).unwrap_or_default()
    }

    pub(crate) fn rows(&self, orders: &[u64]) -> Vec<Record> {
        if orders.is_empty() {
            return Vec::new();
        }
        ready(self.store.load(orders)).unwrap_or_default()
    }

    pub(crate) fn all(&self, filter: Filter) -> Vec<Record> {
        let query = ListQuery { kind: crate::app::KIND.to_owned(), filter, before: None, limit: u32::MAX };
        ready(self.store.list(&query)).unwrap_or_default().records
    }

    pub(crate) fn get(&self, id: ClientMemoryId) -> Option<Record> {
        ready(self.store.get(crate::app::KIND, id)).unwrap_or_default()
    }
}

/// The reference store answers at once.
fn ready<T>(answer: impl Future<Output = Result<T, StoreError>>) -> Option<T> {
    answer.now_or_never().and_then(Result::ok)
}

fn order_of(change: &Change) -> Option<u64> {
    match change {
        Change::Insert(_) => None,
        Change::Replace(record) => Some(record.order),
        Change::Remove { order, .. } => Some(*order),
    }
}

/// One tab's connection.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) world: Rc<World>,
    pub(crate) tab: Party,
}

impl Connection {
    /// Does something on the disk, which goes on when the tab dies, and settles late or with an error.
    async fn ask<T: 'static>(
        &self,
        write: bool,
        act: impl FnOnce(&mut Disk) -> Result<T, StoreError> + 'static,
    ) -> Result<T, StoreError> {
        let (reply, replied) = oneshot::channel();
        let (world, tab) = (Rc::clone(&self.world), self.tab);
        let epoch = self.world.disk.borrow().epoch;
        self.world.spawn(async move {
            world.moment().await;
            let failed = world.store_fault(write);
            if let Some(error) = failed {
                if error == StoreError::TimedOut {
                    world.sleep(10_000).await;
                }
                let _ = reply.send(Err(error));
                return;
            }
            // What a dead tab had begun is wholly there or wholly gone.
            let gone = !world.is_alive(tab) && world.io.borrow_mut().bool();
            if gone || world.disk.borrow().epoch != epoch {
                return;
            }
            let done = act(&mut world.disk.borrow_mut());
            if write && world.hit(Fault::StoreTimeoutDone) {
                world.sleep(10_000).await;
                let _ = reply.send(Err(StoreError::TimedOut));
                return;
            }
            world.moment().await;
            let _ = reply.send(done);
        });
        match replied.await {
            Ok(result) => result,
            // Power was cut: this tab is dead, and nobody waits for it.
            Err(_) => std::future::pending().await,
        }
    }

    /// Makes a write, changed at the last moment.
    pub(crate) async fn carry_out_as(
        &self,
        write: Write,
        change: fn(&Disk, Write) -> Write,
    ) -> Result<WriteOutcome, StoreError> {
        let (world, tab) = (Rc::clone(&self.world), self.tab);
        self.ask(true, move |disk| {
            let write = change(disk, write);
            let applied = disk.apply(&write);
            if let Err(StoreError::Corrupt(rule)) = &applied {
                world.note(Happened::Breach { tab, rule: rule.clone() });
            }
            let (outcome, rows) = applied?;
            if let WriteOutcome::Done(written) = &outcome {
                world.note(Happened::Wrote {
                    tab,
                    index: disk.log.len(),
                    strict: write.durability == Durability::Strict,
                    claim: write.claim,
                    floor: written.meta.queue.floor.since(world.wall()).0,
                    rows,
                    pending: written.meta.pending,
                    parked: written.meta.parked,
                });
            }
            Ok(outcome)
        })
        .await
    }
}

impl World {
    fn store_fault(&self, write: bool) -> Option<StoreError> {
        if write && self.hit(Fault::StoreFull) {
            return Some(StoreError::Full);
        }
        if self.hit(Fault::StoreLost) {
            return Some(StoreError::Lost("simulated".to_owned()));
        }
        if self.hit(Fault::StoreBlocked) {
            return Some(StoreError::Blocked);
        }
        self.hit(Fault::StoreTimeout).then_some(StoreError::TimedOut)
    }
}

impl Store for Connection {
    async fn meta(&self) -> Result<Meta, StoreError> {
        self.ask(false, |disk| Ok(disk.meta())).await
    }

    async fn get(&self, _kind: &str, id: ClientMemoryId) -> Result<Option<Record>, StoreError> {
        self.ask(false, move |disk| Ok(disk.get(id))).await
    }

    async fn load(&self, orders: &[u64]) -> Result<Vec<Record>, StoreError> {
        let orders = orders.to_vec();
        self.ask(false, move |disk| Ok(disk.rows(&orders))).await
    }

    async fn due(&self, query: DueQuery) -> Result<Due, StoreError> {
        self.ask(false, move |disk| Ok(ready(disk.store.due(query)).unwrap_or_default())).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        let query = query.clone();
        self.ask(false, move |disk| Ok(ready(disk.store.list(&query)).unwrap_or_default())).await
    }

    async fn write(&self, write: Write) -> Result<WriteOutcome, StoreError> {
        self.carry_out_as(write, |_, write| write).await
    }
}

/// The device's clock as a tab sees it.
pub(crate) struct WallClock(pub(crate) Rc<World>);

impl warifu::port::Clock for WallClock {
    fn now(&self) -> Time {
        self.0.wall()
    }

    async fn sleep(&self, length: warifu::core::time::Millis) {
        self.0.sleep(length.0).await;
    }
}

//! The app in each tab: what people do, drawn from the seed.

use std::rc::Rc;

use warifu::core::engine::{Call, CallError};
use warifu::core::operation::{Cause, Record};
use warifu::id::ClientMemoryId;
use warifu::port::Filter;

use crate::fault::Fault;
use crate::trace::{Asked, Happened, digest};
use crate::world::World;
use crate::world::tab::{Tab, call, follow};

/// The kind of all records.
pub(crate) const KIND: &str = "memory";

/// What the app remembers of its operations, beyond any tab.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) operations: Vec<(ClientMemoryId, String)>,
    pub(crate) done: usize,
}

/// Opens a tab and lets its app act.
pub(crate) fn begin(world: &Rc<World>) {
    let tab = world.open_tab();
    let party = tab.party;
    let world = Rc::clone(world);
    world.executor.spawn(party, act(Rc::clone(&world), tab));
}

/// Opens the outbox, as often as it takes.
pub(crate) async fn open(world: &Rc<World>, tab: &Tab) -> bool {
    loop {
        match follow(world, tab.party, Asked::Open, tab.handle.open()).await {
            Ok(_) => return true,
            Err(CallError::Closed) => return false,
            Err(_) => world.sleep(1_000).await,
        }
    }
}

async fn act(world: Rc<World>, tab: Tab) {
    if !open(&world, &tab).await {
        return;
    }
    loop {
        let gap = world.gap();
        world.sleep(gap).await;
        let left = world.memory.borrow().done < world.plan.actions;
        if !left || !world.faults_on.get() {
            return;
        }
        world.memory.borrow_mut().done += 1;
        if !one_action(&world, &tab) {
            return;
        }
    }
}

impl World {
    fn gap(&self) -> u64 {
        let mean = self.plan.duration / (self.plan.actions as u64 + 1);
        let mut random = self.app.borrow_mut();
        match random.u8(..4) {
            0 => 0,
            1 => random.u64(0..200),
            _ => random.u64(0..=mean),
        }
    }

    fn draw(&self, below: u8) -> u8 {
        self.app.borrow_mut().u8(..below)
    }

    /// A new operation with its values.
    pub(crate) fn fresh(&self) -> (ClientMemoryId, String) {
        let (id, values) = {
            let mut random = self.app.borrow_mut();
            let id = ClientMemoryId::from_random(random.u128(..).to_be_bytes());
            let title = ["a", "a", "b", "が", "𠮷", "invalid"][random.usize(..6)];
            let body = "思".repeat(random.usize(..4));
            (id, format!("{{\"title\":\"{title}\",\"body\":\"{body}\"}}"))
        };
        for fault in [Fault::PoisonFails, Fault::PoisonRefused, Fault::PoisonSilent] {
            if self.plan.poison_stays && self.is_poisoned(id, fault) {
                self.note(Happened::Poisoned { id, fault });
            }
        }
        self.memory.borrow_mut().operations.push((id, values.clone()));
        (id, values)
    }

    fn known(&self) -> Option<(ClientMemoryId, String)> {
        let memory = self.memory.borrow();
        self.app.borrow_mut().choice(&memory.operations).cloned()
    }

    /// A record on the disk, parked if there is one.
    fn record(&self, cause: Option<Cause>) -> Option<Record> {
        let parked = self.disk.borrow().all(Filter::Parked);
        let of = |record: &&Record| {
            let parked = record.pending.as_ref().and_then(|pending| pending.parked.as_ref());
            cause.is_none_or(|cause| parked.is_some_and(|parked| parked.cause == cause))
        };
        let fitting: Vec<&Record> = parked.iter().filter(of).collect();
        let mut random = self.app.borrow_mut();
        random.choice(&fitting).map(|record| (*record).clone())
    }
}

/// Commits without waiting.
pub(crate) fn commit(world: &Rc<World>, tab: &Tab, id: ClientMemoryId, values: &str) {
    let asked = Asked::Commit(id, digest(values.as_bytes()));
    let values = values.to_owned();
    let kind = KIND.to_owned();
    send(world, tab, asked, Call::Commit { kind, id, values });
}

/// Calls without waiting.
pub(crate) fn send(world: &Rc<World>, tab: &Tab, asked: Asked, what: Call) {
    let reply = call(world, tab, asked, what);
    world.executor.spawn(tab.party, async move {
        let _ = reply.await;
    });
}

/// One thing that a person does; `false` when the tab has nothing more to do.
fn one_action(world: &Rc<World>, tab: &Tab) -> bool {
    match world.draw(24) {
        0..=6 => {
            let (id, values) = world.fresh();
            commit(world, tab, id, &values);
        }
        7..=8 => {
            let most = [3, 8, 8, 40][usize::from(world.draw(4))];
            for _ in 0..=world.draw(most) {
                let (id, values) = world.fresh();
                commit(world, tab, id, &values);
            }
        }
        9 => {
            let (id, values) = world.fresh();
            commit(world, tab, id, &values);
            commit(world, tab, id, &values);
        }
        10 => {
            let (id, values) = world.fresh();
            commit(world, tab, id, &values);
            for other in world.open_tabs() {
                commit(world, &other, id, &values);
            }
        }
        11 => again(world, tab, "{\"title\":\"other\"}"),
        12 => {
            if let Some((_, values)) = world.known() {
                again(world, tab, &values);
            }
        }
        13..=14 => about_parked(world, tab, Cause::Rejected),
        15 => about_parked(world, tab, Cause::Conflict),
        16 => {
            if let Some(record) = world.record(None) {
                let call = Call::Retry(KIND.to_owned(), record.id);
                send(world, tab, Asked::Retry(record.id), call);
            }
        }
        17 => send(world, tab, Asked::RetryAll, Call::RetryAll(KIND.to_owned())),
        18 => {
            if let Some((id, _)) = world.known() {
                send(world, tab, Asked::Discard(id), Call::Discard(KIND.to_owned(), id));
            }
        }
        19..=20 => send(world, tab, Asked::Sync, Call::Sync),
        21 => pause_for_a_while(world, tab),
        22 => {
            // From two tabs about one record at once.
            if let Some((id, _)) = world.known() {
                for other in world.open_tabs() {
                    let call = Call::Retry(KIND.to_owned(), id);
                    send(world, &other, Asked::Retry(id), call);
                }
            }
        }
        _ => return !close_and_reopen(world, tab),
    }
    true
}

fn again(world: &Rc<World>, tab: &Tab, values: &str) {
    if let Some((id, _)) = world.known() {
        commit(world, tab, id, values);
    }
}

fn about_parked(world: &Rc<World>, tab: &Tab, cause: Cause) {
    let Some(record) = world.record(Some(cause)) else {
        return;
    };
    let (kind, id) = (KIND.to_owned(), record.id);
    if cause == Cause::Conflict {
        let (new, _) = world.fresh();
        let call = Call::SaveAsNew(kind, id, new);
        return send(world, tab, Asked::SaveAsNew(id, new), call);
    }
    let values = "{\"title\":\"corrected\"}".to_owned();
    send(world, tab, Asked::Correct(id), Call::Correct { kind, id, values });
}

fn pause_for_a_while(world: &Rc<World>, tab: &Tab) {
    send(world, tab, Asked::Pause, Call::Pause);
    let (world, tab) = (Rc::clone(world), tab.clone());
    let millis = world.app.borrow_mut().u64(0..60_000);
    world.executor.spawn(tab.party, {
        let world = Rc::clone(&world);
        async move {
            world.sleep(millis).await;
            send(&world, &tab, Asked::Resume, Call::Resume);
        }
    });
}

fn close_and_reopen(world: &Rc<World>, tab: &Tab) -> bool {
    let closing = follow(world, tab.party, Asked::Close, tab.handle.close());
    let again = Rc::clone(world);
    // The page itself lives on and opens another outbox.
    world.spawn(async move {
        let _ = closing.await;
        if again.faults_on.get() {
            begin(&again);
        }
    });
    true
}

//! The tabs: each an engine with its driver, on the one disk.

use std::rc::Rc;

use warifu::core::engine::{Call, CallError, Config, Engine, Replied};
use warifu::core::event::{Event, Status};
use warifu::driver::{Handle, Observer, Ports, start};
use warifu::port::{Channel, StoreError};

use super::World;
use super::disk::{Connection, WallClock};
use super::lock::TabLock;
use super::network::Line;
use crate::executor::Party;
use crate::fault::Fault;
use crate::plant::Planted;
use crate::trace::{Asked, Came, Happened};

/// A tab that was opened.
#[derive(Clone)]
pub(crate) struct Tab {
    /// Which opening it is.
    pub(crate) party: Party,
    pub(crate) handle: Handle,
    pub(crate) alive: bool,
    pub(crate) frozen: bool,
    pub(crate) paused: Option<warifu::core::event::Pause>,
}

struct Watcher {
    world: Rc<World>,
    tab: Party,
}

impl Observer for Watcher {
    fn event(&self, event: &Event) {
        let named = || event.key.as_ref().and_then(|key| key.parse().ok());
        self.world.note(Happened::Event {
            tab: self.tab,
            kind: event.kind,
            id: event.record.as_ref().map(|record| record.id).or_else(named),
        });
    }

    fn status(&self, status: &Status) {
        if let Some(tab) = self.world.tabs.borrow_mut().iter_mut().find(|tab| tab.party == self.tab) {
            tab.paused = status.paused;
        }
        self.world.note(Happened::Status {
            tab: self.tab,
            pending: status.pending,
            parked: status.parked,
            paused: status.paused,
        });
    }
}

struct Word {
    world: Rc<World>,
    tab: Party,
}

impl Channel for Word {
    fn post(&self, message: &str) {
        let others: Vec<Tab> = self.world.open_tabs();
        for other in others.into_iter().filter(|other| other.party != self.tab) {
            if self.world.hit(Fault::MessageLost) {
                continue;
            }
            let mut millis = self.world.net.borrow_mut().u64(0..5);
            if self.world.hit(Fault::MessageDelayed) {
                millis += self.world.net.borrow_mut().u64(0..20_000);
            }
            let (world, message) = (Rc::clone(&self.world), message.to_owned());
            self.world.spawn(async move {
                world.sleep(millis).await;
                other.handle.message(&message);
            });
        }
    }
}

impl World {
    pub(crate) fn open_tabs(&self) -> Vec<Tab> {
        self.tabs.borrow().iter().filter(|tab| tab.alive).cloned().collect()
    }

    pub(crate) fn is_alive(&self, party: Party) -> bool {
        self.tabs.borrow().iter().any(|tab| tab.party == party && tab.alive)
    }

    /// Opens a tab and makes the outbox in it.
    pub(crate) fn open_tab(self: &Rc<Self>) -> Tab {
        let party = World::next(&self.instances);
        let connection = Connection { world: Rc::clone(self), tab: party };
        let line = Line { world: Rc::clone(self), tab: party };
        let ports = Ports {
            store: Planted::new(self.plan.bug, connection),
            transport: Planted::new(self.plan.bug, line),
            clock: WallClock(Rc::clone(self)),
            lock: TabLock { world: Rc::clone(self), tab: party },
            channel: Word { world: Rc::clone(self), tab: party },
        };
        let watcher = Watcher { world: Rc::clone(self), tab: party };
        let engine = Engine::new(Config::default(), self.plan.seed ^ u64::from(party) << 32);
        let (handle, driver) = start(engine, ports, watcher);
        let tab = Tab { party, handle, alive: true, frozen: false, paused: None };
        self.tabs.borrow_mut().push(tab.clone());
        self.note(Happened::Opened { tab: party });
        let world = Rc::clone(self);
        self.executor.spawn(party, async move {
            driver.await;
            world.set_tab(party, |tab| tab.alive = false);
            world.note(Happened::Closed { tab: party });
        });
        tab
    }

    pub(crate) fn set_tab(&self, party: Party, change: impl FnOnce(&mut Tab)) {
        if let Some(tab) = self.tabs.borrow_mut().iter_mut().find(|tab| tab.party == party) {
            change(tab);
        }
    }

    pub(crate) fn kill_tab(&self, party: Party) {
        self.set_tab(party, |tab| tab.alive = false);
        self.note(Happened::Killed { tab: party });
        self.executor.kill(party);
    }

    pub(crate) fn freeze_tab(&self, party: Party) {
        self.set_tab(party, |tab| tab.frozen = true);
        self.note(Happened::Frozen { tab: party });
        self.executor.freeze(party);
    }

    pub(crate) fn thaw_tab(&self, party: Party) {
        if self.open_tabs().iter().any(|tab| tab.party == party && tab.frozen) {
            self.set_tab(party, |tab| tab.frozen = false);
            self.note(Happened::Thawed { tab: party });
            self.executor.thaw(party);
        }
    }
}

/// Makes a call and notes what it comes to.
pub(crate) fn call(world: &Rc<World>, tab: &Tab, asked: Asked, call: Call) -> impl Future<Output = Replied> + use<> {
    follow(world, tab.party, asked, tab.handle.call(call))
}

/// The same for opening and closing.
pub(crate) fn follow<F: Future<Output = Replied>>(
    world: &Rc<World>,
    tab: Party,
    asked: Asked,
    reply: F,
) -> impl Future<Output = Replied> + use<F> {
    let number = World::next(&world.calls);
    world.note(Happened::Call { tab, call: number, asked });
    let world = Rc::clone(world);
    async move {
        let replied = reply.await;
        let came = match &replied {
            Ok(_) => Came::Good,
            Err(CallError::Store(StoreError::TimedOut)) => Came::Unknown,
            Err(error) => Came::Failed(error.to_string()),
        };
        world.note(Happened::CallDone { tab, call: number, came });
        replied
    }
}

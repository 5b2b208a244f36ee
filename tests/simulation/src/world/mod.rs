//! The surroundings of the tabs: disk, network, server, lock, and the clock on the wall.

pub(crate) mod answer;
pub(crate) mod chaos;
pub(crate) mod disk;
pub(crate) mod lock;
pub(crate) mod network;
pub(crate) mod server;
pub(crate) mod tab;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use warifu::core::time::Time;
use warifu::id::ClientMemoryId;

use crate::app::Memory;
use crate::executor::{Executor, WORLD, yield_now};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::trace::{Happened, Trace};

use disk::Disk;
use lock::Locks;
use server::Server;
use tab::Tab;

/// 2026-11-30T20:35Z.
const EPOCH: u64 = 1_796_070_900_000;

/// Randomness for one concern, so that a change in one leaves the others alone.
pub(crate) type Random = RefCell<fastrand::Rng>;

/// Everything around the tabs of one run.
pub(crate) struct World {
    pub(crate) executor: Rc<Executor>,
    pub(crate) plan: Plan,
    pub(crate) trace: RefCell<Trace>,
    pub(crate) disk: RefCell<Disk>,
    pub(crate) server: RefCell<Server>,
    pub(crate) locks: RefCell<Locks>,
    pub(crate) tabs: RefCell<Vec<Tab>>,
    pub(crate) memory: RefCell<Memory>,
    pub(crate) net: Random,
    pub(crate) io: Random,
    pub(crate) app: Random,
    pub(crate) chaos: Random,
    hits: Random,
    pub(crate) faults_on: Cell<bool>,
    pub(crate) ended: Cell<bool>,
    pub(crate) signed_in: Cell<bool>,
    pub(crate) token_valid: Cell<bool>,
    pub(crate) requests: Cell<u32>,
    pub(crate) calls: Cell<u32>,
    pub(crate) instances: Cell<u32>,
    clock_offset: Cell<i64>,
}

impl World {
    pub(crate) fn new(plan: Plan) -> Rc<Self> {
        let seed = plan.seed;
        let stream = |n: u64| RefCell::new(fastrand::Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ n));
        Rc::new(Self {
            executor: Executor::new(seed ^ 0xe4ec),
            trace: RefCell::default(),
            disk: RefCell::default(),
            server: RefCell::default(),
            locks: RefCell::default(),
            tabs: RefCell::default(),
            memory: RefCell::default(),
            net: stream(1),
            io: stream(2),
            app: stream(3),
            chaos: stream(4),
            hits: stream(5),
            faults_on: Cell::new(true),
            ended: Cell::new(false),
            signed_in: Cell::new(true),
            token_valid: Cell::new(true),
            requests: Cell::new(0),
            calls: Cell::new(0),
            instances: Cell::new(0),
            clock_offset: Cell::new(0),
            plan,
        })
    }

    /// What the device's clock shows.
    pub(crate) fn wall(&self) -> Time {
        let shown = EPOCH.saturating_add(self.executor.now());
        Time(shown.saturating_add_signed(self.clock_offset.get()))
    }

    /// What the server's clock shows.
    pub(crate) fn server_wall(&self) -> Time {
        let true_time = EPOCH.saturating_add(self.executor.now());
        Time(true_time.saturating_add_signed(self.plan.server_clock))
    }

    pub(crate) fn jump_clock(&self, by: i64) {
        self.clock_offset.set(self.clock_offset.get().saturating_add(by));
        self.note(Happened::ClockJump { by });
    }

    pub(crate) fn note(&self, what: Happened) {
        self.trace.borrow_mut().push(self.executor.now(), what);
    }

    /// Whether a fault strikes here.
    pub(crate) fn hit(&self, fault: Fault) -> bool {
        let roll = self.hits.borrow_mut().f64();
        let hit = self.faults_on.get() && roll < self.plan.rates.of(fault);
        if hit {
            self.struck(fault);
        }
        hit
    }

    pub(crate) fn struck(&self, fault: Fault) {
        self.trace.borrow_mut().faults += 1;
        self.note(Happened::Fault(fault));
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        self.executor.spawn(WORLD, work);
    }

    pub(crate) async fn sleep(&self, millis: u64) {
        self.executor.sleep(millis).await;
    }

    /// A moment of the store: a few turns for others, and some time.
    pub(crate) async fn moment(&self) {
        let (turns, millis) = {
            let mut random = self.io.borrow_mut();
            (random.u8(..3), random.u64(0..=self.plan.store))
        };
        for _ in 0..turns {
            yield_now().await;
        }
        if millis > 0 {
            self.sleep(millis).await;
        }
        if self.hit(Fault::SlowStore) {
            let millis = self.io.borrow_mut().u64(0..8_000);
            self.sleep(millis).await;
        }
    }

    /// A number of an id that is the same whenever it is asked for.
    pub(crate) fn lot(&self, id: ClientMemoryId, salt: u64) -> f64 {
        let (high, low) = id.as_uuid().as_u64_pair();
        fastrand::Rng::with_seed(high ^ low.rotate_left(17) ^ salt).f64()
    }

    pub(crate) fn next(counter: &Cell<u32>) -> u32 {
        counter.set(counter.get() + 1);
        counter.get()
    }
}

//! One run: tabs and faults for a while, then calm until all has settled.

use std::rc::Rc;

use warifu::core::engine::Call;
use warifu::core::event::Pause;
use warifu::port::Filter;

use crate::app;
use crate::check::{Violation, check};
use crate::fault::Fault;
use crate::plan::{Config, Plan};
use crate::trace::{Asked, Happened, Row, Trace};
use crate::world::World;
use crate::world::tab::follow;

/// More steps than any honest run takes.
const STEPS: u64 = 3_000_000;
/// By then everything must have settled: the longest `Retry-After`, its jitter, and a clock that was set back.
const PATIENCE: u64 = 60 * 3_600_000;
/// How long what the server cannot take is watched.
const POISONED: u64 = 2 * 3_600_000;
/// How long it is quiet until it counts as rest.
const REST: u64 = 200_000;

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// How many faults struck.
    pub faults: u64,
    /// How many steps were made.
    pub steps: u64,
    /// What was found to be wrong.
    pub violations: Vec<Violation>,
    pub(crate) trace: Trace,
}

impl Outcome {
    /// Everything that happened, as lines for people.
    #[must_use]
    pub fn trace(&self) -> String {
        self.trace.text()
    }

    /// A number that differs when anything in the run differs.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.trace.digest()
    }
}

/// Runs one seed.
#[must_use]
pub fn run(config: &Config) -> Outcome {
    let world = World::new(Plan::draw(config));
    world.spawn(direct(Rc::clone(&world)));
    finish(&world)
}

/// Runs what has been spawned until it has ended, and checks it.
pub(crate) fn finish(world: &Rc<World>) -> Outcome {
    let mut steps = 0;
    let mut calm = world.calm_steps();
    while !world.ended.get() {
        if calm == 0 {
            world.strike();
            calm = world.calm_steps();
        }
        calm -= 1;
        steps += 1;
        if !world.executor.step() {
            world.note(Happened::OutOfTime);
            break;
        }
        if steps >= STEPS {
            world.note(Happened::OutOfSteps);
            break;
        }
    }
    world.executor.clear();
    let trace = world.trace.take();
    Outcome { seed: world.plan.seed, faults: trace.faults, steps, violations: check(&trace), trace }
}

async fn direct(world: Rc<World>) {
    for _ in 0..world.plan.tabs {
        app::begin(&world);
    }
    world.sleep(world.plan.duration).await;
    end_faults(&world).await;
    settle(&world).await;
    world.ended.set(true);
}

/// Everything works again, and the app and the person do what is theirs to do.
pub(crate) async fn end_faults(world: &Rc<World>) {
    world.faults_on.set(false);
    world.signed_in.set(true);
    world.token_valid.set(true);
    world.server.borrow_mut().outage = None;
    world.note(Happened::FaultsEnd);
    for tab in world.open_tabs() {
        world.thaw_tab(tab.party);
    }
    // What closes is closed before anybody speaks to it.
    world.sleep(30_000).await;
    if world.open_tabs().is_empty() {
        app::begin(world);
        world.sleep(1_000).await;
    }
    for tab in world.open_tabs() {
        app::send(world, &tab, Asked::Resume, Call::Resume);
    }
}

/// Waits until nothing is pending, and closes.
pub(crate) async fn settle(world: &Rc<World>) {
    let began = world.executor.now();
    let mut pause = 1_000;
    while world.disk.borrow().pending > 0 {
        let waited = world.executor.now() - began;
        if waited > POISONED && only_poison_waits(world) {
            break;
        }
        if waited > PATIENCE {
            world.note(Happened::OutOfTime);
            break;
        }
        world.sleep(pause).await;
        pause = (pause * 2).min(600_000);
        for tab in world.open_tabs() {
            if tab.paused == Some(Pause::Endpoint) {
                app::send(world, &tab, Asked::Sync, Call::Sync);
            }
        }
    }
    world.sleep(REST).await;
    rest(world);
    for tab in world.open_tabs() {
        let closing = follow(world, tab.party, Asked::Close, tab.handle.close());
        world.spawn(async move {
            let _ = closing.await;
        });
    }
    world.sleep(60_000).await;
}

fn only_poison_waits(world: &World) -> bool {
    let waiting = world.disk.borrow().all(Filter::Pending);
    waiting.iter().filter(|record| record.waits_to_be_sent()).all(|record| {
        [Fault::PoisonFails, Fault::PoisonRefused, Fault::PoisonSilent]
            .into_iter()
            .any(|fault| world.is_poisoned(record.id, fault))
    })
}

/// Notes what there is now that nothing more is expected.
pub(crate) fn rest(world: &World) {
    let (meta, rows) = {
        let disk = world.disk.borrow();
        (disk.meta(), disk.all(Filter::All))
    };
    world.note(Happened::Rest { pending: meta.pending, parked: meta.parked, rows: rows.iter().map(Row::of).collect() });
}

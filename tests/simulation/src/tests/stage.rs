//! What directed scenarios are written with.

use std::rc::Rc;

use warifu::core::engine::Call;
use warifu::core::operation::Record;
use warifu::core::values::freeze;
use warifu::id::ClientMemoryId;

use crate::app::{self, KIND};
use crate::plan::Plan;
use crate::run::{Outcome, finish, settle};
use crate::trace::{Asked, Happened, Row};
use crate::world::World;
use crate::world::tab::Tab;

pub(super) const MINUTE: u64 = 60_000;
pub(super) const HOUR: u64 = 60 * MINUTE;
pub(super) const DAY: u64 = 24 * HOUR;

/// Plays a scenario in a calm world and checks every promise.
pub(super) fn play<F>(set_up: impl FnOnce(&mut Plan), script: impl FnOnce(Rc<World>) -> F) -> Outcome
where
    F: Future<Output = ()> + 'static,
{
    let mut plan = Plan::calm(7);
    set_up(&mut plan);
    let world = World::new(plan);
    let played = script(Rc::clone(&world));
    let ending = Rc::clone(&world);
    world.spawn(async move {
        played.await;
        ending.ended.set(true);
    });
    let outcome = finish(&world);
    assert_eq!(outcome.violations, [], "{}", outcome.trace());
    outcome
}

/// A tab with an open outbox.
pub(super) async fn tab(world: &Rc<World>) -> Tab {
    let tab = world.open_tab();
    assert!(app::open(world, &tab).await);
    world.sleep(200).await;
    tab
}

/// Commits so many operations together and waits until they are stored.
pub(super) async fn commit(world: &Rc<World>, tab: &Tab, count: usize) -> Vec<ClientMemoryId> {
    let ids = begin(world, count);
    commit_ids(world, tab, &ids).await;
    ids
}

pub(super) fn begin(world: &Rc<World>, count: usize) -> Vec<ClientMemoryId> {
    (0..count).map(|_| ClientMemoryId::from_random(world.app.borrow_mut().u128(..).to_be_bytes())).collect()
}

pub(super) async fn commit_ids(world: &Rc<World>, tab: &Tab, ids: &[ClientMemoryId]) {
    for id in ids {
        app::commit(world, tab, *id, "{\"title\":\"a\"}");
    }
    while !ids.iter().all(|id| world.disk.borrow().get(*id).is_some()) {
        world.sleep(10).await;
    }
}

pub(super) fn sync(world: &Rc<World>, tab: &Tab) {
    app::send(world, tab, Asked::Sync, Call::Sync);
}

pub(super) fn resume(world: &Rc<World>, tab: &Tab) {
    app::send(world, tab, Asked::Resume, Call::Resume);
}

/// Waits until nothing is pending, and closes.
pub(super) async fn end(world: &Rc<World>) {
    world.server.borrow_mut().always = None;
    settle(world).await;
}

pub(super) fn pause_of(world: &World, tab: &Tab) -> Option<warifu::core::event::Pause> {
    world.open_tabs().iter().find(|other| other.party == tab.party).and_then(|tab| tab.paused)
}

/// Each request's number of items, and when it was made.
pub(super) fn requests(outcome: &Outcome) -> Vec<(u64, usize)> {
    let sizes = outcome.trace.entries.iter().filter_map(|entry| match &entry.what {
        Happened::Request { items, .. } => Some((entry.at, items.len())),
        _ => None,
    });
    sizes.collect()
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    let rest = outcome.trace.entries.iter().rev().find_map(|entry| match &entry.what {
        Happened::Rest { rows, .. } => Some(rows.clone()),
        _ => None,
    });
    rest.unwrap_or_default()
}

pub(super) fn synced(outcome: &Outcome) -> usize {
    rows(outcome).iter().filter(|row| !row.pending).count()
}

/// Why those that are parked are.
pub(super) fn parked(outcome: &Outcome) -> Vec<(ClientMemoryId, String)> {
    rows(outcome).into_iter().filter(|row| row.parked.is_some()).map(|row| (row.id, row.code)).collect()
}

pub(super) fn records(count: u8) -> Vec<Record> {
    let record = |n| {
        let id = ClientMemoryId::from_random([n; 16]);
        Record {
            order: 0,
            revision: 0,
            kind: KIND.to_owned(),
            id,
            server_id: None,
            server_revision: None,
            deleted: false,
            earlier_attempts: 0,
            content: freeze(id, "then", "{}").unwrap(),
            pending: None,
        }
    };
    (1..=count).map(record).collect()
}

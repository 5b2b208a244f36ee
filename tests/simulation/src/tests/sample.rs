use crate::fault::Fault;
use crate::plan::Config;
use crate::run::run;
use crate::tests::stage::{self, records};
use crate::trace::Row;
use crate::world::disk::Disk;
use warifu::port::{Change, Durability, Filter, Write};

fn config(seed: u64) -> Config {
    Config { seed, ..Config::default() }
}

#[test]
fn a_sample_of_seeds_breaks_no_promise() {
    let mut faults = 0;
    for seed in 0..200 {
        let outcome = run(&config(seed));
        assert_eq!(outcome.violations, [], "seed {seed}");
        faults += outcome.faults;
    }
    assert!(faults > 5_000, "only {faults} faults struck");
}

#[test]
fn one_seed_replays_one_run() {
    let mut seen = Vec::new();
    for seed in [3, 17, 43, 81, 1326] {
        let (first, second) = (run(&config(seed)), run(&config(seed)));
        assert_eq!(first.trace(), second.trace(), "seed {seed}");
        assert_eq!(first.digest(), second.digest());
        assert!(!seen.contains(&first.digest()));
        seen.push(first.digest());
    }
}

#[test]
fn every_kind_of_fault_strikes() {
    let mut missing: Vec<Fault> = Fault::ALL.to_vec();
    // These are a property of the run, not a stroke.
    let standing = [Fault::PoisonFails, Fault::PoisonRefused, Fault::PoisonSilent, Fault::ServerClock];
    missing.retain(|fault| !standing.contains(fault));
    for seed in 0..400 {
        let outcome = run(&config(seed));
        missing.retain(|fault| {
            let struck = |entry: &crate::trace::Entry| matches!(entry.what, crate::trace::Happened::Fault(other) if other == *fault);
            !outcome.trace.entries.iter().any(struck)
        });
        if missing.is_empty() {
            return;
        }
    }
    assert_eq!(missing, []);
}

#[test]
fn a_write_that_is_not_flushed_is_really_lost_at_a_power_cut() {
    let mut outcomes = [0, 0];
    for seed in 0..20 {
        let mut disk = Disk::default();
        let [first, second] = records(2).try_into().unwrap();
        let insert = |record| Write { changes: vec![Change::Insert(record)], ..Write::default() };
        disk.apply(&insert(first)).unwrap();
        let relaxed = Write { durability: Durability::Relaxed, ..insert(second.clone()) };
        disk.apply(&relaxed).unwrap();
        assert_eq!(disk.all(Filter::All).len(), 2);
        disk.cut_power(&mut fastrand::Rng::with_seed(seed));
        let left: Vec<Row> = disk.all(Filter::All).iter().map(Row::of).collect();
        outcomes[left.len() - 1] += 1;
        // A flushed write takes the earlier ones along.
        let mut disk = Disk::default();
        let [first, second] = records(2).try_into().unwrap();
        disk.apply(&Write { durability: Durability::Relaxed, ..insert(first) }).unwrap();
        disk.apply(&insert(second)).unwrap();
        disk.cut_power(&mut fastrand::Rng::with_seed(seed));
        assert_eq!(disk.all(Filter::All).len(), 2);
    }
    assert!(outcomes[0] > 0 && outcomes[1] > 0, "{outcomes:?}");
}

#[test]
fn a_run_without_faults_has_none() {
    let outcome = stage::play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            stage::commit(&world, &tab, 7).await;
            stage::end(&world).await;
        },
    );
    assert_eq!((outcome.faults, stage::synced(&outcome), stage::requests(&outcome).len()), (0, 7, 1));
}

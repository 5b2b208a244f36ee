use crate::check::Kind;
use crate::plan::Config;
use crate::plant::Bug;
use crate::run::run;

/// Runs seeds with a bug until a checker finds it.
fn hunt(bug: Bug, kind: Kind, seeds: u64) {
    for seed in 0..seeds {
        let outcome = run(&Config { seed, bug: Some(bug), ..Config::default() });
        if outcome.violations.iter().any(|violation| violation.kind == kind) {
            // The bug alone is what was found.
            assert_eq!(run(&Config { seed, ..Config::default() }).violations, [], "seed {seed}");
            return;
        }
    }
    panic!("{bug:?} was not found as {kind:?} in {seeds} seeds");
}

#[test]
fn removed_before_the_acknowledgement_is_durable() {
    hunt(Bug::RemovedEarly, Kind::Removed, 20);
    hunt(Bug::RemovedEarly, Kind::Lost, 400);
}

#[test]
fn resolved_before_complete() {
    hunt(Bug::ResolvedEarly, Kind::Early, 20);
    hunt(Bug::ResolvedEarly, Kind::Lost, 400);
}

#[test]
fn a_new_key_on_retry() {
    hunt(Bug::NewKey, Kind::Doubled, 50);
}

#[test]
fn matched_by_position() {
    hunt(Bug::ByPosition, Kind::Map, 200);
}

#[test]
fn sent_before_the_mark() {
    hunt(Bug::SentEarly, Kind::Unmarked, 50);
}

#[test]
fn unconditional_writes() {
    hunt(Bug::Unconditional, Kind::Bytes, 100);
    hunt(Bug::Unconditional, Kind::Law, 300);
}

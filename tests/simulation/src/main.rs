//! `warifu-simulation --seeds N [--start S] [--seed S] [--trace] [--without FAULT,FAULT] [--actions N] [--tabs N]`

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use warifu_simulation::{Config, Fault, Kind, Outcome, run, shrink};

/// So many failing seeds are told of in full.
const TOLD: usize = 5;

struct Arguments {
    config: Config,
    seeds: u64,
    start: u64,
    trace: bool,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}");
            eprintln!(
                "usage: warifu-simulation --seeds N [--start S] | --seed S [--trace] [--without A,B] [--actions N] [--tabs N]"
            );
            return ExitCode::from(2);
        }
    };
    let runs = run_all(&arguments);
    tell(&arguments, &runs);
    let count = |kinds: &[Kind]| runs.failed.iter().filter(|(_, kind)| kinds.contains(kind)).count();
    let own = [Kind::Lost, Kind::Removed, Kind::Doubled, Kind::Stuck];
    let others = runs.failed.iter().filter(|(_, kind)| !own.contains(kind)).count();
    if others > 0 {
        println!("{others} other violations");
    }
    println!(
        "{} runs, {} faults, lost {}, doubled {}, stuck {}",
        arguments.seeds,
        runs.faults,
        count(&[Kind::Lost, Kind::Removed]),
        count(&[Kind::Doubled]),
        count(&[Kind::Stuck])
    );
    if runs.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments { config: Config::default(), seeds: 1000, start: 0, trace: false };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text:?} is no number"));
        match word.as_str() {
            "--seeds" => arguments.seeds = number(value()?)?,
            "--start" => arguments.start = number(value()?)?,
            "--seed" => {
                arguments.start = number(value()?)?;
                arguments.seeds = 1;
            }
            "--trace" => arguments.trace = true,
            "--actions" => arguments.config.actions = usize::try_from(number(value()?)?).ok(),
            "--tabs" => arguments.config.tabs = usize::try_from(number(value()?)?).ok(),
            "--without" => {
                for name in value()?.split(',') {
                    let fault = Fault::parse(name).ok_or(format!("there is no fault {name:?}"))?;
                    arguments.config.without.push(fault);
                }
            }
            other => return Err(format!("{other:?} is unknown")),
        }
    }
    Ok(arguments)
}

#[derive(Default)]
struct Runs {
    faults: u64,
    /// Each seed once for each promise that it breaks.
    failed: Vec<(u64, Kind)>,
    first: Vec<Outcome>,
}

fn run_all(arguments: &Arguments) -> Runs {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let runs = Mutex::new(Runs::default());
    let lock = || runs.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let told = Mutex::new(began);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= arguments.seeds {
                        return;
                    }
                    let config = Config { seed: arguments.start + index, ..arguments.config.clone() };
                    let outcome = run(&config);
                    let mut runs = lock();
                    runs.faults += outcome.faults;
                    let kinds: BTreeMap<Kind, ()> = outcome.violations.iter().map(|found| (found.kind, ())).collect();
                    runs.failed.extend(kinds.keys().map(|kind| (outcome.seed, *kind)));
                    if !kinds.is_empty() || arguments.trace {
                        runs.first.push(outcome);
                        runs.first.sort_by_key(|outcome| outcome.seed);
                        runs.first.truncate(TOLD);
                    }
                    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                    if told.elapsed() > Duration::from_secs(10) {
                        *told = Instant::now();
                        eprintln!("{index} of {} after {} s", arguments.seeds, began.elapsed().as_secs());
                    }
                }
            });
        }
    });
    runs.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn tell(arguments: &Arguments, runs: &Runs) {
    if arguments.trace {
        for outcome in &runs.first {
            print!("{}", outcome.trace());
        }
    }
    for outcome in &runs.first {
        for violation in outcome.violations.iter().take(8) {
            println!("seed {}: {:?} at {}: {}", outcome.seed, violation.kind, violation.at, violation.text);
        }
        if let Some(violation) = outcome.violations.first().filter(|_| !arguments.trace) {
            let config = Config { seed: outcome.seed, ..arguments.config.clone() };
            println!("  replay: {}", command(&shrink(&config, violation.kind)));
        }
    }
    let mut by_kind: BTreeMap<Kind, Vec<u64>> = BTreeMap::new();
    for (seed, kind) in &runs.failed {
        by_kind.entry(*kind).or_default().push(*seed);
    }
    for (kind, mut seeds) in by_kind {
        seeds.sort_unstable();
        let first: Vec<String> = seeds.iter().take(6).map(ToString::to_string).collect();
        println!("{kind:?} in {} runs: seeds {}", seeds.len(), first.join(", "));
    }
}

fn command(config: &Config) -> String {
    let mut command = format!("cargo run -p warifu-simulation -- --seed {} --trace", config.seed);
    if let Some(tabs) = config.tabs {
        command.push_str(&format!(" --tabs {tabs}"));
    }
    if let Some(actions) = config.actions {
        command.push_str(&format!(" --actions {actions}"));
    }
    let names: Vec<&str> = config.without.iter().map(|fault| fault.name()).collect();
    if !names.is_empty() {
        command.push_str(&format!(" --without {}", names.join(",")));
    }
    command
}

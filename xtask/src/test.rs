//! `cargo xtask test`.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

use crate::{
    package,
    process::{self, Log},
    project, python, setup, steps,
};

const HELP: &str = "\
Everything that has to hold

Usage: cargo xtask test [--long] [--only NAME]… [--filter TEXT]

  --long          The full figures: 100,000 simulated seeds instead of 1,000, a queue of 10,000 instead of 1,000
  --only NAME     Only this step; may be given again
  --filter TEXT   Only the tests whose name contains TEXT (steps native, browser, end_to_end, django, backends)

Installs what is missing: the wasm target, rustfmt and clippy, a Python environment below target/; where this is root on
Debian also Chromium, its driver and PostgreSQL.
";

const SEEDS: &str = "1000";
const SEEDS_LONG: &str = "100000";

struct Step {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: fn(&Options, &Log) -> Result<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Wasm,
    Lints,
    Node,
    Browser,
    Postgres,
    Python,
}

const NEEDS: [Need; 6] = [Need::Wasm, Need::Lints, Need::Node, Need::Browser, Need::Postgres, Need::Python];

#[derive(Default)]
struct Options {
    long: bool,
    only: Vec<String>,
    filter: Option<String>,
}

struct Verdict {
    name: &'static str,
    time: Duration,
    passed: usize,
    failed: usize,
}

const STEPS: [Step; 11] = [
    Step { name: "fmt", about: "formatting", needs: &[Need::Lints], run: fmt },
    Step { name: "clippy", about: "lints, native and wasm", needs: &[Need::Lints, Need::Wasm], run: clippy },
    Step {
        name: "native",
        about: "native tests: core, contract of the stores, server, checker, planted bugs",
        needs: &[Need::Postgres, Need::Python],
        run: native,
    },
    Step { name: "simulation", about: "seeded simulation", needs: &[], run: simulation },
    Step { name: "wasm", about: "the test runner and the tests for the browser", needs: &[Need::Wasm], run: wasm },
    Step {
        name: "browser",
        about: "the adapters in a real browser",
        needs: &[Need::Wasm, Need::Browser],
        run: browser,
    },
    Step { name: "pkg", about: "the npm package", needs: &[Need::Wasm, Need::Node], run: pkg },
    Step { name: "packaging", about: "types, Node and bundlers", needs: &[Need::Wasm, Need::Node], run: packaging },
    Step {
        name: "end_to_end",
        about: "a real browser against the real server",
        needs: &[Need::Wasm, Need::Node, Need::Browser],
        run: end_to_end,
    },
    Step {
        name: "django",
        about: "the Django example: its tests, and the checker against it",
        needs: &[Need::Postgres, Need::Python],
        run: django,
    },
    Step {
        name: "backends",
        about: "a real browser against PostgreSQL and Django",
        needs: &[Need::Wasm, Need::Node, Need::Browser, Need::Postgres, Need::Python],
        run: backends,
    },
];

/// The scenarios that are about the promise itself, whoever keeps the rows.
const ON_EVERY_BACKEND: [&str; 3] = ["lost_answers", "outages", "tabs"];

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<bool> {
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => {
                println!("{HELP}\nSteps:");
                STEPS.iter().for_each(|step| println!("  {:<12} {}", step.name, step.about));
                return Ok(true);
            }
            Long("long") => options.long = true,
            Long("only") => options.only.push(arguments.value()?.string()?),
            Long("filter") => options.filter = Some(arguments.value()?.string()?),
            other => bail!("{}\n\n{HELP}", other.unexpected()),
        }
    }
    let chosen = choose(&options)?;
    set_up(&chosen)?;

    let started = Instant::now();
    let mut verdicts = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        let head = format!("[{}/{}] {}: {} …", index + 1, chosen.len(), step.name, step.about);
        verdicts.push(judge(step, &options, &head)?);
    }
    Ok(summary(&verdicts, started.elapsed()))
}

fn choose(options: &Options) -> Result<Vec<&'static Step>> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if let Some(unknown) = options.only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no step `{unknown}`; the steps are {}", names.join(", "));
    }
    Ok(STEPS
        .iter()
        .filter(|step| options.only.is_empty() || options.only.iter().any(|name| name == step.name))
        .collect())
}

fn set_up(chosen: &[&Step]) -> Result<()> {
    let needed = |need| chosen.iter().any(|step| step.needs.contains(&need));
    for need in NEEDS.into_iter().filter(|need| needed(*need)) {
        match need {
            Need::Postgres => setup::postgres(),
            Need::Python => python::make(),
            Need::Wasm => setup::rust(),
            Need::Lints => setup::lints(),
            Need::Node => setup::node(),
            Need::Browser => setup::browser(),
        }?;
    }
    Ok(())
}

fn judge(step: &Step, options: &Options, head: &str) -> Result<Verdict> {
    let log = Log::create(project::work("logs").join(format!("test-{}.log", step.name)))?;
    let (result, time) = steps::watched(head, &log, || (step.run)(options, &log));
    let (passed, failed) = count(&log.lines());
    let verdict = match &result {
        // A step without tests of its own, such as a lint, is one check.
        Ok(()) if passed == 0 => Verdict { name: step.name, time, passed: 1, failed: 0 },
        Ok(()) => Verdict { name: step.name, time, passed, failed },
        Err(_) => Verdict { name: step.name, time, passed, failed: failed.max(1) },
    };
    match result {
        Ok(()) => {
            steps::finish(&format!("{head} {}", steps::seconds(time)));
            log.notes().iter().for_each(|note| println!("      {note}"));
        }
        Err(error) => {
            steps::finish(&format!("{head} FAILED after {}", steps::seconds(time)));
            println!("{}\n\n{error:#}\nThis step alone: cargo xtask test --only {}\n", log.tail(), step.name);
        }
    }
    Ok(verdict)
}

fn summary(verdicts: &[Verdict], time: Duration) -> bool {
    let (passed, failed) = verdicts.iter().fold((0, 0), |sum, one| (sum.0 + one.passed, sum.1 + one.failed));
    println!("\n{:<12} {:>14} {:>8} {:>8}", "step", "time", "passed", "failed");
    for one in verdicts {
        println!("{:<12} {:>14} {:>8} {:>8}", one.name, steps::seconds(one.time), one.passed, one.failed);
    }
    println!("{:<12} {:>14}", "all", steps::seconds(time));
    for one in verdicts.iter().filter(|one| one.failed > 0) {
        println!("failed: {} (again: cargo xtask test --only {})", one.name, one.name);
    }
    println!("\n{passed} passed, {failed} failed");
    failed == 0
}

/// The tests that libtest, wasm-bindgen's runner, Node's and Python's runners say they ran.
fn count(lines: &[String]) -> (usize, usize) {
    let mut sum = (0, 0);
    for line in lines {
        if let Some(figures) = line.trim().strip_prefix("test result: ") {
            sum.0 += number_before(figures, " passed");
            sum.1 += number_before(figures, " failed");
        } else if let Some(figure) = line.strip_prefix("ℹ pass ").or_else(|| line.strip_prefix("# pass ")) {
            sum.0 += figure.parse().unwrap_or(0);
        } else if let Some(figure) = line.strip_prefix("ℹ fail ").or_else(|| line.strip_prefix("# fail ")) {
            sum.1 += figure.parse().unwrap_or(0);
        } else if line.starts_with("Ran ") {
            sum.0 += number_before(line, " test");
        } else if let Some(figures) = line.strip_prefix("FAILED (") {
            let figures = figures.split(|c: char| !c.is_ascii_digit());
            let failed = figures.filter_map(|figure| figure.parse::<usize>().ok()).sum();
            sum = (sum.0.saturating_sub(failed), sum.1 + failed);
        }
    }
    sum
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|figure| figure.parse().ok()).unwrap_or(0)
}

fn fmt(_: &Options, log: &Log) -> Result<()> {
    process::run(project::cargo().args(["fmt", "--all", "--check"]), log)
}

fn clippy(_: &Options, log: &Log) -> Result<()> {
    let native = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::run(project::cargo().args(native), log)?;
    let mut wasm = project::cargo();
    wasm.args(["clippy", "--package", "warifu", "--lib", "--test", "*", "--target", "wasm32-unknown-unknown"]);
    process::run(wasm.args(["--", "-D", "warnings"]), log)
}

fn native(options: &Options, log: &Log) -> Result<()> {
    let mut cargo = project::cargo();
    cargo.args(["test", "--workspace", "--exclude", "warifu-end-to-end", "--no-fail-fast"]);
    cargo.env("WARIFU_PYTHON", python::interpreter());
    if options.long {
        cargo.env("WARIFU_LONG", "1");
    }
    process::run(cargo.arg("--").args(&options.filter), log)
}

fn simulation(options: &Options, log: &Log) -> Result<()> {
    let seeds = if options.long { SEEDS_LONG } else { SEEDS };
    let mut cargo = project::cargo();
    cargo.args(["run", "--profile", "native", "--package", "warifu-simulation", "--", "--seeds", seeds]);
    process::run(&mut cargo, log)?;
    log.note(&log.last());
    Ok(())
}

fn wasm(_: &Options, log: &Log) -> Result<()> {
    setup::test_runner(log)?;
    let mut cargo = project::cargo();
    cargo.args(["test", "--package", "warifu", "--test", "*", "--target", "wasm32-unknown-unknown", "--no-run"]);
    process::run(&mut cargo, log)
}

fn browser(options: &Options, log: &Log) -> Result<()> {
    let runner = setup::test_runner(log)?;
    let mut cargo = project::cargo();
    cargo.args(["test", "--package", "warifu", "--test", "*", "--target", "wasm32-unknown-unknown", "--"]);
    cargo.args(&options.filter).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner);
    cargo.env("CHROMEDRIVER", driver()?).env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    process::run(&mut cargo, log)
}

fn pkg(_: &Options, log: &Log) -> Result<()> {
    package::build(log, package::Kind::Release)?;
    package::sizes()?.lines().for_each(|line| log.note(line));
    Ok(())
}

fn packaging(_: &Options, log: &Log) -> Result<()> {
    package::build(log, package::Kind::Release)?;
    let home = project::root().join("tests/packaging");
    npm_ci(&home, log)?;
    process::run(Command::new("npm").arg("test").current_dir(&home), log)
}

fn end_to_end(options: &Options, log: &Log) -> Result<()> {
    package::build(log, package::Kind::Release)?;
    process::run(scenarios(options)?.args(&options.filter), log)?;
    if let Some(filter) = &options.filter
        && count(&log.lines()).0 == 0
    {
        bail!("no end-to-end test has `{filter}` in its name");
    }
    Ok(())
}

fn django(options: &Options, log: &Log) -> Result<()> {
    let mut own = project::cargo();
    own.args(["run", "--quiet", "--package", "warifu-test-postgres", "--"]).arg(python::interpreter());
    own.arg("examples/django/manage.py").args(["test", "promise"]).env("PYTHONPATH", "examples/django");
    process::run(own.env("PYTHONDONTWRITEBYTECODE", "1"), log)?;
    let mut checker = project::cargo();
    checker.args(["test", "--package", "warifu-end-to-end", "--test", "django", "--"]).args(&options.filter);
    process::run(checker.env("WARIFU_PYTHON", python::interpreter()), log)
}

fn backends(options: &Options, log: &Log) -> Result<()> {
    package::build(log, package::Kind::Release)?;
    for backend in ["postgres", "django"] {
        let mut cargo = scenarios(options)?;
        cargo.env("WARIFU_BACKEND", backend).env("WARIFU_PYTHON", python::interpreter());
        match &options.filter {
            Some(filter) => cargo.arg(filter),
            None => cargo.args(ON_EVERY_BACKEND),
        };
        process::run(&mut cargo, log)?;
    }
    Ok(())
}

fn scenarios(options: &Options) -> Result<Command> {
    let mut cargo = project::cargo();
    cargo.args(["test", "--package", "warifu-end-to-end", "--test", "scenarios", "--no-fail-fast", "--"]);
    cargo.env("CHROMEDRIVER", driver()?);
    if options.long {
        cargo.env("WARIFU_LONG", "1");
    }
    Ok(cargo)
}

fn driver() -> Result<std::path::PathBuf> {
    setup::driver().context("chromedriver is missing")
}

fn npm_ci(home: &Path, log: &Log) -> Result<()> {
    let (lock, installed) = (home.join("package-lock.json"), home.join("node_modules/.package-lock.json"));
    let written = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    if written(&installed).is_some_and(|there| written(&lock).is_some_and(|pinned| there > pinned)) {
        return Ok(());
    }
    process::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(home), log)
}

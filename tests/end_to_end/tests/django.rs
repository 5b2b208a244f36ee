//! The checker against the Django example, served by gunicorn on PostgreSQL.

#![allow(clippy::panic, missing_docs)]

use std::process::Command;

use anyhow::{Result, ensure};
use warifu_conformance::{Config, Grade, Options, Profile, Target, Verdict, check, table};
use warifu_end_to_end::{root, store::Django};

const SETTINGS: &str = include_str!("../../../examples/django/conformance.toml");

#[tokio::test(flavor = "multi_thread")]
async fn the_checker_passes_the_django_example() -> Result<()> {
    let mut django = Django::new()?;
    let address = django.start(&[])?;
    let mut settings = SETTINGS.to_owned();
    for (variable, owner) in [("FIRST", "conformance-1"), ("SECOND", "conformance-2"), ("REFRESHED", "conformance-1")] {
        settings = settings.replace(&format!("${{{variable}}}"), &django.add_token(owner)?);
    }
    let script = django.script(&root().join("tests/end_to_end/django_hooks.py"));
    let prepared = Command::new("sh").args(["-c", &format!("{script} prepare")]).status()?;
    ensure!(prepared.success(), "{script} prepare: {prepared}");
    // Gunicorn starts a new worker for each that died.
    let kill = format!("pkill -KILL -P {}; sleep 1", django.pid()?);
    let hooks = [
        ("restart", kill.clone()),
        ("kill_before_commit", kill),
        ("slow_next_request", format!("{script} slow {{milliseconds}}")),
        ("fail_next_request", format!("{script} fail")),
        ("reset", format!("{script} reset")),
    ];
    for (name, command) in hooks {
        settings += &format!("\n[hooks.{name}]\ncommand = {command:?}\n");
    }
    let config = Config::parse(&settings, "conformance.toml".as_ref())?;
    let options = Options { profiles: vec![Profile::Ietf, Profile::Token, Profile::Batch], ..Options::default() };
    let target = Target::new(&format!("http://{address}"))?;
    let report = check(&target, &config, &options, |progress| println!("{progress}")).await?;
    let shown = table(&report);
    ensure!(report.verdict() == Verdict::Passed, "{shown}");
    // Keys never expire here, so there is no clock to move; B6 is about clients.
    let untested = report.results.iter().filter(|result| matches!(result.statuses, Grade::NotTested(_)));
    let untested: Vec<_> = untested.map(|result| result.case).collect();
    ensure!(untested == ["S28", "S28", "B6"], "{untested:?}\n{shown}");
    println!("{shown}");
    Ok(())
}

//! The developer's commands. `cargo xtask --help` lists them.

mod demo;
mod package;
mod process;
mod project;
mod python;
mod setup;
mod steps;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::prelude::*;

const HELP: &str = "\
Warifu's commands

Usage: cargo xtask <COMMAND> [OPTIONS]

  demo         Set everything up, build, and open the page with its server
  test         Everything that has to hold: lints, tests, simulation, real browser, package
  pkg          Make the npm package in pkg/ complete, and print its sizes
  simulate     Run seeded simulations of tabs, crashes and bad networks
  screenshots  Take pictures of the page into target/screenshots

`cargo xtask <COMMAND> --help` tells more about one.";

const SIMULATE_HELP: &str = "\
Run seeded simulations of engines, driver and store

Usage: cargo xtask simulate [--seeds N] [--seed S] [OPTIONS OF THE SIMULATION]

Everything is passed on to the simulation. One seed replays one run.";

const SCREENSHOTS_HELP: &str = "\
Take pictures of the demo page into target/screenshots

Usage: cargo xtask screenshots

360 px and 1280 px wide, light and dark, in Japanese and in English.
Needs Chromium and its driver; a font with Japanese (Debian: fonts-noto-cjk) makes the Japanese readable.";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        None | Some(Short('h') | Long("help")) => println!("{HELP}"),
        Some(Value(command)) => match command.string()?.as_str() {
            "demo" => return demo::run(arguments),
            "test" => return test::run(arguments),
            "pkg" => return package::run(arguments),
            "simulate" => return simulate(arguments),
            "screenshots" => return screenshots(arguments),
            other => bail!("there is no command `{other}`\n\n{HELP}"),
        },
        Some(other) => bail!("{}\n\n{HELP}", other.unexpected()),
    }
    Ok(true)
}

fn simulate(mut arguments: lexopt::Parser) -> Result<bool> {
    let passed_on: Vec<_> = arguments.raw_args()?.collect();
    if passed_on.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{SIMULATE_HELP}\n");
    }
    let mut command = project::cargo();
    command.args(["run", "--quiet", "--profile", "native", "--package", "warifu-simulation", "--"]).args(passed_on);
    Ok(command.status()?.success())
}

fn screenshots(mut arguments: lexopt::Parser) -> Result<bool> {
    match arguments.next()? {
        None => {}
        Some(Short('h') | Long("help")) => {
            println!("{SCREENSHOTS_HELP}");
            return Ok(true);
        }
        Some(other) => bail!("{}\n\n{SCREENSHOTS_HELP}", other.unexpected()),
    }
    let steps = steps::Steps::new("screenshots", 3);
    steps.run("checking the tools", |_| {
        setup::rust()?;
        setup::browser()
    })?;
    steps.run("building the client core", |log| package::build(log, package::Kind::Demo))?;
    steps.run("taking the pictures", |log| {
        let mut command = project::cargo();
        command.args(["run", "--package", "warifu-end-to-end", "--bin", "screenshots", "--"]);
        command.arg(project::target().join("screenshots"));
        process::run(&mut command, log)
    })?;
    println!("The pictures are in {}", project::target().join("screenshots").display());
    Ok(true)
}

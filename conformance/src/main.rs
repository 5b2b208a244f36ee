//! `warifu-conformance`: checks a backend from the command line.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use warifu_conformance::config::EXAMPLE;
use warifu_conformance::{Config, Options, Profile, Progress, Report, Target, Verdict, check, junit, table};

/// Checks any HTTP backend: one operation, one row.
///
/// Ends with 0 if every tested effect is as it must be, 1 if one is not (or nothing could be tested), 2 if the backend
/// could not be asked at all.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Where the backend is.
    #[arg(long, required_unless_present = "print_config")]
    base_url: Option<String>,
    /// Whose statuses are expected; may be given several times.
    #[arg(long, value_enum, required_unless_present = "print_config")]
    profile: Vec<Named>,
    /// The backend's routes, headers, owners, bodies; without it, the reference server's.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Write an annotated config to the standard output, and do nothing else.
    #[arg(long)]
    print_config: bool,
    /// Only these cases, as `S4,B3`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The resource to use wherever it offers what a case needs.
    #[arg(long)]
    resource: Option<String>,
    /// Fail for statuses too.
    #[arg(long)]
    strict: bool,
    /// Write the report as JSON into this file.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write the report as JUnit's XML into this file.
    #[arg(long)]
    junit: Option<PathBuf>,
    /// Do not tell which case is running.
    #[arg(long)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Named {
    /// `Idempotency-Key`, as the IETF draft and the contract have it.
    Ietf,
    /// `X-Idempotency-Token`: 400 without, 201 first, 200 and the same record on a replay.
    Token,
    /// Many memories at once.
    Batch,
}

impl From<Named> for Profile {
    fn from(named: Named) -> Self {
        match named {
            Named::Ietf => Self::Ietf,
            Named::Token => Self::Token,
            Named::Batch => Self::Batch,
        }
    }
}

const UNUSABLE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("warifu-conformance: {error}");
            ExitCode::from(UNUSABLE)
        }
    }
}

async fn run(cli: Cli) -> Result<ExitCode, Box<dyn std::error::Error>> {
    if cli.print_config {
        std::io::stdout().write_all(EXAMPLE.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = match &cli.config {
        Some(file) => Config::load(file)?,
        None => Config::reference()?,
    };
    let target = Target::new(cli.base_url.as_deref().unwrap_or_default())?;
    let mut profiles: Vec<Profile> = Vec::new();
    for profile in cli.profile.into_iter().map(Profile::from) {
        if !profiles.contains(&profile) {
            profiles.push(profile);
        }
    }
    let options = Options { profiles, only: cli.only, resource: cli.resource };
    let mut line = Line { shown: !cli.quiet, terminal: std::io::stderr().is_terminal() };
    let report = check(&target, &config, &options, |progress| line.show(progress)).await?;
    line.clear();
    anstream::print!("{}", table(&report));
    if let Some(file) = &cli.json {
        write(file, report.json()?)?;
    }
    if let Some(file) = &cli.junit {
        write(file, junit(&report, cli.strict)?)?;
    }
    Ok(code(&report, cli.strict))
}

fn write(file: &PathBuf, text: String) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: cannot be written: {error}", file.display()))
}

fn code(report: &Report, strict: bool) -> ExitCode {
    match report.verdict() {
        Verdict::Passed => ExitCode::SUCCESS,
        Verdict::PassedWithWarnings if !strict => ExitCode::SUCCESS,
        Verdict::PassedWithWarnings | Verdict::Failed | Verdict::NothingTested => ExitCode::FAILURE,
    }
}

/// Where a run is: one line that is written over, or a line for each case where there is no terminal.
struct Line {
    shown: bool,
    terminal: bool,
}

impl Line {
    fn show(&mut self, progress: Progress) {
        match (self.shown, self.terminal) {
            (false, _) => {}
            (true, true) => eprint!("\r\x1b[K{progress}"),
            (true, false) => eprintln!("{progress}"),
        }
    }

    fn clear(&self) {
        if self.shown && self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}

//! The tools that a command needs: installed where that is possible without asking, otherwise named with their line.

use std::{env, fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};

use crate::{
    process::{self, Log},
    project,
};

const WASM: &str = "wasm32-unknown-unknown";

/// The wasm target of the toolchain in use.
pub(crate) fn rust() -> Result<()> {
    let library = process::output("rustc", &["--print", "target-libdir", "--target", WASM]);
    if library.is_some_and(|folder| fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())) {
        return Ok(());
    }
    install("rustup", &["target", "add", WASM], "Rust's standard library for WebAssembly")
}

/// rustfmt and clippy.
pub(crate) fn lints() -> Result<()> {
    for (tool, component) in [("rustfmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if process::output(tool, &["--version"]).is_none() {
            install("rustup", &["component", "add", component], component)?;
        }
    }
    Ok(())
}

/// Node and npm; only the tests and the release package need them.
pub(crate) fn node() -> Result<()> {
    let version = process::output("node", &["--version"]);
    let major = version.as_deref().and_then(|text| text.trim_start_matches('v').split('.').next()?.parse::<u32>().ok());
    match major {
        Some(20..) if process::output("npm", &["--version"]).is_some() => Ok(()),
        Some(20..) => bail!("npm is missing. On Debian: apt-get install npm"),
        Some(old) => bail!("Node {old} is too old: 20 or newer is needed, from https://nodejs.org"),
        None => bail!("Node is missing: 20 or newer is needed, from https://nodejs.org"),
    }
}

/// Chromium and its driver, from Debian when we are root there.
pub(crate) fn browser() -> Result<()> {
    if driver().is_some() && chromium().is_some() {
        return Ok(());
    }
    let elsewhere = "Install Chrome or Chromium and the chromedriver of the same version, and name them in CHROME and \
        CHROMEDRIVER if they are not on the PATH";
    debian("Chromium or its driver", &["chromium", "chromium-driver"], elsewhere)
}

/// PostgreSQL's server, for clusters that tests start and throw away.
pub(crate) fn postgres() -> Result<()> {
    let debian_keeps = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    if debian_keeps.map(|version| version.path().join("bin/initdb")).any(|file| file.is_file())
        || found(&["initdb"]).is_some()
    {
        return Ok(());
    }
    debian("PostgreSQL", &["postgresql"], "Install PostgreSQL 14 or newer, and put its programs on the PATH")
}

/// Where the driver is: `CHROMEDRIVER`, or on the PATH.
pub(crate) fn driver() -> Option<PathBuf> {
    named("CHROMEDRIVER").or_else(|| found(&["chromedriver"]))
}

/// The runner of the wasm tests, of the very version in Cargo.lock.
pub(crate) fn test_runner(log: &Log) -> Result<PathBuf> {
    let mut command = project::cargo();
    command.args(["build", "--package", "warifu-bindgen", "--features", "runner", "--bins"]);
    process::run(&mut command, log)?;
    Ok(project::target().join("debug").join("warifu-test-runner"))
}

fn chromium() -> Option<PathBuf> {
    named("CHROME").or_else(|| found(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]))
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file())
}

fn found(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Installs packages where that is possible without asking, otherwise says how.
pub(crate) fn debian(what: &str, packages: &[&str], elsewhere: &str) -> Result<()> {
    let line = format!("apt-get install --yes --no-install-recommends {}", packages.join(" "));
    if process::output("apt-get", &["--version"]).is_none() {
        bail!("{what} is missing. {elsewhere}");
    }
    if process::output("id", &["-u"]).as_deref() != Some("0") {
        bail!("{what} is missing. Install it, then run this again:\n\n    sudo {line}\n");
    }
    println!("{what} is missing; as root this installs it now: {line}");
    let log = Log::create(project::work("logs").join("apt.log"))?;
    let installed = process::run(Command::new("apt-get").args(["update"]), &log).and_then(|()| {
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends"]).args(packages);
        process::run(command.env("DEBIAN_FRONTEND", "noninteractive"), &log)
    });
    installed.with_context(|| log.tail())
}

fn install(program: &str, arguments: &[&str], what: &str) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    if process::output(program, &["--version"]).is_none() {
        bail!("{what} is missing, and so is {program}. Get it from https://rustup.rs, then: {line}");
    }
    println!("{what} is missing; installing it now: {line}");
    let log = Log::create(project::work("logs").join(format!("{program}.log")))?;
    process::run(Command::new(program).args(arguments).current_dir(project::root()), &log).with_context(|| log.tail())
}

//! `cargo xtask demo`.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

use crate::{
    package,
    process::{self, Log},
    project, setup,
    steps::Steps,
};

const HELP: &str = "\
Set everything up, build, and open the page with its server

Usage: cargo xtask demo [--port N] [--no-open]

  --port N    Where the page is served; 8080, or the next free port after it, when left out
  --no-open   Do not open the browser

Installs what is missing (the wasm target). Needs neither Node nor wasm-pack. Ctrl+C stops it. Its rows are kept
in target/xtask/demo.sqlite; delete that file to begin anew.";

const FIRST_PORT: u16 = 8080;
const PORTS_TRIED: u16 = 100;
const STOP_DEADLINE: Duration = Duration::from_secs(3);
const START_DEADLINE: Duration = Duration::from_secs(20);

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<bool> {
    let (mut asked, mut open) = (None, true);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => {
                println!("{HELP}");
                return Ok(true);
            }
            Long("port") => asked = Some(arguments.value()?.parse::<u16>()?),
            Long("no-open") => open = false,
            other => bail!("{}\n\n{HELP}", other.unexpected()),
        }
    }
    let stopped = Arc::new(AtomicBool::new(false));
    ctrlc::set_handler({
        let stopped = stopped.clone();
        move || {
            // The second Ctrl+C, and the first while something is built, leave at once.
            if stopped.swap(true, Ordering::SeqCst) || !SERVING.load(Ordering::SeqCst) {
                std::process::exit(130);
            }
        }
    })?;

    let steps = Steps::new("demo", 4);
    steps.run("checking the tools", |_| setup::rust())?;
    steps.run("building the client core", |log| package::build(log, package::Kind::Demo))?;
    let server = steps.run("building the server", build_server)?;
    let (mut child, url) = steps.run("starting the server", |_| start(server, asked))?;

    println!("\n    {url}\n\nThe page is there; Ctrl+C stops it.");
    if open {
        show(&url);
    }
    let ended = wait(&mut child, &stopped);
    SERVING.store(false, Ordering::SeqCst);
    ended
}

static SERVING: AtomicBool = AtomicBool::new(false);

fn build_server(log: &Log) -> Result<PathBuf> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--package", "warifu-server", "--bin", "warifu-server"]);
    process::run(&mut cargo, log)?;
    Ok(project::target().join("debug").join("warifu-server"))
}

fn start(server: PathBuf, asked: Option<u16>) -> Result<(Child, String)> {
    let port = free_port(asked)?;
    let mut command = Command::new(server);
    command.current_dir(project::root()).stdin(Stdio::null()).stdout(Stdio::null());
    command.args(["--demo", "--bind", &format!("127.0.0.1:{port}"), "--www", "www", "--pkg", "pkg", "--database"]);
    command.arg(project::work("demo.sqlite"));
    if std::env::var_os("RUST_LOG").is_none() {
        command.env("RUST_LOG", "warn");
    }
    let mut child = command.spawn().with_context(|| format!("`{}` could not be started", process::shown(&command)))?;
    SERVING.store(true, Ordering::SeqCst);
    let started = Instant::now();
    while !answers(port) {
        if let Some(status) = child.try_wait()? {
            bail!("the server ended while starting ({status}): `{}`", process::shown(&command));
        }
        if started.elapsed() > START_DEADLINE {
            child.kill()?;
            bail!("the server did not answer within {} s: `{}`", START_DEADLINE.as_secs(), process::shown(&command));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok((child, format!("http://127.0.0.1:{port}/")))
}

/// Waits for Ctrl+C, or for the server to end by itself.
fn wait(child: &mut Child, stopped: &AtomicBool) -> Result<bool> {
    loop {
        if let Some(status) = child.try_wait()? {
            if stopped.load(Ordering::SeqCst) {
                return Ok(true);
            }
            bail!("the server ended by itself ({status})");
        }
        if stopped.load(Ordering::SeqCst) {
            stop(child)?;
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// In a terminal the server got the same Ctrl+C; elsewhere the signal reached only us.
fn stop(child: &mut Child) -> Result<()> {
    let _ = Command::new("kill").arg(child.id().to_string()).stderr(Stdio::null()).status();
    let asked = Instant::now();
    while asked.elapsed() < STOP_DEADLINE {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn free_port(asked: Option<u16>) -> Result<u16> {
    let free = |port: &u16| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, *port))).is_ok();
    match asked {
        Some(port) if free(&port) => Ok(port),
        Some(port) => bail!("port {port} is taken; leave --port out, and a free one is found"),
        None => (FIRST_PORT..FIRST_PORT + PORTS_TRIED)
            .find(free)
            .with_context(|| format!("no port from {FIRST_PORT} on is free; name one with --port")),
    }
}

/// Whether the page itself comes back.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<bool> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_millis(500))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(64).read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ask().unwrap_or(false)
}

/// Opens the browser where there is one to open; the printed address serves everywhere else.
fn show(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    if cfg!(target_os = "linux")
        && std::env::var_os("DISPLAY").is_none()
        && std::env::var_os("WAYLAND_DISPLAY").is_none()
    {
        return;
    }
    let _ = Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

//! Numbered steps with the time that each took.

use std::{
    cell::Cell,
    io::{IsTerminal, Write, stdout},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{process::Log, project};

/// How often a log without a terminal says that a long step is alive.
const HEARTBEAT: Duration = Duration::from_secs(60);

pub(crate) struct Steps {
    name: &'static str,
    total: usize,
    done: Cell<usize>,
}

impl Steps {
    pub(crate) fn new(name: &'static str, total: usize) -> Self {
        Self { name, total, done: Cell::new(0) }
    }

    /// Does one step, showing that it is alive; when it fails, what its programs printed is shown.
    pub(crate) fn run<T>(&self, label: &str, work: impl FnOnce(&Log) -> Result<T>) -> Result<T> {
        self.done.set(self.done.get() + 1);
        let log = Log::create(project::work("logs").join(format!("{}-{}.log", self.name, self.done.get())))?;
        let head = format!("[{}/{}] {label} …", self.done.get(), self.total);
        let (result, time) = watched(&head, &log, || work(&log));
        match &result {
            Ok(_) => finish(&format!("{head} {}", seconds(time))),
            Err(_) => {
                finish(&format!("{head} failed after {}", seconds(time)));
                if !log.lines().is_empty() {
                    eprintln!("{}", log.tail());
                }
            }
        }
        result
    }
}

/// Runs the work while the head, the time and the last line of its log are shown.
pub(crate) fn watched<T>(head: &str, log: &Log, work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let (stop, stopped) = mpsc::channel::<()>();
    let shower = thread::spawn({
        let (head, log) = (head.to_owned(), log.clone());
        move || {
            let terminal = stdout().is_terminal();
            let pause = if terminal { Duration::from_millis(200) } else { HEARTBEAT };
            if !terminal {
                println!("{head}");
            }
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let line = format!("{head} {}  {}", seconds(started.elapsed()), log.last());
                if terminal {
                    print!("\r\x1b[2K{}", line.chars().take(110).collect::<String>());
                    let _ = stdout().flush();
                } else {
                    println!("{line}");
                }
            }
        }
    });
    let result = work();
    let time = started.elapsed();
    drop(stop);
    let _ = shower.join();
    (result, time)
}

/// The line that stays when a step is over.
pub(crate) fn finish(line: &str) {
    if stdout().is_terminal() {
        print!("\r\x1b[2K");
    }
    println!("{line}");
}

/// A time for people: `0.4 s`, `31 s`, `2 min 5 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        whole @ 10..=59 => format!("{whole} s"),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

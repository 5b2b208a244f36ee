//! Running other programs: their output goes to a log and is shown only when they fail.

use std::{
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use anyhow::{Context, Result, bail};

/// How much of a failed program's output is shown; all of it is in the log.
const SHOWN_LINES: usize = 200;

/// The log of one step, and the last line in it for whoever shows progress.
#[derive(Clone)]
pub(crate) struct Log {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

struct State {
    file: File,
    last: String,
    all: Vec<String>,
    notes: Vec<String>,
}

impl Log {
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
        let state = State { file, last: String::new(), all: Vec::new(), notes: Vec::new() };
        Ok(Self { path, state: Arc::new(Mutex::new(state)) })
    }

    pub(crate) fn line(&self, line: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A log that cannot be written must not stop the work that it tells of.
        let _ = writeln!(state.file, "{line}");
        line.trim().clone_into(&mut state.last);
        state.all.push(line.to_owned());
    }

    /// The last line written, for a progress display.
    pub(crate) fn last(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).last.clone()
    }

    /// Everything written so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).all.clone()
    }

    /// Something that a person should see although all went well.
    pub(crate) fn note(&self, line: &str) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).notes.push(line.to_owned());
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).notes.clone()
    }

    /// The end of the log, for a person.
    pub(crate) fn tail(&self) -> String {
        let lines = self.lines();
        let skipped = lines.len().saturating_sub(SHOWN_LINES);
        let mut text = lines[skipped..].join("\n");
        let _ = write!(text, "\n(the whole output: {})", self.path.display());
        text
    }
}

/// Runs a program to its end. Its output goes to the log; failing is an error that names the command.
pub(crate) fn run(command: &mut Command, log: &Log) -> Result<()> {
    log.line(&format!("$ {}", shown(command)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("`{}` could not be started", shown(command)))?;
    let readers =
        [child.stdout.take().map(|pipe| follow(pipe, log)), child.stderr.take().map(|pipe| follow(pipe, log))];
    let status = child.wait()?;
    for reader in readers.into_iter().flatten() {
        let _ = reader.join();
    }
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// What a program prints, or `None` if it is missing or fails.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let made = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    made.status.success().then(|| String::from_utf8_lossy(&made.stdout).trim().to_owned())
}

/// A command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let mut text = program.rsplit('/').next().unwrap_or(&program).to_owned();
    for argument in command.get_args() {
        let _ = write!(text, " {}", argument.to_string_lossy());
    }
    text
}

fn follow(pipe: impl Read + Send + 'static, log: &Log) -> thread::JoinHandle<()> {
    let log = log.clone();
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(length) if length > 0) {
            log.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
            line.clear();
        }
    })
}

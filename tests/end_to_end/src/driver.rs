//! One chromedriver process, and the death of whole process trees.

use std::{
    collections::HashMap,
    env, fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::wait::until;

pub(crate) struct Driver {
    child: Child,
    pub(crate) port: u16,
}

impl Driver {
    pub(crate) async fn start(log: &Path) -> Result<Self> {
        let program = env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = Command::new(&program)
            .args([format!("--port={port}"), format!("--log-path={}", log.display())])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} could not be started; `cargo xtask test` installs it", program.display()))?;
        let driver = Self { child, port };
        until("chromedriver to listen", Duration::from_secs(20), || async {
            Ok(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.map(drop))
        })
        .await?;
        Ok(driver)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = kill_tree(self.child.id().cast_signed());
        let _ = self.child.wait();
    }
}

/// Kills the browser that uses this profile with everything below it, as a system does that runs out of memory.
pub(crate) fn kill_browser(profile: &Path) -> Result<()> {
    let wanted = format!("--user-data-dir={}", profile.display());
    let browsers: Vec<i32> = processes()?
        .into_keys()
        .filter(|id| {
            let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            // Only the browser itself; its helpers carry a type and are below it.
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0 || *byte == b' ').collect();
            words.contains(&wanted.as_bytes()) && !words.iter().any(|word| word.starts_with(b"--type="))
        })
        .collect();
    if browsers.is_empty() {
        bail!("no running browser uses {}", profile.display());
    }
    browsers.into_iter().try_for_each(kill_tree)
}

fn kill_tree(top: i32) -> Result<()> {
    let parents = processes()?;
    let mut doomed = vec![top];
    let mut next = 0;
    while let Some(parent) = doomed.get(next).copied() {
        doomed.extend(parents.iter().filter(|(_, above)| **above == parent).map(|(id, _)| *id));
        next += 1;
    }
    // One that ended by itself meanwhile is as dead as it should be.
    for id in doomed {
        let _ = kill(Pid::from_raw(id), Signal::SIGKILL);
    }
    Ok(())
}

/// Every process with its parent.
fn processes() -> Result<HashMap<i32, i32>> {
    let mut all = HashMap::new();
    for entry in fs::read_dir("/proc").context("the harness kills browsers by /proc, so it runs on Linux only")? {
        let Ok(id) = entry?.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name in parentheses may hold anything, so what counts begins after the last one.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        all.extend(parent.map(|parent| (id, parent)));
    }
    Ok(all)
}

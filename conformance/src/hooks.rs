//! Calling what can be done to the backend from outside.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::bench::{Bench, Stop, Who, effect, needs};
use crate::config::{Config, Escape, Hook, Template, Values};
use crate::http::{self, Request, Target};

/// What a hook is told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) seconds: u64,
    pub(crate) milliseconds: u64,
}

impl<'a> Bench<'a> {
    /// The hook, or that it is needed.
    pub(crate) fn hook(&self, name: &'static str, hook: Option<&'a Hook>) -> Result<(&'static str, &'a Hook), Stop> {
        match hook {
            Some(hook) => Ok((name, hook)),
            None => needs(&format!("the hook {name}")),
        }
    }

    /// Calls a hook; one that does not work is a fault, since nothing is known then.
    pub(crate) async fn run_hook(&mut self, (name, hook): (&'static str, &Hook), told: Told) -> Result<(), Stop> {
        self.used_hook = true;
        let outcome = call(self.config, self.target, hook, told).await;
        let came = outcome.as_ref().map_or_else(|why| self.excerpt(why), |()| "done".to_owned());
        self.write_down_step(&format!("hook {name}"), came.clone());
        if outcome.is_ok() {
            Ok(())
        } else {
            effect(format!("the hook {name} did not work, so nothing is known: {came}"))
        }
    }

    /// Waits until the backend answers again.
    pub(crate) async fn wait_until_ready(&mut self) -> Result<(), Stop> {
        let patience = Duration::from_secs(self.config.hooks.wait_seconds.into());
        let (started, path) = (Instant::now(), self.config.hooks.ready_path.clone());
        let request = self.call(Who::Nobody, "GET", &path, None, None).request;
        loop {
            let outcome = http::send(self.target, &request, Duration::from_secs(2)).await;
            if outcome.is_ok_and(|answer| answer.status < 500) {
                return Ok(());
            }
            if started.elapsed() > patience {
                return effect(format!(
                    "the backend did not answer GET {path} within {} s after a hook",
                    patience.as_secs()
                ));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Undoes the hooks of a case.
    pub(crate) async fn reset_hooks(&mut self) -> Result<(), Stop> {
        if !self.used_hook {
            return Ok(());
        }
        if let Some(hook) = &self.config.hooks.reset {
            self.run_hook(("reset", hook), Told::default()).await?;
        }
        self.used_hook = false;
        Ok(())
    }
}

async fn call(config: &Config, target: &Target, hook: &Hook, told: Told) -> Result<(), String> {
    let values =
        Values { seconds: told.seconds.to_string(), milliseconds: told.milliseconds.to_string(), ..Values::default() };
    let limit = Duration::from_secs(config.hooks.wait_seconds.into());
    match hook {
        Hook::Command { command, .. } => run(&command.render(&values, Escape::Plain), limit).await,
        Hook::Request { method, url, headers, body, .. } => {
            request(target, method, &url.render(&values, Escape::Plain), headers, body.as_ref(), &values, limit).await
        }
    }
}

async fn run(command: &str, limit: Duration) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let ended = tokio::time::timeout(limit, child.wait()).await.map_err(|_| "it did not end in time".to_owned())?;
    let ended = ended.map_err(|error| error.to_string())?;
    if ended.success() {
        return Ok(());
    }
    let mut said = Vec::new();
    if let Some(mut errors) = child.stderr.take() {
        // What it started may still hold this end open.
        let _ = tokio::time::timeout(Duration::from_millis(200), errors.read_to_end(&mut said)).await;
    }
    Err(format!("it ended with {ended} {}", String::from_utf8_lossy(&said).trim()))
}

async fn request(
    target: &Target,
    method: &str,
    url: &str,
    headers: &BTreeMap<String, String>,
    body: Option<&Template>,
    values: &Values,
    limit: Duration,
) -> Result<(), String> {
    let other;
    let (target, path) = if url.contains("://") {
        let parsed = url::Url::parse(url).map_err(|error| error.to_string())?;
        let origin = parsed.origin().ascii_serialization();
        other = Target::new(&origin).map_err(|error| error.to_string())?;
        let query = parsed.query().map(|query| format!("?{query}")).unwrap_or_default();
        (&other, format!("{}{query}", parsed.path()))
    } else {
        (target, url.to_owned())
    };
    let mut lines: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
    if body.is_some() && !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
        lines.push(("Content-Type".to_owned(), b"application/json".to_vec()));
    }
    let body = body.map(|template| template.render(values, Escape::Json).into_bytes());
    // Some servers want a length with every POST.
    let body = body.or_else(|| (method != "GET").then(Vec::new));
    let request = Request { method: method.to_owned(), path, headers: lines, body };
    let answer = http::send(target, &request, limit).await.map_err(|none| format!("{method} {url}: {none}"))?;
    if answer.is_success() { Ok(()) } else { Err(format!("{method} {url} was answered {}", answer.status)) }
}

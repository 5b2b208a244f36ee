//! What can be done to the backend from outside.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Template;

/// The hooks. Each opens the cases that need it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hooks {
    /// How long the backend may take to answer again after it was stopped, in seconds.
    pub wait_seconds: u32,
    /// What is asked to know whether it answers again: anything but a 5xx.
    pub ready_path: String,
    /// Stops the backend and starts it again, on the same address and the same database.
    pub restart: Option<Hook>,
    /// Kills the backend while a create runs, before its commit, and starts it again.
    pub kill_before_commit: Option<Hook>,
    /// Makes the next create fail with a 5xx.
    pub fail_next_request: Option<Hook>,
    /// Loses the answer to the next create, after its commit.
    pub drop_next_answer: Option<Hook>,
    /// Makes the next creates take `{milliseconds}`, best between their lookup and their insert.
    pub slow_next_request: Option<Hook>,
    /// Puts the backend's clock `{seconds}` ahead.
    pub move_clock: Option<Hook>,
    /// Undoes the other hooks. Called after each case that used one.
    pub reset: Option<Hook>,
    /// For how long the backend says that it remembers keys; the clock is moved past it.
    pub key_ttl_seconds: u64,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            wait_seconds: 60,
            ready_path: "/".to_owned(),
            restart: None,
            kill_before_commit: None,
            fail_next_request: None,
            drop_next_answer: None,
            slow_next_request: None,
            move_clock: None,
            reset: None,
            key_ttl_seconds: 30 * 24 * 60 * 60,
        }
    }
}

/// When a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// While the request runs.
    #[default]
    During,
    /// Before the request: it prepares what happens then.
    Before,
}

/// A shell command, or an HTTP request.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RawHook")]
pub enum Hook {
    /// Run by `sh -c`; it must end with 0.
    Command {
        /// The command.
        command: Template,
        /// When it is called; only for `kill_before_commit`.
        when: When,
    },
    /// Sent; it must be answered 2xx.
    Request {
        /// The method.
        method: String,
        /// A path on the backend, or a whole address.
        url: Template,
        /// Further headers.
        headers: BTreeMap<String, String>,
        /// The body, if there is one.
        body: Option<Template>,
        /// When it is called; only for `kill_before_commit`.
        when: When,
    },
}

impl Hook {
    /// When it is called.
    #[must_use]
    pub fn when(&self) -> When {
        match self {
            Self::Command { when, .. } | Self::Request { when, .. } => *when,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHook {
    command: Option<Template>,
    method: Option<String>,
    url: Option<Template>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Template>,
    #[serde(default)]
    when: When,
}

impl TryFrom<RawHook> for Hook {
    type Error = &'static str;

    fn try_from(raw: RawHook) -> Result<Self, Self::Error> {
        match (raw.command, raw.url) {
            (Some(command), None) => Ok(Self::Command { command, when: raw.when }),
            (None, Some(url)) => Ok(Self::Request {
                method: raw.method.unwrap_or_else(|| "POST".to_owned()),
                url,
                headers: raw.headers,
                body: raw.body,
                when: raw.when,
            }),
            _ => Err("a hook is either a `command` or a request (`url`)"),
        }
    }
}

impl Hooks {
    pub(super) fn named_mut(&mut self) -> [(&'static str, Option<&mut Hook>); 7] {
        [
            ("restart", self.restart.as_mut()),
            ("kill_before_commit", self.kill_before_commit.as_mut()),
            ("fail_next_request", self.fail_next_request.as_mut()),
            ("drop_next_answer", self.drop_next_answer.as_mut()),
            ("slow_next_request", self.slow_next_request.as_mut()),
            ("move_clock", self.move_clock.as_mut()),
            ("reset", self.reset.as_mut()),
        ]
    }
}

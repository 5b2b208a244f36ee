//! What the checker is told about a backend.

mod error;
mod hook;
mod load;
mod resource;
mod template;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;

pub use error::ConfigError;
pub use hook::{Hook, Hooks, When};
pub use resource::{Batch, Business, Call, Count, KeyKind, Listing, Resource};
pub(crate) use template::{Escape, Values};
pub use template::{Slot, Template, UnknownPlaceholder};

/// The annotated example, which is also what is used without a file: the reference server's routes.
pub const EXAMPLE: &str = include_str!("../../example.toml");

/// A backend: its routes, headers, owners, bodies, how its rows are counted, and what can be done to it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// How long an answer may take, in seconds.
    #[serde(default = "default_deadline")]
    pub deadline_seconds: u32,
    /// Sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The owners.
    pub auth: Auth,
    /// The headers that carry a key.
    #[serde(default)]
    pub keys: Keys,
    /// What can be created one at a time.
    #[serde(default)]
    pub resource: Vec<Resource>,
    /// How many are created at once.
    pub batch: Option<Batch>,
    /// Who may call from another origin.
    pub cors: Option<Cors>,
    /// What can be done to the backend from outside.
    #[serde(default)]
    pub hooks: Hooks,
}

fn default_deadline() -> u32 {
    20
}

impl Config {
    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_seconds.into())
    }
}

/// Headers that prove who asks. They are never written into a report.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Credentials(pub BTreeMap<String, String>);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Credentials {
    /// What must not be shown: each value, and each word of it that is long enough to be a secret.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0
            .values()
            .flat_map(|value| std::iter::once(value.as_str()).chain(value.split([' ', ';', '='])))
            .filter(|secret| secret.len() >= 8)
    }
}

/// Two owners.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The first owner.
    pub first: Credentials,
    /// Another owner.
    pub second: Option<Credentials>,
    /// The first owner again, with another token.
    pub refreshed: Option<Credentials>,
}

/// The headers that carry a key, by profile.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keys {
    /// The header of the profile `ietf`.
    pub ietf: String,
    /// The header of the profile `token`.
    pub token: String,
    /// Whether the profile `ietf` quotes its keys where a case does not say how.
    pub quoted: bool,
}

impl Default for Keys {
    fn default() -> Self {
        Self { ietf: "Idempotency-Key".to_owned(), token: "X-Idempotency-Token".to_owned(), quoted: false }
    }
}

/// Who may call from another origin.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cors {
    /// Origins, as a browser writes them.
    pub origins: Vec<String>,
}

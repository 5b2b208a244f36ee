//! What the server takes at once.

use std::time::Duration;

use warifu::wire::capabilities::Capabilities;

/// The bounds of a request, and how long keys are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most items in one batch.
    pub max_items: u32,
    /// The most bytes in a JSON body.
    pub max_bytes: u32,
    /// For how long the keys of edits and deletes are remembered. Keys of creates are never forgotten.
    pub key_ttl: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_items: 100, max_bytes: 1 << 20, key_ttl: Duration::from_secs(30 * 24 * 60 * 60) }
    }
}

impl Limits {
    /// The same as they are told to clients.
    #[must_use]
    pub fn as_capabilities(&self) -> Capabilities {
        Capabilities {
            max_items: Some(self.max_items),
            max_bytes: Some(self.max_bytes),
            key_ttl_seconds: Some(self.key_ttl.as_secs()),
        }
    }
}

//! `GET /api/capabilities`: what a backend takes at once, and for how long it remembers.

use serde::{Deserialize, Serialize};

/// Where a backend tells its limits, relative to the base URL.
pub const PATH: &str = "api/capabilities";

/// A backend's limits. What it does not name stays unknown, and the client keeps its safe defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// The most items in one batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// The most bytes in one batch's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
    /// For how long the key of an edit or a delete is remembered, in seconds. Keys of creates are never forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ttl_seconds: Option<u64>,
}

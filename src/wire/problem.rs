//! Problem details (RFC 9457), with the members that this contract adds.

use serde::{Deserialize, Serialize};

use super::capabilities::Capabilities;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// Stable words for why a request was refused, the same on the wire and in the client's errors.
pub mod code {
    /// No credentials, or dead ones.
    pub const NOT_AUTHENTICATED: &str = "not_authenticated";
    /// The body is not what the endpoint takes.
    pub const INVALID_REQUEST: &str = "invalid_request";
    /// One item is not valid; `field` names where.
    pub const INVALID_ITEM: &str = "invalid_item";
    /// Too many items or bytes; `limits` says how many are taken.
    pub const TOO_LARGE: &str = "too_large";
    /// The first request under this key still runs.
    pub const IN_PROGRESS: &str = "in_progress";
    /// The store is busy; ask again.
    pub const BUSY: &str = "busy";
    /// Something failed inside; nothing was kept.
    pub const INTERNAL: &str = "internal";
    /// There is nothing at this address.
    pub const NOT_FOUND: &str = "not_found";
    /// It was there, and was deleted.
    pub const GONE: &str = "gone";
    /// A create, an edit or a delete without its key.
    pub const KEY_MISSING: &str = "key_missing";
    /// The key is malformed, or there are two.
    pub const KEY_INVALID: &str = "key_invalid";
    /// The key was used before, with other content.
    pub const KEY_MISMATCH: &str = "key_mismatch";
    /// The key was used before, for another operation.
    pub const KEY_REUSED: &str = "key_reused";
    /// Another row has the same business identity; `constraint` names what says so.
    pub const UNIQUE_VIOLATION: &str = "unique_violation";
    /// The record has another revision than the one that was edited; `current` is how it stands.
    pub const REVISION_CONFLICT: &str = "revision_conflict";

    /// All of them.
    pub const ALL: [&str; 15] = [
        NOT_AUTHENTICATED,
        INVALID_REQUEST,
        INVALID_ITEM,
        TOO_LARGE,
        IN_PROGRESS,
        BUSY,
        INTERNAL,
        NOT_FOUND,
        GONE,
        KEY_MISSING,
        KEY_INVALID,
        KEY_MISMATCH,
        KEY_REUSED,
        UNIQUE_VIOLATION,
        REVISION_CONFLICT,
    ];
}

/// The body of a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Problem {
    /// A URI that names the kind of problem; absent means `about:blank`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The kind of problem in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The HTTP status, repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What happened to this request, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// A stable word, see [`code`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The value at fault, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// With `413`: what would have been taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Capabilities>,
}

//! `GET /api/memories?after=CURSOR&limit=N`: everything that changed, oldest change first, tombstones too.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::ClientMemoryId;

/// Where memories are listed, relative to the base URL.
pub const PATH: &str = "api/memories";

/// One page of a listing.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page {
    /// The records, oldest change first. One that changes again comes round again.
    pub records: Vec<Record>,
    /// The cursor after the last of them, opaque: give it as `after`, now or days later. An empty page repeats the one
    /// it was asked with.
    pub next: String,
    /// More is there already.
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}

/// One memory as the server has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// The server's id, as the JSON token it is; read it with [`ServerId::from_json_token`].
    ///
    /// [`ServerId::from_json_token`]: crate::id::ServerId::from_json_token
    pub memory_id: Box<RawValue>,
    /// The device's id, where a device made the memory.
    #[serde(rename = "clientMemoryId", default, skip_serializing_if = "Option::is_none")]
    pub client_memory_id: Option<ClientMemoryId>,
    /// Counted up with every change.
    pub revision: u64,
    /// A tombstone: it was deleted, and has no content any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// When the device says it was written, verbatim.
    #[serde(rename = "createdAt", default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The other members of the create, as a JSON object; absent when there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Box<RawValue>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_back_as_it_was_written_with_every_digit() {
        let text = concat!(
            r#"{"records":[{"memory_id":9007199254740993,"clientMemoryId":"0f8fad5b-d9cb-469f-a165-70867728950e","#,
            r#""revision":2,"title":"","body":"が","createdAt":"2026-11-30","extra":{"n":1.0}},"#,
            r#"{"memory_id":"00042","revision":3,"deleted":true}],"next":"7","hasMore":false}"#
        );
        let page: Page = serde_json::from_str(text).unwrap();
        assert_eq!(page.records[0].memory_id.get(), "9007199254740993");
        assert_eq!(serde_json::to_string(&page).unwrap(), text);
    }
}

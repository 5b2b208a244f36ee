//! `POST /api/memories/sync`: many new memories at once, one result for each.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::id::{ClientMemoryId, ServerId};

/// Where memories are synced, relative to the base URL.
pub const PATH: &str = "api/memories/sync";

/// The member that names an item and its result.
pub const ID_MEMBER: &str = "clientMemoryId";

/// The body of a request, its items kept as the raw text they came in.
#[derive(Debug, Deserialize)]
pub struct SyncRequest<'a> {
    /// The memories to create, in any order.
    #[serde(borrow)]
    pub items: Vec<&'a RawValue>,
}

const OPEN: &[u8] = b"{\"items\":[";
const CLOSE: &[u8] = b"]}";

/// How many bytes a body has around its items, the commas between them not counted.
pub const ENVELOPE_BYTES: usize = OPEN.len() + CLOSE.len();

/// Puts items into a request body without touching a byte of them.
#[must_use]
pub fn encode_request<'a>(items: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut body = OPEN.to_vec();
    for (index, item) in items.enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(item);
    }
    body.extend_from_slice(CLOSE);
    body
}

/// What became of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Inserted now.
    Created,
    /// This owner already had it.
    Duplicated,
    /// This id was created with other content; nothing changed.
    Conflict,
    /// Invalid; nothing was stored for it.
    Rejected,
}

/// Why an item was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ItemError {
    /// A stable word.
    #[serde(default)]
    pub code: String,
    /// The reason, for a person.
    #[serde(default)]
    pub detail: String,
    /// The value at fault.
    #[serde(default)]
    pub field: Option<String>,
}

/// The answer as the server writes it.
#[derive(Debug, Serialize)]
pub struct SyncResponse {
    /// Exactly one result for each item.
    pub results: Vec<ItemResult>,
}

/// One item's result as the server writes it.
#[derive(Debug, Serialize)]
pub struct ItemResult {
    /// The item's id in canonical form; for an item whose id cannot be read, what it gave, verbatim.
    #[serde(rename = "clientMemoryId")]
    pub client_memory_id: Box<RawValue>,
    /// The server's id as a JSON token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<Box<RawValue>>,
    /// What became of it.
    pub status: Status,
    /// It was deleted since.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Its revision on the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Why it was rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ItemError>,
}

/// One result as the client reads it: it passed the schema and names an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The item it speaks of.
    pub id: ClientMemoryId,
    /// What became of it.
    pub verdict: ItemVerdict,
}

/// What a result says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemVerdict {
    /// It is on the server, under this id.
    Stored {
        /// The server's id.
        server_id: ServerId,
        /// Its revision there, where the server tells.
        revision: Option<u64>,
        /// It was deleted since.
        deleted: bool,
    },
    /// The id is taken by other content.
    Conflict {
        /// The server's id of that content.
        server_id: Option<ServerId>,
    },
    /// It is invalid.
    Rejected(ItemError),
}

/// The results of an answer that has the contract's shape, and how many of them could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Results {
    /// Those that could be read.
    pub outcomes: Vec<Outcome>,
    /// How many could not.
    pub unreadable: usize,
}

/// Reads an answer. One result that breaks the schema costs no other its verdict.
///
/// `None` when the whole is not JSON of the contract's shape.
#[must_use]
pub fn decode_response(body: &[u8]) -> Option<Results> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        results: Vec<&'a RawValue>,
    }
    let body: Body<'_> = serde_json::from_slice(body).ok()?;
    let mut results = Results::default();
    for raw in body.results {
        match decode_result(raw.get()) {
            Some(outcome) => results.outcomes.push(outcome),
            None => results.unreadable += 1,
        }
    }
    Some(results)
}

fn decode_result(raw: &str) -> Option<Outcome> {
    #[derive(Deserialize)]
    struct Raw<'a> {
        #[serde(rename = "clientMemoryId", borrow)]
        id: Cow<'a, str>,
        #[serde(default, borrow)]
        memory_id: Option<&'a RawValue>,
        status: Status,
        #[serde(default)]
        deleted: Option<bool>,
        #[serde(default, borrow)]
        revision: Option<&'a RawValue>,
        #[serde(default)]
        error: Option<ItemError>,
    }
    let raw: Raw<'_> = serde_json::from_str(raw).ok()?;
    let server_id = raw.memory_id.and_then(|token| ServerId::from_json_token(token.get()));
    let verdict = match raw.status {
        Status::Created | Status::Duplicated => ItemVerdict::Stored {
            server_id: server_id?,
            revision: raw.revision.and_then(|token| token.get().parse().ok()),
            deleted: raw.deleted.unwrap_or(false),
        },
        Status::Conflict => ItemVerdict::Conflict { server_id },
        Status::Rejected => ItemVerdict::Rejected(raw.error.unwrap_or_default()),
    };
    Some(Outcome { id: raw.id.parse().ok()?, verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    #[test]
    fn items_keep_their_bytes() {
        let items: [&[u8]; 2] = [b"{\"a\":1.0}", b"{ }"];
        assert_eq!(encode_request(items.into_iter()), b"{\"items\":[{\"a\":1.0},{ }]}");
        assert_eq!(encode_request(std::iter::empty()).len(), ENVELOPE_BYTES);
    }

    #[test]
    fn ids_are_read_verbatim_and_in_any_case() {
        let body = format!(
            r#"{{"results":[{{"clientMemoryId":"{}","memory_id":653247040368672768,"status":"created","revision":1}}]}}"#,
            ID.to_uppercase()
        );
        let results = decode_response(body.as_bytes()).unwrap();
        assert_eq!(results.outcomes[0].id.to_string(), ID);
        assert_eq!(
            results.outcomes[0].verdict,
            ItemVerdict::Stored {
                server_id: ServerId::new("653247040368672768").unwrap(),
                revision: Some(1),
                deleted: false
            }
        );
    }

    #[test]
    fn a_broken_result_costs_no_other() {
        let body = format!(
            r#"{{"results":[{{"clientMemoryId":"{ID}","memory_id":7.0,"status":"created"}},null,
            {{"clientMemoryId":"{ID}","memory_id":"x","status":"duplicated","error":null,"revision":null}}]}}"#
        );
        let results = decode_response(body.as_bytes()).unwrap();
        assert_eq!((results.outcomes.len(), results.unreadable), (1, 2));
        for other in ["", "{}", "<html>", "[]", "{\"results\":null}", "{\"results\":[{\"clientMem"] {
            assert_eq!(decode_response(other.as_bytes()), None, "{other}");
        }
    }
}

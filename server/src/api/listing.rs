//! `GET /api/memories`: what changed after a cursor.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use warifu::wire::listing::{Page, Record};

use super::json;
use crate::app::App;
use crate::auth::Authenticated;
use crate::problem::Refusal;
use crate::repository::{RowId, StoredMemory};

const DEFAULT_LIMIT: u32 = 100;
const MAX_LIMIT: u32 = 1000;

/// A page ends early after this much text.
const MAX_PAGE_BYTES: usize = 4 << 20;

#[derive(Deserialize)]
pub(super) struct Params {
    after: Option<String>,
    limit: Option<String>,
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    params: Result<Query<Params>, QueryRejection>,
) -> Result<Response, Refusal> {
    let (after, limit) = Params::read(params)?;
    let memories = app.repository.changed_after(&owner, after, limit, MAX_PAGE_BYTES).await?;
    let next = memories.last().map_or(after, |memory| memory.change);
    // Asked again rather than guessed: a page may be short for its bytes, and full at the very end.
    let has_more = !memories.is_empty() && !app.repository.changed_after(&owner, next, 1, 0).await?.is_empty();
    let records = memories.iter().map(record).collect();
    Ok(json(&Page { records, next: next.to_string(), has_more }))
}

impl Params {
    /// The change number to go on from, and how many records at most.
    ///
    /// # Errors
    /// When they are not what this server gives out and takes.
    pub(super) fn read(params: Result<Query<Self>, QueryRejection>) -> Result<(u64, u32), Refusal> {
        let Query(params) = params.map_err(|_| Refusal::bad_request("The query cannot be read."))?;
        let after: u64 = match params.after.as_deref() {
            None | Some("") => 0,
            Some(cursor) => number(cursor).ok_or_else(|| {
                Refusal::bad_request("This is no cursor of this server. Leave \"after\" out to begin again.")
                    .field("after")
            })?,
        };
        let limit = match params.limit.as_deref() {
            None => DEFAULT_LIMIT,
            Some(limit) => number(limit)
                .filter(|limit| (1..=MAX_LIMIT).contains(limit))
                .ok_or_else(|| Refusal::bad_request(format!("\"limit\" is 1 to {MAX_LIMIT}.")).field("limit"))?,
        };
        Ok((after, limit))
    }
}

/// Digits and nothing else; `parse` alone would take a sign.
fn number<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A memory as it is on the wire.
pub(super) fn record(memory: &StoredMemory) -> Record {
    let content = memory.content.as_ref();
    Record {
        memory_id: token(memory.id),
        client_memory_id: Some(memory.client_memory_id),
        revision: memory.revision,
        deleted: content.is_none(),
        title: content.map(|content| content.title.clone()),
        body: content.map(|content| content.body.clone()),
        created_at: content.and_then(|content| content.created_at.clone()),
        extra: content
            .filter(|content| content.extra != "{}")
            .and_then(|content| RawValue::from_string(content.extra.clone()).ok()),
    }
}

/// An id as the JSON token it is on the wire.
pub(super) fn token(id: RowId) -> Box<RawValue> {
    to_raw_value(&id.0).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

//! `GET /api/memories`: what changed after a cursor.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::value::RawValue;
use warifu::wire::listing::{Page, Record};

use super::json;
use super::sync::token;
use crate::app::App;
use crate::auth::Authenticated;
use crate::problem::Refusal;
use crate::repository::StoredMemory;

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
    let Query(params) = params.map_err(|_| Refusal::bad_request("The query cannot be read."))?;
    let after: u64 = match params.after.as_deref() {
        None | Some("") => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            Refusal::bad_request("This is no cursor of this server. Leave \"after\" out to begin again.").field("after")
        })?,
    };
    let limit = match params.limit.as_deref() {
        None => DEFAULT_LIMIT,
        Some(limit) => limit
            .parse()
            .ok()
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| Refusal::bad_request(format!("\"limit\" is 1 to {MAX_LIMIT}.")).field("limit"))?,
    };
    let mut memories = app.repository.changed_after(&owner, after, limit, MAX_PAGE_BYTES).await?;
    let next = memories.last().map_or(after, |memory| memory.change);
    // Asked again rather than guessed: a page may be short for its bytes, and full at the very end.
    let has_more = !memories.is_empty() && !app.repository.changed_after(&owner, next, 1, 0).await?.is_empty();
    let records = memories.drain(..).map(record).collect::<Result<_, _>>()?;
    Ok(json(&Page { records, next: next.to_string(), has_more }))
}

fn record(memory: StoredMemory) -> Result<Record, Refusal> {
    let mut record = Record {
        memory_id: token(memory.id.0)?,
        client_memory_id: Some(memory.client_memory_id),
        revision: memory.revision,
        deleted: memory.content.is_none(),
        title: None,
        body: None,
        created_at: None,
        extra: None,
    };
    if let Some(content) = memory.content {
        record.title = Some(content.title);
        record.body = Some(content.body);
        record.created_at = content.created_at;
        if content.extra != "{}" {
            record.extra = Some(RawValue::from_string(content.extra).map_err(|_| Refusal::internal())?);
        }
    }
    Ok(record)
}

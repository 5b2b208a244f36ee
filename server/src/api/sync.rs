//! `POST /api/memories/sync`: many creates at once, one result for each, none paying for another.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde_json::value::{RawValue, to_raw_value};
use warifu::id::Owner;
use warifu::wire::problem::code;
use warifu::wire::sync::{ItemResult, Status, SyncRequest, SyncResponse};

use super::json;
use crate::app::App;
use crate::auth::Authenticated;
use crate::body::BodyFault;
use crate::item::{self, Rejection};
use crate::problem::Refusal;
use crate::repository::{Creation, NewMemory};

pub(super) async fn sync(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    fault: Option<Extension<BodyFault>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Refusal> {
    if let Some(Extension(fault)) = fault {
        return Err(fault.refusal(&app));
    }
    require_json(&headers)?;
    let request = decode(&body)?;
    let count = request.items.len();
    if count > usize::try_from(app.limits.max_items).unwrap_or(usize::MAX) {
        let detail = format!("A batch takes {} items, this one has {count}. Nothing was stored.", app.limits.max_items);
        return Err(Refusal::too_large(detail, &app.limits));
    }
    let items: Vec<_> = request.items.iter().map(|raw| item::parse(raw)).collect();
    let results = store(&app, owner, items).await?;
    let of = |status| results.iter().filter(|result| result.status == status).count();
    tracing::info!(
        created = of(Status::Created),
        duplicated = of(Status::Duplicated),
        conflict = of(Status::Conflict),
        rejected = of(Status::Rejected),
        "synced"
    );
    Ok(json(&SyncResponse { results }))
}

fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "The body must be application/json. Nothing was stored.";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST, detail))
}

fn decode(body: &[u8]) -> Result<SyncRequest<'_>, Refusal> {
    let text = std::str::from_utf8(body).map_err(|_| bad("The body is not UTF-8."))?;
    let request = serde_json::from_str(text);
    // A struct would be read from an array too.
    let object = text.trim_ascii_start().starts_with('{');
    request
        // The parser's own words may quote the body, so only the place is told.
        .map_err(|error| (error.is_data(), format!(" (line {}, column {})", error.line(), error.column())))
        .and_then(|request| if object { Ok(request) } else { Err((true, String::new())) })
        .map_err(|(json, place)| {
            if json {
                bad(&format!("The body must be an object with an array \"items\"{place}.")).field("items")
            } else {
                bad(&format!("The body is not JSON{place}."))
            }
        })
}

fn bad(detail: &str) -> Refusal {
    Refusal::bad_request(format!("{detail} Nothing was stored."))
}

/// Stores what is valid in one transaction; results come in the order of the items.
async fn store(
    app: &Arc<App>,
    owner: Owner,
    items: Vec<Result<NewMemory, Rejection>>,
) -> Result<Vec<ItemResult>, Refusal> {
    let mut results: Vec<Option<ItemResult>> = items.iter().map(|_| None).collect();
    let mut valid = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match item {
            Ok(memory) => valid.push((index, memory)),
            Err(rejection) => results[index] = Some(rejected(rejection)),
        }
    }
    // Every batch locks rows in one order, so two that cross do not wait for each other. The sort is stable: of one id
    // given twice the first is the create.
    valid.sort_by_key(|(_, memory)| memory.client_memory_id);
    let (places, memories): (Vec<usize>, Vec<NewMemory>) = valid.into_iter().unzip();
    if !memories.is_empty() {
        let sent = memories.clone();
        let repository = app.repository.clone();
        // On its own task: a client that leaves must not stop it between two statements.
        let creations = tokio::spawn(async move { repository.create_all(&owner, memories).await })
            .await
            .map_err(|_| Refusal::internal())??;
        for ((index, memory), creation) in places.into_iter().zip(&sent).zip(&creations) {
            results[index] = Some(stored(memory, creation)?);
        }
    }
    results.into_iter().map(|result| result.ok_or_else(Refusal::internal)).collect()
}

fn stored(memory: &NewMemory, creation: &Creation) -> Result<ItemResult, Refusal> {
    let (status, deleted) = match &creation.existing {
        None => (Status::Created, false),
        Some(row) if row.original.same_operation(&memory.fingerprint) => (Status::Duplicated, row.deleted),
        Some(row) => (Status::Conflict, row.deleted),
    };
    Ok(ItemResult {
        client_memory_id: to_raw_value(&memory.client_memory_id).map_err(|_| Refusal::internal())?,
        memory_id: Some(token(creation.id.0)?),
        status,
        deleted,
        revision: Some(creation.revision),
        error: None,
    })
}

fn rejected(rejection: Rejection) -> ItemResult {
    ItemResult {
        client_memory_id: rejection.given_id,
        memory_id: None,
        status: Status::Rejected,
        deleted: false,
        revision: None,
        error: Some(rejection.error),
    }
}

/// An id as the JSON token it is on the wire.
pub(super) fn token(id: i64) -> Result<Box<RawValue>, Refusal> {
    to_raw_value(&id).map_err(|_| Refusal::internal())
}

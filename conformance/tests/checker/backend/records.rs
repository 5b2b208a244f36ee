//! Reading, editing and deleting.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{Fault, Shared, create, owner, problem};

const PAGE: usize = 50;

/// Invoices with a cursor; memories with whole addresses, as Django REST framework has them.
pub(crate) async fn list(
    State(backend): State<Shared>,
    Path(resource): Path<String>,
    Query(query): Query<Value>,
    headers: HeaderMap,
) -> Response {
    let (owner, _) = match owner(&headers) {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    let after: usize = query["after"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
    let store = backend.store.lock().unwrap();
    let all: Vec<Value> = store
        .rows
        .iter()
        .filter(|row| row.owner == owner && row.resource == resource)
        .map(|row| {
            if row.deleted {
                json!({"id": row.id, "deleted": true, "body": row.record["body"]})
            } else {
                row.record.clone()
            }
        })
        .collect();
    let page = all.get(after..).unwrap_or_default();
    let more = page.len() > PAGE;
    let page = &page[..page.len().min(PAGE)];
    let next = after + page.len();
    if resource == "invoices" {
        return Json(json!({"records": page, "next": next.to_string(), "hasMore": more})).into_response();
    }
    let host = headers["host"].to_str().unwrap();
    let next = more.then(|| format!("http://{host}/api/{resource}/?after={next}"));
    Json(json!({"count": all.len(), "next": next, "results": page})).into_response()
}

/// An edit carries a key; one that is known elsewhere is refused.
pub(crate) async fn edit(
    State(backend): State<Shared>,
    Path((resource, id)): Path<(String, u64)>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    let (owner, token) = match owner(&headers) {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    let key = match create::key(&headers, &resource) {
        Ok(key) => key,
        Err(refusal) => return refusal,
    };
    let mut store = backend.store.lock().unwrap();
    if let Some(known) = store.keys.get(&(create::scope(&backend, owner, &token), key)) {
        return match backend.fault {
            Fault::OtherEndpoint => Json(known.answer.clone()).into_response(),
            _ => problem(StatusCode::UNPROCESSABLE_ENTITY, "key_reused"),
        };
    }
    let Some(row) = store.row(owner, &resource, id) else { return problem(StatusCode::NOT_FOUND, "not_found") };
    if body["baseRevision"] != row.record["revision"] {
        return problem(StatusCode::CONFLICT, "revision_conflict");
    }
    row.record["title"] = body["title"].clone();
    row.record["revision"] = json!(row.record["revision"].as_u64().unwrap() + 1);
    Json(row.record.clone()).into_response()
}

pub(crate) async fn delete(
    State(backend): State<Shared>,
    Path((resource, id)): Path<(String, u64)>,
    headers: HeaderMap,
) -> Response {
    let (owner, _) = match owner(&headers) {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    let mut store = backend.store.lock().unwrap();
    let Some(row) = store.row(owner, &resource, id) else { return problem(StatusCode::NOT_FOUND, "not_found") };
    row.deleted = true;
    StatusCode::NO_CONTENT.into_response()
}

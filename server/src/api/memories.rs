//! `/api/memories/`: one memory at a time, created, read, edited, deleted.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use warifu::id::Owner;

use super::json_body::{self, JsonBody};
use super::operation::{Request, created, json_text};
use super::{key, listing};
use crate::app::App;
use crate::auth::Authenticated;
use crate::problem::Refusal;
use crate::repository::{RowId, StoredMemory};
use crate::{canonical, item};

/// What the operations are called where keys are kept. Never changed once rows exist.
pub(super) const CREATE: &str = crate::repository::CREATE_MEMORY;
pub(super) const EDIT: &str = "memories.edit";
pub(super) const DELETE: &str = "memories.delete";

pub(super) async fn create(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    headers: HeaderMap,
    body: Result<JsonBody, Refusal>,
) -> Result<Response, Refusal> {
    let id = key::read_id(&headers)?;
    let JsonBody(body) = body?;
    let value = json_body::value(&body);
    let canonical = value.as_ref().ok().and_then(|value| item::canonical_create(value, id).ok());
    let request = Request::new(owner, id.to_string(), CREATE, String::new(), &body, canonical.as_deref());
    if let Some(replay) = request.replay(&app).await? {
        return Ok(replay);
    }
    let memory = item::parse_alone(value?, id)?;
    let operation = request.operation(&app, None);
    request
        .perform(
            &app,
            async move |store, owner| store.create_memory(&owner, &operation, &memory, render).await,
            |row, answer| created(&format!("/api/memories/{}", row.0), answer),
        )
        .await
}

pub(super) async fn read(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    answer(&app, &owner, row_id(id)?).await
}

pub(super) async fn edit(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<JsonBody, Refusal>,
) -> Result<Response, Refusal> {
    let key = key::read(&headers)?;
    let JsonBody(body) = body?;
    let id = row_id(id)?;
    let value = json_body::value(&body);
    let canonical = value.as_ref().ok().and_then(|value| canonical::text(value).ok());
    let request = Request::new(owner, key, EDIT, id.0.to_string(), &body, canonical.as_deref());
    if let Some(replay) = request.replay(&app).await? {
        return Ok(replay);
    }
    let edit = item::parse_edit(value?)?;
    let operation = request.operation(&app, Some(app.limits.key_ttl));
    request
        .perform(
            &app,
            async move |store, owner| store.edit_memory(&owner, &operation, id, &edit, render).await,
            |_, answer| json_text(StatusCode::OK, answer),
        )
        .await
}

pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let key = key::read(&headers)?;
    let id = row_id(id)?;
    let request = Request::new(owner, key, DELETE, id.0.to_string(), b"", Some(""));
    if let Some(replay) = request.replay(&app).await? {
        return Ok(replay);
    }
    let operation = request.operation(&app, Some(app.limits.key_ttl));
    request
        .perform(
            &app,
            async move |store, owner| store.delete_memory(&owner, &operation, id).await,
            |_, _| StatusCode::NO_CONTENT.into_response(),
        )
        .await
}

/// A memory as it is now.
pub(super) async fn answer(app: &App, owner: &Owner, id: RowId) -> Result<Response, Refusal> {
    let memory = app.repository.memory(owner, id).await?.ok_or_else(Refusal::not_found)?;
    Ok(json_text(StatusCode::OK, render(&memory)))
}

/// A memory as the body of an answer.
pub(super) fn render(memory: &StoredMemory) -> String {
    serde_json::to_string(&listing::record(memory)).unwrap_or_default()
}

/// What is no id of this server is an id that is not there.
pub(super) fn row_id(id: Result<Path<String>, PathRejection>) -> Result<RowId, Refusal> {
    let Path(text) = id.map_err(|_| Refusal::not_found())?;
    let id: i64 = text.parse().map_err(|_| Refusal::not_found())?;
    if id.to_string() == text { Ok(RowId(id)) } else { Err(Refusal::not_found()) }
}

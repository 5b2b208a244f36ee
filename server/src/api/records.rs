//! `/api/<resource>/`: any declared resource, created one at a time.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use serde::Serialize;
use serde_json::value::RawValue;

use super::json_body::{self, JsonBody};
use super::listing::Params;
use super::memories::row_id;
use super::operation::{Request, created, json_text};
use super::{json, key};
use crate::app::App;
use crate::auth::Authenticated;
use crate::canonical;
use crate::problem::Refusal;
use crate::repository::StoredRecord;
use crate::resource::Resource;

/// Creating and listing.
pub(super) fn collection(resource: &'static Resource) -> MethodRouter<Arc<App>> {
    get(async move |app, owner, params| list(resource, app, owner, params).await)
        .post(async move |app, owner, headers, body| create(resource, app, owner, headers, body).await)
}

/// One record.
pub(super) fn single(resource: &'static Resource) -> MethodRouter<Arc<App>> {
    get(async move |app, owner, id| read(resource, app, owner, id).await)
}

async fn create(
    resource: &'static Resource,
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    headers: HeaderMap,
    body: Result<JsonBody, Refusal>,
) -> Result<Response, Refusal> {
    let key = key::read(&headers)?;
    let JsonBody(body) = body?;
    let value = json_body::value(&body);
    let canonical = value.as_ref().ok().and_then(|value| canonical::text(value).ok());
    let request = Request::new(owner, key, resource.create, String::new(), &body, canonical.as_deref());
    if let Some(replay) = request.replay(&app).await? {
        return Ok(replay);
    }
    let values = resource.parse(value?)?;
    let operation = request.operation(&app, None);
    request
        .perform(
            &app,
            async move |store, owner| store.create_record(&owner, &operation, resource, &values, render).await,
            |row, answer| created(&format!("/api/{}/{}", resource.name, row.0), answer),
        )
        .await
}

async fn read(
    resource: &'static Resource,
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let record = app.repository.record(&owner, resource, row_id(id)?).await?.ok_or_else(Refusal::not_found)?;
    Ok(json_text(StatusCode::OK, render(resource, &record)))
}

async fn list(
    resource: &'static Resource,
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    params: Result<Query<Params>, QueryRejection>,
) -> Result<Response, Refusal> {
    #[derive(Serialize)]
    struct Page {
        records: Vec<Box<RawValue>>,
        next: String,
        #[serde(rename = "hasMore")]
        has_more: bool,
    }
    let (after, limit) = Params::read(params)?;
    // One more than asked for tells whether there is more.
    let mut records = app.repository.records_after(&owner, resource, after, limit.saturating_add(1)).await?;
    let whole = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = records.len() > whole;
    records.truncate(whole);
    let next = records.last().map_or(after, |record| record.change).to_string();
    let records: Result<_, _> = records.iter().map(|record| RawValue::from_string(render(resource, record))).collect();
    Ok(json(&Page { records: records.map_err(|_| Refusal::internal())?, next, has_more }))
}

/// A record as the body of an answer.
fn render(resource: &Resource, record: &StoredRecord) -> String {
    let mut text = format!("{{\"id\":{}", record.id.0);
    for (field, value) in resource.fields.iter().zip(&record.values) {
        text.push(',');
        canonical::write_string(field.name, &mut text);
        text.push(':');
        canonical::write_string(value, &mut text);
    }
    text.push('}');
    text
}

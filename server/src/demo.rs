//! `--demo`: two owners to play with, switches that spoil the sync endpoint, and counts that show what came of it.
//!
//! Nothing here exists on a server without `--demo`, its tokens included: they are never stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use tokio::sync::watch;
use warifu::id::{ClientMemoryId, Owner};
use warifu::wire::problem::code;
use warifu::wire::sync::SyncRequest;

use crate::api::json;
use crate::app::App;
use crate::auth::owner_of;
use crate::fault::NoAnswer;
use crate::problem::Refusal;

/// The owners, and the token of each. Anyone who can reach a demo server gets them at `/demo/session`.
pub(crate) const OWNERS: [(&str, &str); 2] = [("demo", "warifu_demo_token"), ("demo2", "warifu_demo2_token")];

/// A second token of the first owner, as after signing in again.
const REFRESHED: (&str, &str) = (OWNERS[0].0, "warifu_demo_token_2");

/// What the routes that hold rows do wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Switches {
    /// So many answers are lost after the commit.
    drop_answers: u32,
    /// Requests wait, nothing done, until this is off.
    stop_answering: bool,
    /// Requests wait so long first.
    delay_ms: u32,
    /// Answered with this status, nothing done.
    fail_with: Option<u16>,
    /// So many times; without a number, until `failWith` is null.
    fail_count: Option<u32>,
    /// A single operation waits so long between looking its key up and doing it.
    pause_ms: u32,
    /// The server's clock runs so far ahead. Keys that have expired by then are forgotten at once.
    ahead_seconds: u32,
}

/// A change of switches. What it does not name stays as it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Change {
    drop_answers: Option<u32>,
    stop_answering: Option<bool>,
    delay_ms: Option<u32>,
    #[serde(default, deserialize_with = "given")]
    fail_with: Option<Option<u16>>,
    #[serde(default, deserialize_with = "given")]
    fail_count: Option<Option<u32>>,
    pause_ms: Option<u32>,
    ahead_seconds: Option<u32>,
}

fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// How often something was asked.
#[derive(Default)]
struct Counts {
    requests: u64,
    per_memory: HashMap<ClientMemoryId, u64>,
}

/// The demo's state, gone with the process.
pub(crate) struct Demo {
    switches: watch::Sender<Switches>,
    counts: Mutex<HashMap<Owner, Counts>>,
}

impl Demo {
    pub(crate) fn new() -> Self {
        Self { switches: watch::Sender::new(Switches::default()), counts: Mutex::default() }
    }

    pub(crate) fn owner_of(&self, token: &str) -> Option<Owner> {
        OWNERS.iter().chain([&REFRESHED]).find(|(_, known)| *known == token).and_then(|(name, _)| name.parse().ok())
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Owner, Counts>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, owner: Owner, headers: &HeaderMap, body: &[u8]) {
        #[derive(Deserialize)]
        struct Named {
            #[serde(rename = "clientMemoryId")]
            id: ClientMemoryId,
        }
        let key = headers.get("idempotency-key").or_else(|| headers.get("x-idempotency-token"));
        let key = key.and_then(|key| key.to_str().ok()).and_then(|key| key.trim_matches('"').parse().ok());
        let ids: Vec<ClientMemoryId> = serde_json::from_slice::<SyncRequest<'_>>(body)
            .map(|request| request.items)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|item| serde_json::from_str::<Named>(item.get()).ok())
            .map(|named| named.id)
            .chain(key)
            .collect();
        let mut counts = self.counts();
        let counts = counts.entry(owner).or_default();
        counts.requests += 1;
        for id in ids {
            *counts.per_memory.entry(id).or_default() += 1;
        }
    }

    /// Waits as long as the switches say.
    async fn hold(&self) {
        // The sender is here, so the wait cannot end in an error.
        let _ = self.switches.subscribe().wait_for(|switches| !switches.stop_answering).await;
        let delay_ms = self.switches.borrow().delay_ms;
        tokio::time::sleep(Duration::from_millis(delay_ms.into())).await;
    }

    /// Waits between looking a key up and taking it, as long as the switches say.
    pub(crate) async fn pause(&self) {
        let pause_ms = self.switches.borrow().pause_ms;
        tokio::time::sleep(Duration::from_millis(pause_ms.into())).await;
    }

    /// The status to fail with now, counted down.
    fn take_failure(&self) -> Option<StatusCode> {
        let mut failure = None;
        self.switches.send_if_modified(|switches| {
            failure = switches.fail_with.and_then(|status| StatusCode::from_u16(status).ok());
            let (Some(_), Some(left)) = (failure, switches.fail_count) else {
                return false;
            };
            if left <= 1 {
                (switches.fail_with, switches.fail_count) = (None, None);
            } else {
                switches.fail_count = Some(left - 1);
            }
            // A count of nothing fails nothing.
            if left == 0 {
                failure = None;
            }
            true
        });
        failure
    }

    /// Whether this answer is to be lost, counted down.
    fn take_drop(&self) -> bool {
        self.switches.send_if_modified(|switches| {
            let drop = switches.drop_answers > 0;
            switches.drop_answers = switches.drop_answers.saturating_sub(1);
            drop
        })
    }
}

/// The routes under `/demo`.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/session", get(session))
        .route("/switches", get(switches).put(change))
        .route("/rows", get(rows))
        .fallback(async || Refusal::not_found())
}

/// Stands before what changes something, and does to it what the switches say.
pub(crate) async fn switchboard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let demo = match &app.demo {
        Some(demo) if request.method() != Method::GET => demo,
        _ => return next.run(request).await,
    };
    let (parts, body) = request.into_parts();
    // It was read already, within the server's bounds.
    let Ok(body) = to_bytes(body, usize::MAX).await else {
        return Refusal::internal().into_response();
    };
    if let Ok(Some(owner)) = owner_of(&parts.headers, &app).await {
        demo.count(owner, &parts.headers, &body);
    }
    if app.stop.run_until_cancelled(demo.hold()).await.is_none() {
        return (Extension(NoAnswer), StatusCode::SERVICE_UNAVAILABLE).into_response();
    }
    if let Some(status) = demo.take_failure() {
        let detail = "The demo's switch answers so. Nothing was stored.";
        return Refusal::new(status, failure_code(status), detail).into_response();
    }
    let mut response = next.run(Request::from_parts(parts, Body::from(body))).await;
    if demo.take_drop() {
        response.extensions_mut().insert(NoAnswer);
    }
    response
}

fn failure_code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => code::NOT_AUTHENTICATED,
        StatusCode::PAYLOAD_TOO_LARGE => code::TOO_LARGE,
        StatusCode::NOT_FOUND => code::NOT_FOUND,
        StatusCode::SERVICE_UNAVAILABLE => code::BUSY,
        status if status.is_server_error() => code::INTERNAL,
        _ => code::INVALID_REQUEST,
    }
}

#[derive(Deserialize)]
struct Which {
    owner: Option<String>,
}

async fn session(Query(which): Query<Which>) -> Result<Response, Refusal> {
    #[derive(Serialize)]
    struct Session {
        owner: &'static str,
        token: &'static str,
    }
    let name = which.owner.as_deref().unwrap_or(OWNERS[0].0);
    let (owner, token) = OWNERS.into_iter().find(|(known, _)| *known == name).ok_or_else(Refusal::not_found)?;
    Ok(json(&Session { owner, token }))
}

async fn switches(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let demo = app.demo.as_ref().ok_or_else(Refusal::not_found)?;
    let now = *demo.switches.borrow();
    Ok(json(&now))
}

async fn change(State(app): State<Arc<App>>, body: Bytes) -> Result<Response, Refusal> {
    let demo = app.demo.as_ref().ok_or_else(Refusal::not_found)?;
    let change: Change = serde_json::from_slice(&body)
        .map_err(|error| Refusal::bad_request(format!("These are no switches: {error}. Nothing was changed.")))?;
    if let Some(Some(status)) = change.fail_with
        && !(400..600).contains(&status)
    {
        return Err(Refusal::bad_request("\"failWith\" is 400 to 599. Nothing was changed.").field("failWith"));
    }
    demo.switches.send_modify(|switches| {
        switches.drop_answers = change.drop_answers.unwrap_or(switches.drop_answers);
        switches.stop_answering = change.stop_answering.unwrap_or(switches.stop_answering);
        switches.delay_ms = change.delay_ms.unwrap_or(switches.delay_ms);
        switches.fail_with = change.fail_with.unwrap_or(switches.fail_with);
        switches.fail_count = change.fail_count.unwrap_or(switches.fail_count);
        switches.pause_ms = change.pause_ms.unwrap_or(switches.pause_ms);
        switches.ahead_seconds = change.ahead_seconds.unwrap_or(switches.ahead_seconds);
    });
    let now = *demo.switches.borrow();
    if change.ahead_seconds.is_some() {
        app.clock.set_ahead(now.ahead_seconds);
        app.repository.forget_expired(app.clock.now()).await?;
    }
    Ok(json(&now))
}

#[derive(Serialize)]
struct Rows {
    rows: usize,
    requests: u64,
    #[serde(rename = "perMemory")]
    per_memory: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    #[serde(rename = "clientMemoryId")]
    client_memory_id: ClientMemoryId,
    /// Null while there is no row.
    memory_id: Option<Box<RawValue>>,
    requests: u64,
}

/// Rows come from the database; requests are counted since the start, when they arrive, answered or not.
async fn rows(
    State(app): State<Arc<App>>,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let demo = app.demo.as_ref().ok_or_else(Refusal::not_found)?;
    let owner = match which.owner {
        Some(name) => name.parse().ok(),
        None => owner_of(&headers, &app).await?.or_else(|| OWNERS[0].0.parse().ok()),
    };
    let owner = owner
        .filter(|owner: &Owner| OWNERS.iter().any(|(name, _)| *name == owner.as_str()))
        .ok_or_else(Refusal::not_found)?;
    let names = app.repository.names(&owner).await?;
    let mut counts = demo.counts();
    let counts = counts.entry(owner).or_default();
    let mut unstored = counts.per_memory.clone();
    let rows = names.len();
    let mut per_memory = Vec::with_capacity(rows);
    for (client_memory_id, id) in names {
        per_memory.push(Row {
            client_memory_id,
            memory_id: serde_json::value::to_raw_value(&id.0).ok(),
            requests: unstored.remove(&client_memory_id).unwrap_or(0),
        });
    }
    let mut unstored: Vec<_> = unstored.into_iter().collect();
    unstored.sort_unstable();
    per_memory.extend(unstored.into_iter().map(|(client_memory_id, requests)| Row {
        client_memory_id,
        memory_id: None,
        requests,
    }));
    Ok(json(&Rows { rows, requests: counts.requests, per_memory }))
}

//! One create at a time.

use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::store::{Known, identity, invalid};
use super::{Backend, Fault, Shared, owner, problem, problem_with, vanish};

pub(crate) async fn create(
    State(backend): State<Shared>,
    Path(resource): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (owner, token) = match owner(&headers) {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    if backend.fault == Fault::Hangs {
        std::future::pending::<()>().await;
    }
    let key = match key(&headers, &resource) {
        Ok(key) => key,
        Err(refusal) => return odd(&backend, refusal),
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return problem(StatusCode::BAD_REQUEST, "invalid_request");
    };
    let endpoint = format!("POST {resource}");
    let scoped = (scope(&backend, owner, &token), key.clone());
    let _running = match running(&backend, &scoped) {
        Some(running) => running,
        None => return odd(&backend, in_progress()),
    };
    let turn = if matches!(backend.fault, Fault::CheckThenInsert | Fault::NoneWithConflicts) {
        None
    } else {
        Some(backend.turn.lock().await)
    };
    if let Some(refusal) = refused_by_validation(&backend, owner, &resource, &body, &key) {
        return odd(&backend, refusal);
    }
    if let Some(known) = known(&backend, &scoped, &endpoint, &body) {
        return odd(&backend, known);
    }
    if let Some(code) = invalid(&resource, &body) {
        return odd(&backend, problem(StatusCode::BAD_REQUEST, code));
    }
    let unique = identity(&resource, &body, &key);
    let collides = |backend: &Backend| backend.store.lock().unwrap().find(owner, &resource, &unique).is_some();
    let collided_before = collides(&backend);
    let pause = backend.switches.lock().unwrap().pause;
    let least = if backend.fault == Fault::CheckThenInsert { Duration::from_millis(20) } else { Duration::ZERO };
    tokio::time::sleep(pause.max(least)).await;
    if let Some(failure) = failure(&backend, &scoped, &endpoint, &body) {
        return failure;
    }
    let collided = if backend.fault == Fault::CheckThenInsert { collided_before } else { collides(&backend) };
    if collided {
        return odd(&backend, collision(&backend, owner, &resource, &unique, &body));
    }
    let record = {
        let mut store = backend.store.lock().unwrap();
        let record = store.insert(owner, &resource, unique, &body);
        let known = Known { endpoint, body, status: 201, answer: record.clone() };
        store.keys.insert(scoped, known);
        record
    };
    drop(turn);
    if std::mem::take(&mut backend.switches.lock().unwrap().drop_answer) {
        vanish();
    }
    (StatusCode::CREATED, Json(record)).into_response()
}

/// A violated constraint: the row of the same key through the other endpoint, or a second business identity.
fn collision(backend: &Backend, owner: &'static str, resource: &str, unique: &str, body: &Value) -> Response {
    if resource == "invoices" {
        if backend.fault == Fault::BusinessAs500 {
            return problem(StatusCode::INTERNAL_SERVER_ERROR, "internal");
        }
        return problem_with(StatusCode::CONFLICT, "unique_violation", &json!("invoices_business_key"));
    }
    let store = backend.store.lock().unwrap();
    match store.find(owner, resource, unique) {
        Some(row) if row.original == *body => replayed(200, &row.record),
        _ => problem(StatusCode::UNPROCESSABLE_ENTITY, "key_mismatch"),
    }
}

fn replayed(status: u16, record: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("idempotency-replayed", "true")], Json(record.clone())).into_response()
}

fn refused_by_validation(backend: &Backend, owner: &str, resource: &str, body: &Value, key: &str) -> Option<Response> {
    let unique = identity(resource, body, key);
    let there = || backend.store.lock().unwrap().find(owner, resource, &unique).is_some();
    match backend.fault {
        Fault::ValidationFirst => invalid(resource, body).map(|code| problem(StatusCode::BAD_REQUEST, code)),
        Fault::UniqueValidators if there() => Some(problem(StatusCode::BAD_REQUEST, "invalid_request")),
        _ => None,
    }
}

/// The answer to a key that is known.
fn known(backend: &Backend, scoped: &(String, String), endpoint: &str, body: &Value) -> Option<Response> {
    let known = backend.store.lock().unwrap().keys.get(scoped).cloned()?;
    if known.status >= 500 {
        return Some(problem(StatusCode::from_u16(known.status).unwrap(), "internal"));
    }
    if known.endpoint != endpoint && backend.fault != Fault::OtherEndpoint {
        return Some(problem(StatusCode::UNPROCESSABLE_ENTITY, "key_reused"));
    }
    if known.endpoint == endpoint && known.body != *body {
        return Some(problem(StatusCode::UNPROCESSABLE_ENTITY, "key_mismatch"));
    }
    Some(replayed(200, &known.answer))
}

/// What a hook has prepared.
fn failure(backend: &Backend, scoped: &(String, String), endpoint: &str, body: &Value) -> Option<Response> {
    let (kill, fail) = {
        let mut switches = backend.switches.lock().unwrap();
        (std::mem::take(&mut switches.kill), std::mem::take(&mut switches.fail))
    };
    if kill {
        vanish();
    }
    if !fail {
        return None;
    }
    if backend.fault == Fault::CachedFailure {
        let known = Known { endpoint: endpoint.to_owned(), body: body.clone(), status: 500, answer: Value::Null };
        backend.store.lock().unwrap().keys.insert(scoped.clone(), known);
    }
    Some(problem(StatusCode::INTERNAL_SERVER_ERROR, "internal"))
}

pub(crate) fn scope(backend: &Backend, owner: &str, token: &str) -> String {
    match backend.fault {
        Fault::KeyByToken => token.to_owned(),
        Fault::Unscoped => String::new(),
        _ => owner.to_owned(),
    }
}

struct Running<'a>(&'a Backend, (String, String));

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store.lock().unwrap().running.retain(|other| *other != self.1);
    }
}

/// Takes the key, where a key in use is not waited for.
fn running<'a>(backend: &'a Backend, scoped: &(String, String)) -> Option<Option<Running<'a>>> {
    if backend.fault != Fault::NoneWithConflicts {
        return Some(None);
    }
    let mut store = backend.store.lock().unwrap();
    if store.running.contains(scoped) {
        return None;
    }
    store.running.push(scoped.clone());
    Some(Some(Running(backend, scoped.clone())))
}

fn in_progress() -> Response {
    let mut response = problem(StatusCode::CONFLICT, "in_progress");
    response.headers_mut().insert("retry-after", "1".parse().unwrap());
    response
}

/// The key in the headers, or a refusal.
pub(crate) fn key(headers: &HeaderMap, resource: &str) -> Result<String, Response> {
    let lines: Vec<_> =
        headers.get_all("idempotency-key").iter().chain(headers.get_all("x-idempotency-token")).collect();
    let bad = || problem(StatusCode::BAD_REQUEST, "key_invalid");
    let [line] = lines[..] else {
        return Err(if lines.is_empty() { problem(StatusCode::BAD_REQUEST, "key_missing") } else { bad() });
    };
    let text = line.to_str().map_err(|_| bad())?;
    let bare = match text.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"').ok_or_else(bad)?,
        None => text,
    };
    if bare.is_empty() || bare.len() > 255 || bare.contains('"') {
        return Err(bad());
    }
    if resource == "memories" {
        let id = uuid::Uuid::parse_str(bare).map_err(|_| bad())?;
        return Ok(id.to_string());
    }
    Ok(bare.to_owned())
}

/// The statuses of one who has other ideas, the effects being the same.
fn odd(backend: &Backend, response: Response) -> Response {
    if backend.fault != Fault::OddStatuses {
        return response;
    }
    let status = match response.status().as_u16() {
        200 => StatusCode::CREATED,
        422 => StatusCode::CONFLICT,
        400 => StatusCode::PRECONDITION_REQUIRED,
        _ => response.status(),
    };
    (status, response).into_response()
}

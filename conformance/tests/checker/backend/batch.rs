//! Many memories at once.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::store::{Known, Store, invalid};
use super::{Backend, Fault, Shared, create, owner, problem};

const MOST: usize = 10;

pub(crate) async fn sync(State(backend): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    let (owner, token) = match owner(&headers) {
        Ok(known) => known,
        Err(refusal) => return refusal,
    };
    let items = body["items"].as_array().cloned().unwrap_or_default();
    if items.len() > MOST {
        return problem(StatusCode::PAYLOAD_TOO_LARGE, "too_large");
    }
    let _turn = backend.turn.lock().await;
    let scope = create::scope(&backend, owner, &token);
    let mut store = backend.store.lock().unwrap();
    let known = |store: &Store, item: &Value| {
        store.find(owner, "memories", &item["clientMemoryId"].as_str().unwrap_or_default().to_lowercase()).is_some()
    };
    if backend.fault == Fault::WholeBatch && items.iter().any(|item| known(&store, item)) {
        return problem(StatusCode::CONFLICT, "unique_violation");
    }
    let results: Vec<Value> = items.iter().map(|item| one(&backend, &mut store, owner, &scope, item)).collect();
    Json(json!({"results": results})).into_response()
}

fn one(backend: &Backend, store: &mut Store, owner: &'static str, scope: &str, item: &Value) -> Value {
    let id = item["clientMemoryId"].as_str().unwrap_or_default().to_lowercase();
    if invalid("memories", item).is_some() {
        let error = json!({"code": "invalid_item", "detail": "This item is invalid.", "field": "title"});
        return json!({"clientMemoryId": id, "status": "rejected", "error": error});
    }
    let (status, memory_id, revision, deleted) = match store.find(owner, "memories", &id) {
        Some(row) if row.original == *item => ("duplicated", row.id, row.record["revision"].clone(), row.deleted),
        Some(row) => ("conflict", row.id, row.record["revision"].clone(), row.deleted),
        None => {
            let record = store.insert(owner, "memories", id.clone(), item);
            let known =
                Known { endpoint: "POST memories".to_owned(), body: item.clone(), status: 201, answer: record.clone() };
            store.keys.insert((scope.to_owned(), id.clone()), known);
            ("created", record["id"].as_u64().unwrap(), json!(1), false)
        }
    };
    let mut result = json!({"clientMemoryId": id, "memory_id": memory_id, "status": status, "revision": revision});
    if deleted {
        result["deleted"] = json!(true);
    }
    if backend.fault == Fault::ByPosition {
        result.as_object_mut().unwrap().remove("clientMemoryId");
    }
    result
}

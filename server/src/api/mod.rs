//! What is under `/api`.

mod listing;
mod sync;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use warifu::wire::problem::code;

use crate::app::App;
use crate::problem::Refusal;
use crate::{body, demo};

/// The routes, with every refusal a problem.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let sync = post(sync::sync);
    let sync = if app.demo.is_some() { sync.layer(from_fn_with_state(app.clone(), demo::switchboard)) } else { sync };
    Router::new()
        .route("/memories/sync", sync)
        .route("/memories", get(listing::list))
        .route("/capabilities", get(capabilities))
        .fallback(async || Refusal::not_found())
        .method_not_allowed_fallback(method_not_allowed)
        // The bound is this server's own, kept by `buffer`.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(app.clone(), body::buffer))
}

async fn capabilities(State(app): State<Arc<App>>) -> Response {
    json(&app.limits.as_capabilities())
}

async fn method_not_allowed() -> Refusal {
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, code::INVALID_REQUEST, "This address does not take this method.")
}

/// An answer of JSON. `axum::Json` would answer a failure with its own text.
pub(crate) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response(),
        Err(_) => Refusal::internal().into_response(),
    }
}

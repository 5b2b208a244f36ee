//! What is under `/api`.

pub(crate) mod health;
mod json_body;
mod key;
mod listing;
mod memories;
mod openapi;
mod operation;
mod records;
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
use crate::resource::RESOURCES;
use crate::{body, demo};

/// The routes, with every refusal a problem. Those that change something go through the demo's switchboard.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let memories = || get(listing::list).post(memories::create);
    let mut routes = Router::new()
        .route("/memories/sync", post(sync::sync))
        .route("/memories", memories())
        .route("/memories/", memories())
        .route("/memories/{id}", get(memories::read).put(memories::edit).delete(memories::delete));
    for resource in &RESOURCES {
        let collection = format!("/{}", resource.name);
        routes = routes
            .route(&collection, records::collection(resource))
            .route(&format!("{collection}/"), records::collection(resource))
            .route(&format!("{collection}/{{id}}"), records::single(resource));
    }
    if app.demo.is_some() {
        routes = routes.route_layer(from_fn_with_state(app.clone(), demo::switchboard));
    }
    routes
        .route("/capabilities", get(capabilities))
        .route("/openapi.json", get(openapi::answer))
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

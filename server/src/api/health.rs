//! Whether the process lives, and whether it can serve.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use warifu::wire::problem::code;

use crate::app::App;
use crate::problem::Refusal;

/// A database that has not answered after this does not serve.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/health/live` and `/health/ready`, for whoever starts servers and sends them requests.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/live", get(async || plain("live")))
        .route("/ready", get(ready))
        .fallback(async || Refusal::not_found())
        .method_not_allowed_fallback(super::method_not_allowed)
}

async fn ready(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let stopping = app.stop.is_cancelled();
    let answers = tokio::time::timeout(PATIENCE, app.repository.ready()).await;
    if !stopping && matches!(answers, Ok(Ok(()))) {
        return Ok(plain("ready"));
    }
    let detail = if stopping { "The server is stopping." } else { "The database does not answer." };
    Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, code::BUSY, detail))
}

fn plain(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/plain")], text).into_response()
}

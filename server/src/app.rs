//! The whole HTTP application, without the sockets.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::clock::Clock;
use crate::demo::{self, Demo};
use crate::limits::Limits;
use crate::problem::Refusal;
use crate::repository::Repository;
use crate::{api, statics};

/// The origins of the webviews that apps run in.
pub const WEBVIEW_ORIGINS: [&str; 3] = ["https://localhost", "capacitor://localhost", "ionic://localhost"];

const CSP: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' blob: data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// What the handlers share.
pub(crate) struct App {
    pub(crate) repository: Arc<dyn Repository>,
    pub(crate) limits: Limits,
    pub(crate) demo: Option<Demo>,
    pub(crate) clock: Clock,
    /// The server is about to stop: nothing may wait any more.
    pub(crate) stop: CancellationToken,
}

/// What is served beside the API.
#[derive(Default)]
pub(crate) struct Site {
    pub(crate) www: Option<PathBuf>,
    pub(crate) pkg: Option<PathBuf>,
    pub(crate) origins: Vec<HeaderValue>,
}

/// Puts the application together.
pub(crate) fn router(app: Arc<App>, site: Site) -> Router {
    let missing = || any(async || Refusal::not_found());
    // A nest does not hold its own name with a slash.
    let mut routes = Router::new()
        .nest("/api", api::routes(&app))
        .route("/api/", missing())
        .nest("/health", api::health::routes())
        .route("/health/", missing());
    if app.demo.is_some() {
        routes = routes.nest("/demo", demo::routes()).route("/demo/", missing());
    }
    let routes = routes.merge(statics::routes(site.www, site.pkg)).with_state(app);
    wrap(routes, site.origins)
}

/// What every answer gets, refusals and panics too, from the outside in: a log line, the headers, CORS, a last catch.
fn wrap(routes: Router, origins: Vec<HeaderValue>) -> Router {
    let set = |name: HeaderName, value| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    routes
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors(origins))
        .layer(set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(set(header::REFERRER_POLICY, "no-referrer"))
        .layer(set(header::CONTENT_SECURITY_POLICY, CSP))
        .layer(set(header::CACHE_CONTROL, "no-store"))
        .layer(from_fn(log))
}

fn cors(origins: Vec<HeaderValue>) -> CorsLayer {
    let webviews = WEBVIEW_ORIGINS.into_iter().map(HeaderValue::from_static);
    let token = HeaderName::from_static("x-idempotency-token");
    let key = HeaderName::from_static("idempotency-key");
    let digest = HeaderName::from_static("content-digest");
    let replayed = HeaderName::from_static("idempotency-replayed");
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(webviews.chain(origins)))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE, digest, key, token])
        .expose_headers([header::RETRY_AFTER, header::DATE, replayed])
        .max_age(Duration::from_secs(600))
}

// tower-http gives the panic's message by value; it may hold a person's words, so it goes nowhere.
#[allow(clippy::needless_pass_by_value)]
fn panicked(_message: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Refusal::internal().into_response()
}

/// One line for each request: never its query, headers or body.
async fn log(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let started = Instant::now();
    let response = next.run(request).await;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    tracing::info!(%method, path, status = response.status().as_u16(), milliseconds, "answered");
    response
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_500_that_says_nothing_and_that_a_webview_may_read() {
        let routes = Router::new().route("/", get(async || -> Response { panic!("a person's words") }));
        let request = Request::builder().uri("/").header("origin", "ionic://localhost").body(Body::empty()).unwrap();
        let response = wrap(routes, Vec::new()).oneshot(request).await.unwrap();
        assert_eq!(response.status().as_u16(), 500);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.headers()["access-control-allow-origin"], "ionic://localhost");
        assert_eq!(response.headers()["access-control-expose-headers"], "retry-after,date,idempotency-replayed");
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(body.contains("\"code\":\"internal\"") && !body.contains("words"), "{body}");
    }
}

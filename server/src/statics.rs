//! The page's files: `/` from one folder, `/pkg/` from another.

use std::path::PathBuf;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use tower_http::services::ServeDir;

const NOT_FOUND: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Not found</title>\
    <h1>Not found</h1><p>There is nothing at this address.</p></html>\n";

/// Routes for the folders that are given; everything else is a plain 404.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>(www: Option<PathBuf>, pkg: Option<PathBuf>) -> Router<S> {
    let mut router = Router::new();
    if let Some(pkg) = pkg {
        router = router.nest_service("/pkg", ServeDir::new(pkg));
    }
    router = match www {
        Some(www) => router.fallback_service(ServeDir::new(www)),
        None => router.fallback(async || not_found()),
    };
    router.layer(from_fn(finish))
}

async fn finish(request: Request, next: Next) -> Response {
    // A hidden file in the folder is no part of the page.
    if request.uri().path().split('/').any(|part| part.starts_with('.') || part.starts_with("%2e")) {
        return not_found();
    }
    let media_type = media_type(request.uri().path());
    let mut response = next.run(request).await;
    if response.status() == StatusCode::NOT_FOUND {
        return not_found();
    }
    let headers = response.headers_mut();
    if let (Some(media_type), true) = (media_type, headers.contains_key(header::CONTENT_TYPE)) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-cache")], Html(NOT_FOUND)).into_response()
}

/// The types that must be right for a page to run; the others are guessed from the name.
fn media_type(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    Some(match name.rsplit_once('.').map_or("html", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "ts" => "text/typescript; charset=utf-8",
        "md" | "txt" => "text/plain; charset=utf-8",
        _ => return None,
    })
}

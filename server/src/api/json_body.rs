//! The body of a request: bytes that arrived whole, and say that they are JSON.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde_json::value::RawValue;
use warifu::wire::problem::code;

use crate::app::App;
use crate::body::BodyFault;
use crate::problem::Refusal;

/// The bytes, not yet read.
pub(super) struct JsonBody(pub(super) Bytes);

impl FromRequest<Arc<App>> for JsonBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        if let Some(fault) = request.extensions().get::<BodyFault>() {
            return Err(fault.refusal(app));
        }
        let given = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/json") {
            let detail = "The body must be application/json. Nothing was stored.";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST, detail));
        }
        Bytes::from_request(request, app).await.map(Self).map_err(|_| Refusal::internal())
    }
}

/// The bytes as text.
///
/// # Errors
/// When they are not UTF-8.
pub(super) fn text(body: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(body).map_err(|_| bad("The body is not UTF-8."))
}

/// The bytes as one JSON value.
///
/// # Errors
/// When they are none.
pub(super) fn value(body: &[u8]) -> Result<&RawValue, Refusal> {
    serde_json::from_str(text(body)?).map_err(|error| bad(&format!("The body is not JSON{}.", place(&error))))
}

/// Where the parser stopped. Its own words may quote the body.
pub(super) fn place(error: &serde_json::Error) -> String {
    format!(" (line {}, column {})", error.line(), error.column())
}

pub(super) fn bad(detail: &str) -> Refusal {
    Refusal::bad_request(format!("{detail} Nothing was stored."))
}

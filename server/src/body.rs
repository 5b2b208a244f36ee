//! Reads a request's body within bounds.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt as _;
use warifu::wire::problem::code;

use crate::app::App;
use crate::problem::Refusal;

/// A body that is still coming after this is given up.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How much of a body that is too large is still read, so that the client hears the refusal instead of a reset.
const DISCARD_AT_MOST: usize = 16 << 20;

/// Why there is no body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyFault {
    TooLarge,
    TooSlow,
    CutOff,
}

impl BodyFault {
    pub(crate) fn refusal(self, app: &App) -> Refusal {
        match self {
            Self::TooLarge => Refusal::too_large(
                format!(
                    "The request has more than {} bytes. Nothing was stored; send less at once.",
                    app.limits.max_bytes
                ),
                &app.limits,
            ),
            Self::TooSlow => Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                code::INVALID_REQUEST,
                "The request did not arrive whole in time. Nothing was stored; send it again.",
            ),
            Self::CutOff => Refusal::bad_request("The request was cut off. Nothing was stored; send it again."),
        }
    }
}

/// Takes the whole body off the wire before anything is answered: a refusal sent while the client still writes would be
/// lost in a reset. The handler finds the body, or a [`BodyFault`] among the extensions.
pub(crate) async fn buffer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let limit = usize::try_from(app.limits.max_bytes).unwrap_or(usize::MAX);
    let read = tokio::time::timeout(TIMEOUT, read(body, limit)).await.unwrap_or(Err(BodyFault::TooSlow));
    let bytes = read.unwrap_or_else(|fault| {
        parts.extensions.insert(fault);
        Bytes::new()
    });
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}

async fn read(mut body: Body, limit: usize) -> Result<Bytes, BodyFault> {
    let mut bytes = Vec::new();
    let mut total = 0_usize;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyFault::CutOff)?.into_data() else {
            continue;
        };
        total += data.len();
        if total <= limit {
            bytes.extend_from_slice(&data);
        } else if total > DISCARD_AT_MOST.max(limit) {
            break;
        }
    }
    if total > limit { Err(BodyFault::TooLarge) } else { Ok(bytes.into()) }
}

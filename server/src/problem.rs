//! Refusals as answers.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use warifu::wire::problem::{MEDIA_TYPE, Problem, code};

use crate::limits::Limits;
use crate::repository::StoreError;

/// After how long a busy store may be asked again.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// A refusal: its status, its body, its headers.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    // Boxed, since it rides in the error half of every handler's result.
    problem: Box<Problem>,
    retry_after: Option<Duration>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self {
            status,
            problem: Box::new(Problem {
                title: status.canonical_reason().map(str::to_owned),
                status: Some(status.as_u16()),
                detail: Some(detail.into()),
                code: Some(code.to_owned()),
                ..Problem::default()
            }),
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>, limits: &Limits) -> Self {
        let mut refusal = Self::new(StatusCode::PAYLOAD_TOO_LARGE, code::TOO_LARGE, detail);
        refusal.problem.limits = Some(limits.as_capabilities());
        refusal
    }

    pub(crate) fn not_authenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            code::NOT_AUTHENTICATED,
            "This needs a valid bearer token. Nothing was changed; sign in again and send the same request.",
        )
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, code::NOT_FOUND, "There is nothing at this address.")
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            code::INTERNAL,
            "Something failed on the server. Nothing was kept; the same request can be sent again.",
        )
    }

    pub(crate) fn field(mut self, field: &str) -> Self {
        self.problem.field = Some(field.to_owned());
        self
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy => {
                let mut refusal = Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    code::BUSY,
                    "The store is busy. Nothing was kept; send the same request again in a moment.",
                );
                refusal.retry_after = Some(BUSY_RETRY_AFTER);
                refusal
            }
            StoreError::NotFound => Self::not_found(),
            error => {
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                Self::internal()
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.problem).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(after) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        response
    }
}

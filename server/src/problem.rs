//! Refusals as answers.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use warifu::wire::problem::{MEDIA_TYPE, Problem, code};
use warifu::wire::sync::ItemError;

use crate::limits::Limits;
use crate::repository::StoreError;

/// After how long a busy store may be asked again.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(1);

/// A refusal: its status, its body, its headers.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    // Boxed, since it rides in the error half of every handler's result.
    body: Box<Body>,
    retry_after: Option<Duration>,
}

/// A problem with the members that only some refusals have.
#[derive(Debug, Serialize)]
struct Body {
    #[serde(flatten)]
    problem: Problem,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<Box<RawValue>>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self {
            status,
            body: Box::new(Body {
                problem: Problem {
                    title: status.canonical_reason().map(str::to_owned),
                    status: Some(status.as_u16()),
                    detail: Some(detail.into()),
                    code: Some(code.to_owned()),
                    ..Problem::default()
                },
                constraint: None,
                current: None,
            }),
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, detail)
    }

    pub(crate) fn too_large(detail: impl Into<String>, limits: &Limits) -> Self {
        let mut refusal = Self::new(StatusCode::PAYLOAD_TOO_LARGE, code::TOO_LARGE, detail);
        refusal.body.problem.limits = Some(limits.as_capabilities());
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

    /// Something was there, and was deleted.
    pub(crate) fn gone() -> Self {
        Self::new(StatusCode::GONE, code::GONE, "It was deleted before. Nothing was changed.")
    }

    /// The key was used before, for something else.
    pub(crate) fn key_taken(code: &str, detail: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
    }

    /// Another row has the same business identity.
    pub(crate) fn unique(constraint: &'static str, fields: &[&str]) -> Self {
        let detail = format!("Another record has the same {} already. Nothing was stored.", fields.join(" and "));
        let mut refusal = Self::new(StatusCode::CONFLICT, code::UNIQUE_VIOLATION, detail);
        refusal.body.constraint = Some(constraint);
        refusal
    }

    /// Somebody else changed it; `current` is how it stands.
    pub(crate) fn revision_conflict(current: Option<Box<RawValue>>) -> Self {
        let detail = "It was changed elsewhere since the revision that was edited. Nothing was changed; both are kept.";
        let mut refusal = Self::new(StatusCode::CONFLICT, code::REVISION_CONFLICT, detail);
        refusal.body.current = current;
        refusal
    }

    pub(crate) fn field(mut self, field: &str) -> Self {
        self.body.problem.field = Some(field.to_owned());
        self
    }
}

impl From<ItemError> for Refusal {
    fn from(error: ItemError) -> Self {
        let status =
            if error.code == code::KEY_MISMATCH { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
        let refusal = Self::new(
            status,
            &error.code,
            format!("{} Nothing was stored.", sentence(&error.detail, error.field.as_deref())),
        );
        match &error.field {
            Some(field) => refusal.field(field),
            None => refusal,
        }
    }
}

/// A reason as a sentence of its own; one that begins with a member's name keeps the name as it is.
fn sentence(reason: &str, field: Option<&str>) -> String {
    if field.is_some_and(|field| reason.starts_with(field)) {
        return format!("{reason}.");
    }
    let mut letters = reason.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
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
            StoreError::InProgress => {
                let mut refusal = Self::new(
                    StatusCode::CONFLICT,
                    code::IN_PROGRESS,
                    "The first request under this key is still running. Send the same request again in a moment.",
                );
                refusal.retry_after = Some(BUSY_RETRY_AFTER);
                refusal
            }
            error => {
                tracing::error!(error = &error as &dyn std::error::Error, "the store failed");
                Self::internal()
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = Response::new(axum::body::Body::from(body));
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

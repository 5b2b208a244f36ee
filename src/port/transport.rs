//! One request, one answer. What an answer means is decided in the core.

use crate::core::time::Millis;

/// Carries requests to the backend.
#[allow(async_fn_in_trait, reason = "one thread: no future needs to be Send")]
pub trait Transport {
    /// Sends one request with the app's current credentials. Always settles: at the latest at the deadline.
    async fn send(&self, request: HttpRequest) -> Delivery;

    /// Asks the app for fresh credentials after a refusal; `false` when nobody is signed in.
    async fn refresh(&self) -> bool;
}

/// The methods that are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates.
    Post,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// Relative to the base URL, without a slash in front.
    pub path: String,
    /// Headers beside the app's credentials.
    pub headers: Vec<(&'static str, String)>,
    /// The exact bytes of the body; JSON when it is not empty.
    pub body: Vec<u8>,
    /// After this long the request is cut.
    pub deadline: Millis,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// A whole answer.
    Answer(HttpAnswer),
    /// None, or one that broke off: whether the server did it is unknown.
    NoAnswer,
    /// None before the deadline: whether the server did it is unknown.
    DeadlinePassed,
    /// The server pointed elsewhere, which is not followed.
    Redirected,
    /// The app says that nobody is signed in. Nothing was sent.
    SignedOut,
    /// The app's `headers` function failed. Nothing was sent.
    HeadersFailed(String),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Retry-After`, verbatim.
    pub retry_after: Option<String>,
    /// `Date`, verbatim.
    pub date: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

//! Test support: faults between a real socket and the server.
//!
//! A [`Hook`] sees every request whole, before anything is done with it, and says what becomes of it. So a test records
//! the exact bytes of each attempt, and scripts every answer a network or a broken server can give.
//!
//! ```
//! use std::sync::Arc;
//! use warifu_server::fault::{Fault, Hook};
//!
//! // The first answer of every second request is lost after the commit.
//! let hook: Hook = Arc::new(|request| {
//!     let odd = request.number % 2 == 1;
//!     Box::pin(async move { if odd { Fault::DropAfter } else { Fault::Pass } })
//! });
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::Response;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;

/// Decides over each request. It may await: a request is held until it has decided.
pub type Hook = Arc<dyn Fn(&RequestInfo) -> BoxFuture<'static, Fault> + Send + Sync>;

/// One request as it came over the wire.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    /// Its method; preflights and files come through here too.
    pub method: Method,
    /// Its path, with the query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its exact body.
    pub body: Bytes,
    /// Counted from 1 since the server was started.
    pub number: u64,
}

/// What becomes of a request.
#[derive(Debug)]
pub enum Fault {
    /// It is served.
    Pass,
    /// It is served after a while.
    Delay(Duration),
    /// The connection closes without a byte; nothing was done.
    DropBefore,
    /// It is served and committed, then the connection closes without a byte.
    DropAfter,
    /// This is the answer, to the letter, CORS headers or none; nothing was done.
    Answer(Response),
    /// It is served and committed, then this is the answer.
    AnswerAfter(Response),
    /// No answer ever, until the client leaves or the server stops; nothing was done.
    Hang,
}

/// A `200` whose body of JSON breaks off: the headers promise the whole, `kept` bytes of it come, then the connection
/// closes.
#[must_use]
pub fn broken_off(whole: &str, kept: usize) -> Response {
    let start = Bytes::copy_from_slice(&whole.as_bytes()[..kept.min(whole.len())]);
    let pieces = stream::once(async { Ok(start) }).chain(stream::once(async {
        // What was written is only sent when the body has nothing ready.
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionAborted))
    }));
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(whole.len()));
    response
}

/// Marks a response that must not reach the client: the connection closes instead, without a byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoAnswer;

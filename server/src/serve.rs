//! Sockets: accepts, serves each connection, drops those that get no answer, and stops in order.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::fault::{Fault, Hook, NoAnswer, RequestInfo};

/// A client that sends no whole header within this is let go.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// The most a fault hook is shown of one body.
const HOOK_BODY_BYTES: usize = 256 << 20;

/// One request after another, on every connection.
pub(crate) struct Service {
    pub(crate) router: Router,
    pub(crate) hook: Option<Hook>,
    pub(crate) keep_alive: bool,
    pub(crate) requests: AtomicU64,
}

/// How a server is told to end.
#[derive(Clone, Default)]
pub(crate) struct Ending {
    /// Take nothing new, finish what runs.
    pub(crate) stop: CancellationToken,
    /// Close everything now.
    pub(crate) kill: CancellationToken,
}

/// Serves until told to end; whatever still runs `patience` after a stop is cut.
pub(crate) async fn serve(listener: TcpListener, service: Arc<Service>, ending: Ending, patience: Duration) {
    let graceful = GracefulShutdown::new();
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = ending.kill.cancelled() => break,
            () = ending.stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, service.clone(), ending.clone(), graceful.watcher()));
            }
            Err(error) => {
                // Out of descriptors, most likely: some come back when connections end.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    connections.close();
    tokio::select! {
        () = ending.kill.cancelled() => {}
        ended = tokio::time::timeout(patience, graceful.shutdown()) => {
            if ended.is_err() {
                tracing::warn!("cut connections that did not end in time");
            }
            ending.kill.cancel();
        }
    }
    connections.wait().await;
}

async fn connection(
    stream: TcpStream,
    service: Arc<Service>,
    ending: Ending,
    watcher: hyper_util::server::graceful::Watcher,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let keep_alive = service.keep_alive;
    let stop = ending.stop.clone();
    let answers = service_fn(move |request| {
        let (service, stop) = (service.clone(), stop.clone());
        async move { service.answer(request, &stop).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .keep_alive(keep_alive)
        .serve_connection(TokioIo::new(stream), answers);
    tokio::select! {
        () = ending.kill.cancelled() => {}
        ended = watcher.watch(connection) => if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}

/// There is no answer: hyper closes the connection and writes nothing.
#[derive(Debug)]
struct Dropped;

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dropped without an answer")
    }
}

impl std::error::Error for Dropped {}

impl Service {
    async fn answer(&self, request: Request<Incoming>, stop: &CancellationToken) -> Result<Response, Dropped> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let request = request.map(Body::new);
        let response = match &self.hook {
            None => self.pass(request).await,
            Some(hook) => self.through(hook, request, number, stop).await?,
        };
        if response.extensions().get::<NoAnswer>().is_some() { Err(Dropped) } else { Ok(response) }
    }

    async fn through(
        &self,
        hook: &Hook,
        request: Request<Body>,
        number: u64,
        stop: &CancellationToken,
    ) -> Result<Response, Dropped> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, HOOK_BODY_BYTES).await.map_err(|_| Dropped)?;
        let info = RequestInfo {
            method: parts.method.clone(),
            path: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            headers: parts.headers.clone(),
            body: body.clone(),
            number,
        };
        let fault = hook(&info).await;
        let request = Request::from_parts(parts, Body::from(body));
        match fault {
            Fault::Pass => Ok(self.pass(request).await),
            Fault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                Ok(self.pass(request).await)
            }
            Fault::DropBefore => Err(Dropped),
            Fault::DropAfter => {
                self.pass(request).await;
                Err(Dropped)
            }
            Fault::Answer(response) => Ok(response),
            Fault::AnswerAfter(response) => {
                self.pass(request).await;
                Ok(response)
            }
            Fault::Hang => {
                stop.cancelled().await;
                Err(Dropped)
            }
        }
    }

    async fn pass(&self, request: Request<Body>) -> Response {
        let result: Result<Response, Infallible> = self.router.clone().oneshot(request).await;
        let Ok(response) = result;
        response
    }
}

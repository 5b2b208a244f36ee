//! Another backend behind the wire: what would be served here is asked there.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use warifu_server::fault::{Fault, RequestInfo};

/// An answer is no longer than this.
const MAX_BYTES: usize = 64 << 20;

/// Where it listens.
#[derive(Clone)]
pub(crate) struct Upstream {
    address: SocketAddr,
    client: Client<HttpConnector, Body>,
}

impl Upstream {
    pub(crate) fn new(address: SocketAddr) -> Self {
        // No connection is used twice, so none can die between two requests.
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http();
        Self { address, client }
    }

    /// Does there what the fault lets pass, and makes of it what the fault says.
    pub(crate) async fn through(&self, fault: Fault, request: RequestInfo) -> Fault {
        match fault {
            Fault::Pass => self.pass(request).await,
            Fault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                self.pass(request).await
            }
            Fault::DropAfter => {
                self.pass(request).await;
                Fault::DropBefore
            }
            Fault::AnswerAfter(response) => {
                self.pass(request).await;
                Fault::Answer(response)
            }
            fault @ (Fault::DropBefore | Fault::Answer(_) | Fault::Hang) => fault,
        }
    }

    /// What is at an address.
    pub(crate) async fn get(&self, path: &str, token: &str) -> Result<Bytes> {
        let request = Request::get(self.uri(path)).header(header::AUTHORIZATION, format!("Bearer {token}"));
        let response = self.client.request(request.body(Body::empty())?).await?;
        let status = response.status();
        let body = to_bytes(Body::new(response.into_body()), MAX_BYTES).await?;
        ensure!(status == StatusCode::OK, "{path}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body)
    }

    async fn pass(&self, request: RequestInfo) -> Fault {
        match self.ask(request).await {
            Ok(response) => Fault::Answer(response),
            // As if nobody were there.
            Err(_) => Fault::DropBefore,
        }
    }

    async fn ask(&self, request: RequestInfo) -> Result<Response<Body>> {
        let mut ask = Request::new(Body::from(request.body));
        *ask.method_mut() = request.method;
        *ask.uri_mut() = self.uri(&request.path).parse()?;
        *ask.headers_mut() = request.headers;
        for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH] {
            ask.headers_mut().remove(name);
        }
        let (mut parts, body) = self.client.request(ask).await?.into_parts();
        for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
            parts.headers.remove(name);
        }
        Ok(Response::from_parts(parts, Body::from(to_bytes(Body::new(body), MAX_BYTES).await?)))
    }

    fn uri(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

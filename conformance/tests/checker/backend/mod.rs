//! A small backend that keeps the contract, and breaks it in one way when told to.

mod batch;
mod create;
mod records;
mod store;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde_json::{Value, json};
use warifu_conformance::{Config, Target};

use store::Store;

/// The one thing that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Nothing; a key in use is answered 409 instead of waiting.
    NoneWithConflicts,
    /// The key is looked up, and then the row is inserted.
    CheckThenInsert,
    /// Keys are kept by token.
    KeyByToken,
    /// Keys are kept by nobody.
    Unscoped,
    /// A failure is kept as the key's answer.
    CachedFailure,
    /// A key's answer is given whatever the endpoint.
    OtherEndpoint,
    /// A batch with a duplicate is refused as a whole.
    WholeBatch,
    /// A batch's results name no items.
    ByPosition,
    /// Keys are kept in memory.
    Forgotten,
    /// The body is validated before the key is looked up.
    ValidationFirst,
    /// Uniqueness is a part of validation, as a ModelSerializer's validators have it.
    UniqueValidators,
    /// The second unique constraint's violation is not caught.
    BusinessAs500,
    /// No answer at all.
    Hangs,
    /// Every status but a success is another one.
    OddStatuses,
}

/// What the hooks have set.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    fail: bool,
    drop_answer: bool,
    kill: bool,
    pause: Duration,
}

pub(crate) struct Backend {
    fault: Fault,
    store: Mutex<Store>,
    /// Held by a create from its lookup to its commit.
    turn: tokio::sync::Mutex<()>,
    switches: Mutex<Switches>,
}

type Shared = Arc<Backend>;

/// Starts one; it lives as long as the test's runtime.
pub(crate) async fn start(fault: Fault) -> SocketAddr {
    let backend = Arc::new(Backend {
        fault,
        store: Mutex::default(),
        turn: tokio::sync::Mutex::default(),
        switches: Mutex::default(),
    });
    let routes = Router::new()
        .route("/", get(async || "here"))
        .route("/api/memories/sync", post(batch::sync))
        .route("/api/{resource}/", post(create::create).get(records::list))
        .route("/api/{resource}/{id}", put(records::edit).delete(records::delete))
        .route("/hooks/{name}", post(hook))
        .with_state(backend)
        .layer(from_fn(cors));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    address
}

pub(crate) fn target(address: SocketAddr) -> Target {
    Target::new(&format!("http://{address}/")).unwrap()
}

/// The settings for it, with all its hooks.
pub(crate) const SETTINGS: &str = include_str!("settings.toml");

pub(crate) fn settings() -> Config {
    Config::parse(SETTINGS, "settings.toml".as_ref()).unwrap()
}

async fn cors(request: Request<Body>, next: Next) -> Response {
    let origin = request.headers().get("origin").cloned();
    let mut response = if request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert("access-control-allow-origin", origin);
        let allowed = "Authorization, Content-Type, Content-Digest, Idempotency-Key, X-Idempotency-Token";
        headers.insert("access-control-allow-headers", HeaderValue::from_static(allowed));
        let exposed = "Retry-After, Date, Idempotency-Replayed";
        headers.insert("access-control-expose-headers", HeaderValue::from_static(exposed));
    }
    response
}

async fn hook(State(backend): State<Shared>, Path(name): Path<String>, Query(query): Query<Value>) -> StatusCode {
    let number = |field: &str| query[field].as_str().and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    let mut switches = backend.switches.lock().unwrap();
    match name.as_str() {
        "fail" => switches.fail = true,
        "drop" => switches.drop_answer = true,
        "kill" => switches.kill = true,
        "slow" => switches.pause = Duration::from_millis(number("milliseconds")),
        "clock" => backend.store.lock().unwrap().clock = number("seconds"),
        "reset" => *switches = Switches::default(),
        "restart" if backend.fault == Fault::Forgotten => backend.store.lock().unwrap().forget_keys(),
        "restart" => {}
        _ => return StatusCode::NOT_FOUND,
    }
    StatusCode::NO_CONTENT
}

/// Ends the connection without an answer.
fn vanish() -> ! {
    std::panic::resume_unwind(Box::new("the connection ends here"))
}

/// Who asks: the owner and the token.
fn owner(headers: &HeaderMap) -> Result<(&'static str, String), Response> {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    match token {
        "Bearer token-of-one" | "Bearer another-of-one" => Ok(("one", token.to_owned())),
        "Bearer token-of-two" => Ok(("two", token.to_owned())),
        _ => Err(problem(StatusCode::UNAUTHORIZED, "not_authenticated")),
    }
}

fn problem(status: StatusCode, code: &str) -> Response {
    problem_with(status, code, &Value::Null)
}

fn problem_with(status: StatusCode, code: &str, constraint: &Value) -> Response {
    let body = json!({"code": code, "detail": format!("Refused: {code}."), "constraint": constraint});
    (status, [("content-type", "application/problem+json")], body.to_string()).into_response()
}

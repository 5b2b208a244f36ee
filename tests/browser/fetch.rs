//! The transport, with the page's `fetch` replaced where no server is needed to see what it does.

use std::pin::pin;

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use js_sys::{Array, Function, Reflect, Uint8Array};
use warifu::adapter::{BrowserClock, FetchTransport};
use warifu::core::time::Millis;
use warifu::port::{Clock, Delivery, HttpAnswer, HttpRequest, Method, Transport};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::RequestCredentials;

use crate::script::{Planted, global, plant, run};

/// Requests go to this function; each is kept in `globalThis.requests` as `{ method, url, headers, … }`.
fn plant_fetch(answer: &str) -> Planted {
    plant(&format!(
        "const real = globalThis.fetch;
         globalThis.requests = [];
         const answer = {answer};
         globalThis.fetch = async (request) => {{
           const {{ method, url, credentials, redirect, cache, signal }} = request;
           const headers = Object.fromEntries(request.headers);
           const kept = {{ method, url, credentials, redirect, cache, signal, headers }};
           globalThis.requests.push(kept);
           kept.body = new Uint8Array(await request.clone().arrayBuffer());
           return answer(request);
         }};
         return () => {{ globalThis.fetch = real; }};"
    ))
}

fn requests() -> Vec<JsValue> {
    Array::from(&global("requests")).to_vec()
}

fn part(of: &JsValue, path: &str) -> JsValue {
    path.split('.').fold(of.clone(), |value, name| Reflect::get(&value, &name.into()).unwrap())
}

fn transport(headers: Option<&str>) -> FetchTransport {
    let headers = headers.map(|body| Function::new_with_args("why", body));
    FetchTransport::new("https://backend.test/app/v1/", headers, RequestCredentials::Include)
}

fn post(body: &[u8]) -> HttpRequest {
    HttpRequest {
        method: Method::Post,
        path: "api/memories/sync?a=%20b".into(),
        headers: vec![("Idempotency-Key", "\"k\"".into())],
        body: body.into(),
        deadline: Millis(2000),
    }
}

fn get() -> HttpRequest {
    HttpRequest { method: Method::Get, path: "api/capabilities".into(), headers: vec![], ..post(b"") }
}

fn answer(status: u16, body: &[u8]) -> HttpAnswer {
    HttpAnswer { status, body: body.into(), ..HttpAnswer::default() }
}

#[wasm_bindgen_test]
async fn bytes_go_out_and_come_in_as_they_are() {
    let _planted = plant_fetch(
        "async (request) => new Response(await request.arrayBuffer(), { status: 422, headers: {
           'Content-Type': 'application/problem+json; charset=utf-8', 'Retry-After': '120', Date: 'Mon, 30 Nov 2026 20:35:00 GMT' } })",
    );
    let bytes: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(1000);
    let app = "return { Authorization: 'Bearer ' + why, 'Idempotency-Key': 'theirs', Accept: 'text/html' }";
    let delivery = transport(Some(app)).send(post(&bytes)).await;
    let expected = HttpAnswer {
        content_type: Some("application/problem+json; charset=utf-8".into()),
        retry_after: Some("120".into()),
        date: Some("Mon, 30 Nov 2026 20:35:00 GMT".into()),
        ..answer(422, &bytes)
    };
    assert!(delivery == Delivery::Answer(expected), "{:?}", std::mem::discriminant(&delivery));

    let request = &requests()[0];
    for (path, expected) in [
        ("method", "POST"),
        ("url", "https://backend.test/app/v1/api/memories/sync?a=%20b"),
        ("credentials", "include"),
        ("redirect", "manual"),
        ("cache", "no-store"),
        ("headers.authorization", "Bearer send"),
        ("headers.idempotency-key", "\"k\""),
        ("headers.accept", "application/json"),
        ("headers.content-type", "application/json"),
    ] {
        assert_eq!(part(request, path), expected, "{path}");
    }
    assert!(part(request, "body").unchecked_into::<Uint8Array>().to_vec() == bytes);
}

#[wasm_bindgen_test]
async fn a_request_without_a_body_has_none() {
    let _planted = plant_fetch("() => new Response(null, { status: 204 })");
    let transport = FetchTransport::new("https://backend.test/app", None, RequestCredentials::SameOrigin);
    assert_eq!(transport.send(get()).await, Delivery::Answer(answer(204, b"")));
    let request = &requests()[0];
    assert_eq!(part(request, "url"), "https://backend.test/app/api/capabilities");
    assert_eq!(part(request, "method"), "GET");
    assert_eq!(part(request, "credentials"), "same-origin");
    assert!(part(request, "headers.content-type").is_undefined());
}

#[wasm_bindgen_test]
async fn headers_come_in_every_shape() {
    let _planted = plant_fetch("() => new Response('{}')");
    for app in [
        "return { 'X-App': 'yes' }",
        "return [['x-app', 'yes']]",
        "return new Headers({ 'X-App': 'yes' })",
        "return Promise.resolve({ 'X-App': 'yes' })",
        "return { then(done) { setTimeout(() => done({ 'X-App': 'yes' }), 5) } }",
        "return globalThis.shared = new Headers({ 'X-App': 'yes' })",
    ] {
        assert!(matches!(transport(Some(app)).send(get()).await, Delivery::Answer(_)), "{app}");
        assert_eq!(part(requests().last().unwrap(), "headers.x-app"), "yes", "{app}");
    }
    assert_eq!(run("return globalThis.shared.has('accept')").await, false, "the app's own object is not changed");
    assert!(matches!(transport(Some("return undefined")).send(get()).await, Delivery::Answer(_)));
}

#[wasm_bindgen_test]
async fn without_headers_nothing_is_sent() {
    let _planted = plant_fetch("() => new Response('{}')");
    let failed = |text: &str| Delivery::HeadersFailed(text.into());
    for (app, expected) in [
        ("return null", Delivery::SignedOut),
        ("return Promise.resolve(null)", Delivery::SignedOut),
        ("throw new Error('no token')", failed("no token")),
        ("return Promise.reject(new Error('no network'))", failed("no network")),
        ("throw 'text'", failed("text")),
        ("throw undefined", failed("it threw what is no error")),
        ("return new Promise(() => {})", failed("the headers did not come in time")),
    ] {
        let request = HttpRequest { deadline: Millis(100), ..post(b"{}") };
        assert_eq!(transport(Some(app)).send(request).await, expected, "{app}");
    }
    for app in ["return { 'X-App': '日本' }", "return { 'a b': '1' }", "return 5"] {
        let delivery = transport(Some(app)).send(post(b"{}")).await;
        assert!(matches!(delivery, Delivery::HeadersFailed(_)), "{app}: {delivery:?}");
    }
    assert_eq!(requests().len(), 0);
}

#[wasm_bindgen_test]
async fn a_refresh_serves_the_very_next_request() {
    let _planted = plant_fetch("() => new Response('{}')");
    let transport = transport(Some("return { 'X-Why': why }"));
    assert!(transport.refresh().await);
    transport.send(get()).await;
    transport.send(get()).await;
    let why: Vec<_> = requests().iter().map(|request| part(request, "headers.x-why").as_string().unwrap()).collect();
    assert_eq!(why, ["unauthorized", "send"]);
}

#[wasm_bindgen_test]
async fn a_refresh_tells_whether_somebody_may_be_signed_in() {
    for (app, expected) in [
        (Some("return why === 'unauthorized' ? null : {}"), false),
        (Some("return Promise.resolve(null)"), false),
        (Some("throw new Error('no network')"), true),
        (None, false),
    ] {
        assert_eq!(transport(app).refresh().await, expected, "{app:?}");
    }
}

#[wasm_bindgen_test]
async fn the_deadline_cuts_the_request_and_the_body() {
    for answer in [
        "() => new Promise(() => {})",
        "(request) => new Promise((_, fail) => { request.signal.onabort = () => fail(request.signal.reason); })",
        "() => new Response(new ReadableStream({ start(to) { to.enqueue(new Uint8Array(10)); } }))",
    ] {
        let _planted = plant_fetch(answer);
        let began = js_sys::Date::now();
        let request = HttpRequest { deadline: Millis(150), ..post(b"{}") };
        assert_eq!(transport(None).send(request).await, Delivery::DeadlinePassed, "{answer}");
        let took = js_sys::Date::now() - began;
        assert!((140.0..2000.0).contains(&took), "{took} ms");
        let cut =
            run("const { signal } = globalThis.requests[0]; return signal.aborted && signal.reason instanceof Error")
                .await;
        assert_eq!(cut, true, "{answer}");
    }
}

#[wasm_bindgen_test]
async fn a_request_that_nobody_waits_for_is_cut() {
    let _planted = plant_fetch("() => new Promise(() => {})");
    let transport = transport(None);
    {
        let sending = pin!(transport.send(post(b"{}")));
        let moment = pin!(BrowserClock.sleep(Millis(30)));
        assert!(matches!(select(sending, moment).await, Either::Right(_)));
        assert_eq!(run("return globalThis.requests[0].signal.aborted").await, false);
    }
    assert_eq!(run("return globalThis.requests[0].signal.aborted").await, true);
    assert!(transport.send(get()).now_or_never().is_none());
}

#[wasm_bindgen_test]
async fn what_is_no_whole_answer_is_none() {
    let broken = "new ReadableStream({ pull(to) { if (this.sent) to.error(new Error('cut')); else { this.sent = true; to.enqueue(new Uint8Array(9)); } } })";
    let endless = "new ReadableStream({ pull(to) { globalThis.pulled = (globalThis.pulled ?? 0) + 1; to.enqueue(new Uint8Array(1 << 20)); } })";
    for answer in [
        "() => { throw new TypeError('Failed to fetch'); }",
        "() => { throw 'no error'; }",
        "() => ({ not: 'a response' })",
        "() => Response.error()",
        &format!("() => new Response({broken})"),
        &format!("() => new Response({endless})"),
    ] {
        let _planted = plant_fetch(answer);
        assert_eq!(transport(None).send(post(b"{}")).await, Delivery::NoAnswer, "{answer}");
    }
    let pulled = global("pulled").as_f64().unwrap();
    assert!((16.0..24.0).contains(&pulled), "{pulled} MiB were taken");
}

#[wasm_bindgen_test]
async fn a_redirect_is_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let _planted = plant_fetch(&format!("() => Response.redirect('https://elsewhere.test/', {status})"));
        assert_eq!(transport(None).send(post(b"{}")).await, Delivery::Redirected);
    }
    let _planted = plant_fetch("() => new Response(null, { status: 304 })");
    assert_eq!(transport(None).send(get()).await, Delivery::Answer(answer(304, b"")));
}

#[wasm_bindgen_test]
async fn the_real_fetch_reaches_a_server_and_misses_one() {
    let origin = run("return self.location.origin").await.as_string().unwrap();
    let here = FetchTransport::new(&origin, None, RequestCredentials::SameOrigin);
    let request = HttpRequest { path: "there/is/no/such/file".into(), ..get() };
    let Delivery::Answer(found) = here.send(request).await else { panic!("no answer") };
    assert_eq!(found.status, 404);
    // Nothing listens on port 9 here.
    let nowhere = FetchTransport::new("http://127.0.0.1:9", None, RequestCredentials::Omit);
    assert_eq!(nowhere.send(post(b"{}")).await, Delivery::NoAnswer);
}

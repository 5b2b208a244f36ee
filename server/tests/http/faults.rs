//! Faults as a raw socket sees them.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use warifu_server::fault::{Fault, Hook, RequestInfo, broken_off};
use warifu_server::{Database, Running};

use crate::common::*;

/// A server whose n-th request meets the n-th fault; later ones pass.
async fn scripted(faults: Vec<Fault>, keep_alive: bool) -> (Running, Api, Arc<Mutex<Vec<RequestInfo>>>) {
    let faults = Arc::new(Mutex::new(faults.into_iter().collect::<std::collections::VecDeque<_>>()));
    let seen: Arc<Mutex<Vec<RequestInfo>>> = Arc::default();
    let record = seen.clone();
    let hook: Hook = Arc::new(move |request| {
        record.lock().unwrap().push(request.clone());
        let fault = faults.lock().unwrap().pop_front().unwrap_or(Fault::Pass);
        Box::pin(async { fault })
    });
    let server = builder(Database::memory()).fault(hook).keep_alive(keep_alive).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    (server, api, seen)
}

fn wire(body: &str) -> Vec<u8> {
    format!(
        "POST /api/memories/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends a request on a fresh connection, and gives every byte until the server closes.
async fn raw(server: &Running, body: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    stream.write_all(&wire(body)).await.unwrap();
    let mut bytes = Vec::new();
    // A reset is an end without an answer too.
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut bytes)).await.expect("a close");
    bytes
}

async fn rows(server: &Running) -> usize {
    server.repository().names(&"aki".parse().unwrap()).await.unwrap().len()
}

#[tokio::test]
async fn a_dropped_connection_carries_not_one_byte() {
    let (server, _, _) = scripted(vec![Fault::DropBefore, Fault::DropAfter], false).await;
    let body = batch(&items(0..2));
    assert_eq!(raw(&server, &body).await, b"");
    assert_eq!(rows(&server).await, 0);
    assert_eq!(raw(&server, &body).await, b"");
    assert_eq!(rows(&server).await, 2);
    let answer = String::from_utf8(raw(&server, &body).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\"duplicated\""), "{answer}");
}

#[tokio::test]
async fn connections_are_kept_but_not_with_faults_or_in_the_demo() {
    let pass = || -> Hook { Arc::new(|_| Box::pin(async { Fault::Pass })) };
    for (builder, kept) in [
        (builder(Database::memory()), true),
        (builder(Database::memory()).fault(pass()), false),
        (builder(Database::memory()).demo(true), false),
        (builder(Database::memory()).fault(pass()).keep_alive(true), true),
    ] {
        let server = builder.start().await.unwrap();
        let answer = Api::new(&server.url(), TOKEN).get("api/capabilities").await;
        assert_eq!(answer.header("connection") != "close", kept);
    }
}

#[tokio::test]
async fn a_reused_connection_is_dropped_after_its_earlier_answer() {
    let (server, _, _) = scripted(vec![Fault::Pass, Fault::DropAfter], true).await;
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    stream.write_all(&wire(&batch(&items(0..1)))).await.unwrap();
    while !bytes.ends_with(b"]}") {
        let count = stream.read(&mut chunk).await.unwrap();
        assert!(count > 0, "an answer");
        bytes.extend_from_slice(&chunk[..count]);
    }
    stream.write_all(&wire(&batch(&items(1..2)))).await.unwrap();
    assert_eq!(stream.read(&mut chunk).await.unwrap_or(0), 0);
    assert_eq!(rows(&server).await, 2);
}

#[tokio::test]
async fn scripted_answers_come_to_the_letter() {
    let answer = |status: u16, body: &'static str| {
        Response::builder()
            .status(status)
            .header("x-mark", "1")
            .header("retry-after", "7")
            .body(Body::from(body))
            .unwrap()
    };
    let faults = vec![Fault::Answer(answer(502, "<html>")), Fault::AnswerAfter(answer(200, "{\"results\":[{\"cli"))];
    let (server, api, _) = scripted(faults, false).await;
    let first = api.sync(&items(0..1)).await;
    assert_eq!(
        (first.status, &*first.text, first.header("x-mark"), first.header("retry-after")),
        (502, "<html>", "1", "7")
    );
    assert!(!first.header("date").is_empty());
    assert_eq!(first.header("content-security-policy"), "", "nothing is added");
    assert_eq!(rows(&server).await, 0);
    let second = api.sync(&items(0..1)).await;
    assert_eq!((second.status, &*second.text), (200, "{\"results\":[{\"cli"));
    assert_eq!(rows(&server).await, 1);
}

#[tokio::test]
async fn an_answer_may_break_off_in_its_body() {
    let whole = r#"{"results":[]}"#;
    let (server, api, _) =
        scripted(vec![Fault::AnswerAfter(broken_off(whole, 10)), Fault::Answer(broken_off(whole, 10))], false).await;
    let bytes = String::from_utf8(raw(&server, &batch(&items(0..1))).await).unwrap();
    let (head, body) = bytes.split_once("\r\n\r\n").unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK") && head.contains(&format!("content-length: {}", whole.len())),
        "{head}"
    );
    assert_eq!(body, &whole[..10]);
    assert_eq!(rows(&server).await, 1);
    api.post("{}").send().await.unwrap().bytes().await.expect_err("half a body is no body");
}

#[tokio::test]
async fn requests_are_seen_byte_for_byte_and_counted() {
    let (server, api, seen) = scripted(vec![Fault::DropAfter], false).await;
    let body = " {\"items\" : [ ] }\n";
    api.post(body).send().await.expect_err("no answer");
    api.post(body).send().await.unwrap();
    api.get("api/memories?limit=1").await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.iter().map(|request| request.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((&seen[0].body[..], &seen[1].body[..]), (body.as_bytes(), body.as_bytes()));
    assert_eq!((seen[0].method.as_str(), &*seen[0].path), ("POST", "/api/memories/sync"));
    assert_eq!(seen[2].path, "/api/memories?limit=1");
    assert_eq!(seen[0].headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn a_delay_delays_and_a_hang_hangs_until_the_stop() {
    let (server, api, _) = scripted(vec![Fault::Delay(Duration::from_millis(300)), Fault::Hang], false).await;
    let started = Instant::now();
    api.results(&items(0..1)).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
    let hanging = api.clone();
    let mut hanging = tokio::spawn(async move { hanging.post(batch(&items(1..2))).send().await.is_err() });
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut hanging).await.is_err(), "it hangs");
    assert_eq!(rows(&server).await, 1);
    assert_eq!(api.statuses(&items(2..3)).await, ["created"], "others go on");
    let started = Instant::now();
    server.stop().await;
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(hanging.await.unwrap());
}

#[tokio::test]
async fn a_stop_lets_running_requests_finish_and_takes_no_new_ones() {
    let (server, api, seen) = scripted(vec![Fault::Delay(Duration::from_millis(500))], true).await;
    let running = api.clone();
    let running = tokio::spawn(async move { running.results(&items(0..1)).await });
    while seen.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let addr = server.addr();
    server.stop().await;
    assert_eq!(running.await.unwrap()[0]["status"], "created");
    assert!(TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn a_stop_has_a_bound_and_a_kill_waits_for_nobody() {
    for kill in [false, true] {
        let hook: Hook = Arc::new(|_| Box::pin(async { Fault::Delay(Duration::from_secs(60)) }));
        let patience = Duration::from_millis(300);
        let server = builder(Database::memory()).fault(hook).patience(patience).start().await.unwrap();
        let api = Api::new(&server.url(), TOKEN);
        let running = tokio::spawn(async move { api.post("{}").send().await.is_err() });
        while server.requests() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let started = Instant::now();
        if kill {
            server.kill().await;
        } else {
            server.stop().await;
        }
        assert!(started.elapsed() < Duration::from_secs(3));
        assert_eq!(started.elapsed() >= patience, !kill);
        assert!(running.await.unwrap());
    }
}

#[tokio::test]
async fn a_port_can_be_taken_again_right_after_a_stop() {
    let (server, api) = in_memory().await;
    let addr = server.addr();
    api.results(&items(0..1)).await;
    server.stop().await;
    let again = builder(Database::memory()).bind(addr).start().await.unwrap();
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    assert!(builder(Database::memory()).bind(addr).start().await.is_err(), "while it is taken it is taken");
    again.stop().await;
}

//! Requests that are refused whole, with no effect.

use std::time::Duration;

use serde_json::json;
use warifu_server::{Database, Limits};

use crate::common::*;

#[tokio::test]
async fn too_many_items_or_bytes_are_refused_with_the_limits() {
    let limits = Limits { max_items: 3, max_bytes: 2000, key_ttl: Duration::from_secs(60) };
    let server = builder(Database::memory()).limits(limits).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    let told = api.get("api/capabilities").await.json();
    assert_eq!(told, json!({"maxItems": 3, "maxBytes": 2000, "keyTtlSeconds": 60}));
    let long = batch(&[item(9, &"x".repeat(2000))]);
    let huge = batch(&[item(9, &"x".repeat(5_000_000))]);
    for body in [batch(&items(0..4)), long, huge] {
        let answer = Answer::of(api.post(body).send().await.unwrap()).await;
        answer.assert_problem(413, "too_large");
        assert_eq!(answer.json()["limits"], told);
    }
    assert_eq!(api.records().await.len(), 0);
    assert_eq!(api.statuses(&items(0..3)).await.len(), 3);
    // To the byte.
    let body = batch(&[item(5, "")]);
    let body = |pad: usize| body.clone() + &" ".repeat(2000 - body.len() + pad);
    assert_eq!(api.post(body(0)).send().await.unwrap().status(), 200);
    assert_eq!(api.post(body(1)).send().await.unwrap().status(), 413);
}

#[tokio::test]
async fn the_default_limits_are_told_and_kept() {
    let (_server, api) = in_memory().await;
    let told = api.get("api/capabilities").await.json();
    assert_eq!((&told["maxItems"], &told["maxBytes"]), (&json!(100), &json!(1_048_576)));
    assert_eq!(api.sync(&items(0..101)).await.status, 413);
    assert_eq!(api.statuses(&items(0..100)).await.len(), 100);
}

#[tokio::test]
async fn a_limit_above_the_frameworks_own_is_kept_too() {
    let limits = Limits { max_bytes: 10 << 20, ..Limits::default() };
    let server = builder(Database::memory()).limits(limits).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    assert_eq!(api.statuses(&[item(1, &"x".repeat(5 << 20))]).await, ["created"]);
}

#[tokio::test]
async fn what_is_no_batch_is_refused_whole() {
    let (_server, api) = in_memory().await;
    let good = item(1, "a");
    let latin = [b"{\"items\":[\"\xe9\"]}".to_vec()].concat();
    let bodies: Vec<Vec<u8>> = [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        "{\"items\":{}}",
        "{\"items\":null}",
        "{\"items\":[}",
        "<html>",
        &format!("[[{good}]]"),
        &format!("{{\"items\":[{good}],\"items\":[]}}"),
        &format!("{{\"items\":[{good}]"),
        &format!("{{\"items\":[{good}]}} x"),
        &format!("{{\"items\":[{good},]}}"),
        &format!("{{\"items\":[{}]}}", "[".repeat(100_000)),
    ]
    .into_iter()
    .map(|text| text.as_bytes().to_vec())
    .chain([latin])
    .collect();
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let answer = Answer::of(api.post(body).send().await.unwrap()).await;
        assert_eq!(answer.status, 400, "{shown}");
        answer.assert_problem(400, "invalid_request");
        assert!(!answer.text.contains("body of 1"), "a refusal does not quote: {}", answer.text);
    }
    assert_eq!(api.records().await.len(), 0);
}

#[tokio::test]
async fn only_json_is_taken() {
    let (_server, api) = in_memory().await;
    let body = batch(&items(0..1));
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let request = api.request(reqwest::Method::POST, "api/memories/sync").header("content-type", media_type);
        Answer::of(request.body(body.clone()).send().await.unwrap()).await.assert_problem(415, "invalid_request");
    }
    let none = api.request(reqwest::Method::POST, "api/memories/sync").body(body.clone());
    assert_eq!(none.send().await.unwrap().status(), 415);
    assert_eq!(api.records().await.len(), 0);
    let request = api.request(reqwest::Method::POST, "api/memories/sync");
    let request = request.header("content-type", "Application/JSON; charset=utf-8").body(body);
    assert_eq!(request.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn without_a_live_token_nothing_is_said_or_done() {
    let (_server, api) = in_memory().await;
    let url = format!("{}api/memories/sync", api.url);
    for header in ["", "Bearer", "Bearer ", "Bearer wrong", "Basic dG9rZW4=", "token-of-aki", "Bearer token-of-aki x"] {
        for body in [batch(&items(0..1)), "no json".to_owned(), "x".repeat(3_000_000)] {
            let request = api.client.post(&url).header("authorization", header).body(body);
            let answer = Answer::of(request.send().await.unwrap()).await;
            answer.assert_problem(401, "not_authenticated");
            assert_eq!(answer.header("www-authenticate"), "Bearer");
        }
    }
    assert_eq!(api.with_token("wrong").get("api/memories").await.status, 401);
    assert_eq!(api.records().await.len(), 0);
    let lower = api.client.post(&url).header("authorization", format!("bearer {TOKEN}"));
    assert_eq!(lower.header("content-type", "application/json").body(batch(&[])).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let (_server, api) = in_memory().await;
    for path in ["api", "api/", "api/nothing", "api/memories/sync/x"] {
        api.get(path).await.assert_problem(404, "not_found");
    }
    let answer = api.get("api/memories/sync").await;
    answer.assert_problem(405, "invalid_request");
    assert_eq!(answer.header("allow"), "POST");
}

//! The demo's owners, switches and counts.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use warifu_server::{Database, Running};

use crate::common::*;

async fn demo() -> (Running, Api) {
    let server = builder(Database::memory()).demo(true).start().await.unwrap();
    let session = Api::new(&server.url(), "").get("demo/session").await.json();
    assert_eq!(session["owner"], "demo");
    let api = Api::new(&server.url(), session["token"].as_str().unwrap());
    (server, api)
}

async fn switch(api: &Api, change: Value) -> Value {
    let answer = Answer::of(api.request(Method::PUT, "demo/switches").json(&change).send().await.unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let now = answer.json();
    assert_eq!(api.get("demo/switches").await.json(), now);
    now
}

#[tokio::test]
async fn there_are_two_owners_apart() {
    let (_server, demo) = demo().await;
    let session = demo.get("demo/session?owner=demo2").await.json();
    let demo2 = demo.with_token(session["token"].as_str().unwrap());
    assert_eq!(demo.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(demo2.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(demo2.statuses(&items(0..2)).await, ["duplicated", "created"]);
    assert_eq!(demo.get("demo/rows").await.json()["rows"], 1);
    assert_eq!(demo2.get("demo/rows").await.json()["rows"], 2, "whose token it is");
    assert_eq!(demo.get("demo/rows?owner=demo2").await.json()["rows"], 2);
    demo.get("demo/session?owner=aki").await.assert_problem(404, "not_found");
    demo.get("demo/rows?owner=aki").await.assert_problem(404, "not_found");
    demo.get("demo/nothing").await.assert_problem(404, "not_found");
}

#[tokio::test]
async fn three_attempts_are_one_row() {
    let (_server, api) = demo().await;
    let off = json!({"dropAnswers": 0, "stopAnswering": false, "delayMs": 0, "failWith": null, "failCount": null,
        "pauseMs": 0, "aheadSeconds": 0});
    assert_eq!(api.get("demo/switches").await.json(), off);
    assert_eq!(switch(&api, json!({"dropAnswers": 2})).await["dropAnswers"], 2);
    for _ in 0..2 {
        api.post(batch(&items(0..1))).send().await.expect_err("no answer");
    }
    assert_eq!(api.get("demo/switches").await.json(), off);
    let result = &api.results(&items(0..1)).await[0];
    assert_eq!(result["status"], "duplicated");
    assert_eq!(
        api.get("demo/rows").await.json(),
        json!({"rows": 1, "requests": 3, "perMemory": [
            {"clientMemoryId": id(0), "memory_id": result["memory_id"], "requests": 3}
        ]})
    );
}

#[tokio::test]
async fn stopped_requests_wait_undone_and_go_on_when_switched_on_again() {
    let (server, api) = demo().await;
    switch(&api, json!({"stopAnswering": true})).await;
    let waiting = api.clone();
    let mut waiting = tokio::spawn(async move { waiting.results(&items(0..1)).await });
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut waiting).await.is_err());
    let rows = api.get("demo/rows").await.json();
    assert_eq!((&rows["rows"], &rows["requests"]), (&json!(0), &json!(1)));
    assert_eq!(rows["perMemory"], json!([{"clientMemoryId": id(0), "memory_id": null, "requests": 1}]));
    assert_eq!(api.get("api/memories").await.status, 200, "only the sync is stopped");
    switch(&api, json!({"stopAnswering": false})).await;
    assert_eq!(waiting.await.unwrap()[0]["status"], "created");
    // A stopped request does not hold up the end.
    switch(&api, json!({"stopAnswering": true})).await;
    let waiting = tokio::spawn(async move { api.post(batch(&items(1..2))).send().await.is_err() });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let started = Instant::now();
    server.stop().await;
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(waiting.await.unwrap());
}

#[tokio::test]
async fn failures_come_as_often_as_told_and_store_nothing() {
    let (_server, api) = demo().await;
    switch(&api, json!({"failWith": 503, "failCount": 2})).await;
    for _ in 0..2 {
        api.sync(&items(0..1)).await.assert_problem(503, "busy");
    }
    assert_eq!(api.get("demo/rows").await.json()["rows"], 0);
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    switch(&api, json!({"failWith": 401})).await;
    for _ in 0..3 {
        api.sync(&items(1..2)).await.assert_problem(401, "not_authenticated");
    }
    switch(&api, json!({"failWith": null})).await;
    assert_eq!(api.statuses(&items(1..2)).await, ["created"]);
}

#[tokio::test]
async fn a_delay_comes_first() {
    let (_server, api) = demo().await;
    switch(&api, json!({"delayMs": 300})).await;
    let started = Instant::now();
    api.results(&items(0..1)).await;
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[tokio::test]
async fn what_is_no_switch_is_refused_and_changes_nothing() {
    let (_server, api) = demo().await;
    for body in ["{", "[]", r#"{"dropAnswers":-1}"#, r#"{"dropAnswer":1}"#, r#"{"dropAnswers":1,"failWith":200}"#] {
        let answer = api.request(Method::PUT, "demo/switches").body(body).send().await.unwrap();
        Answer::of(answer).await.assert_problem(400, "invalid_request");
    }
    assert_eq!(api.get("demo/switches").await.json()["dropAnswers"], 0);
}

#[tokio::test]
async fn without_the_demo_nothing_of_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::path(folder.path().join("rows.sqlite"));
    let server = builder(database.clone()).demo(true).start().await.unwrap();
    let api = Api::new(&server.url(), "");
    let token = api.get("demo/session").await.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(Api::new(&server.url(), &token).statuses(&items(0..1)).await, ["created"]);
    server.stop().await;
    let server = builder(database).start().await.unwrap();
    let api = Api::new(&server.url(), &token);
    for path in ["demo/session", "demo/switches", "demo/rows"] {
        assert_eq!(api.get(path).await.status, 404);
    }
    api.sync(&items(0..1)).await.assert_problem(401, "not_authenticated");
}

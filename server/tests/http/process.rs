//! The program itself: its commands, its signals, its log.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::*;
use crate::place::{Place, on_each};
use crate::program::{Process, program};

on_each!(
    killed_after_the_commit_and_started_again_it_has_one_row,
    both_signals_end_it_in_order,
    a_token_is_printed_once_and_opens_its_owners_rows,
    the_log_is_structured_and_holds_nobodys_words,
);

async fn token(url: &str, owner: &str) -> String {
    let add = ["token", "add", "--owner", owner];
    let output = program().args(add).env("DATABASE_URL", url).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

async fn killed_after_the_commit_and_started_again_it_has_one_row(place: Place) {
    let process = Process::start(&place.url, &["--demo"]).await;
    let api = Api::new(&process.url, "");
    let api = api.with_token(api.get("demo/session").await.json()["token"].as_str().unwrap());
    let switches = api.request(reqwest::Method::PUT, "demo/switches").json(&json!({"dropAnswers": 1}));
    assert_eq!(switches.send().await.unwrap().status(), 200);
    api.post(batch(&items(0..3))).send().await.expect_err("no answer");
    assert_eq!(process.end("-KILL").await.0, None);
    let process = Process::start(&place.url, &["--demo"]).await;
    let api = Api::new(&process.url, &api.token);
    assert!(api.statuses(&items(0..3)).await.iter().all(|status| status == "duplicated"));
    assert_eq!(api.records().await.len(), 3);
}

async fn both_signals_end_it_in_order(place: Place) {
    for (n, signal) in [(0, "-TERM"), (1, "-INT")] {
        let process = Process::start(&place.url, &["--demo"]).await;
        let api = Api::new(&process.url, "");
        let api = api.with_token(api.get("demo/session").await.json()["token"].as_str().unwrap());
        let switches = api.request(reqwest::Method::PUT, "demo/switches").json(&json!({"delayMs": 0}));
        assert_eq!(switches.send().await.unwrap().status(), 200);
        assert_eq!(api.statuses(&items(n..n + 1)).await, ["created"]);
        let (code, log) = process.end(signal).await;
        assert_eq!(code, Some(0), "{log}");
        if let Some(path) = place.url.strip_prefix("sqlite:") {
            assert!(!Path::new(&format!("{path}-wal")).exists(), "the database was closed");
        }
    }
}

async fn a_token_is_printed_once_and_opens_its_owners_rows(place: Place) {
    let (first, second, other) =
        (token(&place.url, "aki").await, token(&place.url, "aki").await, token(&place.url, "haru").await);
    assert!(first != second && first.len() > 60);
    let process = Process::start(&place.url, &[]).await;
    let api = Api::new(&process.url, &first);
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(api.with_token(&second).statuses(&items(0..1)).await, ["duplicated"]);
    assert_eq!(api.with_token(&other).records().await.len(), 0);
    let refused =
        program().args(["token", "add", "--owner", ""]).env("DATABASE_URL", &place.url).output().await.unwrap();
    assert!(!refused.status.success());
}

async fn the_log_is_structured_and_holds_nobodys_words(place: Place) {
    let token = token(&place.url, "aki").await;
    let process = Process::start(&place.url, &["--log-json"]).await;
    let api = Api::new(&process.url, &token);
    let secret = "himitsu";
    let good = format!(
        r#"{{"clientMemoryId":"{}","title":"{secret}","body":"{secret}","createdAt":"{secret}","{secret}":"{secret}"}}"#,
        id(1)
    );
    let bad = format!(r#"{{"clientMemoryId":"{secret}","title":"{secret}\u0000"}}"#);
    assert_eq!(
        api.statuses(&[good.clone(), bad, good.replace("title", "x")]).await,
        ["created", "rejected", "rejected"]
    );
    assert_eq!(api.post(format!("{{\"items\":[\"{secret}\"")).send().await.unwrap().status(), 400);
    assert_eq!(api.with_token(secret).get(&format!("api/memories?after={secret}")).await.status, 401);
    assert_eq!(api.get(&format!("api/memories?after={secret}")).await.status, 400);
    assert_eq!(api.get("api/memories").await.status, 200);
    let (_, log) = process.end("-TERM").await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    let synced = lines.iter().find(|line| line["fields"]["message"] == "synced").expect("the sync is logged");
    assert_eq!((&synced["fields"]["created"], &synced["fields"]["rejected"]), (&json!(1), &json!(2)));
    assert!(lines.iter().any(|line| line["fields"]["status"] == 401));
    assert!(!log.contains(secret) && !log.contains(&token), "{log}");
}

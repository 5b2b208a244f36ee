//! What a webview on another origin is allowed and shown.

use std::time::Duration;

use reqwest::Method;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use warifu_server::{Database, Running};

use crate::common::*;

const ORIGINS: [&str; 4] =
    ["https://localhost", "capacitor://localhost", "ionic://localhost", "https://app.example:8443"];

async fn server(database: Database) -> (Running, Api) {
    let server = builder(database).allow_origin(ORIGINS[3]).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    (server, api)
}

async fn from_origin(api: &Api, origin: &str, body: String) -> Answer {
    Answer::of(api.post(body).header("origin", origin).send().await.unwrap()).await
}

fn assert_readable(answer: &Answer, origin: &str) {
    assert_eq!(answer.header("access-control-allow-origin"), origin, "{}", answer.status);
    let exposed = answer.header("access-control-expose-headers").to_lowercase();
    let exposed: Vec<_> = exposed.split(',').map(str::trim).collect();
    for name in ["retry-after", "date", "idempotency-replayed"] {
        assert!(exposed.contains(&name), "{} does not expose {name}", answer.status);
    }
    assert!(answer.header("vary").contains("origin"));
    assert!(answer.header("date").ends_with("GMT"), "{}", answer.status);
}

#[tokio::test]
async fn preflights_allow_what_the_client_sends() {
    let (_server, api) = server(Database::memory()).await;
    let headers = ["authorization", "content-type", "content-digest", "idempotency-key", "x-idempotency-token"];
    for origin in ORIGINS {
        for method in ["POST", "PUT", "DELETE", "GET"] {
            let request = api.client.request(Method::OPTIONS, format!("{}api/memories/sync", api.url));
            let request = request
                .header("origin", origin)
                .header("access-control-request-method", method)
                .header("access-control-request-headers", headers.join(","));
            let answer = Answer::of(request.send().await.unwrap()).await;
            assert!((200..300).contains(&answer.status));
            assert_eq!(answer.header("access-control-allow-origin"), origin);
            assert!(answer.header("access-control-allow-methods").split(',').any(|m| m == method));
            let allowed = answer.header("access-control-allow-headers").to_lowercase();
            for name in headers {
                assert!(allowed.split(',').any(|allowed| allowed.trim() == name), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn other_origins_are_shown_nothing() {
    let (_server, api) = server(Database::memory()).await;
    for origin in ["https://evil.example", "http://localhost", "https://localhost:8443", "https://app.example", "null"]
    {
        let answer = from_origin(&api, origin, batch(&[])).await;
        assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
    }
}

#[tokio::test]
async fn every_answer_can_be_read_and_dated_refusals_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let (server, api) = server(Database::path(&path).busy_timeout(Duration::from_millis(700))).await;
    let mut beside = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    for origin in ORIGINS {
        let answers = [
            (200, from_origin(&api, origin, batch(&items(0..1))).await),
            (400, from_origin(&api, origin, "{".to_owned()).await),
            (401, from_origin(&api.with_token("dead"), origin, batch(&[])).await),
            (413, from_origin(&api, origin, "x".repeat(2 << 20)).await),
            (413, from_origin(&api, origin, batch(&items(0..101))).await),
        ];
        for (status, answer) in answers {
            assert_eq!(answer.status, status);
            assert_readable(&answer, origin);
        }
        let missing = api.request(Method::GET, "api/none").header("origin", origin).send().await.unwrap();
        assert_readable(&Answer::of(missing).await, origin);
        let lock = beside.begin_with("BEGIN IMMEDIATE").await.unwrap();
        let busy = from_origin(&api, origin, batch(&items(1..2))).await;
        lock.rollback().await.unwrap();
        assert_eq!((busy.status, busy.header("retry-after")), (503, "1"));
        assert_readable(&busy, origin);
    }
    server.repository().close().await;
    for origin in ORIGINS {
        let failed = from_origin(&api, origin, batch(&items(0..1))).await;
        assert_eq!(failed.status, 500);
        assert_readable(&failed, origin);
    }
}

#[tokio::test]
async fn what_is_no_origin_is_refused_at_the_start() {
    for origin in ["*", "app.example", "https://app.example/", "https://", "https://a b"] {
        assert!(builder(Database::memory()).allow_origin(origin).start().await.is_err(), "{origin}");
    }
}

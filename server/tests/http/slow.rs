//! Beside a slow transaction: whoever waits for it, whoever does not, and whoever reads.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json, value::RawValue};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _};
use warifu_server::canonical::{self, Fingerprint};

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(
    a_batch_of_new_racing_invalid_and_new_costs_none_of_them_anything,
    a_walk_of_the_listing_beside_a_slow_transaction_misses_nothing,
    the_same_key_waits_for_the_first_and_is_told_when_that_takes_too_long,
);

/// Creates a memory by hand in a transaction that is left open.
async fn slow_create(place: &Place, beside: &mut AnyConnection, row: i64, item: &str) {
    let raw: &RawValue = serde_json::from_str(item).unwrap();
    let fingerprint = Fingerprint::new(item, &canonical::text(raw).unwrap());
    let id = raw.get()[19..].split('"').next().unwrap();
    let bytes = |hash: [u8; 32]| {
        let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        if place.is_postgres() { format!("'\\x{hex}'") } else { format!("x'{hex}'") }
    };
    let begin = if place.is_postgres() { "BEGIN" } else { "BEGIN IMMEDIATE" };
    let sql = format!(
        "{begin};
         INSERT INTO operations (owner, key, endpoint, target, row_id, fingerprint_version, fingerprint, raw_hash)
         VALUES ('aki', '{id}', 'memories.create', '', {row}, {}, {}, {});
         UPDATE owners SET last_change = last_change + 1 WHERE owner = 'aki';
         INSERT INTO memories (owner, id, client_memory_id, title, body, extra, change_number)
         VALUES ('aki', {row}, '{id}', 'slow', '', '{{}}', (SELECT last_change FROM owners WHERE owner = 'aki'))",
        fingerprint.version,
        bytes(fingerprint.canonical),
        bytes(fingerprint.raw),
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(beside).await.unwrap();
}

async fn end(mut beside: AnyConnection, how: &'static str) {
    sqlx::raw_sql(how).execute(&mut beside).await.unwrap();
    beside.close().await.unwrap();
}

async fn a_batch_of_new_racing_invalid_and_new_costs_none_of_them_anything(place: Place) {
    let (_server, api) = place.start().await;
    let mut beside = place.beside().await;
    let racing = item(2, "racing");
    slow_create(&place, &mut beside, 900, &racing).await;
    let invalid = format!(r#"{{"clientMemoryId":"{}","title":"a\u0000","body":""}}"#, id(3));
    let batch = [item(4, "new"), racing, invalid, item(1, "new"), item(2, "other")];
    let waiting = tokio::spawn({
        let api = api.clone();
        async move { api.results(&batch).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!waiting.is_finished(), "it waits for the one that may come first");
    end(beside, "COMMIT").await;
    let mut results = waiting.await.unwrap();
    let rows: Vec<_> = [&results[0], &results[3]].iter().map(|result| result["memory_id"].as_i64().unwrap()).collect();
    assert!(rows[0] != rows[1] && !rows.contains(&900));
    for n in [0, 3] {
        results[n]["memory_id"] = json!("its own");
    }
    let error =
        json!({"code": "invalid_item", "detail": "text must not contain the character U+0000", "field": "title"});
    assert_eq!(
        json!(results),
        json!([
            {"clientMemoryId": id(4), "memory_id": "its own", "status": "created", "revision": 1},
            {"clientMemoryId": id(2), "memory_id": 900, "status": "duplicated", "revision": 1},
            {"clientMemoryId": id(3), "status": "rejected", "error": error},
            {"clientMemoryId": id(1), "memory_id": "its own", "status": "created", "revision": 1},
            {"clientMemoryId": id(2), "memory_id": 900, "status": "conflict", "revision": 1},
        ])
    );
    assert_eq!(api.records().await.len(), 3);
}

async fn a_walk_of_the_listing_beside_a_slow_transaction_misses_nothing(place: Place) {
    let (_server, api) = place.start().await;
    api.results(&items(0..3)).await;
    let mut beside = place.beside().await;
    slow_create(&place, &mut beside, 900, &item(100, "slow")).await;
    // Of another owner nobody waits on PostgreSQL; on SQLite there is one writer at a time.
    if place.is_postgres() {
        assert_eq!(api.with_token(OTHER_TOKEN).statuses(&items(0..1)).await, ["created"]);
    }
    let writing = tokio::spawn({
        let api = api.clone();
        async move { api.results(&items(3..6)).await }
    });
    let (mut seen, mut after, started) = (BTreeSet::new(), "0".to_owned(), Instant::now());
    let mut beside = Some(beside);
    loop {
        if started.elapsed() > Duration::from_millis(400)
            && let Some(beside) = beside.take()
        {
            end(beside, "COMMIT").await;
        }
        let last = beside.is_none() && writing.is_finished();
        let page = api.get(&format!("api/memories?limit=2&after={after}")).await.json();
        seen.extend(page["records"].as_array().unwrap().iter().map(|record| record["clientMemoryId"].to_string()));
        page["next"].as_str().unwrap().clone_into(&mut after);
        if last && page["hasMore"] == false {
            break;
        }
    }
    writing.await.unwrap();
    let all = (0..6).chain([100]).map(|n| Value::from(id(n)).to_string()).collect();
    assert_eq!(seen, all);
}

async fn the_same_key_waits_for_the_first_and_is_told_when_that_takes_too_long(place: Place) {
    let database = place.database().busy_timeout(Duration::from_millis(300));
    let server = builder(database).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    let mut beside = place.beside().await;
    let body = item(1, "slow");
    slow_create(&place, &mut beside, 900, &body).await;
    let answer = api.create("memories", &id(1), &body).await;
    // SQLite cannot know whose key the writer holds the whole database for.
    if place.is_postgres() {
        answer.assert_problem(409, "in_progress");
    } else {
        answer.assert_problem(503, "busy");
    }
    assert_eq!(answer.header("retry-after"), "1");
    end(beside, "ROLLBACK").await;
    assert_eq!(api.create("memories", &id(1), &body).await.status, 201, "the first was never done");
    let (_patient, patient) = place.start().await;
    let mut beside = place.beside().await;
    slow_create(&place, &mut beside, 901, &item(2, "slow")).await;
    if place.is_postgres() {
        // A server can be started meanwhile.
        place.start().await;
    }
    let (key, body) = (id(2), item(2, "slow"));
    let (answer, ()) = tokio::join!(patient.create("memories", &key, &body), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        end(beside, "COMMIT").await;
    });
    assert_eq!((answer.status, &answer.json()["memory_id"]), (200, &json!(901)));
}

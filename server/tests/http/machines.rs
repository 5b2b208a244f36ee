//! Several servers on one database, and servers that are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use tokio::sync::Mutex;

use crate::common::*;
use crate::place::{Place, on_each};
use crate::program::Process;

on_each!(
    fifty_requests_through_three_servers_are_one_row,
    fifty_writers_among_readers_meet_no_500,
    a_server_killed_at_any_moment_leaves_every_key_unknown_or_complete,
);

const DEMO_TOKEN: &str = "warifu_demo_token";

async fn servers(place: &Place, count: usize) -> (Vec<Process>, Vec<Api>) {
    let (mut processes, mut apis) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let process = Process::with_log(&place.url, &["--demo"], "warn").await;
        apis.push(Api::new(&process.url, DEMO_TOKEN));
        processes.push(process);
    }
    (processes, apis)
}

fn invoice(number: &str) -> String {
    format!(r#"{{"terminal_id":"till","number":"{number}","total":"1","currency":"JPY"}}"#)
}

async fn fifty_requests_through_three_servers_are_one_row(place: Place) {
    let (_processes, apis) = servers(&place, 3).await;
    for api in &apis {
        let switches = api.request(Method::PUT, "demo/switches").json(&json!({"pauseMs": 1500}));
        assert_eq!(switches.send().await.unwrap().status(), 200);
    }
    for (resource, key, body) in [("invoices", "one-key", invoice("1")), ("memories", &id(1), item(1, "a"))] {
        let requests = (0..50).map(|n| apis[n % 3].create(resource, key, &body));
        let answers = join_all(requests).await;
        let mut rows = BTreeSet::new();
        let mut created = 0;
        for answer in &answers {
            match answer.status {
                201 | 200 => {
                    let record = answer.json();
                    rows.insert(record.get("id").unwrap_or(&record["memory_id"]).to_string());
                    created += usize::from(answer.status == 201);
                }
                409 => {
                    answer.assert_problem(409, "in_progress");
                    assert!(answer.header("retry-after").parse::<u32>().is_ok());
                }
                other => panic!("{other}: {}", answer.text),
            }
        }
        assert_eq!((rows.len(), created), (1, 1), "{resource}");
    }
    assert_eq!(place.number("SELECT count(*) FROM invoices").await, 1);
    assert_eq!(place.number("SELECT count(*) FROM memories").await, 1);
    assert_eq!(place.number("SELECT count(*) FROM operations").await, 2);
}

async fn fifty_writers_among_readers_meet_no_500(place: Place) {
    let (_processes, apis) = servers(&place, 2).await;
    let apis = Arc::new(apis);
    let writers = (0..50_u32).map(|w| {
        let apis = apis.clone();
        tokio::spawn(async move {
            let api = &apis[w as usize % apis.len()];
            for n in 0..4 {
                // Every invoice is sent twice, by two writers.
                let number = format!("{}-{n}", w / 2);
                let answer = api.create("invoices", &number, &invoice(&number)).await;
                assert!(matches!(answer.status, 200 | 201), "{}: {}", answer.status, answer.text);
                let batch = w * 100 + n * 10..w * 100 + n * 10 + 5;
                api.results(&items(batch)).await;
            }
        })
    });
    let readers = (0..10_usize).map(|r| {
        let apis = apis.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                for path in ["api/memories?limit=50", "api/invoices?limit=50"] {
                    assert_eq!(apis[r % apis.len()].get(path).await.status, 200);
                }
            }
        })
    });
    let tasks: Vec<_> = writers.collect::<Vec<_>>().into_iter().chain(readers).collect();
    join_all(tasks).await.into_iter().for_each(|done| done.unwrap());
    assert_eq!(place.number("SELECT count(*) FROM invoices").await, 100);
    assert_eq!(place.number("SELECT count(*) FROM memories").await, 1000);
}

/// What the clients of a killed server know.
#[derive(Default)]
struct Sent {
    /// Each create's resource, key and body.
    all: Vec<(&'static str, String, String)>,
    /// The ids that were told.
    told: BTreeMap<String, String>,
}

fn row(answer: &Answer) -> String {
    let record = answer.json();
    record.get("id").unwrap_or(&record["memory_id"]).to_string()
}

async fn a_server_killed_at_any_moment_leaves_every_key_unknown_or_complete(place: Place) {
    let kills = if std::env::var_os("WARIFU_LONG").is_some() { 200 } else { 20 };
    let sent = Arc::new(Mutex::new(Sent::default()));
    for kill in 0..kills {
        let process = Process::with_log(&place.url, &["--demo"], "off").await;
        let api = Api::new(&process.url, DEMO_TOKEN);
        let load = (0..6_u32).map(|client| {
            let (api, sent) = (api.clone(), sent.clone());
            tokio::spawn(async move {
                for n in 0.. {
                    let number = kill * 10_000 + client * 1000 + n;
                    let (resource, key, body) = match client % 2 {
                        0 => ("invoices", format!("key-{number}"), invoice(&number.to_string())),
                        _ => ("memories", id(number), item(number, "a")),
                    };
                    sent.lock().await.all.push((resource, key.clone(), body.clone()));
                    let request =
                        api.request(Method::POST, &format!("api/{resource}/")).header("idempotency-key", &key);
                    let Ok(answer) = request.header("content-type", "application/json").body(body).send().await else {
                        return;
                    };
                    assert_eq!(answer.status(), 201);
                    // The answer itself may be cut.
                    if let Ok(text) = answer.text().await {
                        let answer = Answer { status: 201, headers: Default::default(), text };
                        sent.lock().await.told.insert(key, row(&answer));
                    }
                }
            })
        });
        let load = load.collect::<Vec<_>>();
        // Counted in answers, not in time: a busy machine is killed as often in the middle of its work as an idle one.
        let told = sent.lock().await.told.len();
        let enough = told + if kill % 5 == 0 { 0 } else { fastrand::usize(2..14) };
        let give_up = Instant::now() + Duration::from_secs(30);
        while sent.lock().await.told.len() < enough && Instant::now() < give_up {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_micros(fastrand::u64(0..20_000))).await;
        process.kill().await;
        join_all(load).await.into_iter().for_each(|client| client.unwrap());
    }
    let halves = place
        .number(
            "SELECT (SELECT count(*) FROM operations o
                     LEFT JOIN invoices i ON i.owner = o.owner AND i.id = o.row_id AND i.idempotency_key = o.key
                     LEFT JOIN memories m ON m.owner = o.owner AND m.id = o.row_id AND m.client_memory_id = o.key
                     WHERE i.id IS NULL AND m.id IS NULL)
                  + (SELECT count(*) FROM invoices i
                     LEFT JOIN operations o ON o.owner = i.owner AND o.key = i.idempotency_key WHERE o.key IS NULL)
                  + (SELECT count(*) FROM memories m
                     LEFT JOIN operations o ON o.owner = m.owner AND o.key = m.client_memory_id WHERE o.key IS NULL)",
        )
        .await;
    assert_eq!(halves, 0, "a key without its row, or a row without its key");
    let (_processes, apis) = servers(&place, 1).await;
    let sent = sent.lock().await;
    assert!(sent.told.len() > 20 && sent.told.len() < sent.all.len(), "{} of {}", sent.told.len(), sent.all.len());
    for (resource, key, body) in &sent.all {
        let answer = apis[0].create(resource, key, body).await;
        match sent.told.get(key) {
            Some(told) => assert_eq!((answer.status, row(&answer)), (200, told.clone())),
            None => assert!(matches!(answer.status, 200 | 201), "{}", answer.text),
        }
    }
    let rows = place.number("SELECT (SELECT count(*) FROM invoices) + (SELECT count(*) FROM memories)").await;
    assert_eq!(usize::try_from(rows).unwrap(), sent.all.len());
}

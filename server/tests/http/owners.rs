//! One owner sees and changes nothing of another's.

use reqwest::Method;
use serde_json::json;
use warifu_server::resource::RESOURCES;
use warifu_test_postgres::Cluster;

use crate::common::*;
use crate::place::{Place, on_each, tables};

on_each!(a_foreign_id_and_an_absent_one_are_answered_alike_to_the_byte);

/// Every route with an id in it, and a request to it that would be done if the row were ours.
fn requests() -> Vec<(Method, String, String)> {
    let edit = r#"{"title":"x","body":"x","baseRevision":1}"#.to_owned();
    let mut requests = vec![
        (Method::GET, "api/memories/".to_owned(), String::new()),
        (Method::PUT, "api/memories/".to_owned(), edit),
        (Method::DELETE, "api/memories/".to_owned(), String::new()),
    ];
    requests.extend(RESOURCES.iter().map(|resource| (Method::GET, format!("api/{}/", resource.name), String::new())));
    requests
}

async fn a_foreign_id_and_an_absent_one_are_answered_alike_to_the_byte(place: Place) {
    let (_server, aki) = place.start().await;
    let haru = aki.with_token(OTHER_TOKEN);
    let invoice = r#"{"terminal_id":"t","number":"1","total":"1","currency":"JPY"}"#;
    let registration = r#"{"event":"e","email":"a","name":"n"}"#;
    let memory = memory_ids(&aki.results(&[item(1, "hers")]).await)[0];
    let invoice = aki.create("invoices", "i", invoice).await.json()["id"].as_i64().unwrap();
    let registration = aki.create("registrations", "r", registration).await.json()["id"].as_i64().unwrap();
    for (n, (method, path, body)) in (0..).zip(requests()) {
        let row = if path.contains("invoices") {
            invoice
        } else if path.contains("registrations") {
            registration
        } else {
            memory
        };
        let ids = [
            row.to_string(),
            "999999".to_owned(),
            "0".to_owned(),
            "-1".to_owned(),
            "abc".to_owned(),
            "1e3".to_owned(),
            format!("0{row}"),
            format!("+{row}"),
            "99999999999999999999".to_owned(),
            "%00".to_owned(),
        ];
        let mut answers = Vec::new();
        for id in ids {
            let key = format!("key-{n}-{id}");
            let mut answer = haru.keyed(method.clone(), &format!("{path}{id}"), &key, body.clone()).await;
            answer.headers.remove("date");
            assert_eq!(answer.status, 404, "{method} {path}{id}: {}", answer.text);
            answers.push((answer.headers, answer.text));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{method} {path}: {answers:?}");
        let hers = aki.keyed(method.clone(), &format!("{path}{row}"), &format!("hers-{n}"), body).await;
        assert!(hers.status < 300, "the request is done for her: {}", hers.text);
    }
    // Not even a key tells that it was used.
    let [used, free] = [memory.to_string(), "999999".to_owned()].map(|id| {
        let haru = haru.clone();
        async move { haru.keyed(Method::DELETE, &format!("api/memories/{id}"), "hers-1", "").await.text }
    });
    assert_eq!(used.await, free.await);
}

/// Every statement that the server sends is in PostgreSQL's own log.
#[tokio::test(flavor = "multi_thread")]
async fn every_statement_names_the_owner() {
    let cluster = Cluster::shared();
    let place = Place::postgres();
    place.database().open().await.unwrap().close().await;
    let name = place.url.rsplit('/').next().unwrap().to_owned();
    let superuser = Place::at(&cluster.as_superuser(&place.url));
    superuser.run(format!("ALTER DATABASE {name} SET log_statement = 'all'")).await;
    let (server, api) = place.start().await;
    let memory = memory_ids(&api.results(&items(0..3)).await)[0];
    api.results(&items(1..5)).await;
    assert_eq!(api.create("memories", &id(9), &item(9, "x")).await.status, 201);
    assert_eq!(api.edit(memory, "edit", 1, "x").await.status, 200);
    assert_eq!(api.delete(memory, "delete").await.status, 204);
    for (resource, body) in [
        ("invoices", r#"{"terminal_id":"t","number":"1","total":"1","currency":"JPY"}"#),
        ("registrations", r#"{"event":"e","email":"a","name":"n"}"#),
    ] {
        for (key, status) in [("1", 201), ("1", 200), ("2", 409)] {
            assert_eq!(api.create(resource, &format!("{resource}-{key}"), body).await.status, status);
        }
        assert_eq!(api.get(&format!("api/{resource}")).await.status, 200);
    }
    for (method, path, body) in requests() {
        api.keyed(method, &format!("{path}1"), "any", body).await;
    }
    server.repository().names(&"aki".parse().unwrap()).await.unwrap();
    server.repository().forget_expired(0).await.unwrap();
    server.stop().await;
    let log = cluster.log().unwrap();
    let statements = statements(&log, &name);
    let tables = tables();
    let touches =
        |sql: &str, table: &str| sql.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == table);
    let mut checked = 0;
    for sql in &statements {
        if !tables.iter().any(|table| touches(sql, table)) {
            continue;
        }
        let for_all_owners = sql.starts_with("DELETE FROM operations WHERE expires_at IS NOT NULL");
        let named = sql.contains("owner = $1") || (sql.starts_with("INSERT INTO") && sql.contains("(owner"));
        assert!(named || for_all_owners, "{sql}");
        // A join names it on both sides.
        assert!(!sql.contains(" JOIN ") || sql.contains("m.owner = o.owner"), "{sql}");
        checked += 1;
    }
    assert!(checked > 20, "{checked} of {}", statements.len());
    for table in tables {
        assert!(statements.iter().any(|sql| touches(sql, table)), "{table} was never touched");
    }
    assert_eq!(json!(statements.iter().filter(|sql| sql.contains("aki")).count()), 0, "values are never in the text");
}

/// The statements of one database in the log, each on one line.
fn statements(log: &str, database: &str) -> Vec<String> {
    let mut statements: Vec<String> = Vec::new();
    let mut ours = false;
    for line in log.lines() {
        if let Some(rest) = line.strip_prefix('\t') {
            if let (true, Some(last)) = (ours, statements.last_mut()) {
                last.push(' ');
                last.push_str(rest.trim());
            }
            continue;
        }
        let statement = line.strip_prefix(database).and_then(|rest| rest.trim_start().strip_prefix("LOG:  execute "));
        ours = statement.is_some();
        if let Some((_, sql)) = statement.and_then(|rest| rest.split_once(": ")) {
            statements.push(sql.to_owned());
        }
    }
    statements
}

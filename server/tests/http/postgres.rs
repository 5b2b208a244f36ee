//! What only PostgreSQL can do to a server: go away, sacrifice a transaction, take too long.

use std::time::Duration;

use futures_util::future::join_all;
use sqlx::{AssertSqlSafe, Connection as _};
use warifu_server::Database;
use warifu_server::repository::StoreError;
use warifu_test_postgres::Cluster;

use crate::common::*;
use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_gone_everything_waits_and_then_goes_on() {
    let cluster = Cluster::start().unwrap();
    let url = cluster.database("outage").unwrap();
    let database = Database::url(&url).unwrap().busy_timeout(Duration::from_secs(1));
    let server = builder(database).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(api.get("health/ready").await.status, 200);
    cluster.stop().unwrap();
    for answer in [api.sync(&items(0..2)).await, api.create("memories", &id(5), &item(5, "x")).await] {
        answer.assert_problem(503, "busy");
        assert_eq!(answer.header("retry-after"), "1");
    }
    api.get("health/ready").await.assert_problem(503, "busy");
    assert_eq!(api.get("health/live").await.status, 200);
    api.keyed(reqwest::Method::PUT, "health/live", "key", "").await.assert_problem(405, "invalid_request");
    cluster.resume().unwrap();
    assert_eq!(api.statuses(&items(0..2)).await, ["duplicated", "created"]);
    assert_eq!(api.get("health/ready").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_is_sacrificed_to_end_a_deadlock_is_run_again_whole() {
    let place = Place::postgres();
    let (_server, api) = place.start().await;
    let claim = |n: u32| {
        AssertSqlSafe(format!(
            "INSERT INTO operations (owner, key, endpoint, target, row_id, fingerprint_version, fingerprint, raw_hash)
             VALUES ('aki', '{}', 'invoices.create', '', 1, 1, decode(repeat('00', 32), 'hex'), decode(repeat('00', 32), 'hex'))",
            id(n)
        ))
    };
    let mut beside = place.beside().await;
    let mut tx = beside.begin().await.unwrap();
    sqlx::raw_sql(claim(2)).execute(&mut *tx).await.unwrap();
    let waiting = tokio::spawn({
        let api = api.clone();
        async move { api.results(&items(0..4)).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    // The batch holds 1 and waits for 2; this holds 2 and waits for 1. The batch waits longer, so it looks first.
    sqlx::raw_sql(claim(1)).execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let results = waiting.await.unwrap();
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["created", "rejected", "rejected", "created"]);
    let name = place.url.rsplit('/').next().unwrap();
    let log = Cluster::shared().log().unwrap();
    let found = log.lines().any(|line| line.starts_with(name) && line.contains("ERROR:  deadlock detected"));
    assert!(found, "there was a deadlock");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_is_given_up_and_can_be_asked_again() {
    let place = Place::postgres();
    let (_server, patient) = place.start().await;
    let database = place.database().busy_timeout(Duration::from_secs(60)).statement_timeout(Duration::from_millis(300));
    let server = builder(database).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    let mut beside = place.beside().await;
    let mut tx = beside.begin().await.unwrap();
    sqlx::raw_sql("LOCK TABLE memories").execute(&mut *tx).await.unwrap();
    for answer in join_all([api.get("api/memories"), api.get("api/memories/1")].map(Box::pin)).await {
        answer.assert_problem(503, "busy");
    }
    api.sync(&items(0..1)).await.assert_problem(503, "busy");
    tx.rollback().await.unwrap();
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(patient.records().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_unique_key_of_the_rows_begins_with_the_owner() {
    let place = Place::postgres();
    place.start().await;
    let others = "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE i.indisunique AND c.relnamespace = 'public'::regnamespace AND c.relname NOT IN ('tokens', '_sqlx_migrations')
        AND a.attname <> 'owner'";
    assert_eq!(place.number(others).await, 0);
    let all = others.replace("AND a.attname <> 'owner'", "");
    // One of the owners, one of the operations, three of memories, four of each resource.
    assert_eq!(place.number(&all).await, 5 + 4 * i64::try_from(warifu_server::resource::RESOURCES.len()).unwrap());
    let nullable = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public' AND is_nullable = 'YES'
        AND (column_name IN ('owner', 'key', 'idempotency_key', 'client_memory_id', 'id') AND table_name <> '_sqlx_migrations')";
    assert_eq!(place.number(nullable).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_servers_may_start_together_on_a_new_database() {
    let place = Place::postgres();
    let opened = join_all((0..6).map(|_| {
        let database = place.database().busy_timeout(Duration::from_secs(20));
        tokio::spawn(async move { database.open().await.map(|_| ()) })
    }));
    opened.await.into_iter().for_each(|opened| opened.unwrap().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_a_newer_version_is_refused_and_so_is_what_is_no_address() {
    let place = Place::postgres();
    place.start().await.0.stop().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'x', true, ''::bytea, 0)";
    place.run(newer).await;
    assert!(matches!(place.database().open().await.err(), Some(StoreError::Migration(_))));
    for url in ["", "mysql://x", "sqlite:", "postgres://[", "postgres://h:port/x"] {
        let opened = match Database::url(url) {
            Ok(database) => database.busy_timeout(Duration::from_millis(100)).open().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(matches!(opened, Err(StoreError::Url(_))), "{url}: {opened:?}");
    }
}

//! The database itself: its constraints, and what happens when it is held or gone.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use warifu_server::Database;
use warifu_server::repository::{StoreError, TokenHash};

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(a_failure_in_the_middle_keeps_nothing_and_is_no_answer_to_keep, an_id_is_never_given_out_twice);

async fn beside(path: &std::path::Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).busy_timeout(Duration::from_secs(5)).connect().await.unwrap()
}

#[tokio::test]
async fn a_held_store_is_busy_and_says_when_to_ask_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let database = Database::path(&path).busy_timeout(Duration::from_millis(200));
    let server = builder(database).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    let mut holder = beside(&path).await;
    let lock = holder.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let started = Instant::now();
    // The second waits in line behind the first, inside the same bound.
    for answer in join_all([api.sync(&items(0..2)), api.sync(&items(0..2))].map(Box::pin)).await {
        answer.assert_problem(503, "busy");
        assert_eq!(answer.header("retry-after"), "1");
    }
    assert!(started.elapsed() >= Duration::from_millis(200) && started.elapsed() < Duration::from_secs(4));
    assert_eq!(api.records().await.len(), 0, "reading goes on beside a writer");
    lock.rollback().await.unwrap();
    assert_eq!(api.statuses(&items(0..2)).await, ["created", "created"]);
}

#[tokio::test]
async fn a_store_that_fails_is_a_500_that_tells_nothing_of_its_inside() {
    let (server, api) = in_memory().await;
    server.repository().close().await;
    let answer = api.sync(&items(0..1)).await;
    answer.assert_problem(500, "internal");
    for word in ["sqlx", "Pool", "pool", "SQL", "closed"] {
        assert!(!answer.text.contains(word), "{}", answer.text);
    }
}

async fn a_failure_in_the_middle_keeps_nothing_and_is_no_answer_to_keep(place: Place) {
    let (_server, api) = place.start().await;
    let (plant, remove) = if place.is_postgres() {
        let plant = "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.title = 'poison' THEN RAISE EXCEPTION 'x'; END IF; RETURN NEW; END $$;
            CREATE TRIGGER poison BEFORE INSERT OR UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION poison()";
        (plant, "DROP FUNCTION poison CASCADE")
    } else {
        let plant = "CREATE TRIGGER poison BEFORE INSERT ON memories WHEN NEW.title = 'poison'
            BEGIN SELECT raise(ABORT, 'x'); END";
        (plant, "DROP TRIGGER poison")
    };
    place.run(plant).await;
    let poisoned = [item(1, "a"), item(2, "poison"), item(3, "c")];
    for _ in 0..2 {
        api.sync(&poisoned).await.assert_problem(500, "internal");
        api.create("memories", &id(4), &item(4, "poison")).await.assert_problem(500, "internal");
    }
    assert_eq!(api.records().await.len(), 0);
    assert_eq!(place.number("SELECT count(*) FROM operations").await, 0, "no key was kept");
    place.run(remove).await;
    assert_eq!(api.statuses(&poisoned).await, ["created", "created", "created"]);
    assert_eq!(api.create("memories", &id(4), &item(4, "poison")).await.status, 201);
    assert_eq!(api.get("api/memories").await.json()["next"], "4", "no change number was spent");
}

async fn an_id_is_never_given_out_twice(place: Place) {
    let (_server, api) = place.start().await;
    let first = memory_ids(&api.results(&items(0..3)).await);
    place.run("DELETE FROM memories; DELETE FROM operations").await;
    let second = memory_ids(&api.results(&items(0..3)).await);
    assert!(second.iter().min() > first.iter().max(), "{first:?} {second:?}");
}

#[tokio::test]
async fn the_schema_itself_refuses_a_second_row_and_a_row_of_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let server = builder(Database::path(&path)).start().await.unwrap();
    Api::new(&server.url(), TOKEN).results(&items(0..1)).await;
    let mut beside = beside(&path).await;
    let row = |owner: &'static str, id: &'static str| {
        sqlx::query(
            "INSERT INTO memories (owner, id, client_memory_id, title, body, extra, change_number)
             VALUES (?, 100, ?, '', '', '{}', 100)",
        )
        .bind((!owner.is_empty()).then_some(owner))
        .bind((!id.is_empty()).then_some(id))
    };
    let known = "00000000-0000-4000-8000-00000000abcd";
    let new = "11111111-0000-4000-8000-00000000abcd";
    for (owner, id, why) in [
        ("aki", known, "UNIQUE"),
        ("nobody", new, "FOREIGN KEY"),
        ("", new, "NOT NULL"),
        ("aki", "", "NOT NULL"),
        ("aki", "11111111-0000-4000-8000-00000000ABCD", "CHECK"),
    ] {
        let error = row(owner, id).execute(&mut beside).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    row("aki", new).execute(&mut beside).await.unwrap();
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&mut beside).await.unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_may_be_opened_by_many_at_once() {
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.sqlite");
        let opens = (0..6).map(|_| {
            let database = Database::path(&path).busy_timeout(Duration::from_secs(20));
            tokio::spawn(async move { database.open().await.map(|_| ()) })
        });
        for opened in join_all(opens.collect::<Vec<_>>()).await {
            opened.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_or_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    Database::path(&path).open().await.unwrap().close().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (999, 'x', 1, x'', 0)";
    sqlx::raw_sql(newer).execute(&mut beside(&path).await).await.unwrap();
    assert!(matches!(Database::path(&path).open().await.err(), Some(StoreError::Migration(_))));
    let text = folder.path().join("text");
    std::fs::write(&text, "no database ".repeat(1000)).unwrap();
    assert!(matches!(Database::path(&text).open().await.err(), Some(StoreError::Failed(_))));
    assert!(Database::path(folder.path().join("no/such/folder")).open().await.is_err());
}

#[tokio::test]
async fn a_token_is_stored_hashed_and_belongs_to_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.sqlite");
    let store = Database::path(&path).open().await.unwrap();
    let token = warifu_server::new_token().unwrap();
    assert_ne!(token, warifu_server::new_token().unwrap());
    store.add_token(&"aki".parse().unwrap(), TokenHash::of(&token)).await.unwrap();
    assert_eq!(store.owner_of(TokenHash::of(&token)).await.unwrap(), Some("aki".parse().unwrap()));
    assert_eq!(store.owner_of(TokenHash::of("other")).await.unwrap(), None);
    store.close().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(token.len()).any(|window| window == token.as_bytes()));
    }
}

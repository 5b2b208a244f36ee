//! One create at a time: under one key, one row and one answer.

use reqwest::Method;
use serde_json::{Value, json};

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(
    the_first_is_201_and_a_replay_is_200_and_the_same_record,
    other_content_or_another_operation_is_422_and_changes_nothing,
    a_replay_comes_before_validation,
    invalid_content_releases_the_key,
    without_a_key_or_with_two_nothing_is_done,
    another_key_for_the_same_business_is_409_and_names_the_constraint,
    two_owners_may_have_one_key_and_a_new_token_is_the_same_owner,
    a_memory_created_alone_and_in_a_batch_is_one_row,
    a_replay_after_an_edit_tells_what_was_created,
    an_edit_needs_the_revision_that_was_edited,
    a_deleted_memory_leaves_a_tombstone_and_no_words,
    records_are_listed_page_by_page,
    expired_keys_are_forgotten_and_creates_never,
);

fn invoice(n: u32) -> String {
    format!(r#"{{"terminal_id":"till","number":"{n}","total":"12.50","currency":"JPY"}}"#)
}

async fn the_first_is_201_and_a_replay_is_200_and_the_same_record(place: Place) {
    let (_server, api) = place.start().await;
    let registration = r#"{"event":"e","email":"a@example.com","name":"亜紀"}"#;
    let memory = r#"{"title":"a","body":"b","mood":1.0}"#;
    for (resource, key, body) in
        [("invoices", "one", &*invoice(1)), ("registrations", "two", registration), ("memories", &id(3), memory)]
    {
        let first = api.create(resource, key, body).await;
        assert_eq!(first.status, 201, "{}", first.text);
        assert_eq!(first.header("idempotency-replayed"), "");
        let record = first.json();
        let row = record.get("memory_id").unwrap_or(&record["id"]);
        assert_eq!(first.header("location"), format!("/api/{resource}/{row}"));
        assert_eq!(api.get(&first.header("location")[1..]).await.text, first.text);
        let token = api.request(Method::POST, &format!("api/{resource}")).header("x-idempotency-token", key);
        let token = token.header("content-type", "application/json").body(body.to_owned()).send().await.unwrap();
        for replay in [api.create(resource, &format!("\"{key}\""), body).await, Answer::of(token).await] {
            assert_eq!((replay.status, &replay.text), (200, &first.text));
            assert_eq!(replay.header("idempotency-replayed"), "true");
        }
        // The members in another order, and other whitespace.
        let Value::Object(members) = serde_json::from_str(body).unwrap() else { panic!() };
        let turned: Vec<_> = members.iter().rev().map(|(name, value)| format!(" \"{name}\" : {value}")).collect();
        let turned = format!(" {{{}}} ", turned.join(","));
        assert_eq!(api.create(resource, key, &turned).await.status, 200, "{turned}");
    }
    assert_eq!(api.records().await.len(), 1);
    assert_eq!(api.get("api/invoices/").await.json()["records"].as_array().unwrap().len(), 1);
}

async fn other_content_or_another_operation_is_422_and_changes_nothing(place: Place) {
    let (_server, api) = place.start().await;
    // A memory has the id that the invoice will have: ids of two resources say nothing to each other.
    let memory = memory_ids(&api.results(&items(2..3)).await)[0];
    let first = api.create("invoices", &id(1), &invoice(1)).await;
    assert_eq!(first.json()["id"], memory);
    for other in
        [invoice(2), invoice(1).replace("\"12.50\"", "12.50"), invoice(1).replace('}', ",\"x\":1}"), "{".into()]
    {
        api.create("invoices", &id(1), &other).await.assert_problem(422, "key_mismatch");
    }
    api.create("registrations", &id(1), &invoice(1)).await.assert_problem(422, "key_reused");
    api.create("memories", &id(1), &invoice(1)).await.assert_problem(422, "key_reused");
    let result = &api.results(&items(1..2)).await[0];
    assert_eq!((&result["status"], &result["error"]["code"]), (&json!("rejected"), &json!("key_reused")));
    api.edit(memory, &id(1), 1, "x").await.assert_problem(422, "key_reused");
    api.create("invoices", &id(2), &invoice(9)).await.assert_problem(422, "key_reused");
    let replay = api.create("invoices", &id(1), &invoice(1)).await;
    assert_eq!((replay.status, replay.text), (200, first.text));
    assert_eq!(api.records().await.len(), 1);
    assert_eq!(api.get("api/invoices").await.json()["records"].as_array().unwrap().len(), 1);
}

async fn a_replay_comes_before_validation(place: Place) {
    let (server, api) = place.start().await;
    let owner = "aki".parse().unwrap();
    // What yesterday's rules took, and today's refuse.
    let body = r#"{"terminal_id":"","number":"1","total":"x","currency":"yen"}"#;
    let operation = warifu_server::repository::Operation {
        key: "old".to_owned(),
        endpoint: "invoices.create",
        target: String::new(),
        fingerprint: warifu_server::canonical::Fingerprint::new(body, body),
        expires_at: None,
    };
    let values = ["", "1", "0", "yen"].map(str::to_owned);
    let resource = &warifu_server::resource::RESOURCES[0];
    let store = server.repository();
    let done = store.create_record(&owner, &operation, resource, &values, |_, _| "{\"id\":1}".to_owned());
    done.await.unwrap();
    let replay = api.create("invoices", "old", body).await;
    assert_eq!((replay.status, &*replay.text), (200, "{\"id\":1}"));
    api.create("invoices", "new", body).await.assert_problem(400, "invalid_item");
}

async fn invalid_content_releases_the_key(place: Place) {
    let (_server, api) = place.start().await;
    for (bad, code, field) in [
        (invoice(1).replace("JPY", "yen"), "invalid_item", json!("currency")),
        ("[]".to_owned(), "invalid_item", Value::Null),
        ("{".to_owned(), "invalid_request", Value::Null),
        (invoice(1).replace("till", "a\\u0000b"), "invalid_item", json!("terminal_id")),
    ] {
        let refused = api.create("invoices", "key", &bad).await;
        refused.assert_problem(400, code);
        assert_eq!(refused.json().get("field").unwrap_or(&Value::Null), &field);
    }
    assert_eq!(api.create("invoices", "key", &invoice(1)).await.status, 201);
    let wrong_id = format!(r#"{{"clientMemoryId":"{}","title":"","body":""}}"#, id(8));
    api.create("memories", &id(7), &wrong_id).await.assert_problem(422, "key_mismatch");
    api.create("memories", &id(7), r#"{"title":7,"body":""}"#).await.assert_problem(400, "invalid_item");
    assert_eq!(api.create("memories", &id(7), r#"{"title":"","body":""}"#).await.status, 201);
}

async fn without_a_key_or_with_two_nothing_is_done(place: Place) {
    let (_server, api) = place.start().await;
    let post =
        || api.request(Method::POST, "api/invoices/").header("content-type", "application/json").body(invoice(1));
    Answer::of(post().send().await.unwrap()).await.assert_problem(400, "key_missing");
    let typeless = api.request(Method::POST, "api/invoices/").body(invoice(1));
    Answer::of(typeless.try_clone().unwrap().send().await.unwrap()).await.assert_problem(400, "key_missing");
    let typeless = typeless.header("idempotency-key", "typeless").send().await.unwrap();
    Answer::of(typeless).await.assert_problem(415, "invalid_request");
    for (key, code) in [("", "key_missing"), ("\"\"", "key_missing"), ("\"a", "key_invalid"), ("a, b", "key_invalid")] {
        let answer = Answer::of(post().header("idempotency-key", key).send().await.unwrap()).await;
        answer.assert_problem(400, code);
    }
    let two = post().header("idempotency-key", "a").header("idempotency-key", "b");
    Answer::of(two.send().await.unwrap()).await.assert_problem(400, "key_invalid");
    for key in ["no-uuid", &id(1).replace('-', ""), &format!("{{{}}}", id(1)), &format!("urn:uuid:{}", id(1))] {
        api.create("memories", key, r#"{"title":"","body":""}"#).await.assert_problem(400, "key_invalid");
    }
    let memory = memory_ids(&api.results(&items(0..1)).await)[0];
    let bare = api.request(Method::DELETE, &format!("api/memories/{memory}")).send().await.unwrap();
    Answer::of(bare).await.assert_problem(400, "key_missing");
    assert_eq!(api.get("api/invoices/").await.json()["records"], json!([]));
    // A key is no secret, and says nothing to a stranger.
    assert_eq!(api.create("invoices", "key", &invoice(1)).await.status, 201);
    let stranger = api.with_token("dead");
    let answers =
        [stranger.create("invoices", "key", &invoice(1)).await, stranger.create("invoices", "other", "").await];
    answers.iter().for_each(|answer| answer.assert_problem(401, "not_authenticated"));
    assert_eq!(answers[0].text, answers[1].text);
}

async fn another_key_for_the_same_business_is_409_and_names_the_constraint(place: Place) {
    let (_server, api) = place.start().await;
    assert_eq!(api.create("invoices", "one", &invoice(1)).await.status, 201);
    for _ in 0..2 {
        let refused = api.create("invoices", "two", &invoice(1)).await;
        refused.assert_problem(409, "unique_violation");
        assert_eq!(refused.json()["constraint"], "invoices_business_key");
        assert_eq!(refused.header("retry-after"), "");
    }
    let registration = r#"{"event":"e","email":"a@example.com","name":"x"}"#;
    assert_eq!(api.create("registrations", "r1", registration).await.status, 201);
    let refused = api.create("registrations", "r2", &registration.replace("\"x\"", "\"y\"")).await;
    assert_eq!(refused.json()["constraint"], "registrations_business_key");
    // The key was released: the corrected invoice may use it.
    assert_eq!(api.create("invoices", "two", &invoice(2)).await.status, 201);
    assert_eq!(api.with_token(OTHER_TOKEN).create("invoices", "one", &invoice(1)).await.status, 201);
    assert_eq!(api.get("api/invoices/").await.json()["records"].as_array().unwrap().len(), 2);
}

async fn two_owners_may_have_one_key_and_a_new_token_is_the_same_owner(place: Place) {
    let (server, aki) = place.start().await;
    let haru = aki.with_token(OTHER_TOKEN);
    let hers = aki.create("invoices", "key", &invoice(1)).await;
    let his = haru.create("invoices", "key", &invoice(2)).await;
    assert_eq!((hers.status, his.status), (201, 201));
    assert_ne!(hers.json()["id"], his.json()["id"]);
    let token = warifu_server::repository::TokenHash::of("refreshed");
    server.repository().add_token(&"aki".parse().unwrap(), token).await.unwrap();
    let again = aki.with_token("refreshed").create("invoices", "key", &invoice(1)).await;
    assert_eq!((again.status, again.text), (200, hers.text));
}

async fn a_memory_created_alone_and_in_a_batch_is_one_row(place: Place) {
    let (_server, api) = place.start().await;
    let batched = memory_ids(&api.results(&[item(1, "a")]).await)[0];
    let alone = api.create("memories", &id(1).to_uppercase(), &item(1, "a")).await;
    assert_eq!((alone.status, &alone.json()["memory_id"]), (200, &json!(batched)));
    assert_eq!(alone.header("idempotency-replayed"), "true");
    api.create("memories", &id(1), &item(1, "b")).await.assert_problem(422, "key_mismatch");
    // Alone first, its id only in the key.
    let members = item(2, "c").replace(&format!("\"clientMemoryId\":\"{}\",", id(2)), "");
    let alone = api.create("memories", &id(2), &members).await;
    assert_eq!(alone.status, 201, "{}", alone.text);
    let results = api.results(&[item(2, "c"), item(2, "d")]).await;
    assert_eq!((&results[0]["status"], &results[1]["status"]), (&json!("duplicated"), &json!("conflict")));
    assert_eq!(json!(memory_ids(&results)[0]), alone.json()["memory_id"]);
    // Side by side, many times: one row each.
    for n in 10..30 {
        let (batch, single) = ([item(n, "x")], item(n, "x"));
        let key = id(n);
        let (batched, alone) = tokio::join!(api.results(&batch), api.create("memories", &key, &single));
        assert!(alone.status < 300, "{}", alone.text);
        assert_eq!(json!(memory_ids(&batched)[0]), alone.json()["memory_id"]);
    }
    assert_eq!(api.records().await.len(), 22);
}

async fn a_replay_after_an_edit_tells_what_was_created(place: Place) {
    let (_server, api) = place.start().await;
    let first = api.create("memories", &id(1), r#"{"title":"a","body":"b","createdAt":"then"}"#).await;
    let memory = first.json()["memory_id"].as_i64().unwrap();
    assert_eq!(api.edit(memory, "edit", 1, "later").await.status, 200);
    let replay = api.create("memories", &id(1), r#"{"title":"a","body":"b","createdAt":"then"}"#).await;
    assert_eq!((replay.status, replay.text), (200, first.text));
    let now = api.get(&format!("api/memories/{memory}")).await.json();
    assert_eq!((&now["title"], &now["revision"], &now["createdAt"]), (&json!("later"), &json!(2), &json!("then")));
}

async fn an_edit_needs_the_revision_that_was_edited(place: Place) {
    let (_server, api) = place.start().await;
    let memory = memory_ids(&api.results(&[item(1, "before")]).await)[0];
    let first = api.edit(memory, "edit-1", 1, "after").await;
    assert_eq!((first.status, &first.json()["revision"]), (200, &json!(2)));
    let conflict = api.edit(memory, "edit-2", 1, "mine").await;
    conflict.assert_problem(409, "revision_conflict");
    assert_eq!(
        (&conflict.json()["current"]["title"], &conflict.json()["current"]["revision"]),
        (&json!("after"), &json!(2))
    );
    assert_eq!(api.edit(memory, "edit-2", 2, "mine").await.status, 200, "the key was released");
    let replay = api.edit(memory, "edit-1", 1, "after").await;
    assert_eq!((replay.status, &replay.text), (200, &first.text));
    assert_eq!(replay.header("idempotency-replayed"), "true");
    api.edit(memory, "edit-1", 1, "other").await.assert_problem(422, "key_mismatch");
    let other = memory_ids(&api.results(&[item(2, "x")]).await)[0];
    api.edit(other, "edit-1", 1, "after").await.assert_problem(422, "key_reused");
    let none = api.keyed(Method::PUT, &format!("api/memories/{memory}"), "edit-3", r#"{"title":"","body":""}"#).await;
    none.assert_problem(400, "invalid_item");
    assert_eq!(none.json()["field"], "baseRevision");
    assert!(none.json()["detail"].as_str().unwrap().starts_with("baseRevision is missing"), "{}", none.text);
    for (base, status) in [("3.0", 200), ("3.5", 400), ("\"4\"", 400), ("-1", 400), ("4e0", 400), ("null", 400)] {
        let body = format!(r#"{{"title":"mine","body":"","baseRevision":{base}}}"#);
        let (path, key) = (format!("api/memories/{memory}"), format!("b{base}").replace('"', ""));
        let answer = api.keyed(Method::PUT, &path, &key, body).await;
        assert_eq!(answer.status, status, "{base}: {}", answer.text);
    }
    assert_eq!(api.get(&format!("api/memories/{memory}")).await.json()["title"], "mine");
}

async fn a_deleted_memory_leaves_a_tombstone_and_no_words(place: Place) {
    let (server, api) = place.start().await;
    let body = r#"{"title":"himitsu","body":"himitsu"}"#;
    let memory = api.create("memories", &id(1), body).await.json()["memory_id"].as_i64().unwrap();
    assert_eq!(api.edit(memory, "edit", 1, "himitsu").await.status, 200);
    for (key, status) in [("delete", 204), ("delete", 204)] {
        assert_eq!(api.delete(memory, key).await.status, status);
    }
    api.delete(memory, "another").await.assert_problem(410, "gone");
    api.delete(memory, "edit").await.assert_problem(422, "key_reused");
    api.edit(memory, "edit", 1, "himitsu").await.assert_problem(410, "gone");
    api.edit(memory, "edit-2", 3, "x").await.assert_problem(410, "gone");
    let late = api.edit(memory, "edit-2", 2, "x").await;
    late.assert_problem(409, "revision_conflict");
    assert_eq!(late.json()["current"]["deleted"], true);
    let replay = api.create("memories", &id(1), body).await;
    let tombstone = json!({"memory_id": memory, "clientMemoryId": id(1), "revision": 3, "deleted": true});
    assert_eq!((replay.status, replay.json()), (200, tombstone.clone()));
    assert_eq!(api.get(&format!("api/memories/{memory}")).await.json(), tombstone);
    for key in [&*id(1), "edit", "delete"] {
        let kept = server.repository().operation(&"aki".parse().unwrap(), key).await.unwrap().unwrap();
        assert!(!format!("{kept:?}").contains("himitsu"));
    }
}

async fn records_are_listed_page_by_page(place: Place) {
    let (_server, api) = place.start().await;
    for n in 0..5 {
        assert_eq!(api.create("invoices", &format!("key-{n}"), &invoice(n)).await.status, 201);
        assert_eq!(api.with_token(OTHER_TOKEN).create("invoices", &format!("key-{n}"), &invoice(n)).await.status, 201);
    }
    let (mut seen, mut after) = (Vec::new(), String::new());
    for (count, more) in [(2, true), (2, true), (1, false), (0, false)] {
        let page = api.get(&format!("api/invoices?limit=2&after={after}")).await.json();
        let records = page["records"].as_array().unwrap();
        assert_eq!((records.len(), &page["hasMore"]), (count, &json!(more)));
        seen.extend(records.iter().map(|record| record["number"].as_str().unwrap().to_owned()));
        page["next"].as_str().unwrap().clone_into(&mut after);
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4"]);
    assert_eq!(api.get("api/invoices").await.json()["records"][0]["total"], "12.50");
    api.get("api/invoices?limit=x").await.assert_problem(400, "invalid_request");
}

async fn expired_keys_are_forgotten_and_creates_never(place: Place) {
    let (server, api) = place.start().await;
    let body = r#"{"title":"a","body":"b"}"#;
    let memory = api.create("memories", &id(1), body).await.json()["memory_id"].as_i64().unwrap();
    assert_eq!(api.edit(memory, "edit", 1, "after").await.status, 200);
    assert_eq!(api.create("invoices", "invoice", &invoice(1)).await.status, 201);
    let store = server.repository();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    let ttl = i64::try_from(warifu_server::Limits::default().key_ttl.as_secs()).unwrap();
    assert_eq!(store.forget_expired(now + ttl - 60).await.unwrap(), 0, "not before what was advertised");
    assert_eq!(store.forget_expired(now + ttl + 60).await.unwrap(), 1);
    assert_eq!(store.forget_expired(i64::MAX).await.unwrap(), 0);
    // The revision is the second net of an edit.
    api.edit(memory, "edit", 1, "after").await.assert_problem(409, "revision_conflict");
    assert_eq!(api.create("memories", &id(1), body).await.status, 200);
    assert_eq!(api.create("invoices", "invoice", &invoice(1)).await.status, 200);
}

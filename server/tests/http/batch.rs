//! What a batch comes to: new, known, other, invalid, deleted.

use serde_json::{Value, json};
use warifu_server::repository::RowId;

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(
    all_new_then_all_known_with_the_same_ids_and_untouched_rows,
    known_and_new_together,
    one_id_twice_in_a_batch_is_one_row,
    a_bad_item_costs_no_other,
    other_content_under_a_known_id_is_a_conflict_and_changes_nothing,
    two_owners_may_have_one_id_and_a_new_token_is_the_same_owner,
    a_late_replay_after_an_edit_elsewhere_is_honest_and_changes_nothing,
    a_late_replay_does_not_bring_a_deleted_memory_back,
    an_empty_batch_is_fine,
    ids_beyond_what_javascript_counts_are_exact,
);

async fn all_new_then_all_known_with_the_same_ids_and_untouched_rows(place: Place) {
    let (_server, api) = place.start().await;
    let items = items(0..100);
    let first = api.results(&items).await;
    assert!(first.iter().all(|result| result["status"] == "created" && result["revision"] == 1));
    for (n, result) in (0..100).zip(&first) {
        assert_eq!(result["clientMemoryId"], id(n), "results come in the order of the items");
    }
    let rows = api.records().await;
    assert_eq!(rows.len(), 100);
    let replay = api.results(&items).await;
    assert!(replay.iter().all(|result| result["status"] == "duplicated" && result["revision"] == 1));
    assert_eq!(memory_ids(&first), memory_ids(&replay));
    let cursor = api.get("api/memories?limit=1000").await.json()["next"].clone();
    assert_eq!(api.records().await, rows);
    assert_eq!(cursor, "100", "a replay is no change");
}

async fn known_and_new_together(place: Place) {
    let (_server, api) = place.start().await;
    let (a, b, c, d) = (item(1, "a"), item(2, "b"), item(3, "c"), item(4, "d"));
    let known = memory_ids(&api.results(&[a.clone(), c.clone()]).await);
    let results = api.results(&[d, c, b, a]).await;
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["created", "duplicated", "created", "duplicated"]);
    assert_eq!([results[3]["memory_id"].as_i64().unwrap(), results[1]["memory_id"].as_i64().unwrap()], known[..]);
    assert_eq!(api.records().await.len(), 4);
}

async fn one_id_twice_in_a_batch_is_one_row(place: Place) {
    let (_server, api) = place.start().await;
    let upper = item(1, "a").replace(&id(1), &id(1).to_uppercase());
    let results = api.results(&[item(1, "a"), upper, item(1, "other")]).await;
    let statuses: Vec<_> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["created", "duplicated", "conflict"]);
    assert!(memory_ids(&results).iter().all(|id| *id == memory_ids(&results)[0]));
    assert!(results.iter().all(|result| result["clientMemoryId"] == id(1)), "canonical whatever was given");
    assert_eq!(api.records().await.len(), 1);
    // The first of the two was no create, so the second is.
    let invalid = format!(r#"{{"clientMemoryId":"{}","title":1,"body":""}}"#, id(2));
    assert_eq!(api.statuses(&[invalid, item(2, "b")]).await, ["rejected", "created"]);
}

async fn a_bad_item_costs_no_other(place: Place) {
    let (_server, api) = place.start().await;
    let with = |n: u32, rest: &str| format!(r#"{{"clientMemoryId":"{}",{rest}}}"#, id(n));
    let bad = [
        ("[1]".to_owned(), Value::Null),
        (r#"{"title":"","body":""}"#.to_owned(), json!("clientMemoryId")),
        (r#"{"clientMemoryId":"abc","title":"","body":""}"#.to_owned(), json!("clientMemoryId")),
        (with(50, r#""title":"","body":"a\u0000b""#), json!("body")),
        (with(51, r#""title":"\ud83d","body":"""#), json!("title")),
        (with(52, r#""title":"","body":"","x":{"\u0000":1}"#), json!("x")),
        (with(53, r#""title":"","body":"","x":["\udead"]"#), json!("x.0")),
        (with(54, r#""title":7,"body":"""#), json!("title")),
        (with(55, r#""title":"","body":"","createdAt":null"#), json!("createdAt")),
        (with(56, &format!(r#""title":"","body":"","x":{}{}"#, "[".repeat(9000), "]".repeat(9000))), Value::Null),
    ];
    let mut batch = Vec::new();
    for (n, (bad, _)) in (0..).zip(&bad) {
        batch.extend([item(n, "good"), bad.clone()]);
    }
    let results = api.results(&batch).await;
    for (pair, (text, field)) in results.chunks(2).zip(&bad) {
        assert_eq!(pair[0]["status"], "created");
        assert_eq!(pair[1]["status"], "rejected", "{text}");
        assert_eq!(pair[1]["error"]["code"], "invalid_item");
        assert!(pair[1]["error"]["detail"].as_str().unwrap().len() > 10);
        assert!(pair[1].get("memory_id").is_none());
        if !text.contains("[[[[") {
            assert_eq!(&pair[1]["error"]["field"], field, "{text}");
        }
    }
    for n in [1, 3, 9, 11] {
        assert_eq!(results[n]["clientMemoryId"] == Value::Null, n <= 3, "{}", results[n]);
    }
    let twice = with(57, r#""title":"a","title":"b","body":"""#);
    assert_eq!(api.results(&[twice]).await[0]["clientMemoryId"], id(57), "its id is told whatever is wrong with it");
    assert_eq!(results[5]["clientMemoryId"], "abc", "an id that cannot be read comes back as it was");
    assert_eq!(api.records().await.len(), bad.len(), "nothing is stored for a rejected item");
    // Nothing was kept under the rejected id: the corrected item is a create.
    assert_eq!(api.statuses(&[item(50, "corrected")]).await, ["created"]);
}

async fn other_content_under_a_known_id_is_a_conflict_and_changes_nothing(place: Place) {
    let (_server, api) = place.start().await;
    let original = format!(r#"{{"clientMemoryId":"{}","title":"a","body":"b","mood":1}}"#, id(1));
    let first = memory_ids(&api.results(std::slice::from_ref(&original)).await);
    let rows = api.records().await;
    let same =
        format!(r#" {{ "mood":1, "body":"\u0062", "title":"a", "clientMemoryId":"{}" }} "#, id(1).to_uppercase());
    for other in [
        original.replace("\"mood\":1", "\"mood\":1.0"),
        original.replace("\"mood\":1", "\"mood\":1,\"new\":null"),
        original.replace("\"a\"", "\"A\""),
        item(1, "a"),
    ] {
        let results = api.results(std::slice::from_ref(&other)).await;
        assert_eq!(results[0]["status"], "conflict", "{other}");
        assert_eq!(memory_ids(&results), first);
        assert_eq!(api.statuses(&[original.clone(), same.clone()]).await, ["duplicated", "duplicated"]);
    }
    assert_eq!(api.records().await, rows);
}

async fn two_owners_may_have_one_id_and_a_new_token_is_the_same_owner(place: Place) {
    let (server, aki) = place.start().await;
    let haru = aki.with_token(OTHER_TOKEN);
    let hers = memory_ids(&aki.results(&[item(1, "aki's")]).await);
    let results = haru.results(&[item(1, "haru's")]).await;
    assert_eq!(results[0]["status"], "created");
    assert_ne!(memory_ids(&results), hers);
    assert_eq!(haru.records().await[0]["title"], "haru's");
    let token = warifu_server::repository::TokenHash::of("refreshed");
    server.repository().add_token(&"aki".parse().unwrap(), token).await.unwrap();
    let again = aki.with_token("refreshed").results(&[item(1, "aki's")]).await;
    assert_eq!((again[0]["status"].as_str().unwrap(), memory_ids(&again)), ("duplicated", hers));
}

async fn a_late_replay_after_an_edit_elsewhere_is_honest_and_changes_nothing(place: Place) {
    let (_server, api) = place.start().await;
    let ids = memory_ids(&api.results(&[item(1, "before")]).await);
    let edited = api.edit(ids[0], "key-of-the-edit", 1, "after").await;
    assert_eq!((edited.status, &edited.json()["revision"]), (200, &json!(2)), "{}", edited.text);
    let late = api.results(&[item(1, "before")]).await;
    assert_eq!((late[0]["status"].as_str().unwrap(), &late[0]["revision"]), ("duplicated", &json!(2)));
    assert_eq!(memory_ids(&late), ids);
    // The text that is there now was never a create.
    assert_eq!(api.statuses(&[item(1, "after")]).await, ["conflict"]);
    assert_eq!(api.records().await[0]["title"], "after");
}

async fn a_late_replay_does_not_bring_a_deleted_memory_back(place: Place) {
    let (_server, api) = place.start().await;
    let ids = memory_ids(&api.results(&[item(1, "gone"), item(2, "stays")]).await);
    assert_eq!(api.delete(ids[0], "key-of-the-delete").await.status, 204);
    assert_eq!(api.delete(ids[0], "key-of-the-delete").await.status, 204);
    let late = api.results(&[item(1, "gone"), item(2, "stays"), item(1, "other")]).await;
    assert_eq!((late[0]["status"].as_str().unwrap(), &late[0]["deleted"]), ("duplicated", &json!(true)));
    assert_eq!(late[1].get("deleted"), None);
    assert_eq!(late[2]["status"], "conflict");
    assert_eq!(memory_ids(&late[..2]), ids);
    let tombstone = api.records().await.pop().unwrap();
    assert_eq!(
        tombstone,
        json!({"memory_id": ids[0], "clientMemoryId": id(1), "revision": 2, "deleted": true}),
        "the words are gone"
    );
}

async fn an_empty_batch_is_fine(place: Place) {
    let (_server, api) = place.start().await;
    let answer = api.sync(&[]).await;
    assert_eq!((answer.status, &*answer.text), (200, r#"{"results":[]}"#));
}

async fn ids_beyond_what_javascript_counts_are_exact(place: Place) {
    let (server, api) = place.start().await;
    let mut n = 0;
    for last in [9_007_199_254_740_992, 653_247_040_368_672_767, i64::MAX - 2] {
        server.repository().advance_ids(RowId(last)).await.unwrap();
        n += 1;
        let token = format!("\"memory_id\":{},", last + 1);
        for _ in 0..2 {
            let answer = api.sync(&[item(n, "large")]).await;
            assert!(answer.text.contains(&token), "{}", answer.text);
            let outcome = &warifu::wire::sync::decode_response(answer.text.as_bytes()).unwrap().outcomes[0];
            let warifu::wire::sync::ItemVerdict::Stored { server_id, .. } = &outcome.verdict else { panic!() };
            assert_eq!(server_id.as_str(), (last + 1).to_string());
        }
        assert!(api.get("api/memories").await.text.contains(&token));
    }
}

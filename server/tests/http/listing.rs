//! The listing: pages, cursors, tombstones, and texts to the byte.

use serde_json::Value;
use warifu::wire::listing::Page;

use crate::common::*;
use crate::place::{Place, on_each};

on_each!(
    texts_come_back_to_the_byte,
    pages_follow_each_other_and_changes_come_round_again,
    a_page_of_large_texts_ends_early,
    what_is_no_cursor_or_limit_is_refused,
);

async fn texts_come_back_to_the_byte(place: Place) {
    let (_server, api) = place.start().await;
    let long = "長い文。".repeat(10_000);
    let texts = [
        "",
        "が",
        "か\u{3099}",
        "👩‍👩‍👧‍👦",
        "𠮷野家",
        "\u{1}\t\n\r\"\\/\u{7f}\u{2028}\u{feff}",
        "e\u{301}é",
        "<b>&amp;",
        "\u{10ffff}",
        &long,
    ];
    let items: Vec<String> = (0..)
        .zip(&texts)
        .map(|(n, text)| {
            let text = serde_json::to_string(text).unwrap();
            // The surrogates of an escape are one character, the same as written out.
            format!(
                r#"{{"clientMemoryId":"{}","title":{text},"body":{text},"createdAt":{text},"extra":{{"x":{text},"n":1.50e+3}}}}"#,
                id(n)
            )
        })
        .collect();
    assert!(api.statuses(&items).await.iter().all(|status| status == "created"));
    let answer = api.get("api/memories").await;
    let page: Page = serde_json::from_str(&answer.text).unwrap();
    assert!(!page.has_more);
    for (record, text) in page.records.iter().zip(&texts) {
        for given in [&record.title, &record.body, &record.created_at] {
            assert_eq!(given.as_deref().unwrap().as_bytes(), text.as_bytes());
        }
        let extra = record.extra.as_ref().unwrap().get();
        assert!(extra.contains("1.50e+3"), "a number keeps its text: {extra}");
        let extra: Value = serde_json::from_str(extra).unwrap();
        assert_eq!(extra["extra"]["x"], **text);
    }
}

async fn pages_follow_each_other_and_changes_come_round_again(place: Place) {
    let (_server, api) = place.start().await;
    let ids = memory_ids(&api.results(&items(0..5)).await);
    api.with_token(OTHER_TOKEN).results(&items(7..9)).await;
    let (mut seen, mut after) = (Vec::new(), String::new());
    for (count, more) in [(2, true), (2, true), (1, false), (0, false)] {
        let page = api.get(&format!("api/memories?limit=2&after={after}")).await.json();
        assert_eq!((page["records"].as_array().unwrap().len(), &page["hasMore"]), (count, &Value::Bool(more)));
        seen.extend(
            page["records"].as_array().unwrap().iter().map(|r| r["clientMemoryId"].as_str().unwrap().to_owned()),
        );
        page["next"].as_str().unwrap().clone_into(&mut after);
    }
    assert_eq!(seen, (0..5).map(id).collect::<Vec<_>>(), "this owner's rows and no other's");
    assert_eq!(api.edit(ids[3], "key-of-the-edit", 1, "edited").await.status, 200);
    assert_eq!(api.delete(ids[1], "key-of-the-delete").await.status, 204);
    api.results(&items(5..6)).await;
    let page = api.get(&format!("api/memories?after={after}")).await.json();
    let changed: Vec<_> =
        page["records"].as_array().unwrap().iter().map(|r| r["memory_id"].as_i64().unwrap()).collect();
    assert_eq!(changed[..2], [ids[3], ids[1]]);
    assert_eq!(changed.len(), 3);
    assert_eq!(page["records"][0]["title"], "edited");
    assert_eq!(page["records"][1]["deleted"], true);
    // From the beginning each row is there once.
    assert_eq!(api.records().await.len(), 6);
}

async fn a_page_of_large_texts_ends_early(place: Place) {
    let (_server, api) = place.start().await;
    for n in 0..12 {
        let title = "x".repeat(900_000);
        assert_eq!(api.statuses(&[item(n, &title)]).await, ["created"]);
    }
    let page = api.get("api/memories").await.json();
    assert_eq!((page["records"].as_array().unwrap().len(), &page["hasMore"]), (5, &Value::Bool(true)));
    assert_eq!(api.records().await.len(), 12);
}

async fn what_is_no_cursor_or_limit_is_refused(place: Place) {
    let (_server, api) = place.start().await;
    for (query, field) in [
        ("after=x", "after"),
        ("after=-1", "after"),
        ("after=%2B5", "after"),
        ("limit=%2B3", "limit"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=x", "limit"),
    ] {
        let answer = api.get(&format!("api/memories?{query}")).await;
        answer.assert_problem(400, "invalid_request");
        assert_eq!(answer.json()["field"], field);
    }
    assert_eq!(api.get("api/memories?after=99999999999999999999").await.status, 400);
    let far = api.get("api/memories?after=18446744073709551615").await.json();
    assert_eq!(far["records"], serde_json::json!([]));
}

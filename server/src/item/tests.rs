#![allow(clippy::unwrap_used)]

use super::*;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

fn parsed(text: &str) -> Result<NewMemory, Rejection> {
    parse(serde_json::from_str(text).unwrap())
}

#[test]
fn an_item_is_taken_apart_and_nothing_is_lost() {
    let text = format!(
        r#"{{"z":1.0, "clientMemoryId":"{}","title":"が","body":"","createdAt":"2026-11-30T21:00:00+09:00","a":{{"b" : 1}}}}"#,
        ID.to_uppercase()
    );
    let memory = parsed(&text).unwrap();
    assert_eq!(memory.client_memory_id.to_string(), ID);
    assert_eq!((&*memory.content.title, &*memory.content.body), ("が", ""));
    assert_eq!(memory.content.created_at.as_deref(), Some("2026-11-30T21:00:00+09:00"));
    assert_eq!(memory.content.extra, r#"{"a":{"b" : 1},"z":1.0}"#);
    assert!(!format!("{memory:?}").contains('が'));
}

#[test]
fn the_fingerprint_covers_all_but_the_case_of_the_id() {
    let one = |id: &str, rest: &str| parsed(&format!(r#"{{"clientMemoryId":"{id}",{rest}}}"#)).unwrap().fingerprint;
    let original = one(ID, r#""title":"a","body":"b","mood":1"#);
    assert!(original.same_operation(&one(&ID.to_uppercase(), r#""mood":1,"body":"\u0062","title":"a""#)));
    for other in [
        r#""title":"A","body":"b","mood":1"#,
        r#""title":"a","body":"b","mood":1.0"#,
        r#""title":"a","body":"b""#,
        r#""title":"a","body":"b","mood":1,"createdAt":"""#,
        r#""title":"a","body":"b","mood":null"#,
        r#""title":"b","body":"a","mood":1"#,
    ] {
        assert!(!original.same_operation(&one(ID, other)), "{other}");
    }
}

#[test]
fn every_flaw_is_refused_with_its_place() {
    let with = |rest: &str| format!(r#"{{"clientMemoryId":"{ID}",{rest}}}"#);
    for (text, field) in [
        ("3".to_owned(), None),
        ("null".to_owned(), None),
        ("[]".to_owned(), None),
        (r#"{"title":"","body":""}"#.to_owned(), Some(ID_MEMBER)),
        (r#"{"clientMemoryId":7,"title":"","body":""}"#.to_owned(), Some(ID_MEMBER)),
        (r#"{"clientMemoryId":"x","title":"","body":""}"#.to_owned(), Some(ID_MEMBER)),
        (format!(r#"{{"clientMemoryId":"{{{ID}}}","title":"","body":""}}"#), Some(ID_MEMBER)),
        (with(r#""body":"""#), Some("title")),
        (with(r#""title":"""#), Some("body")),
        (with(r#""title":null,"body":"""#), Some("title")),
        (with(r#""title":"","body":["x"]"#), Some("body")),
        (with(r#""title":"","body":"","createdAt":17"#), Some("createdAt")),
        (with(r#""title":"","body":"a\u0000b""#), Some("body")),
        (with(r#""title":"\ud83d","body":"""#), Some("title")),
        (with(r#""title":"","body":"","tags":["ok",{"x":"\u0000"}]"#), Some("tags.1.x")),
        (with(r#""title":"","body":"","\u0000":1"#), None),
        (with(r#""title":"","body":"","title":"""#), Some("title")),
        (with(&format!(r#""title":"","body":"","deep":{}1{}"#, "[".repeat(200), "]".repeat(200))), Some("deep")),
    ] {
        let rejection = parsed(&text).unwrap_err();
        assert_eq!(rejection.error.code, code::INVALID_ITEM, "{text}");
        let found = rejection.error.field.as_deref();
        // Where a nest is too deep, the path is deep too.
        let found = found.map(|path| if path.starts_with("deep.0") { "deep" } else { path });
        assert_eq!(found, field, "{text}: {}", rejection.error.detail);
        assert!(!rejection.error.detail.is_empty());
    }
}

#[test]
fn a_refusal_names_the_item_as_it_named_itself() {
    let given = |text: &str| parsed(text).unwrap_err().given_id.get().to_owned();
    assert_eq!(given(&format!(r#"{{"clientMemoryId":"{ID}","title":1}}"#)), format!("\"{ID}\""));
    assert_eq!(given(r#"{"clientMemoryId":"\ud83d"}"#), r#""\ud83d""#);
    assert_eq!(given(r#"{"clientMemoryId":{"a":1}}"#), r#"{"a":1}"#);
    assert_eq!(given("{}"), "null");
    assert_eq!(given("7"), "null");
}

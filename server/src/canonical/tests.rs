#![allow(clippy::unwrap_used)]

use super::*;
use fastrand::Rng;

#[derive(Clone, Debug, PartialEq)]
enum Json {
    Word(&'static str),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

const LETTERS: [char; 14] =
    ['a', 'b', '"', '\\', '/', '\n', '\u{1}', 'が', '\u{3099}', '𠮷', '👩', '\u{200d}', '\u{7f}', ' '];

fn text(rng: &mut Rng) -> String {
    (0..rng.usize(0..6)).map(|_| LETTERS[rng.usize(0..LETTERS.len())]).collect()
}

fn number(rng: &mut Rng) -> String {
    const NUMBERS: [&str; 9] = ["0", "-0", "1", "1.0", "1e0", "9007199254740993", "9007199254740992", "1E2", "0.1"];
    NUMBERS[rng.usize(0..NUMBERS.len())].to_owned()
}

fn value(rng: &mut Rng, depth: usize) -> Json {
    match rng.usize(0..if depth == 0 { 3 } else { 5 }) {
        0 => Json::Word(["null", "true", "false"][rng.usize(0..3)]),
        1 => Json::Number(number(rng)),
        2 => Json::Text(text(rng)),
        3 => Json::List((0..rng.usize(0..4)).map(|_| value(rng, depth - 1)).collect()),
        _ => {
            let mut members: Vec<(String, Json)> = Vec::new();
            for _ in 0..rng.usize(0..5) {
                let name = text(rng);
                if members.iter().all(|(known, _)| *known != name) {
                    members.push((name, value(rng, depth - 1)));
                }
            }
            Json::Object(members)
        }
    }
}

/// One of the many ways to write it: any order of members, any whitespace, any escapes.
fn render(json: &Json, rng: &mut Rng, out: &mut String) {
    let space = |rng: &mut Rng, out: &mut String| out.push_str(["", "", " ", "\n\t", "\r\n"][rng.usize(0..5)]);
    match json {
        Json::Word(word) => out.push_str(word),
        Json::Number(number) => out.push_str(number),
        Json::Text(text) => render_text(text, rng, out),
        Json::List(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(rng, out);
                render(value, rng, out);
                space(rng, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut order: Vec<usize> = (0..members.len()).collect();
            rng.shuffle(&mut order);
            out.push('{');
            for (index, place) in order.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                space(rng, out);
                render_text(&members[place].0, rng, out);
                space(rng, out);
                out.push(':');
                space(rng, out);
                render(&members[place].1, rng, out);
                space(rng, out);
            }
            out.push('}');
        }
    }
}

fn render_text(text: &str, rng: &mut Rng, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if rng.bool() || c < ' ' {
            let upper = rng.bool();
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
            }
        } else if c == '"' || c == '\\' || (c == '/' && rng.bool()) {
            out.push('\\');
            out.push(c);
        } else {
            out.push(c);
        }
    }
    out.push('"');
}

/// Changes one thing somewhere inside.
fn mutate(json: &mut Json, rng: &mut Rng) {
    match json {
        Json::List(values) if !values.is_empty() && rng.bool() => {
            let place = rng.usize(0..values.len());
            mutate(&mut values[place], rng);
        }
        Json::Object(members) if !members.is_empty() && rng.u8(0..4) > 0 => {
            let place = rng.usize(0..members.len());
            match rng.u8(0..4) {
                0 => drop(members.remove(place)),
                1 => members[place].0.push_str("renamed"),
                _ => mutate(&mut members[place].1, rng),
            }
        }
        Json::Word(word) => *word = if *word == "true" { "false" } else { "true" },
        Json::Number(number) => {
            let before = number.clone();
            while *number == before {
                *number = self::number(rng);
            }
        }
        Json::Text(text) => text.insert(0, LETTERS[rng.usize(0..LETTERS.len())]),
        Json::List(values) => values.push(Json::Word("null")),
        Json::Object(members) => members.push(("added".to_owned(), Json::Word("null"))),
    }
}

fn canonical(text: &str) -> Result<String, FlawAt> {
    let raw: &RawValue = serde_json::from_str(text).unwrap();
    let mut out = String::new();
    write(raw, "", 0, &mut out).map(|()| out)
}

#[test]
fn one_value_has_one_text_and_another_value_another() {
    for seed in 0..3000 {
        let mut rng = Rng::with_seed(seed);
        let original = value(&mut rng, 4);
        let mut write = |json: &Json| {
            let mut text = String::new();
            render(json, &mut rng, &mut text);
            (canonical(&text).unwrap(), text)
        };
        let (first, first_text) = write(&original);
        let (second, second_text) = write(&original);
        assert_eq!(first, second, "seed {seed}: {first_text} and {second_text}");
        // It is JSON, and of the same value.
        assert_eq!(canonical(&first).unwrap(), first, "seed {seed}");
        assert_eq!(Fingerprint::new(&first_text, &first).canonical, Fingerprint::new(&second_text, &second).canonical);
        let mut changed = original.clone();
        mutate(&mut changed, &mut Rng::with_seed(!seed));
        let (third, third_text) = write(&changed);
        assert_ne!(first, third, "seed {seed}: {first_text} and {third_text}");
        let (a, b) = (Fingerprint::new(&first_text, &first), Fingerprint::new(&third_text, &third));
        assert!(!a.same_operation(&b), "seed {seed}");
    }
}

#[test]
fn the_text_is_what_fingerprints_in_databases_were_made_of() {
    let text = "{ \"b\" : [1.0, -0, 1e2, true, null], \"a\" : \"\\u3042\\/\\n\\u0001\\\"\\\\\", \"\" : {} }";
    assert_eq!(canonical(text).unwrap(), r#"{"":{},"a":"あ/\u000a\u0001\"\\","b":[1.0,-0,1e2,true,null]}"#);
}

#[test]
fn equal_bytes_are_one_operation_under_any_rules() {
    let today = Fingerprint::new("{}", "{}");
    let older = Fingerprint { version: VERSION + 1, canonical: [0; 32], raw: today.raw };
    assert!(today.same_operation(&older));
    assert!(!today.same_operation(&Fingerprint { raw: [0; 32], ..older.clone() }));
    // Texts of two rule books say nothing about each other.
    assert!(!today.same_operation(&Fingerprint { raw: [0; 32], canonical: today.canonical, ..older }));
}

#[test]
fn flaws_are_found_wherever_they_are() {
    for (text, flaw, path) in [
        (r#""\u0000""#, Flaw::Nul, ""),
        (r#"{"a":{"b":["x","y\u0000"]}}"#, Flaw::Nul, "a.b.1"),
        (r#"{"a":{"\u0000":1}}"#, Flaw::Nul, "a"),
        (r#"{"a":"\ud83d"}"#, Flaw::HalfSurrogate, "a"),
        (r#"{"a":"\ude00x"}"#, Flaw::HalfSurrogate, "a"),
        (r#"{"a":"\ud83d\ud83d"}"#, Flaw::HalfSurrogate, "a"),
        (r#"{"a":{"\ud83d":1}}"#, Flaw::HalfSurrogate, "a"),
        (r#"[{"x":1,"\u0078":2}]"#, Flaw::Twice, "0.x"),
    ] {
        assert_eq!(canonical(text), Err(FlawAt { flaw, path: path.to_owned() }), "{text}");
    }
    assert_eq!(canonical(r#""\ud83d\ude00""#).unwrap(), "\"😀\"");
}

#[test]
fn nesting_has_a_bound_and_no_stack_is_at_stake() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(canonical(&nested(MAX_DEPTH + 1)).is_ok());
    assert_eq!(canonical(&nested(MAX_DEPTH + 2)).unwrap_err().flaw, Flaw::TooDeep);
    assert_eq!(canonical(&nested(50_000)).unwrap_err().flaw, Flaw::TooDeep);
}

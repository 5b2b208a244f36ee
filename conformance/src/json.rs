//! Looking into answers.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// What is at a dotted path such as `data.id`; the empty path is the whole.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    })
}

/// A value as plain text, strings without their quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// An id as the contract allows it: an integer, or a string of 1 to 255 characters.
pub(crate) fn id_at(value: &Value, path: &str) -> Option<String> {
    match at(value, path)? {
        Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
        Value::String(text) if (1..=255).contains(&text.chars().count()) => Some(text.clone()),
        _ => None,
    }
}

/// The same object with its fields in another order, values byte for byte; `None` if it has fewer than two.
pub(crate) fn reordered(body: &str) -> Option<String> {
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(body).ok()?;
    if fields.len() < 2 {
        return None;
    }
    let written: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), value.get())).collect();
    let forwards = format!("{{{}}}", written.join(", "));
    let squeezed = |text: &str| text.replace(char::is_whitespace, "");
    if squeezed(&forwards) != squeezed(body) {
        return Some(forwards);
    }
    let backwards: Vec<String> = written.into_iter().rev().collect();
    Some(format!("{{{}}}", backwards.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_and_ids() {
        let value = json!({"data": {"id": 7, "rows": [{"id": "a"}]}, "float": 7.5, "null": null, "empty": ""});
        assert_eq!(id_at(&value, "data.id").as_deref(), Some("7"));
        assert_eq!(id_at(&value, "data.rows.0.id").as_deref(), Some("a"));
        for path in ["float", "null", "empty", "data", "gone", "data.rows.x"] {
            assert_eq!(id_at(&value, path), None, "{path}");
        }
    }

    #[test]
    fn fields_change_places_and_keep_their_bytes() {
        assert_eq!(reordered(r#"{"b":1.50,"a":"x"}"#).unwrap(), r#"{"a":"x", "b":1.50}"#);
        assert_eq!(reordered(r#"{"a":"x","b":1.50}"#).unwrap(), r#"{"b":1.50, "a":"x"}"#);
        assert!(reordered(r#"{"a":1}"#).is_none() && reordered("[1]").is_none());
    }
}

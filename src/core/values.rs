//! From the values of a person to the bytes of an item, once, and back.

use serde::Deserialize;
use serde_json::Value;

use crate::core::limits::RECORD_BYTES;
use crate::core::operation::Frozen;
use crate::id::ClientMemoryId;
use crate::wire::sync::ID_MEMBER;

/// The member that says when the person committed it. An app that adopts older records may give its own.
pub const CREATED_AT_MEMBER: &str = "createdAt";

/// Members that belong to the two ids, and so to nobody's values.
const RESERVED: [&str; 2] = [ID_MEMBER, "memory_id"];

/// Why values cannot be an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidValue {
    /// Where, such as `tags[2].name`; empty for the whole.
    pub path: String,
    /// What is wrong there, for a person.
    pub reason: String,
}

impl InvalidValue {
    /// At a path, for a reason.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

/// Encodes an item: the names first, then the values as they are. `values` is the text of one JSON object;
/// `created_at` is told beside them unless they tell it themselves.
///
/// # Errors
/// When it is no object, has a reserved member, or is too large.
pub fn freeze(id: ClientMemoryId, created_at: &str, values: &str) -> Result<Frozen, InvalidValue> {
    let members = values.strip_prefix('{').ok_or_else(|| InvalidValue::new("", "Values must be one plain object."))?;
    let names: std::collections::HashMap<String, serde::de::IgnoredAny> =
        serde_json::from_str(values).map_err(|error| InvalidValue::new("", error.to_string()))?;
    if let Some(name) = RESERVED.iter().find(|name| names.contains_key(**name)) {
        return Err(InvalidValue::new(*name, format!("\"{name}\" is set by Warifu and cannot be among the values.")));
    }
    let mut text = format!("{{\"{ID_MEMBER}\":\"{id}\"");
    if !names.contains_key(CREATED_AT_MEMBER) {
        text.push_str(&format!(",\"{CREATED_AT_MEMBER}\":{}", Value::from(created_at)));
    }
    if !names.is_empty() {
        text.push(',');
    }
    let values_at = u32::try_from(text.len()).unwrap_or(u32::MAX);
    text.push_str(members);
    if text.len() > RECORD_BYTES {
        let reason = format!("A record can have at most {RECORD_BYTES} bytes of JSON; this one has {}.", text.len());
        return Err(InvalidValue::new("", reason));
    }
    Ok(Frozen { bytes: text.into_bytes(), values_at })
}

/// Whether two items carry equal values; the order of members does not matter.
#[must_use]
pub fn same_values(one: &Frozen, other: &Frozen) -> bool {
    let (one, other) = (one.values(), other.values());
    one == other
        || match (serde_json::from_slice::<Value>(&one), serde_json::from_slice::<Value>(&other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        }
}

/// When the item says it was made; empty if it does not.
#[must_use]
pub fn created_at(content: &Frozen) -> String {
    #[derive(Deserialize)]
    struct Made {
        #[serde(rename = "createdAt")]
        created_at: String,
    }
    serde_json::from_slice::<Made>(&content.bytes).map(|made| made.created_at).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> ClientMemoryId {
        "0f8fad5b-d9cb-469f-a165-70867728950e".parse().unwrap()
    }

    #[test]
    fn values_come_back_as_they_were() {
        for values in [r#"{}"#, r#"{"title":"か\u3099","body":""}"#, r#"{"createdAt":"2020","n":-0.0}"#] {
            let frozen = freeze(id(), "then", values).unwrap();
            assert_eq!(frozen.values(), values.as_bytes());
            let item: Value = serde_json::from_slice(&frozen.bytes).unwrap();
            assert_eq!(item["clientMemoryId"], id().to_string());
            assert!(item["createdAt"].is_string());
        }
        let own = freeze(id(), "then", r#"{"createdAt":"2020"}"#).unwrap();
        assert_eq!(created_at(&own), "2020");
        assert_eq!(created_at(&freeze(id(), "then", "{}").unwrap()), "then");
    }

    #[test]
    fn names_are_not_values() {
        for (values, path) in
            [(r#"{"clientMemoryId":1}"#, "clientMemoryId"), (r#"{"memory_id":1}"#, "memory_id"), ("[]", "")]
        {
            assert_eq!(freeze(id(), "then", values).unwrap_err().path, path);
        }
    }

    #[test]
    fn equal_values_are_equal_in_any_order_and_at_any_time() {
        let one = freeze(id(), "then", r#"{"a":1,"b":[1,2]}"#).unwrap();
        let other = freeze(id(), "later", r#"{"b":[1,2],"a":1}"#).unwrap();
        assert!(same_values(&one, &other));
        assert!(!same_values(&one, &freeze(id(), "then", r#"{"a":1,"b":[2,1]}"#).unwrap()));
    }
}

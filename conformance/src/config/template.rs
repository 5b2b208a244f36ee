//! Texts with placeholders: what makes every case's data its own.

use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

/// What is kept as it is in a part of a path or a query.
const IN_URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a path as a whole may not hold; its slashes and question marks stay.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// A placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// `{key}`: the operation's idempotency key.
    Key,
    /// `{uuid}`: a UUID of this record.
    Uuid,
    /// `{n}`: a number of this record.
    Number,
    /// `{marker}`: a short text of this record that says where it comes from.
    Marker,
    /// `{text}`: free text that differs between two versions of one record.
    Text,
    /// `{amount}`: a decimal such as `12.34` that differs between two versions of one record.
    Amount,
    /// `{now}`: the moment at which this record was begun, RFC 3339.
    Now,
    /// `{id}`: the id that the server gave.
    Id,
    /// `{answer.NAME}`: a field of the answer to the create.
    Answer(String),
    /// `{cursor}`: where the next page begins.
    Cursor,
    /// `{seconds}`: by how much the clock is to be ahead.
    Seconds,
    /// `{milliseconds}`: by how much the next request is to be slowed.
    Milliseconds,
}

impl Slot {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "key" => Self::Key,
            "uuid" => Self::Uuid,
            "n" => Self::Number,
            "marker" => Self::Marker,
            "text" => Self::Text,
            "amount" => Self::Amount,
            "now" => Self::Now,
            "id" => Self::Id,
            "cursor" => Self::Cursor,
            "seconds" => Self::Seconds,
            "milliseconds" => Self::Milliseconds,
            name => Self::Answer(name.strip_prefix("answer.").filter(|field| !field.is_empty())?.to_owned()),
        })
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Key => "key",
            Self::Uuid => "uuid",
            Self::Number => "n",
            Self::Marker => "marker",
            Self::Text => "text",
            Self::Amount => "amount",
            Self::Now => "now",
            Self::Id => "id",
            Self::Answer(field) => return write!(f, "{{answer.{field}}}"),
            Self::Cursor => "cursor",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
        };
        write!(f, "{{{name}}}")
    }
}

/// How a value is written into its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// As it is.
    Plain,
    /// Inside a JSON string.
    Json,
    /// As a part of a path or a query.
    Url,
}

/// What the placeholders stand for. What is `None` is left out of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    pub(crate) key: String,
    pub(crate) uuid: String,
    pub(crate) number: String,
    pub(crate) marker: String,
    pub(crate) text: String,
    pub(crate) amount: String,
    pub(crate) now: String,
    pub(crate) id: String,
    pub(crate) answer: Value,
    pub(crate) cursor: String,
    pub(crate) seconds: String,
    pub(crate) milliseconds: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Slot(Slot),
}

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

/// A placeholder that there is not.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no placeholder {{{0}}}; there are {{key}}, {{uuid}}, {{n}}, {{marker}}, {{text}}, {{amount}}, {{now}}, \
     {{id}}, {{answer.FIELD}}, {{cursor}}, {{seconds}} and {{milliseconds}}"
)]
pub struct UnknownPlaceholder(String);

impl TryFrom<String> for Template {
    type Error = UnknownPlaceholder;

    fn try_from(source: String) -> Result<Self, Self::Error> {
        let mut parts = Vec::new();
        let (mut text, mut rest) = (String::new(), source.as_str());
        while let Some(at) = rest.find('{') {
            let inside = &rest[at + 1..];
            let name = inside.find('}').map(|end| &inside[..end]).filter(|name| looks_like_a_name(name));
            let Some(name) = name else {
                // A brace of the JSON around it.
                text.push_str(&rest[..=at]);
                rest = inside;
                continue;
            };
            let slot = Slot::parse(name).ok_or_else(|| UnknownPlaceholder(name.to_owned()))?;
            text.push_str(&rest[..at]);
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Slot(slot));
            rest = &inside[name.len() + 1..];
        }
        text.push_str(rest);
        parts.push(Part::Text(text));
        Ok(Self { source, parts })
    }
}

fn looks_like_a_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

impl Template {
    /// The text as it is in the file.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its placeholders.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(slot) => Some(slot),
            Part::Text(_) => None,
        })
    }

    /// Whether it differs between two versions of one record.
    #[must_use]
    pub fn has_content(&self) -> bool {
        self.slots().any(|slot| matches!(slot, Slot::Text | Slot::Amount))
    }

    pub(crate) fn render(&self, values: &Values, escape: Escape) -> String {
        let mut out = String::with_capacity(self.source.len() + 64);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Slot(slot) => out.push_str(&escaped(&value_of(slot, values), escape)),
            }
        }
        out
    }

    /// The same as a path with its query.
    pub(crate) fn render_path(&self, values: &Values) -> String {
        utf8_percent_encode(&self.render(values, Escape::Url), PATH).to_string()
    }
}

fn value_of(slot: &Slot, values: &Values) -> String {
    match slot {
        Slot::Key => values.key.clone(),
        Slot::Uuid => values.uuid.clone(),
        Slot::Number => values.number.clone(),
        Slot::Marker => values.marker.clone(),
        Slot::Text => values.text.clone(),
        Slot::Amount => values.amount.clone(),
        Slot::Now => values.now.clone(),
        Slot::Id => values.id.clone(),
        Slot::Answer(path) => crate::json::at(&values.answer, path).map(crate::json::plain).unwrap_or_default(),
        Slot::Cursor => values.cursor.clone(),
        Slot::Seconds => values.seconds.clone(),
        Slot::Milliseconds => values.milliseconds.clone(),
    }
}

fn escaped(value: &str, escape: Escape) -> String {
    match escape {
        Escape::Plain => value.to_owned(),
        Escape::Json => {
            let quoted = Value::from(value).to_string();
            quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
        }
        Escape::Url => utf8_percent_encode(value, IN_URL).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_json_stay_and_values_are_escaped_where_they_stand() {
        let template = Template::try_from(r#"{"a":{"b":"{text}"},"n":{n},"c":{}}"#.to_owned()).unwrap();
        let values = Values { text: "say \"so\"\n".into(), number: "7".into(), ..Values::default() };
        assert_eq!(template.render(&values, Escape::Json), r#"{"a":{"b":"say \"so\"\n"},"n":7,"c":{}}"#);
        assert!(template.has_content());
        let path = Template::try_from("/a/?q={text}&x={answer.row.id}".to_owned()).unwrap();
        let values = Values { answer: serde_json::json!({"row": {"id": 9}}), ..values };
        assert_eq!(path.render_path(&values), "/a/?q=say%20%22so%22%0A&x=9");
        assert!(!path.slots().any(|slot| *slot == Slot::Key));
    }

    #[test]
    fn an_unknown_placeholder_is_named() {
        let error = Template::try_from("{uid}".to_owned()).unwrap_err();
        assert!(error.to_string().contains("{uid}") && error.to_string().contains("{uuid}"), "{error}");
    }
}

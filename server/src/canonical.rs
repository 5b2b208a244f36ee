//! One text for all the ways to write a JSON value: members sorted, strings written one way, no whitespace, and numbers
//! exactly as they came, so that `1` and `1.0` stay two values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The rules by which fingerprints are made today. A change of the rules takes the next number, and a row keeps the one
/// it was made under.
pub const VERSION: u32 = 1;

/// The deepest nesting that is taken.
pub const MAX_DEPTH: usize = 64;

/// What an operation was, for comparing a later one with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// The rules [`Self::canonical`] was made under.
    pub version: u32,
    /// SHA-256 of the canonical text.
    pub canonical: [u8; 32],
    /// SHA-256 of the bytes as they came.
    pub raw: [u8; 32],
}

impl Fingerprint {
    /// Takes the bytes as they came, and their canonical text.
    #[must_use]
    pub fn new(raw: &str, canonical: &str) -> Self {
        Self { version: VERSION, canonical: Sha256::digest(canonical).into(), raw: Sha256::digest(raw).into() }
    }

    /// Whether both are one operation: equal bytes always are, otherwise the canonical text decides.
    #[must_use]
    pub fn same_operation(&self, other: &Self) -> bool {
        self.raw == other.raw || (self.version == other.version && self.canonical == other.canonical)
    }
}

/// Why a value has no canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// U+0000 in a string or a member's name.
    #[error("text must not contain the character U+0000")]
    Nul,
    /// An escape that is half of a surrogate pair.
    #[error("text must be valid Unicode: it has half of a surrogate pair")]
    HalfSurrogate,
    /// Nested deeper than [`MAX_DEPTH`].
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// A member's name twice in one object: readers would disagree about its value.
    #[error("the same member is given twice")]
    Twice,
}

/// A flaw and where it is, as a dotted path; empty for the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlawAt {
    /// What is wrong.
    pub flaw: Flaw,
    /// Where.
    pub path: String,
}

/// The members of an object, in their order, values as raw text.
#[derive(Debug)]
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Reads an object's members, and refuses names that are ill-formed or given twice.
///
/// `path` is where the object is, for the flaw.
///
/// # Errors
/// When a name has a flaw.
pub fn members<'a>(raw: &'a RawValue, path: &str) -> Result<Vec<(String, &'a RawValue)>, FlawAt> {
    let at = |flaw, path: String| Err(FlawAt { flaw, path });
    // The text is JSON already, so only a name's escapes can still be at fault.
    let Ok(Members(mut members)) = serde_json::from_str::<Members<'a>>(raw.get()) else {
        return at(Flaw::HalfSurrogate, path.to_owned());
    };
    if members.iter().any(|(name, _)| name.contains('\0')) {
        return at(Flaw::Nul, path.to_owned());
    }
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    if let Some(twice) = members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return at(Flaw::Twice, join(path, &twice[0].0));
    }
    Ok(members)
}

/// Reads a string.
///
/// # Errors
/// When it holds U+0000 or half of a surrogate pair.
pub fn string(raw: &RawValue, path: &str) -> Result<String, FlawAt> {
    let at = |flaw| FlawAt { flaw, path: path.to_owned() };
    let text: String = serde_json::from_str(raw.get()).map_err(|_| at(Flaw::HalfSurrogate))?;
    if text.contains('\0') { Err(at(Flaw::Nul)) } else { Ok(text) }
}

/// The canonical text of a value.
///
/// # Errors
/// When the value has a flaw.
pub fn text(raw: &RawValue) -> Result<String, FlawAt> {
    let mut text = String::with_capacity(raw.get().len());
    write(raw, "", 0, &mut text)?;
    Ok(text)
}

/// Appends the canonical text of a value to `out`.
///
/// # Errors
/// When the value has a flaw.
pub fn write(raw: &RawValue, path: &str, depth: usize, out: &mut String) -> Result<(), FlawAt> {
    if depth > MAX_DEPTH {
        return Err(FlawAt { flaw: Flaw::TooDeep, path: path.to_owned() });
    }
    match raw.get().as_bytes().first() {
        Some(b'{') => {
            out.push('{');
            for (index, (name, value)) in members(raw, path)?.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&name, out);
                out.push(':');
                write(value, &join(path, &name), depth + 1, out)?;
            }
            out.push('}');
        }
        Some(b'[') => {
            out.push('[');
            let values: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            for (index, value) in values.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(value, &join(path, &index.to_string()), depth + 1, out)?;
            }
            out.push(']');
        }
        Some(b'"') => write_string(&string(raw, path)?, out),
        _ => out.push_str(raw.get()),
    }
    Ok(())
}

/// Appends a string, quoted, in the one way this module writes strings.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// One step further on a dotted path.
#[must_use]
pub fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_owned() } else { format!("{path}.{step}") }
}

#[cfg(test)]
mod tests;

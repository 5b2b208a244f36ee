//! A memory as it is sent, in a batch or alone: checked, and taken apart into what is stored.

use std::borrow::Cow;

use serde_json::value::RawValue;
use warifu::id::ClientMemoryId;
use warifu::wire::problem::code;
use warifu::wire::sync::{ID_MEMBER, ItemError};

use crate::canonical::{self, Fingerprint, FlawAt, Members};
use crate::repository::{Content, Edit, NewMemory};

/// The members of an edit that say what it is about, and are no part of it.
const EDIT_MEMBERS: [&str; 3] = ["baseRevision", "revision", "memory_id"];

/// Why an item was refused, and the id it gave, verbatim (`null` when it gave none).
#[derive(Debug)]
pub(crate) struct Rejection {
    /// What the item gave as its id.
    pub(crate) given_id: Box<RawValue>,
    /// The reason.
    pub(crate) error: ItemError,
}

/// Checks an item of a batch.
///
/// # Errors
/// When it is not a memory that can be stored; the reason is for a person.
pub(crate) fn parse(raw: &RawValue) -> Result<NewMemory, Rejection> {
    // Whatever else is wrong with it: a result without the id says nothing to a client.
    let given_id = || {
        let members = serde_json::from_str::<Members<'_>>(raw.get()).map_or_else(|_| Vec::new(), |members| members.0);
        let id = members.into_iter().find(|(name, _)| name == ID_MEMBER).map(|(_, value)| value.to_owned());
        id.unwrap_or_else(|| RawValue::NULL.to_owned())
    };
    Whole::read(raw, None).and_then(Whole::into_memory).map_err(|error| Rejection { given_id: given_id(), error })
}

/// Checks a memory that is sent alone, under a key that is its id too; the body may leave the id out.
///
/// # Errors
/// The same, or when the body gives another id.
pub(crate) fn parse_alone(raw: &RawValue, key: ClientMemoryId) -> Result<NewMemory, ItemError> {
    let memory = Whole::read(raw, Some(key))?.into_memory()?;
    if memory.client_memory_id == key {
        return Ok(memory);
    }
    Err(ItemError {
        code: code::KEY_MISMATCH.to_owned(),
        detail: format!("the key of a memory's create is its {ID_MEMBER}, and the body gives another one"),
        field: Some(ID_MEMBER.to_owned()),
    })
}

/// Checks an edit.
///
/// # Errors
/// When it does not say what it is based on, or its words cannot be stored.
pub(crate) fn parse_edit(raw: &RawValue) -> Result<Edit, ItemError> {
    let whole = Whole::read(raw, None)?;
    let base = whole.member("baseRevision").ok_or_else(|| missing("baseRevision"))?;
    // A whole number may be written with a fraction of nothing, as 3.0 by those who have only floats.
    let digits = base.get().split_once('.').filter(|(_, part)| part.bytes().all(|digit| digit == b'0'));
    let base_revision = digits
        .map_or(base.get(), |(digits, _)| digits)
        .parse()
        .map_err(|_| refuse("baseRevision must be the number of the revision that was edited", Some("baseRevision")))?;
    Ok(Edit { base_revision, content: whole.content(&EDIT_MEMBERS)? })
}

/// The canonical text of a memory's create, whether it can be stored or not.
///
/// # Errors
/// When it has none.
pub(crate) fn canonical_create(raw: &RawValue, key: ClientMemoryId) -> Result<String, ItemError> {
    Whole::read(raw, Some(key)).map(|whole| whole.canonical)
}

/// An object's members, and its canonical text.
struct Whole<'a> {
    raw: &'a RawValue,
    members: Vec<(String, Cow<'a, RawValue>)>,
    canonical: String,
}

impl<'a> Whole<'a> {
    /// Reads it all, and puts `key` where its id is missing.
    fn read(raw: &'a RawValue, key: Option<ClientMemoryId>) -> Result<Self, ItemError> {
        if !raw.get().starts_with('{') {
            return Err(refuse("a memory must be an object", None));
        }
        let mut members: Vec<(String, Cow<'a, RawValue>)> = canonical::members(raw, "")
            .map_err(flaw)?
            .into_iter()
            .map(|(name, value)| (name, Cow::Borrowed(value)))
            .collect();
        if let Err(place) = members.binary_search_by(|(name, _)| name.as_str().cmp(ID_MEMBER))
            && let Some(id) = key.and_then(|key| serde_json::value::to_raw_value(&key).ok())
        {
            members.insert(place, (ID_MEMBER.to_owned(), Cow::Owned(id)));
        }
        let mut canonical = String::from("{");
        for (name, value) in &members {
            if canonical.len() > 1 {
                canonical.push(',');
            }
            canonical::write_string(name, &mut canonical);
            canonical.push(':');
            match parse_id(value) {
                // One id in two cases is one operation, so the case is no part of the fingerprint.
                Ok(id) if name == ID_MEMBER => canonical::write_string(&id.to_string(), &mut canonical),
                _ => canonical::write(value, name, 1, &mut canonical).map_err(flaw)?,
            }
        }
        canonical.push('}');
        Ok(Self { raw, members, canonical })
    }

    fn member(&self, name: &str) -> Option<&RawValue> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_ref())
    }

    fn into_memory(self) -> Result<NewMemory, ItemError> {
        Ok(NewMemory {
            client_memory_id: parse_id(self.member(ID_MEMBER).ok_or_else(|| missing(ID_MEMBER))?)?,
            content: self.content(&[])?,
            fingerprint: Fingerprint::new(self.raw.get(), &self.canonical),
        })
    }

    /// The words, and the members that have no column, but for those named in `apart`.
    fn content(&self, apart: &[&str]) -> Result<Content, ItemError> {
        let (mut title, mut body, mut created_at) = (None, None, None);
        let mut extra = String::from("{");
        for (name, value) in &self.members {
            match name.as_str() {
                ID_MEMBER => {}
                "title" => title = Some(text(value, name)?),
                "body" => body = Some(text(value, name)?),
                "createdAt" => created_at = Some(text(value, name)?),
                name if apart.contains(&name) => {}
                _ => {
                    if extra.len() > 1 {
                        extra.push(',');
                    }
                    canonical::write_string(name, &mut extra);
                    extra.push(':');
                    extra.push_str(value.get());
                }
            }
        }
        extra.push('}');
        Ok(Content {
            title: title.ok_or_else(|| missing("title"))?,
            body: body.ok_or_else(|| missing("body"))?,
            created_at,
            extra,
        })
    }
}

fn parse_id(value: &RawValue) -> Result<ClientMemoryId, ItemError> {
    text(value, ID_MEMBER)?.parse().map_err(|error| refuse(&format!("{ID_MEMBER} is {error}"), Some(ID_MEMBER)))
}

fn text(value: &RawValue, name: &str) -> Result<String, ItemError> {
    if !value.get().starts_with('"') {
        return Err(refuse(&format!("{name} must be a string"), Some(name)));
    }
    canonical::string(value, name).map_err(flaw)
}

fn missing(field: &str) -> ItemError {
    refuse(&format!("{field} is missing"), Some(field))
}

fn flaw(FlawAt { flaw, path }: FlawAt) -> ItemError {
    refuse(&flaw.to_string(), (!path.is_empty()).then_some(&*path))
}

fn refuse(detail: &str, field: Option<&str>) -> ItemError {
    ItemError { code: code::INVALID_ITEM.to_owned(), detail: detail.to_owned(), field: field.map(str::to_owned) }
}

#[cfg(test)]
mod tests;

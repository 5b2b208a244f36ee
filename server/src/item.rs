//! One item of a batch: checked, and taken apart into what is stored.

use serde_json::value::RawValue;
use warifu::id::ClientMemoryId;
use warifu::wire::problem::code;
use warifu::wire::sync::{ID_MEMBER, ItemError};

use crate::canonical::{self, Fingerprint, FlawAt};
use crate::repository::NewMemory;

/// Why an item was refused, and the id it gave, verbatim (`null` when it gave none).
#[derive(Debug)]
pub(crate) struct Rejection {
    /// What the item gave as its id.
    pub(crate) given_id: Box<RawValue>,
    /// The reason.
    pub(crate) error: ItemError,
}

/// Checks an item.
///
/// # Errors
/// When it is not a memory that can be stored; the reason is for a person.
pub(crate) fn parse(raw: &RawValue) -> Result<NewMemory, Rejection> {
    let mut given_id = RawValue::NULL.to_owned();
    take_apart(raw, &mut given_id).map_err(|error| Rejection { given_id, error })
}

fn take_apart(raw: &RawValue, given_id: &mut Box<RawValue>) -> Result<NewMemory, ItemError> {
    if !raw.get().starts_with('{') {
        return Err(refuse("an item must be an object", None));
    }
    let members = canonical::members(raw, "").map_err(flaw)?;
    let (mut id, mut title, mut body, mut created_at) = (None, None, None, None);
    if let Some((_, value)) = members.iter().find(|(name, _)| name == ID_MEMBER) {
        *given_id = (*value).to_owned();
    }
    let mut whole = String::from("{");
    let mut extra = String::from("{");
    for (name, value) in &members {
        if whole.len() > 1 {
            whole.push(',');
        }
        canonical::write_string(name, &mut whole);
        whole.push(':');
        if name == ID_MEMBER {
            let parsed = parse_id(value)?;
            // One id in two cases is one operation, so the case is no part of the fingerprint.
            canonical::write_string(&parsed.to_string(), &mut whole);
            id = Some(parsed);
            continue;
        }
        canonical::write(value, name, 1, &mut whole).map_err(flaw)?;
        match name.as_str() {
            "title" => title = Some(text(value, name)?),
            "body" => body = Some(text(value, name)?),
            "createdAt" => created_at = Some(text(value, name)?),
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
    whole.push('}');
    extra.push('}');
    let missing = |field: &str| refuse(&format!("{field} is missing"), Some(field));
    Ok(NewMemory {
        client_memory_id: id.ok_or_else(|| missing(ID_MEMBER))?,
        title: title.ok_or_else(|| missing("title"))?,
        body: body.ok_or_else(|| missing("body"))?,
        created_at,
        extra,
        fingerprint: Fingerprint::new(raw.get(), &whole),
    })
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

fn flaw(FlawAt { flaw, path }: FlawAt) -> ItemError {
    refuse(&flaw.to_string(), (!path.is_empty()).then_some(&*path))
}

fn refuse(detail: &str, field: Option<&str>) -> ItemError {
    ItemError { code: code::INVALID_ITEM.to_owned(), detail: detail.to_owned(), field: field.map(str::to_owned) }
}

#[cfg(test)]
mod tests;

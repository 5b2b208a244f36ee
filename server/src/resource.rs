//! The resources that are created one at a time beside memories, each declared here in a few lines.
//!
//! A resource is its fields and its business identity. The rest follows from that: `POST /api/<name>/` with all that the
//! promise asks of it, the listing, the single record, their place in the API's description. It needs its table in the
//! migrations of both databases, beside `owner`, `id`, `idempotency_key` and `change_number`; see `docs/add-endpoint.md`.

use serde_json::value::RawValue;
use warifu::wire::problem::code;
use warifu::wire::sync::ItemError;

use crate::canonical::{self, FlawAt};

/// What can be created.
pub const RESOURCES: [Resource; 2] = [
    Resource {
        name: "invoices",
        create: "invoices.create",
        fields: &[
            Field { name: "terminal_id", kind: Kind::Text { max: 100 } },
            Field { name: "number", kind: Kind::Text { max: 100 } },
            Field { name: "total", kind: Kind::Decimal },
            Field { name: "currency", kind: Kind::Currency },
        ],
        business: Unique { name: "invoices_business_key", fields: &["terminal_id", "number"] },
    },
    Resource {
        name: "registrations",
        create: "registrations.create",
        fields: &[
            Field { name: "event", kind: Kind::Text { max: 200 } },
            Field { name: "email", kind: Kind::Text { max: 254 } },
            Field { name: "name", kind: Kind::Text { max: 200 } },
        ],
        business: Unique { name: "registrations_business_key", fields: &["event", "email"] },
    },
];

/// A resource: a table, and the address of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// Its name in addresses, and its table's.
    pub name: &'static str,
    /// What a create of it is called where keys are kept. Never changed once rows exist.
    pub create: &'static str,
    /// Its fields, all of them required.
    pub fields: &'static [Field],
    /// What may not be there twice for one owner, whatever the keys.
    pub business: Unique,
}

/// A field, and the column of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 1 to `max` characters.
    Text {
        /// The most characters.
        max: usize,
    },
    /// A decimal number, given as a string or as a number and kept to the last digit; never a float.
    Decimal,
    /// Three capital letters, as in ISO 4217.
    Currency,
}

/// A unique constraint within an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unique {
    /// Its name, as PostgreSQL and refusals give it.
    pub name: &'static str,
    /// What it is made of, beside the owner.
    pub fields: &'static [&'static str],
}

impl Resource {
    /// Checks the body of a create: the values of its fields, in their order.
    ///
    /// # Errors
    /// When one is missing, is not what the field holds, or is of no field; the reason is for a person.
    pub(crate) fn parse(&self, raw: &RawValue) -> Result<Vec<String>, ItemError> {
        if !raw.get().starts_with('{') {
            return Err(refuse("the body must be an object", ""));
        }
        let members = canonical::members(raw, "").map_err(|FlawAt { flaw, path }| refuse(&flaw.to_string(), &path))?;
        if let Some((name, _)) = members.iter().find(|(name, _)| !self.fields.iter().any(|field| field.name == name)) {
            return Err(refuse("there is no such field", name));
        }
        let member = |field: &Field| members.iter().find(|(name, _)| name == field.name).map(|(_, value)| *value);
        self.fields
            .iter()
            .map(|field| match member(field) {
                None => Err(refuse(&format!("{} is missing", field.name), field.name)),
                Some(value) => field.parse(value),
            })
            .collect()
    }
}

impl Field {
    fn parse(&self, value: &RawValue) -> Result<String, ItemError> {
        let wrong = |wanted: &str| refuse(&format!("{} must be {wanted}", self.name), self.name);
        let text = if value.get().starts_with('"') {
            canonical::string(value, self.name).map_err(|FlawAt { flaw, path }| refuse(&flaw.to_string(), &path))?
        } else if self.kind == Kind::Decimal {
            value.get().to_owned()
        } else {
            return Err(wrong("a string"));
        };
        match self.kind {
            Kind::Text { max } if text.is_empty() || text.chars().count() > max => {
                Err(wrong(&format!("1 to {max} characters")))
            }
            Kind::Decimal if !is_decimal(&text) => Err(wrong("a decimal number such as 12.50")),
            Kind::Currency if text.len() != 3 || !text.bytes().all(|byte| byte.is_ascii_uppercase()) => {
                Err(wrong("three capital letters such as JPY"))
            }
            _ => Ok(text),
        }
    }
}

/// Up to 15 digits and a fraction of up to 4, written in the one way in which databases give them back.
fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, part)| (whole, Some(part)));
    let digits = |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let nothing = unsigned.bytes().all(|byte| b"0.".contains(&byte));
    digits(whole, 15)
        && fraction.is_none_or(|fraction| digits(fraction, 4))
        && (whole == "0" || !whole.starts_with('0'))
        && !(nothing && text.starts_with('-'))
}

fn refuse(detail: &str, field: &str) -> ItemError {
    let field = (!field.is_empty()).then(|| field.to_owned());
    ItemError { code: code::INVALID_ITEM.to_owned(), detail: detail.to_owned(), field }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(resource: &Resource, text: &str) -> Result<Vec<String>, Option<String>> {
        resource.parse(serde_json::from_str(text).unwrap()).map_err(|error| error.field)
    }

    #[test]
    fn values_are_kept_to_the_letter() {
        let invoice = r#"{"number":"7","terminal_id":"が","currency":"JPY","total":1200.50}"#;
        assert_eq!(parse(&RESOURCES[0], invoice).unwrap(), ["が", "7", "1200.50", "JPY"]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let with = |total: &str| format!(r#"{{"number":"7","terminal_id":"t","currency":"JPY","total":{total}}}"#);
        for total in ["0", "-1", "\"12.50\"", "999999999999999.9999", "0.0001"] {
            assert!(parse(&RESOURCES[0], &with(total)).is_ok(), "{total}");
        }
        for total in
            ["1e3", "\"\"", "\"1,5\"", "-0", "-0.00", "\"01\"", "\"1.\"", "\".5\"", "1.00000", "true", "null", "[]"]
        {
            assert_eq!(parse(&RESOURCES[0], &with(total)), Err(Some("total".to_owned())), "{total}");
        }
        for (text, field) in [
            ("[]", None),
            ("{}", Some("terminal_id")),
            (r#"{"terminal_id":"","number":"7","total":1,"currency":"JPY"}"#, Some("terminal_id")),
            (r#"{"terminal_id":7,"number":"7","total":1,"currency":"JPY"}"#, Some("terminal_id")),
            (r#"{"terminal_id":"t","number":"7","total":1,"currency":"yen"}"#, Some("currency")),
            (r#"{"terminal_id":"t","number":"\u0000","total":1,"currency":"JPY"}"#, Some("number")),
            (r#"{"terminal_id":"t","number":"7","total":1,"currency":"JPY","x":1}"#, Some("x")),
            (r#"{"terminal_id":"t","number":"7","number":"8","total":1,"currency":"JPY"}"#, Some("number")),
        ] {
            assert_eq!(parse(&RESOURCES[0], text), Err(field.map(str::to_owned)), "{text}");
        }
    }
}

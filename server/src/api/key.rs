//! The key of an operation, as a request carries it.

use axum::http::{HeaderMap, StatusCode};
use warifu::id::ClientMemoryId;
use warifu::wire::problem::code;

use crate::problem::Refusal;

const HEADERS: [&str; 2] = ["idempotency-key", "x-idempotency-token"];

/// The longest key.
const MAX_LENGTH: usize = 255;

/// Reads the key of an operation: quoted or bare, in one of the two headers. A UUID is one key in any case.
///
/// # Errors
/// When there is none, more than one, or one that is malformed: nothing is ever cut short, or done without a key.
pub(super) fn read(headers: &HeaderMap) -> Result<String, Refusal> {
    let mut given = HEADERS.iter().flat_map(|name| headers.get_all(*name));
    let Some(value) = given.next() else {
        return Err(missing(
            "This needs the operation's own key in the header Idempotency-Key or X-Idempotency-Token.",
        ));
    };
    if given.next().is_some() {
        return Err(invalid("This has more than one key; an operation has one."));
    }
    let text = value.to_str().map_err(|_| invalid("A key is made of printable ASCII characters."))?.trim();
    let key = if text.starts_with('"') { unquote(text)? } else { bare(text)? };
    if key.is_empty() {
        return Err(missing("The key is empty."));
    }
    if key.len() > MAX_LENGTH {
        return Err(invalid("A key has 255 characters at most."));
    }
    Ok(key.parse::<ClientMemoryId>().map_or(key, |uuid| uuid.to_string()))
}

/// Reads the key of a memory's create, which is the memory's id.
///
/// # Errors
/// The same, and when it is no UUID.
pub(super) fn read_id(headers: &HeaderMap) -> Result<ClientMemoryId, Refusal> {
    read(headers)?
        .parse()
        .map_err(|error| invalid(&format!("The key of a memory's create is its clientMemoryId; this is {error}.")))
}

fn bare(text: &str) -> Result<String, Refusal> {
    // A comma would be two keys, and the others belong to quoting and parameters.
    if text.contains(|c: char| c.is_ascii_whitespace() || ",;\"\\".contains(c)) {
        return Err(invalid(
            "A key with spaces, commas, semicolons, quotes or backslashes must be quoted, and only one is taken.",
        ));
    }
    Ok(text.to_owned())
}

/// A string of RFC 9651, without parameters.
fn unquote(text: &str) -> Result<String, Refusal> {
    let malformed = || invalid("The quotes around the key do not close, or something follows them.");
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(malformed)?;
    let mut key = String::with_capacity(inside.len());
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(escaped @ ('"' | '\\')) => key.push(escaped),
                _ => return Err(malformed()),
            },
            '"' => return Err(malformed()),
            c if c.is_ascii_control() => return Err(invalid("A key is made of printable ASCII characters.")),
            c => key.push(c),
        }
    }
    Ok(key)
}

fn missing(detail: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, code::KEY_MISSING, format!("{detail} Nothing was done."))
}

fn invalid(detail: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, code::KEY_INVALID, format!("{detail} Nothing was done."))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::response::IntoResponse as _;

    use super::*;

    fn key(values: &[(&'static str, &[u8])]) -> Result<String, u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.append(*name, HeaderValue::from_bytes(value).unwrap());
        }
        read(&headers).map_err(|refusal| refusal.into_response().status().as_u16())
    }

    #[test]
    fn one_key_is_read_bare_or_quoted_from_either_header() {
        for (given, read) in [
            (&b"abc"[..], "abc"),
            (b"\"abc\"", "abc"),
            (b"\"a b, c; d\"", "a b, c; d"),
            (br#""a\"b\\c""#, "a\"b\\c"),
            (b"'; DROP TABLE operations; --", ""),
            (b"0F8FAD5B-D9CB-469F-A165-70867728950E", "0f8fad5b-d9cb-469f-a165-70867728950e"),
            (&[b'k'; 255], &"k".repeat(255)),
        ] {
            let expected = if read.is_empty() { Err(400) } else { Ok(read.to_owned()) };
            assert_eq!(key(&[("idempotency-key", given)]), expected);
            assert_eq!(key(&[("x-idempotency-token", given)]), expected);
        }
    }

    #[test]
    fn what_is_no_key_or_two_is_refused() {
        for given in [
            &b""[..],
            b"  ",
            b"\"\"",
            b"\"",
            b"\"a",
            b"a\"",
            b"\"a\"b\"",
            b"\"a\"; q=1",
            b"a, b",
            b"\"a\", \"b\"",
            b"\"a\\x\"",
            b"\xe3\x81\x8c",
            b"a\tb",
            b"\"a\tb\"",
            &[b'k'; 256],
            &[b'k'; 65_536],
        ] {
            assert_eq!(key(&[("idempotency-key", given)]), Err(400), "{given:?}");
        }
        assert_eq!(key(&[]), Err(400));
        assert_eq!(key(&[("idempotency-key", b"a"), ("idempotency-key", b"a")]), Err(400));
        assert_eq!(key(&[("idempotency-key", b"a"), ("x-idempotency-token", b"a")]), Err(400));
    }
}

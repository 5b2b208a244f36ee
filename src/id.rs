//! The names that hold a tally together. Each is parsed once, at the edge, and is valid from there on.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is not what its name promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Not a hyphenated UUID of 36 characters.
    #[error("not a UUID of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")]
    NotAUuid,
    /// Empty.
    #[error("must not be empty")]
    Empty,
    /// Longer than the name may be.
    #[error("longer than {0} characters")]
    TooLong(usize),
}

fn parse_uuid(text: &str) -> Result<Uuid, IdError> {
    // `try_parse` also takes braces, URNs and bare hex; the wire has one form, in any case.
    if text.len() != 36 {
        return Err(IdError::NotAUuid);
    }
    Uuid::try_parse(text).map_err(|_| IdError::NotAUuid)
}

macro_rules! uuid_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes a version 4 UUID out of 16 random bytes.
            #[must_use]
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
            }

            /// The 128 bits.
            #[must_use]
            pub fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse_uuid(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.as_hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

uuid_name! {
    /// The device's name for a record, made before any network. Written in lower case, read in any case.
    ClientMemoryId
}

uuid_name! {
    /// The name of one operation, the same on every attempt. For the creation of a memory it is the
    /// [`ClientMemoryId`].
    IdempotencyKey
}

impl From<ClientMemoryId> for IdempotencyKey {
    fn from(id: ClientMemoryId) -> Self {
        Self(id.0)
    }
}

/// The server's name for a record: kept verbatim, never through a number, so that 64 bits survive JavaScript.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(String);

impl ServerId {
    /// The longest server id in characters.
    pub const MAX_CHARS: usize = 255;

    /// Takes the text of an id as it is.
    ///
    /// # Errors
    /// When it is empty or longer than [`Self::MAX_CHARS`].
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        match text.chars().count() {
            0 => Err(IdError::Empty),
            n if n > Self::MAX_CHARS => Err(IdError::TooLong(Self::MAX_CHARS)),
            _ => Ok(Self(text)),
        }
    }

    /// Reads one raw JSON token: an integer (its digits are kept) or a string. Anything else is `None`: null, a
    /// fraction, an exponent, an object, and an id of a length no server may use.
    #[must_use]
    pub fn from_json_token(token: &str) -> Option<Self> {
        let token = token.trim();
        if token.starts_with('"') {
            return Self::new(serde_json::from_str::<String>(token).ok()?).ok();
        }
        let digits = token.strip_prefix('-').unwrap_or(token);
        let integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if integer { Self::new(token).ok() } else { None }
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The account whose queue this is, as the app names it. It names the database, and never leaves the device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(String);

impl Owner {
    /// The longest owner in characters.
    pub const MAX_CHARS: usize = 255;

    /// The owner's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Owner {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.chars().count() {
            0 => Err(IdError::Empty),
            n if n > Self::MAX_CHARS => Err(IdError::TooLong(Self::MAX_CHARS)),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_canonical_whatever_case_it_came_in() {
        let lower = "0f8fad5b-d9cb-469f-a165-70867728950e";
        let id: ClientMemoryId = lower.to_uppercase().parse().unwrap();
        assert_eq!(id.to_string(), lower);
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{lower}\""));
        for bad in ["", "abc", "{0f8fad5b-d9cb-469f-a165-70867728950e}", "0f8fad5bd9cb469fa16570867728950e"] {
            assert_eq!(bad.parse::<ClientMemoryId>(), Err(IdError::NotAUuid), "{bad}");
        }
    }

    #[test]
    fn a_server_id_keeps_every_digit() {
        for (token, id) in [
            ("653247040368672768", Some("653247040368672768")),
            ("9007199254740993", Some("9007199254740993")),
            ("\"00042\"", Some("00042")),
            ("\"abc\"", Some("abc")),
            ("7", Some("7")),
            ("-1", Some("-1")),
            ("7.0", None),
            ("7e3", None),
            ("null", None),
            ("true", None),
            ("{}", None),
            ("[1]", None),
            ("\"\"", None),
            ("-", None),
        ] {
            assert_eq!(ServerId::from_json_token(token).as_ref().map(ServerId::as_str), id, "{token}");
        }
        assert!(ServerId::from_json_token(&format!("\"{}\"", "綴".repeat(255))).is_some());
        assert!(ServerId::from_json_token(&format!("\"{}\"", "綴".repeat(256))).is_none());
    }
}

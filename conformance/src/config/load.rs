//! From a file to a config.

use std::env;
use std::fs;
use std::path::Path;

use super::template::Escape;
use super::{Call, Config, ConfigError, Count, Credentials, EXAMPLE, Hook, Slot, Template, Values};

impl Config {
    /// The reference server's routes and demo owners.
    ///
    /// # Errors
    /// Never, as long as the built-in example is right.
    pub fn reference() -> Result<Self, ConfigError> {
        Self::parse(EXAMPLE, Path::new("example.toml"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read or used; the error says where.
    pub fn load(file: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(file).map_err(|source| ConfigError::Read { file: file.to_owned(), source })?;
        Self::parse(&text, file)
    }

    /// Reads the text of a file; `file` is only for the errors.
    ///
    /// # Errors
    /// When it cannot be used; the error says where.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let syntax = |error: &toml::de::Error, path: String| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let before = text.get(..start).unwrap_or_default();
            let line_start = before.rfind('\n').map_or(0, |at| at + 1);
            ConfigError::Syntax {
                file: file.to_owned(),
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                path,
                message: error.message().trim().replace('\n', " "),
            }
        };
        let read = toml::Deserializer::parse(text).map_err(|error| syntax(&error, String::new()))?;
        let mut config: Self =
            serde_path_to_error::deserialize(read).map_err(|error| syntax(error.inner(), error.path().to_string()))?;
        config.expand().and_then(|()| config.validate()).map_err(|(path, message)| ConfigError::Meaning {
            file: file.to_owned(),
            path,
            message,
        })?;
        Ok(config)
    }

    /// Takes secrets from the environment.
    fn expand(&mut self) -> Result<(), Fault> {
        let auth = &mut self.auth;
        let owners = [
            ("auth.first", Some(&mut auth.first)),
            ("auth.second", auth.second.as_mut()),
            ("auth.refreshed", auth.refreshed.as_mut()),
        ];
        for (path, credentials) in owners {
            for (name, value) in credentials.into_iter().flat_map(|Credentials(headers)| headers.iter_mut()) {
                *value = from_environment(value).map_err(|message| (format!("{path}.{name}"), message))?;
            }
        }
        for (name, value) in &mut self.headers {
            *value = from_environment(value).map_err(|message| (format!("headers.{name}"), message))?;
        }
        for (name, hook) in self.hooks.named_mut() {
            if let Some(Hook::Request { headers, .. }) = hook {
                for (header, value) in headers {
                    *value = from_environment(value)
                        .map_err(|message| (format!("hooks.{name}.headers.{header}"), message))?;
                }
            }
        }
        Ok(())
    }

    fn validate(&self) -> Result<(), Fault> {
        if self.deadline_seconds == 0 {
            return fault("deadline_seconds", "a deadline of nothing lets no request be answered");
        }
        for (path, credentials) in [
            ("headers", Some(&self.headers)),
            ("auth.first", Some(&self.auth.first.0)),
            ("auth.second", self.auth.second.as_ref().map(|credentials| &credentials.0)),
            ("auth.refreshed", self.auth.refreshed.as_ref().map(|credentials| &credentials.0)),
        ] {
            for (name, value) in credentials.into_iter().flatten() {
                header(path, name, value)?;
            }
        }
        for (path, name) in [("keys.ietf", &self.keys.ietf), ("keys.token", &self.keys.token)] {
            header(path, name, "")?;
        }
        for (index, resource) in self.resource.iter().enumerate() {
            let path = |field: &str| format!("resource[{index}].{field}");
            if self.resource[..index].iter().any(|other| other.name == resource.name) {
                return fault(path("name"), format!("there are two resources \"{}\"", resource.name));
            }
            begins_with_slash(&path("path"), &resource.path)?;
            only(&path("path"), &resource.path, RECORD)?;
            body(&path("body"), &resource.body, RECORD)?;
            if let Some(refused) = &resource.refused_body {
                body(&path("refused_body"), refused, RECORD)?;
            }
            for (name, call) in [("edit", &resource.edit), ("delete", &resource.delete)] {
                if let Some(call) = call {
                    check_call(&path(name), call)?;
                }
            }
            if let Some(count) = &resource.count {
                check_count(&path("count"), count)?;
            }
        }
        self.validate_batch()
    }

    fn validate_batch(&self) -> Result<(), Fault> {
        let Some(batch) = &self.batch else { return Ok(()) };
        if !self.resource.iter().any(|resource| resource.name == batch.resource) {
            return fault("batch.resource", format!("there is no [[resource]] named \"{}\"", batch.resource));
        }
        begins_with_slash("batch.path", &batch.path)?;
        body("batch.item", &batch.item, RECORD)?;
        if !batch.item.slots().any(|slot| *slot == Slot::Key) {
            return fault("batch.item", "an item is known by its {key}, which is not in it");
        }
        match &batch.bad_item {
            Some(bad) => body("batch.bad_item", bad, RECORD),
            None => Ok(()),
        }
    }
}

/// Which setting, and what is wrong with it.
type Fault = (String, String);

fn fault<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Fault> {
    Err((path.into(), message.into()))
}

const RECORD: &[Slot] = &[Slot::Key, Slot::Uuid, Slot::Number, Slot::Marker, Slot::Text, Slot::Amount, Slot::Now];

/// What stays the same when a record's text changes, and may stand in a shell command.
const IDENTITY: &[Slot] = &[Slot::Uuid, Slot::Number, Slot::Marker];

fn only(path: &str, template: &Template, allowed: &[Slot]) -> Result<(), Fault> {
    match template.slots().find(|slot| !allowed.contains(slot)) {
        None => Ok(()),
        Some(slot) => fault(path, format!("{slot} means nothing here")),
    }
}

fn body(path: &str, template: &Template, allowed: &[Slot]) -> Result<(), Fault> {
    only(path, template, allowed)?;
    json(path, template)
}

/// Bodies are JSON whatever the placeholders stand for.
fn json(path: &str, template: &Template) -> Result<(), Fault> {
    let one = || "1".to_owned();
    let values = Values {
        key: one(),
        uuid: one(),
        number: one(),
        marker: one(),
        text: one(),
        amount: one(),
        now: one(),
        id: one(),
        cursor: one(),
        seconds: one(),
        milliseconds: one(),
        answer: serde_json::Value::Null,
    };
    // A field of an answer may be of any kind, so only the others are tried.
    if template.slots().any(|slot| matches!(slot, Slot::Answer(_))) {
        return Ok(());
    }
    match serde_json::from_str::<serde::de::IgnoredAny>(&template.render(&values, Escape::Json)) {
        Ok(_) => Ok(()),
        Err(error) => fault(path, format!("this is no JSON: {error}")),
    }
}

fn begins_with_slash(path: &str, template: &Template) -> Result<(), Fault> {
    if template.source().starts_with('/') { Ok(()) } else { fault(path, "a path begins with a slash") }
}

fn check_call(path: &str, call: &Call) -> Result<(), Fault> {
    begins_with_slash(&format!("{path}.path"), &call.path)?;
    let of_record = |slot: &Slot| RECORD.contains(slot) || matches!(slot, Slot::Id | Slot::Answer(_));
    for (field, template) in [("path", Some(&call.path)), ("body", call.body.as_ref())] {
        let wrong = template.into_iter().flat_map(Template::slots).find(|slot| !of_record(slot));
        if let Some(slot) = wrong {
            return fault(format!("{path}.{field}"), format!("{slot} means nothing here"));
        }
    }
    call.body.as_ref().map_or(Ok(()), |template| json(&format!("{path}.body"), template))
}

fn check_count(path: &str, count: &Count) -> Result<(), Fault> {
    match count {
        Count::Command(command) => match only(&format!("{path}.command"), command, IDENTITY) {
            Ok(()) => Ok(()),
            Err((path, _)) => fault(
                path,
                "a command may hold {n}, {marker} and {uuid}; the rest is in its environment: WARIFU_KEY, WARIFU_OWNER",
            ),
        },
        Count::Listing(listing) => {
            begins_with_slash(&format!("{path}.path"), &listing.path)?;
            for (field, template) in &listing.filter {
                if template.has_content() {
                    let message =
                        "{text} and {amount} differ between two versions of one record, which must both count";
                    return fault(format!("{path}.where.{field}"), message);
                }
            }
            Ok(())
        }
    }
}

fn header(path: &str, name: &str, value: &str) -> Result<(), Fault> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        return fault(path, format!("\"{name}\" is no name of a header"));
    }
    if value.contains(['\r', '\n', '\0']) {
        return fault(format!("{path}.{name}"), "a header's value is one line");
    }
    Ok(())
}

/// `${NAME}` stands for a variable of the environment.
fn from_environment(value: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), value);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else {
            return Err("\"${\" without its \"}\"".to_owned());
        };
        out.push_str(before);
        let found = env::var(name).map_err(|_| format!("the environment has no variable {name}"))?;
        out.push_str(&found);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

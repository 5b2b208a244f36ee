//! What `Outbox.open` is told.

use js_sys::{Function, Reflect};
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};

use super::errors::Failure;
use crate::core::engine::Config;
use crate::id::Owner;

/// The options, checked.
pub(super) struct Options {
    pub(super) owner: Owner,
    /// Absolute, without query and fragment, ending in a slash.
    pub(super) base_url: String,
    pub(super) credentials: web_sys::RequestCredentials,
    pub(super) headers: Option<Function>,
    pub(super) config: Config,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Plain {
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    credentials: Option<Credentials>,
    #[serde(default)]
    signed_out_statuses: Option<Vec<u16>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Credentials {
    Omit,
    SameOrigin,
    Include,
}

impl Options {
    pub(super) fn parse(options: &JsValue) -> Result<Self, Failure> {
        let plain: Plain = serde_wasm_bindgen::from_value(options.clone())
            .map_err(|error| Failure::invalid("options", error.to_string()))?;
        let owner = plain.owner.ok_or_else(|| Failure::invalid("owner", "Name the account whose queue this is."))?;
        let owner = owner
            .parse()
            .map_err(|error: crate::id::IdError| Failure::invalid("owner", format!("The owner {error}.")))?;
        Ok(Self {
            owner,
            base_url: base_url(&member(options, "baseUrl"))?,
            credentials: match plain.credentials {
                Some(Credentials::Omit) => web_sys::RequestCredentials::Omit,
                Some(Credentials::Include) => web_sys::RequestCredentials::Include,
                Some(Credentials::SameOrigin) | None => web_sys::RequestCredentials::SameOrigin,
            },
            headers: headers(member(options, "headers"))?,
            config: plain
                .signed_out_statuses
                .map(|signed_out_statuses| Config { signed_out_statuses })
                .unwrap_or_default(),
        })
    }
}

fn member(options: &JsValue, name: &str) -> JsValue {
    Reflect::get(options, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

fn headers(value: JsValue) -> Result<Option<Function>, Failure> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    value.dyn_into().map(Some).map_err(|_| Failure::invalid("headers", "It must be a function."))
}

fn base_url(value: &JsValue) -> Result<String, Failure> {
    let invalid = || Failure::invalid("baseUrl", "It must be an http or https URL, or a path on this site.");
    let text = value.as_string().or_else(|| member(value, "href").as_string()).ok_or_else(invalid)?;
    let here = Reflect::get(&js_sys::global(), &"location".into()).map(|here| member(&here, "href").as_string());
    let url = match here.ok().flatten() {
        Some(here) => web_sys::Url::new_with_base(&text, &here),
        None => web_sys::Url::new(&text),
    };
    let url = url.map_err(|_| invalid())?;
    if !matches!(url.protocol().as_str(), "http:" | "https:") {
        return Err(invalid());
    }
    url.set_search("");
    url.set_hash("");
    if !url.pathname().ends_with('/') {
        url.set_pathname(&format!("{}/", url.pathname()));
    }
    Ok(url.href())
}

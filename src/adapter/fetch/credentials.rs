use std::cell::RefCell;

use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Headers;

/// What the app adds to each request.
pub(super) struct Credentials {
    app: Option<Function>,
    /// What a refresh gave, for the next request.
    fresh: RefCell<Option<Headers>>,
}

/// What the app's function is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    Send,
    Unauthorized,
}

/// Why there are no headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    SignedOut,
    Failed(String),
}

impl Credentials {
    pub(super) fn new(app: Option<Function>) -> Self {
        Self { app, fresh: RefCell::default() }
    }

    /// Headers of our own to add to: what the app gave is copied.
    pub(super) async fn headers(&self, why: Why) -> Result<Headers, Refusal> {
        if why == Why::Send
            && let Some(fresh) = self.fresh.take()
        {
            return Ok(fresh);
        }
        let given = match &self.app {
            Some(app) => ask(app, why).await.map_err(|error| Refusal::Failed(text(&error)))?,
            None => JsValue::UNDEFINED,
        };
        if given.is_null() {
            return Err(Refusal::SignedOut);
        }
        let copied = if given.is_undefined() {
            Headers::new()
        } else {
            Headers::new_with_record_from_str_to_str(given.unchecked_ref::<Object>())
        };
        copied.map_err(|error| Refusal::Failed(text(&error)))
    }

    /// Whether somebody may be signed in.
    pub(super) async fn refresh(&self) -> bool {
        if self.app.is_none() {
            return false;
        }
        match self.headers(Why::Unauthorized).await {
            Ok(headers) => {
                self.fresh.replace(Some(headers));
                true
            }
            Err(Refusal::SignedOut) => false,
            Err(Refusal::Failed(_)) => true,
        }
    }
}

async fn ask(app: &Function, why: Why) -> Result<JsValue, JsValue> {
    let why = match why {
        Why::Send => "send",
        Why::Unauthorized => "unauthorized",
    };
    let given = app.call1(&JsValue::UNDEFINED, &JsValue::from_str(why))?;
    JsFuture::from(Promise::resolve(&given)).await
}

/// An error in words.
pub(super) fn text(error: &JsValue) -> String {
    let message = Reflect::get(error, &JsValue::from_str("message")).ok().and_then(|message| message.as_string());
    message.or_else(|| error.as_string()).unwrap_or_else(|| "it threw what is no error".into())
}

use js_sys::Reflect;
use wasm_bindgen::JsValue;

use crate::port::StoreError;

/// What went wrong, and whether a new connection may help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection is gone, or the transaction was aborted by nobody here. Nothing of it was kept.
    Lost(String),
    /// No new connection changes this.
    Final(StoreError),
}

impl Fault {
    /// What an exception or an `error` attribute says.
    pub(super) fn from_js(error: &JsValue) -> Self {
        // By its shape, not its class: another window's DOMException is of another class.
        let part = |name| Reflect::get(error, &JsValue::from_str(name)).ok().and_then(|part| part.as_string());
        let Some(name) = part("name") else {
            return Fault::Lost("aborted".into());
        };
        let text = format!("{name}: {}", part("message").unwrap_or_default());
        match name.as_str() {
            "QuotaExceededError" => Fault::Final(StoreError::Full),
            "SecurityError" | "NotAllowedError" => Fault::Final(StoreError::Unavailable(text)),
            "ConstraintError" | "DataError" | "DataCloneError" | "NotReadableError" | "NotFoundError" => {
                Fault::Final(StoreError::Corrupt(text))
            }
            _ => Fault::Lost(text),
        }
    }
}

impl From<JsValue> for Fault {
    fn from(error: JsValue) -> Self {
        Fault::from_js(&error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Lost(text) => StoreError::Lost(text),
            Fault::Final(error) => error,
        }
    }
}

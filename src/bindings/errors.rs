//! Errors as callers see them: one class, stable codes.

use std::cell::RefCell;

use js_sys::{Array, Error, Function, Reflect};
use wasm_bindgen::prelude::*;

use crate::core::engine::CallError;
use crate::core::values::InvalidValue;
use crate::port::StoreError;

thread_local! {
    static FACTORY: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Tells what makes an error: `(code, message, retryable, path) => Error`. The class itself is written in JavaScript.
#[wasm_bindgen(js_name = setErrorFactory)]
pub fn set_error_factory(factory: Function) {
    FACTORY.with_borrow_mut(|own| *own = Some(factory));
}

/// An error on its way to JavaScript.
pub(super) struct Failure {
    code: &'static str,
    message: String,
    retryable: bool,
    path: Option<String>,
}

impl Failure {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false, path: None }
    }

    pub(super) fn invalid(path: &str, reason: impl Into<String>) -> Self {
        InvalidValue::new(path, reason).into()
    }
}

impl From<InvalidValue> for Failure {
    fn from(invalid: InvalidValue) -> Self {
        let InvalidValue { path, reason } = invalid;
        let message = if path.is_empty() { reason } else { format!("{path}: {reason}") };
        Self { code: "invalid_value", message, retryable: false, path: Some(path) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Full => "storage_full",
            StoreError::Blocked => "storage_blocked",
            StoreError::TooNew { .. } => "storage_too_new",
            StoreError::Lost(_) | StoreError::Corrupt(_) => "storage_lost",
            StoreError::Unavailable(_) | StoreError::TimedOut => "storage_unavailable",
            StoreError::Closed => "closed",
        };
        Self { code, message: sentence(&error.to_string()), retryable: error.retryable(), path: None }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let message = sentence(&error.to_string());
        match error {
            CallError::Invalid(invalid) => invalid.into(),
            CallError::Store(error) => error.into(),
            CallError::AlreadyCommitted => Self::new("already_committed", message),
            CallError::NotFound => Self::new("not_found", message),
            CallError::NotPossible(_) => Self::new("not_possible", message),
            CallError::Closed => Self::new("closed", message),
        }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let Failure { code, message, retryable, path } = failure;
        let path = path.map_or(JsValue::NULL, JsValue::from);
        let made = FACTORY.with_borrow(Clone::clone).and_then(|factory| {
            let arguments = Array::of4(&code.into(), &message.as_str().into(), &retryable.into(), &path);
            factory.apply(&JsValue::NULL, &arguments).ok()
        });
        made.unwrap_or_else(|| {
            let error = Error::new(&message);
            // Setting a member of a fresh object does not fail.
            let _ = Reflect::set(&error, &"code".into(), &code.into());
            error.into()
        })
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

//! The same in a worker, where there is no window.
#![cfg(target_family = "wasm")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../contract/suite/mod.rs"]
mod suite;

mod contract;
mod fetch;
mod indexeddb_connection;
mod indexeddb_transaction;
mod script;
mod surroundings;

use wasm_bindgen_test::wasm_bindgen_test_configure;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

//! The checker against backends that keep the contract, and backends that break it in one way each.

// A refusal is an answer, large as it is.
#![allow(clippy::unwrap_used, clippy::panic, clippy::result_large_err)]

mod backend;
mod broken;
mod command;
mod settings;
mod whole;

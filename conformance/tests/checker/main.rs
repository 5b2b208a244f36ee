//! The checker against backends that keep the contract, and backends that break it in one way each.

mod backend;
mod broken;
mod command;
mod settings;
mod whole;

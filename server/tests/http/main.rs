//! The server over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod batch;
mod common;
mod conformance;
mod cors;
mod demo;
mod faults;
mod listing;
mod machines;
mod openapi;
mod owners;
mod place;
mod postgres;
mod process;
mod program;
mod races;
mod refusals;
mod single;
mod site;
mod slow;
mod store;

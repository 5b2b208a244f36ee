//! The JavaScript surface under `pkg/index.js`: it carries values across, and decides nothing.

mod client;
mod errors;
mod json;
mod options;
mod view;

pub use client::Client;
pub use errors::set_error_factory;

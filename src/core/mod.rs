//! What is decided, and nothing else: no browser, no clock, no randomness, no `async`.

pub mod answer;
pub mod chunk;
pub mod engine;
pub mod event;
pub mod law;
pub mod limits;
pub mod operation;
pub mod reconcile;
pub mod retry;
pub mod time;
pub mod values;

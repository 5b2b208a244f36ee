//! What is decided, and nothing else: no browser, no clock, no randomness, no `async`.

pub mod operation;
pub mod time;

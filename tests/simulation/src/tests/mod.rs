//! The simulation's own tests: that it is deterministic, that its checkers find planted bugs, and what Warifu does in
//! named situations.

#![allow(clippy::unwrap_used, clippy::panic)]

mod answers;
mod devices;
mod planted;
mod sample;
mod stage;

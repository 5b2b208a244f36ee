//! Warifu (割符): a tally in two halves. The device names an operation once and writes it down before it is sent; the
//! server refuses a second row under that name.
//!
//! Arrows point one way: [`bindings`] → [`driver`] → [`core`]; [`driver`] → [`port`] ← [`adapter`];
//! [`core`] and [`wire`] → [`id`].

pub mod adapter;
#[cfg(target_family = "wasm")]
pub mod bindings;
pub mod core;
pub mod driver;
pub mod id;
pub mod port;
pub mod wire;

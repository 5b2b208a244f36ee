//! A seeded, deterministic simulation of Warifu's engines and their driver: several tabs on one store, a model server with
//! the unique constraint, and every fault that a device, a browser, a network and a server have. One seed replays one
//! run.

mod app;
mod check;
mod executor;
mod fault;
mod plan;
mod plant;
mod run;
mod shrink;
mod trace;
mod world;

#[cfg(test)]
mod tests;

pub use check::{Kind, Violation};
pub use fault::Fault;
pub use plan::Config;
pub use plant::Bug;
pub use run::{Outcome, run};
pub use shrink::shrink;

//! What the ports are in the world: stores, `fetch`, locks, timers, randomness, and word between tabs.

mod decide;
mod memory;

#[cfg(target_family = "wasm")]
mod indexeddb;
#[cfg(target_family = "wasm")]
mod number;
#[cfg(target_family = "wasm")]
mod timers;

pub use memory::MemoryStore;

#[cfg(target_family = "wasm")]
pub use {
    indexeddb::{Bounds, IndexedDbStore, database_name},
    timers::BrowserClock,
};

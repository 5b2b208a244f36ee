//! What the ports are in the world: stores, `fetch`, locks, timers, randomness, and word between tabs.

mod decide;
mod memory;

pub use memory::MemoryStore;

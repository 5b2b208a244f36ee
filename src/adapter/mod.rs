//! What the ports are in the world: stores, `fetch`, locks, timers, randomness, and word between tabs.

mod decide;
mod memory;

#[cfg(target_family = "wasm")]
mod channel;
#[cfg(target_family = "wasm")]
mod entropy;
#[cfg(target_family = "wasm")]
mod fetch;
#[cfg(target_family = "wasm")]
mod indexeddb;
#[cfg(target_family = "wasm")]
mod locks;
#[cfg(target_family = "wasm")]
mod number;
#[cfg(target_family = "wasm")]
mod timers;

pub use memory::MemoryStore;

#[cfg(target_family = "wasm")]
pub(crate) use number::nearest as nearest_number;

#[cfg(target_family = "wasm")]
pub use {
    channel::TabChannel,
    entropy::BrowserEntropy,
    fetch::FetchTransport,
    indexeddb::{Bounds, IndexedDbStore, database_name},
    locks::{WebLock, WebLockGuard},
    timers::BrowserClock,
};

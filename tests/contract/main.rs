//! The contract of the store, on the store in memory.
#![cfg(not(target_family = "wasm"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod suite;

use std::cell::RefCell;
use std::collections::HashMap;

use warifu::adapter::MemoryStore;

/// The stores of one test, by name.
#[derive(Default)]
struct InMemory {
    stores: RefCell<HashMap<String, MemoryStore>>,
}

impl suite::Factory for InMemory {
    type Store = MemoryStore;
    async fn open(&self, name: &str) -> MemoryStore {
        self.stores.borrow_mut().entry(name.to_owned()).or_default().clone()
    }
}

macro_rules! natively {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            futures_executor::block_on(suite::$name(&InMemory::default()));
        })*
    };
}
suite::each!(natively);

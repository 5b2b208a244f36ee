use js_sys::{Date, Math};
use warifu::adapter::{Bounds, IndexedDbStore};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::suite;

/// The databases of one test.
struct OnIndexedDb {
    test: String,
}

impl suite::Factory for OnIndexedDb {
    type Store = IndexedDbStore;
    async fn open(&self, name: &str) -> IndexedDbStore {
        IndexedDbStore::open(&format!("{} {name}", self.test), Bounds::default()).await.unwrap()
    }
}

macro_rules! in_browser {
    ($($name:ident)*) => {
        $(#[wasm_bindgen_test]
        async fn $name() {
            suite::$name(&OnIndexedDb { test: format!("{} {} {}", stringify!($name), Date::now(), Math::random()) }).await;
        })*
    };
}
suite::each!(in_browser);

//! Faults, planted in the page by a script.

use js_sys::{Date, Function, Math, Reflect};
use warifu::adapter::{Bounds, IndexedDbStore};
use warifu::core::time::Millis;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// A fault that is taken out again when it is dropped.
pub(crate) struct Planted {
    undo: Function,
}

/// Runs a script that plants a fault; it ends with `return` and the function that takes it out again.
pub(crate) fn plant(script: &str) -> Planted {
    let undo = Function::new_no_args(script).call0(&JsValue::UNDEFINED).unwrap();
    Planted { undo: undo.unchecked_into() }
}

/// Puts a value in the place of an object's property.
pub(crate) fn plant_value(object: &str, name: &str, value: &str) -> Planted {
    plant(&format!(
        "const object = {object}, before = Object.getOwnPropertyDescriptor(object, '{name}');
         Object.defineProperty(object, '{name}', {{ value: {value}, configurable: true, writable: true }});
         return () => {{
           if (before) Object.defineProperty(object, '{name}', before); else delete object['{name}'];
         }};"
    ))
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.undo.call0(&JsValue::UNDEFINED).unwrap();
    }
}

/// Runs the body of an async function, and gives what it returns.
pub(crate) async fn run(body: &str) -> JsValue {
    let function = Function::new_no_args(&format!("return (async () => {{ {body} }})()"));
    let promise = function.call0(&JsValue::UNDEFINED).unwrap();
    JsFuture::from(js_sys::Promise::from(promise)).await.unwrap()
}

/// A global value.
pub(crate) fn global(name: &str) -> JsValue {
    Reflect::get(&js_sys::global(), &JsValue::from_str(name)).unwrap()
}

/// A name that no other test has.
pub(crate) fn fresh(name: &str) -> String {
    format!("{name} {} {}", Date::now(), Math::random())
}

/// Short enough to wait for.
pub(crate) const SHORT: Bounds =
    Bounds { open: Millis(400), blocked: Millis(200), transaction: Millis(400), pause: Millis(20) };

/// A store of that name within [`SHORT`] bounds.
pub(crate) async fn store(name: &str) -> IndexedDbStore {
    IndexedDbStore::open(name, SHORT).await.unwrap()
}

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Crypto;

use crate::port::{Entropy, NoEntropy};

/// The browser's secure randomness. `getRandomValues` is there on plain http and in workers too.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrowserEntropy;

/// What one call of `getRandomValues` gives at most.
const AT_ONCE: usize = 65_536;

impl Entropy for BrowserEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        let crypto = Reflect::get(&js_sys::global(), &JsValue::from_str("crypto")).map_err(|_| NoEntropy)?;
        if !crypto.is_object() {
            return Err(NoEntropy);
        }
        let crypto: Crypto = crypto.unchecked_into();
        for part in bytes.chunks_mut(AT_ONCE) {
            // An array of JavaScript's own: a view into wasm memory is refused where that memory is shared.
            let drawn = Uint8Array::new_with_length(u32::try_from(part.len()).map_err(|_| NoEntropy)?);
            crypto.get_random_values_with_js_u8_array(&drawn).map_err(|_| NoEntropy)?;
            drawn.copy_to(part);
        }
        Ok(())
    }
}

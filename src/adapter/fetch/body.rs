use gloo_net::http::Response;
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::ReadableStreamDefaultReader;

/// The most bytes of an answer.
const MOST: usize = 16 << 20;

/// The whole body; `None` when it breaks off or is too large.
pub(super) async fn read(response: &Response) -> Option<Vec<u8>> {
    let Some(stream) = response.body() else { return Some(Vec::new()) };
    let reader = ReadableStreamDefaultReader::new(&stream).ok()?;
    let mut body = Vec::new();
    loop {
        let step = JsFuture::from(reader.read()).await.ok()?;
        if Reflect::get(&step, &JsValue::from_str("done")).ok()?.is_truthy() {
            return Some(body);
        }
        let part: Uint8Array = Reflect::get(&step, &JsValue::from_str("value")).ok()?.dyn_into().ok()?;
        // The rest is never fetched: the request is cut when its future ends.
        if body.len() + usize::try_from(part.length()).ok()? > MOST {
            return None;
        }
        body.extend_from_slice(&part.to_vec());
    }
}

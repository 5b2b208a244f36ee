//! The right to send, as a Web Lock. The browser frees it when its tab dies.

use std::rc::Rc;

use futures_channel::oneshot;
use futures_util::future::{Either, select};
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{AbortController, AbortSignal};

use crate::port::Lock;

/// A lock that all tabs of this origin share by its name.
///
/// Where the browser has no Web Locks (outside secure contexts, and in old ones), everybody has the right at once: the
/// store's generation lets one sender's writes through, and the server's key makes one row of two requests.
#[derive(Debug, Clone)]
pub struct WebLock {
    name: Rc<str>,
}

/// The right, until it is dropped.
#[derive(Debug)]
pub struct WebLockGuard {
    _release: Option<oneshot::Sender<()>>,
}

impl WebLock {
    /// The lock of that name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into() }
    }
}

impl Lock for WebLock {
    type Guard = WebLockGuard;

    async fn acquire(&self) -> WebLockGuard {
        let unlocked = WebLockGuard { _release: None };
        let (Some(locks), Ok(withdrawal)) = (manager(), AbortController::new()) else {
            return unlocked;
        };
        let withdrawal = Withdrawal(withdrawal);
        let (grant, granted) = oneshot::channel();
        let callback = Closure::once(move || {
            let (release, released) = oneshot::channel::<()>();
            match grant.send(WebLockGuard { _release: Some(release) }) {
                Ok(()) => future_to_promise(async move {
                    // The sender is only ever dropped.
                    let _ = released.await;
                    Ok(JsValue::UNDEFINED)
                }),
                Err(_nobody_waits) => Promise::resolve(&JsValue::UNDEFINED),
            }
        });
        let options: LockOptions = js_sys::Object::new().unchecked_into();
        options.set_signal(&withdrawal.0.signal());
        let Ok(request) = locks.request(&self.name, &options, callback.as_ref().unchecked_ref()) else {
            return unlocked;
        };
        match select(granted, JsFuture::from(request)).await {
            Either::Left((guard, _)) => guard.unwrap_or(unlocked),
            // Refused, as in a sandboxed frame: the same as no locks at all.
            Either::Right(_) => unlocked,
        }
    }
}

/// Takes the request back when nobody waits for it any more; after it was granted it does nothing.
struct Withdrawal(AbortController);

impl Drop for Withdrawal {
    fn drop(&mut self) {
        self.0.abort_with_reason(&js_sys::Error::new("nobody waits for this lock any more"));
    }
}

fn manager() -> Option<LockManager> {
    let navigator = Reflect::get(&js_sys::global(), &JsValue::from_str("navigator")).ok()?;
    let locks = Reflect::get(&navigator, &JsValue::from_str("locks")).ok()?;
    locks.is_object().then(|| locks.unchecked_into())
}

// web-sys has these among its unstable interfaces only, and those need a flag for the whole build.
#[wasm_bindgen]
extern "C" {
    type LockManager;
    #[wasm_bindgen(method, catch)]
    fn request(this: &LockManager, name: &str, options: &LockOptions, callback: &Function) -> Result<Promise, JsValue>;

    type LockOptions;
    #[wasm_bindgen(method, setter)]
    fn set_signal(this: &LockOptions, signal: &AbortSignal);
}

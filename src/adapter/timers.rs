//! The browser's clock and timers, in pages and in workers.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_channel::oneshot;
use js_sys::{Date, Function};
use wasm_bindgen::prelude::*;

use crate::core::time::{Millis, Time};
use crate::port::Clock;

/// The clock of this device.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrowserClock;

impl Clock for BrowserClock {
    fn now(&self) -> Time {
        Time(super::number::whole_from(Date::now()))
    }

    async fn sleep(&self, length: Millis) {
        let mut rest = length.0;
        loop {
            let part = i32::try_from(rest).unwrap_or(i32::MAX);
            Timeout::new(part).await;
            rest -= u64::from(part.unsigned_abs());
            if rest == 0 {
                return;
            }
        }
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(run: &Function, millis: i32) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timeout: &JsValue);
}

/// One timeout, cleared when it is dropped. It is handed to `setTimeout` as it is: beyond 31 bits it would fire at once.
struct Timeout {
    fired: oneshot::Receiver<()>,
    id: JsValue,
    _run: Closure<dyn FnMut()>,
}

impl Timeout {
    fn new(millis: i32) -> Self {
        let (fire, fired) = oneshot::channel();
        let mut fire = Some(fire);
        let run = Closure::new(move || {
            if let Some(fire) = fire.take() {
                // Nobody may be waiting any more.
                let _ = fire.send(());
            }
        });
        let id = set_timeout(run.as_ref().unchecked_ref(), millis);
        Self { fired, id, _run: run }
    }
}

impl Future for Timeout {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.fired).poll(context).map(|_| ())
    }
}

impl Drop for Timeout {
    fn drop(&mut self) {
        clear_timeout(&self.id);
    }
}

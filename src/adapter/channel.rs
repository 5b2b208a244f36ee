use wasm_bindgen::prelude::*;
use web_sys::{BroadcastChannel, MessageEvent};

use crate::port::Channel;

/// Word to the other tabs, and from them. Closed when it is dropped. Where there is no `BroadcastChannel` it says and
/// hears nothing.
pub struct TabChannel {
    open: Option<Open>,
}

struct Open {
    channel: BroadcastChannel,
    _hear: Closure<dyn FnMut(MessageEvent)>,
}

impl TabChannel {
    /// Opens the channel of that name. `hear` is called with each message of another tab, never with one's own.
    pub fn open(name: &str, hear: impl Fn(String) + 'static) -> Self {
        let Ok(channel) = BroadcastChannel::new(name) else {
            return Self { open: None };
        };
        let listener = Closure::new(move |event: MessageEvent| {
            // Anybody on this origin can post to the name.
            if let Some(text) = event.data().as_string() {
                hear(text);
            }
        });
        channel.set_onmessage(Some(listener.as_ref().unchecked_ref()));
        Self { open: Some(Open { channel, _hear: listener }) }
    }
}

impl Channel for TabChannel {
    fn post(&self, message: &str) {
        if let Some(Open { channel, .. }) = &self.open {
            // It throws only when it is closed, and losing a message is allowed.
            let _ = channel.post_message(&JsValue::from_str(message));
        }
    }
}

impl Drop for TabChannel {
    fn drop(&mut self) {
        if let Some(Open { channel, .. }) = &self.open {
            channel.set_onmessage(None);
            channel.close();
        }
    }
}

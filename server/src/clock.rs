//! What time it is for the server's own bookkeeping.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The system's clock, and how far the demo has moved it.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    ahead: AtomicI64,
}

impl Clock {
    /// Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        i64::try_from(since).unwrap_or(i64::MAX).saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    /// Runs ahead of the system by so many seconds from now on.
    pub(crate) fn set_ahead(&self, seconds: u32) {
        self.ahead.store(seconds.into(), Ordering::Relaxed);
    }
}

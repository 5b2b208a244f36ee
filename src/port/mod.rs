//! What the driver needs of its surroundings. Everything is single-threaded: futures need not be `Send`.

mod store;
mod transport;

pub use store::{
    Change, Due, DueQuery, Durability, Filter, ListQuery, Meta, Mismatch, Page, QueueState, Store, StoreError, Write,
    WriteOutcome, Written,
};
pub use transport::{Delivery, HttpAnswer, HttpRequest, Method, Transport};

use crate::core::time::{Millis, Time};

/// The clock on the wall, and waiting.
#[allow(async_fn_in_trait, reason = "one thread: no future needs to be Send")]
pub trait Clock {
    /// What the clock shows. It may jump, backwards too.
    fn now(&self) -> Time;
    /// Resolves after about that long, or later.
    async fn sleep(&self, length: Millis);
}

/// Secure randomness.
pub trait Entropy {
    /// Fills the bytes.
    ///
    /// # Errors
    /// When there is no secure source: a key from a weak one would be worse than none.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy>;
}

/// There is no secure source of randomness here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no secure source of randomness")]
pub struct NoEntropy;

/// The right to send, held by one tab at a time.
#[allow(async_fn_in_trait, reason = "one thread: no future needs to be Send")]
pub trait Lock {
    /// Gives the right back when it is dropped.
    type Guard;
    /// Waits for the right.
    async fn acquire(&self) -> Self::Guard;
}

/// Word to the other tabs of the same owner and backend. Losing some is allowed: the store is the truth.
pub trait Channel {
    /// Sends a message to all other tabs.
    fn post(&self, message: &str);
}

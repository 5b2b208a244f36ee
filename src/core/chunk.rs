//! How much to send at once, and how to find the one item that spoils a batch.

use crate::core::answer::Refusal;
use crate::core::limits::{CHUNK_BYTES, CHUNK_BYTES_MAX, CHUNK_ITEMS, CHUNK_ITEMS_MAX};
use crate::core::operation::Record;
use crate::wire::capabilities::Capabilities;
use crate::wire::sync::ENVELOPE_BYTES;

/// The size of the next chunk. A line that twice gave no answer gets half; each answer doubles it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizer {
    max_items: u32,
    max_bytes: u32,
    items: u32,
    silent: u32,
}

impl Default for Sizer {
    fn default() -> Self {
        Self { max_items: CHUNK_ITEMS, max_bytes: CHUNK_BYTES, items: CHUNK_ITEMS, silent: 0 }
    }
}

impl Sizer {
    /// The most items of the next chunk.
    #[must_use]
    pub fn items(&self) -> u32 {
        self.items.min(self.max_items)
    }

    /// The most bytes of the next chunk's items, counting the commas between them.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        let envelope = u32::try_from(ENVELOPE_BYTES).unwrap_or(u32::MAX);
        self.max_bytes.saturating_sub(envelope).saturating_sub(self.items())
    }

    /// Whether a chunk of these is larger than the next one may be.
    #[must_use]
    pub fn is_exceeded_by(&self, records: &[Record]) -> bool {
        let bytes: usize = records.iter().map(|record| record.content.bytes.len()).sum();
        let more = |count: usize, limit: u32| u32::try_from(count).map_or(true, |count| count > limit);
        more(records.len(), self.items()) || more(bytes, self.bytes())
    }

    /// Takes over what the backend tells of itself, within our own bounds.
    pub fn adopt(&mut self, limits: &Capabilities) {
        let full = self.items == self.max_items;
        if let Some(items) = limits.max_items {
            self.max_items = items.clamp(1, CHUNK_ITEMS_MAX);
        }
        if let Some(bytes) = limits.max_bytes {
            self.max_bytes = bytes.clamp(1024, CHUNK_BYTES_MAX);
        }
        self.items = if full { self.max_items } else { self.items.min(self.max_items) };
    }

    /// A chunk of so many items got no answer.
    pub fn silent(&mut self, sent: usize) {
        self.silent += 1;
        if self.silent >= 2 {
            self.silent = 0;
            let sent = u32::try_from(sent).unwrap_or(u32::MAX);
            self.items = (sent.min(self.items) / 2).max(1);
        }
    }

    /// A chunk got an answer.
    pub fn answered(&mut self) {
        self.silent = 0;
        self.items = self.items.saturating_mul(2).min(self.max_items);
    }
}

/// Why items are suspected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suspicion {
    /// The batch was refused.
    Refused(Refusal),
    /// The server failed on it.
    Failed,
}

/// The search for the item that spoils a batch: halves, then their halves, each sent by itself. It needs about
/// `2 · log2(n)` requests for one bad item among `n`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bisection {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    depth: u32,
    orders: Vec<u64>,
}

impl Bisection {
    /// Whether nothing is left to search.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.parts.is_empty()
    }

    /// The next part to send, and how deep it lies.
    pub fn take(&mut self) -> Option<(u32, Vec<u64>)> {
        self.parts.pop().map(|part| (part.depth, part.orders))
    }

    /// Halves a part that failed. Its sibling, if it still waits, goes first: whether it passes tells sooner if the
    /// endpoint or an item is at fault. When both have failed, the search goes on at the front, so that what waits
    /// longest is alone first, and a few that always fail cannot keep it from its turn.
    pub fn split(&mut self, depth: u32, orders: &[u64]) {
        let (left, right) = orders.split_at(orders.len() / 2);
        let at = match self.parts.last() {
            Some(sibling) if sibling.depth == depth => self.parts.len() - 1,
            _ => self.parts.iter().rposition(|part| part.depth != depth + 1).map_or(0, |below| below + 1),
        };
        for half in [left, right] {
            if !half.is_empty() {
                self.parts.insert(at, Part { depth: depth + 1, orders: half.to_vec() });
            }
        }
    }

    /// Puts a part back that got no verdict.
    pub fn put_back(&mut self, depth: u32, orders: Vec<u64>) {
        self.parts.push(Part { depth, orders });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_halves_and_answers_double() {
        let mut sizer = Sizer::default();
        sizer.silent(100);
        assert_eq!(sizer.items(), 100);
        sizer.silent(100);
        assert_eq!(sizer.items(), 50);
        for _ in 0..40 {
            sizer.silent(1);
        }
        assert_eq!(sizer.items(), 1);
        for items in [2, 4, 8] {
            sizer.answered();
            assert_eq!(sizer.items(), items);
        }
    }

    #[test]
    fn a_backends_limits_hold_at_once() {
        let mut sizer = Sizer::default();
        sizer.adopt(&Capabilities { max_items: Some(7), max_bytes: Some(2_000), key_ttl_seconds: None });
        assert_eq!(sizer.items(), 7);
        assert!(sizer.bytes() as usize + ENVELOPE_BYTES + 7 <= 2_000);
        sizer.adopt(&Capabilities { max_items: Some(0), max_bytes: Some(u32::MAX), key_ttl_seconds: None });
        assert_eq!(sizer.items(), 1);
    }

    #[test]
    fn one_bad_item_is_found_in_few_requests_wherever_it_lies() {
        for bad in 0..40_u64 {
            let mut bisection = Bisection::default();
            let (mut requests, mut found, mut passed) = (1, None, Vec::new());
            bisection.split(0, &(0..40).collect::<Vec<_>>());
            while let Some((depth, orders)) = bisection.take() {
                requests += 1;
                if !orders.contains(&bad) {
                    passed.extend(orders);
                } else if orders.len() == 1 {
                    found = Some(orders[0]);
                } else {
                    bisection.split(depth, &orders);
                }
            }
            assert_eq!((found, passed.len()), (Some(bad), 39));
            assert!(requests <= 14, "{requests} requests for {bad}");
        }
    }

    #[test]
    fn a_sibling_goes_before_the_halves() {
        let mut bisection = Bisection::default();
        bisection.split(0, &[1, 2, 3, 4]);
        let (depth, first) = bisection.take().unwrap();
        bisection.split(depth, &first);
        let (_, second) = bisection.take().unwrap();
        assert_eq!(second.len(), 2);
        assert!(second.iter().all(|order| !first.contains(order)));
    }

    #[test]
    fn what_stands_first_is_alone_first_when_all_fail() {
        for count in 2..40 {
            let mut bisection = Bisection::default();
            bisection.split(0, &(1..=count).collect::<Vec<u64>>());
            let mut alone = Vec::new();
            while let Some((depth, orders)) = bisection.take() {
                match orders.as_slice() {
                    [order] => alone.push(*order),
                    _ => bisection.split(depth, &orders),
                }
            }
            assert_eq!(alone[0], 1, "{alone:?}");
            alone.sort_unstable();
            assert_eq!(alone, (1..=count).collect::<Vec<u64>>());
        }
    }
}

//! Every bound in one place.

use crate::core::time::Millis;

/// The most items in a chunk until the backend has told its own limit.
pub const CHUNK_ITEMS: u32 = 100;
/// The most bytes in a chunk's body until the backend has told its own limit.
pub const CHUNK_BYTES: u32 = 256 * 1024;
/// The largest chunk whatever a backend allows, so that memory stays bounded.
pub const CHUNK_BYTES_MAX: u32 = 4 * 1024 * 1024;
/// The most items in a chunk whatever a backend allows.
pub const CHUNK_ITEMS_MAX: u32 = 1000;

/// The largest record in bytes of JSON. Larger things are files, not texts.
pub const RECORD_BYTES: usize = 4 * 1024 * 1024;
/// The most records written down in one transaction.
pub const COMMIT_ITEMS: usize = 1000;
/// The most bytes written down in one transaction, but for a single larger record.
pub const COMMIT_BYTES: usize = 4 * 1024 * 1024;

/// How long any request may take.
pub const DEADLINE_BASE: Millis = Millis(20_000);
/// The slowest line that is waited for.
pub const DEADLINE_BYTES_PER_SECOND: u64 = 8 * 1024;

/// The first backoff window.
pub const BACKOFF_BASE: Millis = Millis(1_000);
/// The widest backoff window.
pub const BACKOFF_CAP: Millis = Millis(300_000);
/// The longest `Retry-After` that is obeyed.
pub const RETRY_AFTER_CAP: Millis = Millis(24 * 3_600_000);
/// The longest that anything is ever scheduled ahead; a later time was written by a clock that was wrong.
pub const HORIZON: Millis = Millis(27 * 3_600_000);
/// The least time between two attempts that only a sign of connectivity brings forward.
pub const ONLINE_GAP: Millis = Millis(5_000);

/// How many operations refused alone, with no success between, show that the endpoint is at fault.
pub const ALONE_BEFORE_ENDPOINT: usize = 3;
/// How long an operation that was refused alone stays out of the way until there is evidence.
pub const SUSPECT_PAUSE: Millis = Millis(60_000);
/// How often an operation alone must get no answer, while others pass, until it is parked.
pub const SILENT_ALONE_BEFORE_PARKED: u32 = 5;
/// The most bytes of a refusal's body that are kept for the person.
pub const REFUSAL_BYTES: usize = 16 * 1024;

/// How long a fenced sender waits until it asks for the right to send again.
pub const FENCED_PAUSE: Millis = Millis(10_000);
/// How long a call waits for another tab's pass to end.
pub const OTHER_TAB_PASS: Millis = Millis(30_000);
/// How long the sender waits after the store failed it.
pub const STORE_PAUSE: Millis = Millis(2_000);
/// How long at most until a tab looks at the store again: word from another tab may have been lost.
pub const LOOK_AGAIN: Millis = Millis(60_000);

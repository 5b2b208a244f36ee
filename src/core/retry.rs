//! When to try again: exponential backoff with full jitter, and what the server asks for.

use std::time::UNIX_EPOCH;

use crate::core::limits::{
    BACKOFF_BASE, BACKOFF_CAP, DEADLINE_BASE, DEADLINE_BYTES_PER_SECOND, HORIZON, RETRY_AFTER_CAP,
};
use crate::core::time::{Millis, Time};
use crate::port::QueueState;

/// How long to wait after so many failures in a row: anything from nothing to a window that doubles each time.
pub fn backoff(failures: u32, random: &mut fastrand::Rng) -> Millis {
    Millis(random.u64(0..=window(failures).0))
}

fn window(failures: u32) -> Millis {
    let doubled = 1_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    Millis(BACKOFF_BASE.0.saturating_mul(doubled).min(BACKOFF_CAP.0))
}

/// Notes one more failure of the endpoint. What the server asked for is a floor: jitter only adds to it.
pub fn postpone(queue: &mut QueueState, now: Time, floor: Option<Millis>, random: &mut fastrand::Rng) {
    queue.failures = queue.failures.saturating_add(1);
    match floor {
        Some(length) => {
            queue.floor = now + length;
            let spread = window(queue.failures).0.max(length.0 / 10);
            queue.due = queue.floor + Millis(random.u64(0..=spread));
        }
        None => queue.due = now + backoff(queue.failures, random),
    }
}

/// A stored time, unless a clock that was wrong wrote it: then it is now.
#[must_use]
pub fn clamp(due: Time, now: Time) -> Time {
    if due > now + HORIZON { now } else { due }
}

/// How long a request with so many bytes may take.
#[must_use]
pub fn deadline(bytes: usize) -> Millis {
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    Millis(DEADLINE_BASE.0.saturating_add(bytes.saturating_mul(1000) / DEADLINE_BYTES_PER_SECOND))
}

/// Reads `Retry-After` (RFC 9110, §10.2.3): seconds, or a date that is measured against the answer's own `Date`, since
/// the device's clock may be wrong. What cannot be read is `None`.
#[must_use]
pub fn retry_after(value: &str, date: Option<&str>, now: Time) -> Option<Millis> {
    let value = value.trim();
    let length = if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        Millis(value.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000))
    } else {
        let at = http_date(value)?;
        at.since(date.and_then(http_date).unwrap_or(now))
    };
    Some(length.min(RETRY_AFTER_CAP))
}

fn http_date(text: &str) -> Option<Time> {
    let since = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok().map(Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_up_to_the_cap() {
        assert_eq!(window(1), Millis(1_000));
        assert_eq!(window(4), Millis(8_000));
        assert_eq!(window(50), BACKOFF_CAP);
        assert_eq!(window(u32::MAX), BACKOFF_CAP);
    }

    #[test]
    fn a_fleet_spreads_and_nobody_comes_before_the_stated_time() {
        let now = Time(1_000_000);
        let mut dues: Vec<u64> = (0..1000)
            .map(|seed| {
                let mut queue = QueueState::default();
                postpone(&mut queue, now, Some(Millis(120_000)), &mut fastrand::Rng::with_seed(seed));
                assert!(queue.due >= now + Millis(120_000), "{queue:?}");
                queue.due.0
            })
            .collect();
        dues.sort_unstable();
        dues.dedup();
        assert!(dues.len() > 800, "{} different times", dues.len());
        assert!(dues[dues.len() - 1] - dues[0] > 10_000);
    }

    #[test]
    fn retry_after_is_measured_against_the_servers_clock() {
        let now = Time(1_796_070_937_000);
        let date = Some("Mon, 30 Nov 2026 08:00:00 GMT");
        for (value, date, length) in [
            ("120", None, Some(120_000)),
            (" 0 ", None, Some(0)),
            ("Mon, 30 Nov 2026 08:02:00 GMT", date, Some(120_000)),
            ("Mon, 30 Nov 2026 07:00:00 GMT", date, Some(0)),
            ("864000", None, Some(RETRY_AFTER_CAP.0)),
            ("99999999999999999999999999", None, Some(RETRY_AFTER_CAP.0)),
            ("Mon, 30 Nov 2026 20:36:07 GMT", None, Some(30_000)),
            ("abc", date, None),
            ("", None, None),
            ("-5", None, None),
            ("1.5", None, None),
        ] {
            assert_eq!(retry_after(value, date, now), length.map(Millis), "{value:?}");
        }
    }

    #[test]
    fn a_time_beyond_the_horizon_strands_nothing() {
        let now = Time(1_000);
        assert_eq!(clamp(now + Millis(HORIZON.0 + 1), now), now);
        assert_eq!(clamp(now + HORIZON, now), now + HORIZON);
    }

    #[test]
    fn deadlines_grow_with_the_bytes() {
        assert_eq!(deadline(0), DEADLINE_BASE);
        assert_eq!(deadline(80 * 1024), Millis(DEADLINE_BASE.0 + 10_000));
    }
}

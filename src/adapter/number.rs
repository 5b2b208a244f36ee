//! Whole numbers in JavaScript's one sort of number.

/// The first whole number that a JavaScript number cannot tell from its neighbours.
pub(crate) const UNSAFE: u64 = 1 << 53;

/// The nearest number: exact below [`UNSAFE`], and in the same order above.
pub(crate) fn nearest(whole: u64) -> f64 {
    whole as f64
}

/// The whole part; 0 for what is negative or no number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, which is meant")]
pub(crate) fn whole_from(number: f64) -> u64 {
    number as u64
}

/// The whole number that this is, if it is one and is exact.
pub(crate) fn exactly(number: f64) -> Option<u64> {
    let whole = whole_from(number);
    (whole < UNSAFE && nearest(whole) == number).then_some(whole)
}

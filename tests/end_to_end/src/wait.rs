//! Waiting with a deadline, and saying what was waited for.

use std::{
    fmt::Debug,
    future::Future,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

const PAUSE: Duration = Duration::from_millis(50);

/// Asks again and again until the answer is `Ok(Ok(value))`. `Ok(Err(state))` means not yet; the last state is in the error.
///
/// # Errors
/// When the deadline passes, or at once when asking itself fails.
pub async fn until<T, S, F>(what: &str, deadline: Duration, mut ask: impl FnMut() -> F) -> Result<T>
where
    S: Debug,
    F: Future<Output = Result<std::result::Result<T, S>>>,
{
    let started = Instant::now();
    loop {
        match ask().await? {
            Ok(value) => return Ok(value),
            Err(state) if started.elapsed() > deadline => {
                bail!("waited {} s for {what}; at the end: {state:?}", deadline.as_secs());
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

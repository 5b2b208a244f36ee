//! Several requests with one key at the same time.

use std::time::Duration;

use futures_util::future::join;

use crate::bench::{Bench, Call, Stop, Who, effect, is_retryable_conflict, needs};
use crate::config::Resource;
use crate::hooks::Told;
use crate::http::{self, Answer, NoAnswer};
use crate::json;
use crate::record::Record;

const AT_ONCE: usize = 20;
const ROUNDS: usize = 3;
const SLOW: u64 = 1500;

/// S4.
pub(super) async fn twenty_at_once(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    for round in 0..ROUNDS {
        // The last one with a pause between lookup and insert, where the backend can be made to pause.
        if round + 1 == ROUNDS
            && let Some(hook) = &bench.config.hooks.slow_next_request
        {
            bench.run_hook(("slow_next_request", hook), Told { milliseconds: 300, ..Told::default() }).await?;
        }
        let (record, call) = fresh(bench, resource);
        let outcomes = bench.race(&vec![call.clone(); AT_ONCE]).await;
        bench.reset_hooks().await?;
        bench
            .expect_rows(resource, Who::First, &record, 1, |rows| {
                format!(
                    "the same key made {rows} when {AT_ONCE} requests came at once: the key is looked up before the \
                     insert instead of the database refusing the second row"
                )
            })
            .await?;
        agree(bench, resource, &call, outcomes).await?;
    }
    Ok(())
}

fn fresh(bench: &Bench<'_>, resource: &Resource) -> (Record, Call) {
    let (record, key) = (bench.minter.record(), bench.key());
    let call = bench.create(resource, Who::First, &record, &key);
    (record, call)
}

/// That all who were acknowledged were told one id, and the others come to it when they ask again.
async fn agree(
    bench: &mut Bench<'_>,
    resource: &Resource,
    call: &Call,
    outcomes: Vec<Result<Answer, NoAnswer>>,
) -> Result<(), Stop> {
    let mut ids = Vec::new();
    for outcome in outcomes {
        match outcome {
            Ok(answer) if answer.is_success() => {
                bench.status_in(answer.status, &[200, 201], "one of several at once");
                ids.push(bench.acknowledged(resource, &answer, "one of several at once")?);
            }
            Ok(answer) => {
                conflict(bench, &answer);
                if answer.is_refusal() && answer.status != 409 {
                    return effect(format!(
                        "one of several requests at once with one key was refused for good with {}, though its \
                         operation was done",
                        answer.status
                    ));
                }
            }
            Err(none) => bench.differs(format!("one of several at once got no answer: {none}")),
        }
    }
    let last = bench.settle(call).await?;
    if !last.is_success() {
        return effect(format!("after the race the same key was refused with {} though its row is there", last.status));
    }
    ids.push(bench.acknowledged(resource, &last, "the same key after the race")?);
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        return effect(format!("requests with one key that came at once were told different ids: {}", ids.join(", ")));
    }
    Ok(())
}

/// Judges what a request is told while another with its key runs.
fn conflict(bench: &mut Bench<'_>, answer: &Answer) {
    bench.status_in(answer.status, &[200, 201, 409], "a request whose key is in use at this moment");
    if answer.status == 409 {
        if answer.header("retry-after").is_none() {
            bench.differs("the 409 while another request with the key runs carries no `Retry-After`".to_owned());
        }
        if json::at(&answer.json(), "code").and_then(|code| code.as_str()) != Some("in_progress") {
            bench.differs("the 409 while another request with the key runs has no `code` \"in_progress\"".to_owned());
        }
    }
}

/// What the second of two was told while the first ran; without a way to make the first slow, by a race.
async fn in_use(
    bench: &mut Bench<'_>,
    resource: &Resource,
    record: &Record,
    call: &Call,
) -> Result<Vec<Result<Answer, NoAnswer>>, Stop> {
    let outcomes = match &bench.config.hooks.slow_next_request {
        None => bench.race(&vec![call.clone(); AT_ONCE]).await,
        Some(hook) => {
            bench.run_hook(("slow_next_request", hook), Told { milliseconds: SLOW, ..Told::default() }).await?;
            let (target, deadline) = (bench.target, bench.deadline());
            let second = async {
                tokio::time::sleep(Duration::from_millis(SLOW / 3)).await;
                http::send(target, &call.request, deadline).await
            };
            let (first, second) = join(http::send(target, &call.request, deadline), second).await;
            bench.write_down(call, &first);
            bench.write_down(call, &second);
            bench.reset_hooks().await?;
            vec![first, second]
        }
    };
    bench
        .expect_rows(resource, Who::First, record, 1, |rows| {
            format!("the same key made {rows} when a second request came while the first ran: nothing holds the key")
        })
        .await?;
    let conflicts = outcomes.iter().flatten().filter(|answer| answer.status == 409).count();
    if conflicts == 0 {
        if bench.config.hooks.slow_next_request.is_none() {
            return needs("the hook slow_next_request (no request happened to be answered 409)");
        }
        bench.note =
            Some("no 409: the second request waited for the first and was answered with its record".to_owned());
    }
    Ok(outcomes)
}

/// S5.
pub(super) async fn retry_after_conflict(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, call) = fresh(bench, resource);
    let outcomes = in_use(bench, resource, &record, &call).await?;
    if let Some(answer) = outcomes.iter().flatten().find(|answer| answer.status == 409)
        && !is_retryable_conflict(answer)
    {
        bench.differs("a client cannot tell the 409 from a refusal for good, and would not retry".to_owned());
    }
    agree(bench, resource, &call, outcomes).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("the retry after a 409 left {rows} of one operation")
        })
        .await
}

/// S30.
pub(super) async fn conflict_says_when(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, call) = fresh(bench, resource);
    let outcomes = in_use(bench, resource, &record, &call).await?;
    for answer in outcomes.iter().flatten() {
        conflict(bench, answer);
    }
    agree(bench, resource, &call, outcomes).await
}

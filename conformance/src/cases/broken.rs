//! What breaks between the client and the row.

use std::time::Duration;

use futures_util::future::join;

use crate::bench::{Bench, Stop, Who, effect};
use crate::config::{Resource, When};
use crate::grade::{Asked, Created};
use crate::hooks::Told;
use crate::http::{self, Exchange, NoAnswer};
use crate::record::Record;

/// S25.
pub(super) async fn failed_inside(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let hook = bench.hook("fail_next_request", bench.config.hooks.fail_next_request.as_ref())?;
    let resource = bench.any()?;
    let (record, key) = (bench.minter.record(), bench.key());
    let call = bench.create(resource, Who::First, &record, &key);
    bench.run_hook(hook, Told::default()).await?;
    let first = bench.send(&call).await?;
    if first.status < 500 {
        return Err(Stop::NotTested(format!(
            "needs a hook fail_next_request that works: the create after it was answered {}",
            first.status
        )));
    }
    bench
        .expect_rows(resource, Who::First, &record, 0, |rows| {
            format!("a create that was answered {} had made {rows}: it was not rolled back", first.status)
        })
        .await?;
    let again = bench.send(&call).await?;
    if again.status >= 500 {
        let (other, _, _) = bench.begin(resource).await?;
        bench.rows(resource, Who::First, &other).await?;
        return effect(format!(
            "after one failure the same key is answered {} again while a new key is served: the failure was kept as the \
             key's answer",
            again.status
        ));
    }
    let answer = bench.settle(&call).await?;
    bench.acknowledged(resource, &answer, "the retry after a failure")?;
    bench.status(&again, Asked::First, "the retry after a failure");
    bench.expect_rows(resource, Who::First, &record, 1, |rows| format!("the retry after a failure left {rows}")).await
}

/// S26.
pub(super) async fn lost_answer(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key) = (bench.minter.record(), bench.key());
    let call = bench.create(resource, Who::First, &record, &key);
    lose(bench, &call.request).await?;
    let created = retried(bench, resource, &record, &call, "the retry after an answer that was lost").await?;
    if let Some(drop) = &bench.config.hooks.drop_next_answer {
        let (record, key) = (bench.minter.record(), bench.key());
        let call = bench.create(resource, Who::First, &record, &key);
        bench.run_hook(("drop_next_answer", drop), Told::default()).await?;
        if let Ok(answer) = bench.try_send(&call).await {
            return Err(Stop::NotTested(format!(
                "needs a hook drop_next_answer that works: the create after it was answered {}",
                answer.status
            )));
        }
        retried(bench, resource, &record, &call, "the retry after an answer that the backend lost").await?;
    }
    let Some(restart) = &bench.config.hooks.restart else {
        bench.note = Some("whether keys outlive a restart needs the hook restart".to_owned());
        return Ok(());
    };
    bench.run_hook(("restart", restart), Told::default()).await?;
    bench.wait_until_ready().await?;
    let what = "the same key sent again after the backend was restarted";
    let why = "keys are forgotten when the backend restarts";
    bench.replay(resource, &record, &created, &call, (what, why)).await?;
    Ok(())
}

/// Sends, and closes the connection as soon as the answer begins.
async fn lose(bench: &mut Bench<'_>, request: &http::Request) -> Result<(), Stop> {
    let (target, deadline) = (bench.target, bench.deadline());
    let lost = async {
        let mut exchange = Exchange::begin(target, request, deadline).await?;
        exchange.release().await?;
        exchange.lose_answer().await
    };
    let outcome: Result<(), NoAnswer> = lost.await;
    let came = outcome.as_ref().map_or_else(ToString::to_string, |()| "began, and was thrown away".to_owned());
    bench.write_down_step(&format!("{} {}, answer lost", request.method, request.path), came);
    match outcome {
        Ok(()) => Ok(()),
        Err(none) => effect(format!("{} {} got no answer to lose: {none}", request.method, request.path)),
    }
}

/// The retry of a create of unknown outcome: one row, acknowledged, and the same id when it is asked once more.
async fn retried(
    bench: &mut Bench<'_>,
    resource: &Resource,
    record: &Record,
    call: &crate::bench::Call,
    what: &str,
) -> Result<Created, Stop> {
    let answer = bench.settle(call).await?;
    bench
        .expect_rows(resource, Who::First, record, 1, |rows| {
            format!("{what} left {rows} of one operation: key and row are not committed together")
        })
        .await?;
    if !answer.is_success() {
        return effect(format!(
            "{what} was refused with {} though its row is there: the client never learns its id",
            answer.status
        ));
    }
    let id = bench.acknowledged(resource, &answer, what)?;
    bench.status_in(answer.status, &[200, 201], what);
    let created = Created { id, answer };
    let again = bench.settle(call).await?;
    bench.same_id(resource, &created, &again, ("the same once more", "key and row are not committed together"))?;
    Ok(created)
}

/// S27.
pub(super) async fn killed_before_commit(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let hook = bench.hook("kill_before_commit", bench.config.hooks.kill_before_commit.as_ref())?;
    let resource = bench.any()?;
    let (record, key) = (bench.minter.record(), bench.key());
    let call = bench.create(resource, Who::First, &record, &key);
    let outcome = match hook.1.when() {
        When::Before => {
            bench.run_hook(hook, Told::default()).await?;
            bench.try_send(&call).await
        }
        When::During => {
            if let Some(slow) = &bench.config.hooks.slow_next_request {
                bench.run_hook(("slow_next_request", slow), Told { milliseconds: 2000, ..Told::default() }).await?;
            }
            let (target, deadline) = (bench.target, bench.deadline());
            let kill = async {
                tokio::time::sleep(Duration::from_millis(400)).await;
                bench.run_hook(hook, Told::default()).await
            };
            let (outcome, killed) = join(http::send(target, &call.request, deadline), kill).await;
            bench.write_down(&call, &outcome);
            killed?;
            outcome
        }
    };
    if let Ok(answer) = outcome
        && answer.is_success()
    {
        return Err(Stop::NotTested(format!(
            "needs a kill before the commit: the create was answered {} first (the hook slow_next_request gives time)",
            answer.status
        )));
    }
    if let Some(restart) = &bench.config.hooks.restart
        && hook.1.when() == When::Before
    {
        bench.run_hook(("restart", restart), Told::default()).await?;
    }
    bench.wait_until_ready().await?;
    bench.reset_hooks().await?;
    retried(bench, resource, &record, &call, "the retry after the server was killed before its commit").await.map(drop)
}

/// S28.
pub(super) async fn past_time_to_live(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let hook = bench.hook("move_clock", bench.config.hooks.move_clock.as_ref())?;
    let resource = bench.any()?;
    let (record, key, created) = bench.begin(resource).await?;
    let seconds = bench.config.hooks.key_ttl_seconds.saturating_mul(2).saturating_add(24 * 60 * 60);
    bench.run_hook(hook, Told { seconds, ..Told::default() }).await?;
    // Sweeping may be what the next request sets off.
    let sweep = bench.begin(resource).await.map(drop);
    let call = bench.create(resource, Who::First, &record, &key);
    let what = "the same key sent again after its time to live";
    let why = "the keys of creates are swept, though they must live as long as their row";
    let outcome = match sweep {
        Ok(()) => bench.replay(resource, &record, &created, &call, (what, why)).await,
        Err(stop) => Err(stop),
    };
    bench.run_hook(hook, Told::default()).await?;
    let answer = outcome?;
    bench.replay_status(&created, &answer, what);
    Ok(())
}

/// S32: gives up after a while that grows from nothing to well past a usual answer, and asks again at once.
pub(super) async fn given_up(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    for milliseconds in [0, 1, 2, 4, 8, 16, 32] {
        give_up(bench, resource, Duration::from_millis(milliseconds)).await?;
    }
    if let Some(slow) = &bench.config.hooks.slow_next_request {
        bench.run_hook(("slow_next_request", slow), Told { milliseconds: 1500, ..Told::default() }).await?;
        let record = give_up(bench, resource, Duration::from_millis(300)).await?;
        // The first one may still be at work.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        bench
            .expect_rows(resource, Who::First, &record, 1, |rows| {
                format!("a request that the client had given up left {rows} beside its retry: nothing holds the key")
            })
            .await?;
    }
    Ok(())
}

async fn give_up(bench: &mut Bench<'_>, resource: &Resource, after: Duration) -> Result<Record, Stop> {
    let (record, key) = (bench.minter.record(), bench.key());
    let call = bench.create(resource, Who::First, &record, &key);
    let (target, deadline) = (bench.target, bench.deadline());
    match Exchange::begin(target, &call.request, deadline).await {
        Ok(mut exchange) => {
            // A failure here is the end of the connection, which is what is wanted.
            let _ = exchange.release().await;
            tokio::time::sleep(after).await;
        }
        Err(none) => return effect(format!("a create got no connection: {none}")),
    }
    bench.write_down_step(
        &format!("{} {} key {}", call.request.method, call.request.path, key.text),
        format!("closed after {} ms without waiting", after.as_millis()),
    );
    retried(bench, resource, &record, &call, "the retry after the client had given up").await?;
    Ok(record)
}

//! Batches that meet others, a restart, another owner, or what became of their rows since.

use super::batch::{begun, same_ids};
use crate::batching::{Item, Verdict};
use crate::bench::{Bench, Stop, Who, effect};
use crate::grade::Created;
use crate::hooks::Told;
use crate::http::{Answer, Exchange};
use crate::key::Key;

const ROUNDS: usize = 4;

/// B7.
pub(super) async fn crossing(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    for _ in 0..ROUNDS {
        let items = bench.items(&batch.item, 4);
        let forwards: Vec<&Item> = items.iter().collect();
        let backwards: Vec<&Item> = items.iter().rev().collect();
        let calls =
            [&forwards, &backwards, &forwards, &backwards].map(|order| bench.batch_call(batch, Who::First, order));
        let outcomes = bench.race(&calls).await;
        let what = "batches with the same items in opposite orders, at once,";
        bench.one_row_each(resource, &forwards, what).await?;
        let last = bench.sync(batch, resource, Who::First, &forwards, "the same batch after the crossing").await?;
        for (outcome, order) in outcomes.into_iter().zip([&forwards, &backwards, &forwards, &backwards]) {
            match outcome {
                Ok(answer) if answer.is_success() => {
                    let mut verdicts = bench.verdicts(batch, resource, order, &answer, what).await?;
                    if std::ptr::eq(order, &raw const backwards) {
                        verdicts.reverse();
                    }
                    same_ids(&last, &verdicts, what)?;
                }
                // A victim of a deadlock may be told to come again; the row counts above show that nothing was lost.
                Ok(answer) => bench.status_in(answer.status, &[200, 409, 503], "a batch that crosses another"),
                Err(none) => bench.differs(format!("a batch that crosses another got no answer: {none}")),
            }
        }
    }
    Ok(())
}

/// B8.
pub(super) async fn killed_after_commit(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    let hook = bench.hook("restart", bench.config.hooks.restart.as_ref())?;
    let items = bench.items(&batch.item, 3);
    let all: Vec<&Item> = items.iter().collect();
    let call = bench.batch_call(batch, Who::First, &all);
    let (target, deadline) = (bench.target, bench.deadline());
    let lost = async {
        let mut exchange = Exchange::begin(target, &call.request, deadline).await?;
        exchange.release().await?;
        exchange.lose_answer().await
    };
    let outcome = lost.await;
    bench.write_down_step("a batch whose answer is lost", format!("{outcome:?}"));
    if let Err(none) = outcome {
        return effect(format!("a batch got no answer to lose: {none}"));
    }
    bench.run_hook(hook, Told::default()).await?;
    bench.wait_until_ready().await?;
    let what = "a batch sent again after its answer was lost and the backend restarted";
    let first = bench.sync(batch, resource, Who::First, &all, what).await?;
    bench.one_row_each(resource, &all, what).await?;
    for verdict in &first {
        bench.took(verdict, &["duplicated"], "an item committed before the restart")?;
    }
    let again = bench.sync(batch, resource, Who::First, &all, what).await?;
    same_ids(&first, &again, what)
}

/// B9.
pub(super) async fn other_content(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let need = "[batch] item with {text} or {amount}, so that there is another one";
    if !bench.batch()?.0.item.has_content() {
        return crate::bench::needs(need);
    }
    let (batch, resource, items, before) = begun(bench, 1).await?;
    let listed = bench.rows(resource, Who::First, &items[0].record).await?;
    let other = bench.item_of(&batch.item, items[0].record.version(2), items[0].key.clone());
    let new = bench.item(&batch.item);
    let what = "a batch with a known id and other content";
    let verdicts = bench.sync(batch, resource, Who::First, &[&other, &new], what).await?;
    bench.one_row_each(resource, &[&items[0], &new], what).await?;
    let after = bench.rows(resource, Who::First, &items[0].record).await?;
    if listed.records != after.records {
        return effect(format!("{what} changed the record: a create was run as an edit"));
    }
    if verdicts[0].id.is_some() {
        same_ids(&before, &verdicts[..1], what)?;
    }
    bench.took(&verdicts[1], &["created"], "the new item beside it")?;
    bench.word(&verdicts[0], &["conflict"], "a known id with other content");
    Ok(())
}

/// B11.
pub(super) async fn two_owners(bench: &mut Bench<'_>) -> Result<(), Stop> {
    bench.require(Who::Second)?;
    let (batch, resource, items, before) = begun(bench, 2).await?;
    let all: Vec<&Item> = items.iter().collect();
    let call = bench.batch_call(batch, Who::Second, &all);
    let answer = bench.settle(&call).await?;
    let mut listed = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let theirs = bench.rows(resource, Who::Second, &item.record).await?;
        if theirs.count != 1 {
            return effect(format!(
                "another owner's batch with the same ids was answered {} and left that owner {} of item {}: ids are not \
                 kept by owner",
                answer.status,
                crate::count::counted(theirs.count),
                at + 1
            ));
        }
        listed.push(theirs);
    }
    bench.one_row_each(resource, &all, "another owner's batch with the same ids").await?;
    let theirs = bench.verdicts(batch, resource, &all, &answer, "another owner's batch").await?;
    for (their, rows) in theirs.iter().zip(&listed) {
        let told = bench.took(their, &["created"], "another owner's item")?;
        super::owners::own_id(resource, rows, Some(&told))?;
    }
    let mine = bench.sync(batch, resource, Who::First, &all, "the first owner's batch sent again").await?;
    same_ids(&before, &mine, "the first owner's batch, sent again after another owner's,")
}

/// B12.
pub(super) async fn races_a_create(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    for _ in 0..ROUNDS {
        let (record, key) = (bench.minter.record(), Key::new());
        let item = bench.item_of(&batch.item, record.clone(), key.clone());
        let many = bench.batch_call(batch, Who::First, &[&item]);
        let one = bench.create(resource, Who::First, &record, &key);
        let calls = [one.clone(), many.clone(), one.clone(), many.clone(), one.clone(), many];
        let outcomes = bench.race(&calls).await;
        bench
            .expect_rows(resource, Who::First, &record, 1, |rows| {
                format!(
                    "a batch and single creates of the same id, at once, left {rows}: the two endpoints do not share \
                     their key"
                )
            })
            .await?;
        for answer in outcomes.iter().flatten() {
            bench.status_in(answer.status, &[200, 201, 409], "a create that races a batch");
        }
        let last = bench.sync(batch, resource, Who::First, &[&item], "the batch after the race").await?;
        let single = bench.settle(&one).await?;
        let id = bench.took(&last[0], &["duplicated"], "the item after the race")?;
        let created = Created { id, answer: single.clone() };
        let why = "the batch and the single create do not share their key";
        bench.same_id(resource, &created, &single, ("the single create after the race", why))?;
    }
    Ok(())
}

/// A batch of one, as the edits and deletes of its resource know it.
async fn one<'a>(
    bench: &mut Bench<'a>,
) -> Result<(&'a crate::config::Batch, &'a crate::config::Resource, Item, Verdict, Created), Stop> {
    let (batch, resource, mut items, mut verdicts) = begun(bench, 1).await?;
    let (Some(item), Some(verdict)) = (items.pop(), verdicts.pop()) else {
        return effect("a batch of one had no result");
    };
    let id = bench.took(&verdict, &["created"], "a new item")?;
    let answer = Answer { status: 200, headers: Vec::new(), body: verdict.whole.to_string().into_bytes() };
    Ok((batch, resource, item, verdict, Created { id, answer }))
}

/// B13.
pub(super) async fn edited_since(bench: &mut Bench<'_>) -> Result<(), Stop> {
    if bench.batch()?.1.edit.is_none() {
        return crate::bench::needs("[resource.edit]");
    }
    let (batch, resource, item, before, created) = one(bench).await?;
    let edit = bench.edit(resource, &item.record.version(2), &created, None);
    bench.done(edit, "edit").await?;
    let listed = bench.rows(resource, Who::First, &item.record).await?;
    let what = "a late replay of the batch, after an edit elsewhere,";
    let after = bench.sync(batch, resource, Who::First, &[&item], what).await?;
    bench.one_row_each(resource, &[&item], what).await?;
    same_ids(&[before], &after, what)?;
    if listed.records != bench.rows(resource, Who::First, &item.record).await?.records {
        return effect(format!("{what} changed the record: the create was written over the edit"));
    }
    bench.word(&after[0], &["duplicated"], "a late replay after an edit");
    Ok(())
}

/// B14.
pub(super) async fn deleted_since(bench: &mut Bench<'_>) -> Result<(), Stop> {
    if bench.batch()?.1.delete.is_none() {
        return crate::bench::needs("[resource.delete]");
    }
    let (batch, resource, item, before, created) = one(bench).await?;
    let delete = bench.delete(resource, &item.record, &created);
    bench.done(delete, "delete").await?;
    let deleted = "a delete that was acknowledged";
    bench.expect_rows(resource, Who::First, &item.record, 0, |rows| format!("{deleted} left {rows}")).await?;
    let what = "a late replay of the batch, after a delete,";
    let after = bench.sync(batch, resource, Who::First, &[&item], what).await?;
    bench
        .expect_rows(resource, Who::First, &item.record, 0, |rows| {
            format!("{what} brought the record back ({rows}): the delete left nothing that remembers the id")
        })
        .await?;
    same_ids(&[before], &after, what)?;
    bench.word(&after[0], &["duplicated"], "a late replay after a delete");
    if after[0].whole["deleted"] != true {
        bench.differs("a late replay after a delete does not say `deleted: true`".to_owned());
    }
    Ok(())
}

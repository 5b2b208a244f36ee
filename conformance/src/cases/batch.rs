//! Batches of new, old, doubled and invalid items.

use crate::batching::{Item, Verdict};
use crate::bench::{Bench, Stop, Who, effect};
use crate::config::{Batch, Resource};
use crate::json;

/// A batch of new items.
pub(super) async fn begun<'a>(
    bench: &mut Bench<'a>,
    count: usize,
) -> Result<(&'a Batch, &'a Resource, Vec<Item>, Vec<Verdict>), Stop> {
    let (batch, resource) = bench.batch()?;
    let items = bench.items(&batch.item, count);
    let all: Vec<&Item> = items.iter().collect();
    let verdicts = bench.sync(batch, resource, Who::First, &all, "a batch of new items").await?;
    for verdict in &verdicts {
        bench.took(verdict, &["created"], "a new item")?;
    }
    Ok((batch, resource, items, verdicts))
}

/// That the same items have the same ids.
pub(super) fn same_ids(before: &[Verdict], after: &[Verdict], what: &str) -> Result<(), Stop> {
    match before.iter().zip(after).find(|(before, after)| before.id != after.id) {
        None => Ok(()),
        Some((before, after)) => effect(format!(
            "{what} gave an item the id {} where it had {}",
            after.id.as_deref().unwrap_or("nothing"),
            before.id.as_deref().unwrap_or("nothing")
        )),
    }
}

/// B1.
pub(super) async fn all_new(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (_, resource, items, verdicts) = begun(bench, 3).await?;
    let mut ids: Vec<_> = verdicts.iter().map(|verdict| &verdict.id).collect();
    ids.sort();
    ids.dedup();
    if ids.len() < items.len() {
        return effect("two items of one batch were given the same id");
    }
    bench.one_row_each(resource, &items.iter().collect::<Vec<_>>(), "a batch of new items").await
}

/// B2.
pub(super) async fn replay(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource, items, before) = begun(bench, 3).await?;
    let all: Vec<&Item> = items.iter().collect();
    let what = "the same batch sent again";
    let after = bench.sync(batch, resource, Who::First, &all, what).await?;
    bench.one_row_each(resource, &all, what).await?;
    same_ids(&before, &after, what)?;
    for verdict in &after {
        bench.took(verdict, &["duplicated"], "an item sent again")?;
    }
    // The order is the client's business, and may differ from attempt to attempt.
    let turned: Vec<&Item> = items.iter().rev().collect();
    let turned = bench.sync(batch, resource, Who::First, &turned, "the same batch in another order").await?;
    let turned: Vec<Verdict> = turned.into_iter().rev().collect();
    same_ids(&before, &turned, "the same batch in another order")
}

/// B3.
pub(super) async fn mixed(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource, old, before) = begun(bench, 2).await?;
    let new = bench.items(&batch.item, 2);
    let all = [&new[0], &old[0], &new[1], &old[1]];
    let what = "a batch of new items and items sent before";
    let verdicts = bench.sync(batch, resource, Who::First, &all, what).await?;
    bench.one_row_each(resource, &all, what).await?;
    same_ids(&before, &[verdicts[1].clone(), verdicts[3].clone()], what)?;
    for (verdict, expected) in verdicts.iter().zip(["created", "duplicated", "created", "duplicated"]) {
        bench.took(verdict, &[expected], &format!("an item to be {expected}, in a mixed batch,"))?;
    }
    Ok(())
}

/// B4.
pub(super) async fn twice_in_one(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    let items = bench.items(&batch.item, 2);
    let all = [&items[0], &items[1], &items[0]];
    let what = "a batch that holds one item twice";
    let verdicts = bench.sync(batch, resource, Who::First, &all, what).await?;
    bench.one_row_each(resource, &all[..2], what).await?;
    bench.took(&verdicts[1], &["created"], "the other item")?;
    let mut words = [bench_word(&verdicts[0]), bench_word(&verdicts[2])];
    words.sort_unstable();
    if verdicts[0].id.is_none() {
        return effect("an item that was twice in one batch got no id");
    }
    bench.judged = true;
    if words != ["created", "duplicated"] {
        bench.differs(format!(
            "an item that was twice in one batch was called \"{}\" and \"{}\" where \"created\" and \"duplicated\" are \
             expected",
            words[0], words[1]
        ));
    }
    Ok(())
}

fn bench_word(verdict: &Verdict) -> &str {
    &verdict.status
}

/// B5.
pub(super) async fn one_invalid(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    let Some(template) = &batch.bad_item else { return Err(Stop::NotTested("needs [batch] bad_item".to_owned())) };
    let (good, bad) = (bench.items(&batch.item, 2), bench.item(template));
    let all = [&good[0], &bad, &good[1]];
    let what = "a batch with one invalid item";
    let verdicts = bench.sync(batch, resource, Who::First, &all, what).await?;
    bench.one_row_each(resource, &[&good[0], &good[1]], what).await?;
    bench
        .expect_rows(resource, Who::First, &bad.record, 0, |rows| format!("the invalid item of a batch made {rows}"))
        .await?;
    for at in [0, 2] {
        bench.took(&verdicts[at], &["created"], "a valid item beside an invalid one")?;
    }
    if let Some(id) = &verdicts[1].id {
        return effect(format!("the invalid item of a batch was given the id {id} and has no row"));
    }
    bench.word(&verdicts[1], &["rejected"], "the invalid item");
    if json::at(&verdicts[1].whole, "error.detail").is_none() {
        bench.differs("the rejected item has no `error` with a `detail`".to_owned());
    }
    Ok(())
}

/// B10.
pub(super) async fn too_many_and_none(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (batch, resource) = bench.batch()?;
    let Some(most) = batch.max_items else { return Err(Stop::NotTested("needs [batch] max_items".to_owned())) };
    let items = bench.items(&batch.item, usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1));
    let all: Vec<&Item> = items.iter().collect();
    let call = bench.batch_call(batch, Who::First, &all);
    let answer = bench.send(&call).await?;
    bench.status_in(answer.status, &[413], "a batch of one item too many");
    let (mut made, sampled) = (0, [0, items.len() / 2, items.len() - 1]);
    for at in sampled {
        made += bench.rows(resource, Who::First, &items[at].record).await?.count;
    }
    if answer.is_success() {
        bench.verdicts(batch, resource, &all, &answer, "a batch of one item too many").await?;
    } else if made != 0 {
        return effect(format!(
            "a batch of one item too many was refused with {} and made rows all the same",
            answer.status
        ));
    }
    let call = bench.batch_call(batch, Who::First, &[]);
    let answer = bench.send(&call).await?;
    bench.status_in(answer.status, &[200], "an empty batch");
    if json::at(&answer.json(), &batch.results).and_then(|results| results.as_array()).is_none_or(|all| !all.is_empty())
    {
        bench.differs("an empty batch was not answered with empty results".to_owned());
    }
    Ok(())
}

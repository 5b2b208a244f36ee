//! The same request again, however it is written.

use crate::bench::{Bench, Stop, Who, needs};
use crate::config::{Escape, KeyKind};
use crate::json;
use crate::key::Key;
use crate::report::Profile;

/// S1.
pub(super) async fn new_key(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, _, _) = bench.begin(resource).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("a create with a new key was acknowledged and there is {rows} of it")
        })
        .await
}

/// S2.
pub(super) async fn replay(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key, created) = bench.begin(resource).await?;
    let call = bench.create(resource, Who::First, &record, &key);
    let what = "the same request sent again";
    // A refusal of what was accepted a moment ago can only come from what the first one left behind.
    let answer = bench.settle(&call).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("{what} left {rows} of one operation: the key is not kept, or not looked up before the insert")
        })
        .await?;
    let why = "validation, or a second unique constraint, meets the row before the key is looked up";
    bench.same_id(resource, &created, &answer, (what, why))?;
    bench.replay_status(&created, &answer, "the replay");
    Ok(())
}

/// S3.
pub(super) async fn edit_between(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.pick("[resource.edit]", |resource| resource.edit.is_some())?;
    let (record, key, created) = bench.begin(resource).await?;
    let edit = bench.edit(resource, &record.version(2), &created, None);
    bench.done(edit, "edit").await?;
    let before = bench.rows(resource, Who::First, &record).await?;
    let call = bench.create(resource, Who::First, &record, &key);
    let what = "a late replay of the create, after an edit,";
    let why = "the key is not kept with the row for ever, or it is compared with the present content";
    let answer = bench.replay(resource, &record, &created, &call, (what, why)).await?;
    let after = bench.rows(resource, Who::First, &record).await?;
    if before.records != after.records {
        return Err(Stop::Effect(format!("{what} changed the record: the create was written over the edit")));
    }
    bench.status_in(answer.status, &[200], "the late replay");
    Ok(())
}

/// S9.
pub(super) async fn reordered(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key, created) = bench.begin(resource).await?;
    let body = resource.body.render(&record.values(&key.text), Escape::Json);
    let Some(body) = json::reordered(&body) else { return needs("a body with two fields or more") };
    let call = bench.create_with(resource, Who::First, &record, &key, body);
    let what = "the same JSON with its fields in another order";
    // The row and its id are safe when the backend refuses it: a client sends the same bytes.
    let answer = bench.settle(&call).await?;
    bench.expect_rows(resource, Who::First, &record, 1, |rows| format!("{what} left {rows} of one operation")).await?;
    if answer.is_success() {
        bench.same_id(resource, &created, &answer, (what, "it was taken for another operation"))?;
    }
    bench.replay_status(&created, &answer, what);
    Ok(())
}

/// S13.
pub(super) async fn quoted(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key) = (bench.minter.record(), Key::new());
    let created = bench.created(resource, Who::First, &record, &key).await?;
    let call = bench.create(resource, Who::First, &record, &key.quoted());
    again(bench, resource, &record, &created, &call, "the key in quotes, which was bare at first,").await
}

/// The same key written in another way: the same operation, or (but for `ietf`) a refusal that does nothing.
async fn again(
    bench: &mut Bench<'_>,
    resource: &crate::config::Resource,
    record: &crate::record::Record,
    created: &crate::grade::Created,
    call: &crate::bench::Call,
    what: &str,
) -> Result<(), Stop> {
    let answer = bench.settle(call).await?;
    bench
        .expect_rows(resource, Who::First, record, 1, |rows| {
            format!("{what} left {rows} of one operation: it was taken for another key")
        })
        .await?;
    if answer.is_success() {
        bench.same_id(resource, created, &answer, (what, "it was taken for another key"))?;
    }
    if bench.profile == Profile::Ietf {
        bench.replay_status(created, &answer, what);
    } else {
        bench.status_in(answer.status, &[200, 400], what);
    }
    Ok(())
}

/// S18.
pub(super) async fn upper_case(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.pick("a [[resource]] with keys = \"uuid\"", |resource| resource.keys == KeyKind::Uuid)?;
    let (record, key) = (bench.minter.record(), Key::new());
    let created = bench.created(resource, Who::First, &record, &key).await?;
    let upper = key.text.to_uppercase();
    // The body stays byte for byte what it was.
    let call = bench.create(resource, Who::First, &record, &key.written(&[upper.as_bytes()]));
    let what = "the same UUID in capitals";
    let why = "UUIDs are compared as text";
    let answer = bench.replay(resource, &record, &created, &call, (what, why)).await?;
    bench.replay_status(&created, &answer, what);
    Ok(())
}

/// S19.
pub(super) async fn header_name(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key, created) = bench.begin(resource).await?;
    let turned: String = bench
        .key_header()
        .chars()
        .enumerate()
        .map(|(at, c)| if at % 2 == 0 { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() })
        .collect();
    let call = bench.create(resource, Who::First, &record, &key.under(&turned));
    let what = "the key under a header name in other letters";
    let why = "the header's name is compared letter for letter";
    let answer = bench.replay(resource, &record, &created, &call, (what, why)).await?;
    bench.replay_status(&created, &answer, what);
    Ok(())
}

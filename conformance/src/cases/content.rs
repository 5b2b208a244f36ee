//! The same key with other content, another endpoint, or a body that is refused.

use crate::bench::{Bench, Stop, Who, effect};
use crate::config::{Escape, Resource};
use crate::grade::{Asked, Created};
use crate::json;
use crate::key::Key;
use crate::record::Record;

/// A create, then another body under its key, which changes nothing.
async fn after_other_body<'a>(bench: &mut Bench<'a>) -> Result<(&'a Resource, Record, Key, Created), Stop> {
    let need = "a body with {text} or {amount}, so that there is another one";
    let resource = bench.pick(need, |resource| resource.body.has_content())?;
    let (record, key, created) = bench.begin(resource).await?;
    let before = bench.rows(resource, Who::First, &record).await?;
    let other = bench.create(resource, Who::First, &record.version(2), &key);
    let answer = bench.settle(&other).await?;
    let after = bench.rows(resource, Who::First, &record).await?;
    if after.count != 1 {
        return effect(format!(
            "the same key with another body left {} of one operation: the key does not refuse a second insert",
            crate::count::counted(after.count)
        ));
    }
    if before.records != after.records {
        return effect("the same key with another body changed the record: a create was run as an edit");
    }
    if answer.is_success() {
        bench.same_id(resource, &created, &answer, ("the same key with another body", "it was not refused"))?;
    }
    bench.status(&answer, Asked::OtherBody, "the same key with another body");
    bench.problem(&answer, "the same key with another body");
    Ok((resource, record, key, created))
}

/// S6.
pub(super) async fn other_body(bench: &mut Bench<'_>) -> Result<(), Stop> {
    after_other_body(bench).await.map(drop)
}

/// S7.
pub(super) async fn original_body_again(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let (resource, record, key, created) = after_other_body(bench).await?;
    bench.statuses.clear();
    let call = bench.create(resource, Who::First, &record, &key);
    let what = "the original body, after another one under its key,";
    let why = "the refused body took the place of the original";
    let answer = bench.replay(resource, &record, &created, &call, (what, why)).await?;
    bench.replay_status(&created, &answer, what);
    Ok(())
}

/// S8.
pub(super) async fn other_endpoint(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let first = bench.any()?;
    let mut others = bench.config.resource.iter().filter(|other| other.name != first.name && other.count.is_some());
    let Some(second) = others.next() else {
        return Err(Stop::NotTested("needs a second [[resource]] with [resource.count]".to_owned()));
    };
    // Both ways: an endpoint may keep its keys in another place than the other.
    for (one, other) in [(first, second), (second, first)] {
        let (record, key, created) = bench.begin(one).await?;
        let stray = bench.minter.record();
        let call = bench.create(other, Who::First, &stray, &key);
        let answer = bench.settle(&call).await?;
        bench.status(&answer, Asked::OtherEndpoint, "a key of another endpoint");
        bench.problem(&answer, "a key of another endpoint");
        let rows = bench.rows(other, Who::First, &stray).await?;
        let wrong = answer.is_success() && (rows.count == 0 || answer.json() == created.answer.json());
        if wrong {
            return effect(format!(
                "a create of {} under a key used for {} was answered with the other's response ({}), and its own row \
                 was not made: the endpoint is not compared when the key is found",
                other.name, one.name, answer.status
            ));
        }
        if !answer.is_success() && rows.count != 0 {
            return effect(format!("a key of another endpoint was refused with {} and made a row", answer.status));
        }
        bench
            .expect_rows(one, Who::First, &record, 1, |rows| {
                format!("a key sent to another endpoint left {rows} at the first")
            })
            .await?;
    }
    let editable = |resource: &&Resource| resource.edit.as_ref().is_some_and(|edit| edit.key);
    match [first, second].into_iter().find(editable) {
        Some(resource) => edit_under_the_creates_key(bench, resource).await,
        None => Ok(()),
    }
}

async fn edit_under_the_creates_key(bench: &mut Bench<'_>, resource: &Resource) -> Result<(), Stop> {
    let (record, key, created) = bench.begin(resource).await?;
    let before = bench.rows(resource, Who::First, &record).await?;
    let Some(edit) = bench.edit(resource, &record.version(2), &created, Some(&key)) else { return Ok(()) };
    let answer = bench.settle(&edit).await?;
    bench.status(&answer, Asked::OtherEndpoint, "an edit under the key of its create");
    let after = bench.rows(resource, Who::First, &record).await?;
    let listed = !before.records.is_empty();
    if listed && answer.is_success() && before.records == after.records {
        return effect(format!(
            "an edit under the key of its create was answered {} and nothing was changed: it was given the create's \
             response",
            answer.status
        ));
    }
    if listed && !answer.is_success() && before.records != after.records {
        return effect(format!(
            "an edit under the key of its create was refused with {} and changed the record",
            answer.status
        ));
    }
    Ok(())
}

/// S24.
pub(super) async fn corrected(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.pick("[[resource]] refused_body", |resource| resource.refused_body.is_some())?;
    let (record, key) = (bench.minter.record(), bench.key());
    let refused = refused_body(resource, &record, &key);
    let call = bench.create_with(resource, Who::First, &record, &key, refused);
    let answer = bench.send(&call).await?;
    if answer.is_success() {
        return effect(format!(
            "the refused_body of the config was accepted with {}, so nothing is known",
            answer.status
        ));
    }
    bench.status(&answer, Asked::Invalid, "an invalid body");
    bench
        .expect_rows(resource, Who::First, &record, 0, |rows| {
            format!("an invalid body was refused and made {rows} all the same")
        })
        .await?;
    let call = bench.create(resource, Who::First, &record, &key);
    let answer = bench.settle(&call).await?;
    if !answer.is_success() {
        return effect(format!(
            "a corrected body under the key of one that was refused was answered {}: the refused request used up the key",
            answer.status
        ));
    }
    bench.acknowledged(resource, &answer, "the corrected body")?;
    bench.status(&answer, Asked::First, "the corrected body");
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("a corrected body was acknowledged and there is {rows}")
        })
        .await
}

fn refused_body(resource: &Resource, record: &Record, key: &Key) -> String {
    let template = resource.refused_body.as_ref().unwrap_or(&resource.body);
    template.render(&record.values(&key.text), Escape::Json)
}

/// S29.
pub(super) async fn business_identity(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.pick("[resource.business]", |resource| resource.business.is_some())?;
    let (record, _, _) = bench.begin(resource).await?;
    let other = bench.key();
    let call = bench.create(resource, Who::First, &record.version(2), &other);
    let answer = bench.send(&call).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("a new key with the same business identity left {rows} of it: there is no second unique constraint")
        })
        .await?;
    let what = "a new key with the same business identity";
    if answer.status >= 500 {
        return effect(format!(
            "{what} was answered {}: the constraint's violation is not caught, and a client sends it again for ever",
            answer.status
        ));
    }
    if answer.is_success() {
        return effect(format!(
            "{what} was acknowledged with {} and has no row of its own: it was taken for a replay of another operation",
            answer.status
        ));
    }
    bench.status(&answer, Asked::Business, what);
    let problem = answer.json();
    if is_retryable(&answer) {
        bench.differs("the refusal of a second business identity asks to be sent again".to_owned());
    }
    if json::at(&problem, "code").and_then(|code| code.as_str()) != Some("unique_violation") {
        bench.differs("the refusal of a second business identity has no `code` \"unique_violation\"".to_owned());
    }
    if let Some(constraint) = resource.business.as_ref().and_then(|business| business.constraint.as_deref())
        && json::at(&problem, "constraint").and_then(|named| named.as_str()) != Some(constraint)
    {
        bench.differs(format!("the refusal of a second business identity does not name the `constraint` {constraint}"));
    }
    Ok(())
}

fn is_retryable(answer: &crate::http::Answer) -> bool {
    crate::bench::is_retryable_conflict(answer)
}

/// S33: what validation refuses today under a key that is known. It is looked up first, so the answer is about the key,
/// not the one that the same body gets under a new key.
pub(super) async fn validation_comes_second(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.pick("[[resource]] refused_body", |resource| resource.refused_body.is_some())?;
    let (record, key, created) = bench.begin(resource).await?;
    let (stray, unknown) = (bench.minter.record(), bench.key());
    let fresh = bench.create_with(resource, Who::First, &stray, &unknown, refused_body(resource, &stray, &unknown));
    let validation = bench.send(&fresh).await?;
    if validation.is_success() {
        return effect(format!(
            "the refused_body of the config was accepted with {}, so nothing is known",
            validation.status
        ));
    }
    let call = bench.create_with(resource, Who::First, &record, &key, refused_body(resource, &record, &key));
    let answer = bench.settle(&call).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| format!("an invalid body under a known key left {rows}"))
        .await?;
    if answer.is_success() {
        bench.same_id(resource, &created, &answer, ("an invalid body under a known key", "it was run"))?;
    } else if (answer.status, neutral(&answer, &record, &key))
        == (validation.status, neutral(&validation, &stray, &unknown))
    {
        return effect(format!(
            "a known key with a body that today's validation refuses got validation's own answer ({}): the body is \
             validated before the key is looked up, so a replay is refused once the rules have changed",
            answer.status
        ));
    }
    bench.status(&answer, Asked::OtherBody, "an invalid body under a known key");
    let original = bench.create(resource, Who::First, &record, &key);
    let what = "the original body after that";
    let again =
        bench.replay(resource, &record, &created, &original, (what, "the key was lost to an invalid body")).await?;
    bench.replay_status(&created, &again, what);
    Ok(())
}

/// An answer's text without what is the record's own.
fn neutral(answer: &crate::http::Answer, record: &Record, key: &Key) -> String {
    let values = record.values("");
    let mut text = answer.text();
    for own in [&key.text, &values.marker, &values.number, &values.uuid, &values.now, &values.amount] {
        text = text.replace(own.as_str(), "");
    }
    text
}

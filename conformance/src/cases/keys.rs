//! Keys that are missing, badly written or strange, and a read that carries one.

use crate::bench::{Bench, Stop, Who, effect};
use crate::config::{Count, KeyKind, Resource};
use crate::grade::Asked;
use crate::http::Answer;
use crate::key::Key;

/// S10.
pub(super) async fn none(bench: &mut Bench<'_>) -> Result<(), Stop> {
    unprotected(bench, &[&[]], "no key").await
}

/// S11.
pub(super) async fn empty(bench: &mut Bench<'_>) -> Result<(), Stop> {
    unprotected(bench, &[&[b""], &[b"\"\""]], "an empty key").await
}

/// A create that cannot be told from a second one must not be run.
async fn unprotected(bench: &mut Bench<'_>, forms: &[&[&[u8]]], what: &str) -> Result<(), Stop> {
    let resource = bench.any()?;
    for lines in forms {
        let record = bench.minter.record();
        let call = bench.create(resource, Who::First, &record, &Key::new().written(lines));
        let answer = bench.send(&call).await?;
        bench
            .expect_rows(resource, Who::First, &record, 0, |rows| {
                format!("a create with {what} made {rows}: it was run without protection")
            })
            .await?;
        if answer.is_success() {
            return effect(format!("a create with {what} was acknowledged with {} and made nothing", answer.status));
        }
        bench.status(&answer, Asked::NoKey, &format!("a create with {what}"));
        bench.problem(&answer, &format!("a create with {what}"));
    }
    Ok(())
}

/// S12.
pub(super) async fn bad_syntax(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (key, other) = (Key::new(), Key::new());
    let unbalanced = format!("\"{}", key.text);
    let two = format!("\"{}\", \"{}\"", key.text, other.text);
    let forms: [(&str, Vec<&[u8]>); 3] = [
        ("an unbalanced quote", vec![unbalanced.as_bytes()]),
        ("two keys in one line", vec![two.as_bytes()]),
        ("two header lines", vec![key.text.as_bytes(), other.text.as_bytes()]),
    ];
    for (what, lines) in forms {
        // Where {key} is in the body, each form is its own operation.
        let fresh = Key::new();
        let lines: Vec<Vec<u8>> = lines
            .iter()
            .map(|line| String::from_utf8_lossy(line).replace(&key.text, &fresh.text).into_bytes())
            .collect();
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        let record = bench.minter.record();
        let (answer, _) = bench.odd(resource, &record, &fresh.written(&lines), what).await?;
        refused(bench, answer.as_ref(), Asked::BadKey, what);
    }
    Ok(())
}

fn refused(bench: &mut Bench<'_>, answer: Option<&Answer>, asked: Asked, what: &str) {
    if let Some(answer) = answer {
        bench.status(answer, asked, &format!("a create with {what}"));
    }
}

/// The resource that takes any text, or else the first.
fn liberal<'a>(bench: &mut Bench<'a>) -> Result<&'a Resource, Stop> {
    match bench.pick("", |resource| resource.keys == KeyKind::Any) {
        Ok(resource) => Ok(resource),
        Err(_) => bench.any(),
    }
}

/// Two keys that a careless backend takes for one.
async fn apart(
    bench: &mut Bench<'_>,
    resource: &Resource,
    keys: [&Key; 2],
    what: &str,
    why: &str,
) -> Result<[Option<Answer>; 2], Stop> {
    let records = [bench.minter.record(), bench.minter.record()];
    let (one, first_id) = bench.odd(resource, &records[0], keys[0], what).await?;
    let call = bench.create(resource, Who::First, &records[1], keys[1]);
    if first_id.is_some() {
        let answer = bench.settle(&call).await?;
        let rows = bench.rows(resource, Who::First, &records[1]).await?;
        if rows.count == 0 {
            return effect(format!(
                "the second of two operations with {what} was not done and was answered {}: {why}",
                answer.status
            ));
        }
    }
    let (two, _) = bench.odd(resource, &records[1], keys[1], what).await?;
    Ok([one, two])
}

/// S14.
pub(super) async fn longest(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = liberal(bench)?;
    let start = format!("{}{}", Key::new().text, "k".repeat(254 - 36));
    let keys = [Key::text(&format!("{start}a")), Key::text(&format!("{start}b"))];
    let what = "255-character keys that differ in the last one";
    let answers =
        apart(bench, resource, [&keys[0], &keys[1]], what, "keys are cut off before they are compared").await?;
    if Bench::takes_any(resource) {
        if let Some(answer) = &answers[0] {
            bench.status_in(answer.status, &[201], "a create with a key of 255 characters");
        }
    } else {
        refused(bench, answers[0].as_ref(), Asked::BadKey, "a key of 255 characters that is no UUID");
    }
    Ok(())
}

/// S15.
pub(super) async fn too_long(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = liberal(bench)?;
    let start = format!("{}{}", Key::new().text, "k".repeat(64 * 1024 - 37));
    let keys = [Key::text(&format!("{start}a")), Key::text(&format!("{start}b"))];
    let why = "keys are cut off before they are compared";
    let answers = apart(bench, resource, [&keys[0], &keys[1]], "a key of 64 KiB", why).await?;
    refused(bench, answers[0].as_ref(), Asked::LongKey, "a key of 64 KiB");
    Ok(())
}

/// S16.
pub(super) async fn not_ascii(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = liberal(bench)?;
    let start = Key::new().text;
    let keys = [Key::text(&format!("{start}-\u{5272}")), Key::text(&format!("{start}-\u{7b26}"))];
    let why = "what is not ASCII in a key is replaced before it is compared";
    let answers = apart(bench, resource, [&keys[0], &keys[1]], "a key in UTF-8", why).await?;
    refused(bench, answers[0].as_ref(), Asked::BadKey, "a key in UTF-8");
    Ok(())
}

/// S17.
pub(super) async fn nasty(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = liberal(bench)?;
    let forms = [
        ("a NUL in its key", "\0", true),
        ("a CR in its key", "\rX-More: 1", true),
        ("SQL in its key", "' OR '1'='1", false),
    ];
    for (what, inside, malformed) in forms {
        let (key, record) = (Key::new(), bench.minter.record());
        let written = format!("{}{inside}", key.text);
        let (answer, _) = bench.odd(resource, &record, &key.written(&[written.as_bytes()]), what).await?;
        if malformed {
            refused(bench, answer.as_ref(), Asked::BadKey, what);
        } else if let Some(answer) = answer {
            bench.status_in(answer.status, &[201, 400], &format!("a create with {what}"));
        }
    }
    let (record, _, _) = bench.begin(resource).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| format!("after those keys a plain create left {rows}"))
        .await
}

/// S20.
pub(super) async fn get(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key) = (bench.minter.record(), bench.key());
    let values = record.values(&key.text);
    let path = match &resource.count {
        Some(Count::Listing(listing)) => listing.path.render_path(&values),
        _ => resource.path.render_path(&values),
    };
    let read = bench.call(Who::First, "GET", &path, Some(&key), None);
    bench.send(&read).await?;
    let call = bench.create(resource, Who::First, &record, &key);
    let created = bench.send(&call).await?;
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| {
            format!("a create whose key a GET had carried before left {rows}: the GET used up the key")
        })
        .await?;
    bench.acknowledged(resource, &created, "a create whose key a GET had carried before")?;
    bench.status(&created, Asked::First, "a create whose key a GET had carried before");
    let again = bench.send(&read).await?;
    if again.is_success() && again.json().is_object() && again.json() == created.json() {
        return effect("a GET with the key of a create was answered with the create's response instead of being read");
    }
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| format!("a GET with the key of a create left {rows}"))
        .await
}

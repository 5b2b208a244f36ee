//! Who asks, and from where.

use crate::bench::{Bench, Stop, Who, effect};
use crate::config::Resource;
use crate::count::Rows;
use crate::grade::{Asked, Created};
use crate::json;

/// S21.
pub(super) async fn two_owners(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    bench.require(Who::Second)?;
    let (record, key, created) = bench.begin(resource).await?;
    let call = bench.create(resource, Who::Second, &record, &key);
    let answer = bench.settle(&call).await?;
    let theirs = bench.rows(resource, Who::Second, &record).await?;
    let told = answer.is_success().then(|| json::id_at(&answer.json(), &resource.id)).flatten();
    if told.as_ref() == Some(&created.id) && theirs.count != 1 {
        return effect(
            "another owner who sent the same key was given the first owner's record: keys are not kept by owner",
        );
    }
    if theirs.count != 1 {
        return effect(format!(
            "another owner who sent the same key was answered {} and has {}: keys are not kept by owner",
            answer.status,
            crate::count::counted(theirs.count)
        ));
    }
    own_id(resource, &theirs, told.as_deref())?;
    bench.status(&answer, Asked::First, "the same key of another owner");
    let call = bench.create(resource, Who::First, &record, &key);
    let what = "the first owner's replay, after another owner had sent the same key,";
    bench.replay(resource, &record, &created, &call, (what, "keys are not kept by owner")).await?;
    let Some(id) = told else { return effect("the other owner's create was answered without an id") };
    let theirs = Created { id, answer };
    let call = bench.create(resource, Who::Second, &record, &key);
    let again = bench.settle(&call).await?;
    bench.same_id(resource, &theirs, &again, ("the other owner's replay", "keys are not kept by owner"))
}

/// That an owner was told the id of its own row, where a listing shows it.
pub(super) fn own_id(resource: &Resource, rows: &Rows, told: Option<&str>) -> Result<(), Stop> {
    match rows.records.iter().find_map(|row| json::id_at(row, &resource.id)) {
        Some(own) if Some(own.as_str()) != told => effect(format!(
            "another owner who sent the same key has the row {own} and was told {}: keys are not kept by owner",
            told.unwrap_or("nothing")
        )),
        _ => Ok(()),
    }
}

/// S22.
pub(super) async fn refreshed(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    bench.require(Who::Refreshed)?;
    let (record, key, created) = bench.begin(resource).await?;
    let call = bench.create(resource, Who::Refreshed, &record, &key);
    let what = "the same key sent again with a refreshed token of the same owner";
    let why = "keys are kept by token instead of by owner";
    let answer = bench.replay(resource, &record, &created, &call, (what, why)).await?;
    bench.replay_status(&created, &answer, "the replay with a refreshed token");
    Ok(())
}

/// S23.
pub(super) async fn stranger(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let resource = bench.any()?;
    let (record, key, created) = bench.begin(resource).await?;
    let known = bench.create(resource, Who::Nobody, &record, &key);
    let known = bench.send(&known).await?;
    let (other, unknown) = (bench.minter.record(), bench.key());
    let unknown = bench.create(resource, Who::Nobody, &other, &unknown);
    let unknown = bench.send(&unknown).await?;
    if known.text().contains(&record.values("").marker) || (known.is_success() && known.json() == created.answer.json())
    {
        return effect(format!("a stranger who sent a known key was shown the owner's record ({})", known.status));
    }
    for (answer, what) in [(&known, "a known"), (&unknown, "an unknown")] {
        if answer.is_success() {
            return effect(format!("a stranger's create with {what} key was acknowledged with {}", answer.status));
        }
    }
    bench
        .expect_rows(resource, Who::First, &record, 1, |rows| format!("a stranger's request left the owner {rows}"))
        .await?;
    bench
        .expect_rows(resource, Who::First, &other, 0, |rows| {
            format!("a stranger's create made {rows} of the first owner")
        })
        .await?;
    bench.status(&known, Asked::Stranger, "a stranger's create");
    if (known.status, &known.body) != (unknown.status, &unknown.body) {
        bench.differs("a stranger can tell a known key from an unknown one by the answer".to_owned());
    }
    Ok(())
}

/// S31.
pub(super) async fn preflight(bench: &mut Bench<'_>) -> Result<(), Stop> {
    let Some(cors) = &bench.config.cors else { return Err(Stop::NotTested("needs [cors] origins".to_owned())) };
    let Some(resource) = bench.config.resource.first() else { return bench.any().map(drop) };
    bench.resource = Some(resource.name.clone());
    let path = resource.path.render_path(&bench.minter.record().values(""));
    let wanted = ["authorization".to_owned(), "content-type".to_owned(), bench.key_header().to_ascii_lowercase()];
    for origin in &cors.origins {
        let mut call = bench.call(Who::Nobody, "OPTIONS", &path, None, None);
        for (name, value) in [
            ("Origin", origin.clone()),
            ("Access-Control-Request-Method", resource.method.clone()),
            ("Access-Control-Request-Headers", wanted.join(",")),
        ] {
            call.request.headers.push((name.to_owned(), value.into_bytes()));
        }
        let answer = bench.send(&call).await?;
        bench.judged = true;
        let allowed_origin = answer.header("access-control-allow-origin").unwrap_or_default();
        if !answer.is_success() || (allowed_origin != origin && allowed_origin != "*") {
            bench.differs(format!("a page at {origin} may not call: the preflight was answered {} and allows the origin \"{allowed_origin}\"", answer.status));
            continue;
        }
        let allowed = answer.header_list("access-control-allow-headers").to_ascii_lowercase();
        let allowed: Vec<&str> = allowed.split(',').map(str::trim).collect();
        for header in &wanted {
            // A star stands for every header but this one.
            if !allowed.contains(&header.as_str()) && (header == "authorization" || !allowed.contains(&"*")) {
                bench.differs(format!("a page at {origin} may not send {header}"));
            }
        }
        let mut read = bench.call(Who::Nobody, &resource.method, &path, None, Some("{}".to_owned()));
        read.request.headers.push(("Origin".to_owned(), origin.clone().into_bytes()));
        let answer = bench.send(&read).await?;
        let exposed = answer.header_list("access-control-expose-headers").to_ascii_lowercase();
        let exposed: Vec<&str> = exposed.split(',').map(str::trim).collect();
        if !["retry-after", "date"].iter().all(|name| exposed.contains(name)) {
            bench.differs(format!("a page at {origin} cannot read `Retry-After` and `Date` of a refusal"));
        }
    }
    Ok(())
}

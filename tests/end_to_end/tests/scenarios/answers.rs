//! Every row of the contract's answer table that a batch can get, from a real socket.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use axum::{body::Body, http::Response};
use futures_util::stream;
use serde_json::{Value, json};
use warifu_end_to_end::{
    Backend, Browser, Queue,
    backend::{FRESH_TOKEN, Fault, Seen, answer},
};

use crate::memories::short;

const DRAIN: Duration = Duration::from_secs(120);

const HTML: (&str, &str) = ("content-type", "text/html");
const JSON: (&str, &str) = ("content-type", "application/json");
const PROBLEM: (&str, &str) = ("content-type", "application/problem+json");

/// The browser repeats the request by itself, and the page never learns: one more reason for the key.
const UNSEEN: &str = "unseen";

/// An answer that is no verdict, and what the queue says meanwhile.
type Row = (&'static str, &'static str, fn() -> Result<Fault>);

/// Each of these leaves the memory pending, with the same key and the same bytes.
const ROWS: [Row; 34] = [
    ("200 HTML", "unexpected_answer", || answer(200, &[HTML], "<html>Welcome to our Wi-Fi</html>")),
    ("200 HTML called JSON", "unexpected_answer", || answer(200, &[JSON], "<html>Welcome</html>")),
    ("200 {}", "unexpected_answer", || answer(200, &[JSON], "{}")),
    ("200 null", "unexpected_answer", || answer(200, &[JSON], "null")),
    ("200 without results", "unexpected_answer", || answer(200, &[JSON], r#"{"results":[]}"#)),
    ("200 another id", "unexpected_answer", || {
        let other = r#"{"clientMemoryId":"0f8fad5b-d9cb-469f-a165-70867728950e","memory_id":7,"status":"created"}"#;
        answer(200, &[JSON], format!(r#"{{"results":[{other}]}}"#))
    }),
    ("200 error body", "unexpected_answer", || answer(200, &[JSON], r#"{"error":"database is down"}"#)),
    ("200 cut off", "no_answer", || cut_off(true)),
    ("200 cut off, length untold", "no_answer", || cut_off(false)),
    ("200 half a JSON", "unexpected_answer", || answer(200, &[JSON], r#"{"results":[{"clientMemoryId":"#)),
    ("204", "unexpected_answer", || answer(204, &[], "")),
    ("301", "redirected", || answer(301, &[("location", "/blank.html")], "")),
    ("302", "redirected", || answer(302, &[("location", "/blank.html")], "")),
    ("307", "redirected", || answer(307, &[("location", "/api/memories/sync")], "")),
    ("403 HTML", "unexpected_answer", || answer(403, &[HTML], "<h1>Forbidden</h1>")),
    ("404 HTML", "unexpected_answer", || answer(404, &[HTML], "<h1>Not Found</h1>")),
    ("404 gateway", "unexpected_answer", || answer(404, &[JSON], r#"{"message":"no Route matched"}"#)),
    ("405", "unexpected_answer", || answer(405, &[], "")),
    // Chromium takes a 407 that no proxy sent for a failure of the network.
    ("407", "no_answer", || answer(407, &[], "")),
    ("408", "busy", || answer(408, &[], "")),
    ("409 in progress", "busy", || answer(409, &[PROBLEM], r#"{"code":"in_progress","detail":"It runs."}"#)),
    ("409 Retry-After", "busy", || answer(409, &[("retry-after", "1")], "")),
    ("421", UNSEEN, || answer(421, &[], "")),
    ("425", "busy", || answer(425, &[], "")),
    ("429", "busy", || answer(429, &[PROBLEM], r#"{"detail":"Slow down."}"#)),
    ("500", "server_error", || answer(500, &[PROBLEM], r#"{"code":"internal","detail":"Failed inside."}"#)),
    ("500 HTML", "server_error", || answer(500, &[HTML], "<h1>Internal Server Error</h1>")),
    ("502", "server_error", || answer(502, &[HTML], "<h1>Bad Gateway</h1>")),
    ("503", "busy", || answer(503, &[], "")),
    ("504", "server_error", || answer(504, &[], "")),
    ("599", "server_error", || answer(599, &[], "")),
    ("429 Retry-After garbage", "busy", || answer(429, &[("retry-after", "soon")], "")),
    ("no answer, nothing stored", "no_answer", || Ok(Fault::DropBefore)),
    ("no answer, stored", "no_answer", || Ok(Fault::DropAfter)),
];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_verdict_leaves_the_memory_pending_with_its_key() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let given = Mutex::new(BTreeSet::new());
    backend.wire.plan(move |seen| {
        let row = ROWS.iter().find(|(title, ..)| titled(seen, title));
        let first = |title: &str| given.lock().is_ok_and(|mut given| given.insert(title.to_owned()));
        match row {
            Some((title, _, answer)) if first(title) => answer().unwrap_or(Fault::Hang),
            _ => Fault::Pass,
        }
    });
    browser.goto(&backend.url("blank.html")).await?;
    let titles: Vec<&str> = ROWS.iter().map(|(title, ..)| *title).collect();
    let told = browser.run(&each_in_a_queue_of_its_own("await settled(entry.id);"), json!(titles)).await?;
    let rows = backend.rows().await?;
    for (title, trouble, _) in &ROWS {
        let about = &told[title];
        let id = about["entry"]["id"].as_str().with_context(|| format!("{title}: no entry"))?;
        ensure!(about["entry"]["syncState"] == "synced", "{title}: {about}");
        ensure!(about["entry"]["serverId"].as_str() == rows.get(id).map(String::as_str), "{title}: {about}");
        let attempted = about["events"].as_array().into_iter().flatten().filter(|kind| *kind == "attempted").count();
        ensure!(attempted == if *trouble == UNSEEN { 1 } else { 2 }, "{title}: {about}");
        ensure!(about["entry"]["attempts"] == attempted, "{title}: {about}");
        let troubles = about["troubles"].as_array().context("no troubles")?;
        let told = if *trouble == UNSEEN { troubles.is_empty() } else { troubles.contains(&json!(trouble)) };
        ensure!(told, "{title} was taken as {troubles:?} and not as {trouble}");
        let parked = about["events"].as_array().into_iter().flatten().any(|kind| kind == "parked");
        ensure!(!parked, "{title} parked it: {about}");
    }
    ensure!(rows.len() == ROWS.len(), "{} rows", rows.len());
    ensure!(backend.wire.same_bytes()? == ROWS.len(), "each came twice: {:?}", backend.wire.attempts());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_a_floor_in_seconds_and_as_a_date() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let waits = [
        ("Retry-After 4", ("retry-after", "4")),
        ("Retry-After date", ("retry-after", "Mon, 30 Nov 2026 08:00:04 GMT")),
    ];
    let given = Mutex::new(BTreeSet::new());
    backend.wire.plan(move |seen| {
        let wait = waits.iter().find(|(title, _)| titled(seen, title));
        let first = |title: &str| given.lock().is_ok_and(|mut given| given.insert(title.to_owned()));
        match wait {
            // The date is measured against the answer's own `Date`, whatever the device's clock says.
            Some((title, header)) if first(title) => {
                answer(503, &[*header, ("date", "Mon, 30 Nov 2026 08:00:00 GMT")], "").unwrap_or(Fault::Hang)
            }
            _ => Fault::Pass,
        }
    });
    browser.goto(&backend.url("blank.html")).await?;
    let impatient = "await until(() => troubles.length > 0); await outbox.sync(); await settled(entry.id);";
    let titles: Vec<&str> = waits.iter().map(|(title, _)| *title).collect();
    browser.run(&each_in_a_queue_of_its_own(impatient), json!(titles)).await?;
    for title in titles {
        let times: Vec<_> =
            backend.wire.seen().into_iter().filter(|seen| titled(seen, title)).map(|seen| seen.at).collect();
        ensure!(times.len() == 2, "{title} came {} times", times.len());
        let waited = times[1].saturating_sub(times[0]);
        ensure!(
            waited >= Duration::from_millis(3_950),
            "{title}: again after {waited:?}, though someone asked to sync"
        );
        ensure!(waited < Duration::from_secs(10), "{title}: again only after {waited:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_401_pauses_everything_until_there_are_fresh_headers() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(150));
    backend.wire.plan(|seen| {
        let fresh =
            seen.headers.get("authorization").is_some_and(|value| value.as_bytes().ends_with(FRESH_TOKEN.as_bytes()));
        if fresh {
            Fault::Pass
        } else {
            answer(401, &[PROBLEM], r#"{"code":"not_authenticated"}"#).unwrap_or(Fault::Hang)
        }
    });
    browser.goto(&backend.url("blank.html")).await?;
    browser.run(SIGNED_OUT, json!({ "base": backend.url(""), "fresh": FRESH_TOKEN })).await?;
    let queue = Queue::shown(&browser);
    queue.commit(&memories).await?;
    let paused = "return window.outbox.status.getSnapshot().paused === 'signed_out' || null";
    browser.until("the queue to say that nobody is signed in", DRAIN, paused, Value::Null).await?;
    let asked = browser.run("return window.asked", Value::Null).await?;
    ensure!(
        asked.as_array().is_some_and(|whys| whys.iter().filter(|why| *why == "unauthorized").count() == 1),
        "{asked}"
    );
    let waiting = queue.entries().await?;
    ensure!(waiting.values().all(|entry| entry.sync_state == "pending" && entry.parked.is_none()), "{waiting:?}");
    browser.run("window.signedIn = true; window.outbox.resume()", Value::Null).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    backend.wire.same_bytes().map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_401_with_fresh_headers_at_hand_is_no_pause_at_all() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(20));
    backend.wire.plan(|seen| if seen.number == 1 { answer(401, &[], "").unwrap_or(Fault::Hang) } else { Fault::Pass });
    browser.goto(&backend.url("blank.html")).await?;
    browser.run(SIGNED_OUT, json!({ "base": backend.url(""), "fresh": FRESH_TOKEN })).await?;
    browser.run("window.signedIn = true", Value::Null).await?;
    let queue = Queue::shown(&browser);
    queue.commit(&memories).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    let second = backend.wire.seen().into_iter().nth(1).context("one request only")?;
    ensure!(
        second.headers.get("authorization").is_some_and(|value| value.as_bytes().ends_with(FRESH_TOKEN.as_bytes()))
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_never_ends_is_given_up_at_its_deadline() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(3));
    backend.wire.plan(|seen| if seen.number == 1 { Fault::Hang } else { Fault::Pass });
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await?;
    let times: Vec<_> = backend.wire.seen().into_iter().map(|seen| seen.at).collect();
    ensure!(times[1] - times[0] >= Duration::from_secs(15), "given up after {:?}", times[1] - times[0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_batch_is_halved_and_only_the_one_at_fault_is_parked() -> Result<()> {
    for status in [400, 413, 422] {
        let refusal = r#"{"code":"poisoned","detail":"This one cannot be stored.","field":"title"}"#;
        let parked = one_of_forty(move || answer(status, &[PROBLEM], refusal)).await?;
        let told = (&parked["code"], &parked["status"], &parked["detail"], &parked["field"]);
        let expected = (&json!("poisoned"), &json!(status), &json!("This one cannot be stored."), &json!("title"));
        ensure!(told == expected, "{status}: {parked}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_fails_inside_again_and_again_is_halved_too() -> Result<()> {
    let parked = one_of_forty(|| answer(500, &[HTML], "<h1>Internal Server Error</h1>")).await?;
    ensure!(parked["status"] == 500, "{parked}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_own_rejection_parks_one_and_the_others_pass() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    let queue = Queue::open(&browser, &backend).await?;
    let ids = queue.run(MIXED, Value::Null).await?;
    queue.drained(DRAIN).await?;
    let (entries, rows) = (queue.entries().await?, backend.rows().await?);
    let bad = ids["bad"].as_str().context("no id")?;
    ensure!(rows.len() == 5 && !rows.contains_key(bad), "{rows:?}");
    let parked = entries[bad].parked.as_ref().context("not parked")?;
    ensure!(parked["code"].is_string() && parked["field"] == "title", "{parked}");
    ensure!(entries.values().filter(|entry| entry.sync_state == "synced").count() == 5, "{entries:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_refuses_everything_pauses_the_queue_and_parks_nothing() -> Result<()> {
    let (backend, browser, memories) = (Backend::start().await?, Browser::fresh().await?, short(40));
    backend.wire.plan(|_| answer(422, &[PROBLEM], r#"{"detail":"No."}"#).unwrap_or(Fault::Hang));
    let queue = Queue::open(&browser, &backend).await?;
    queue.commit(&memories).await?;
    let paused = "return window.outbox.status.getSnapshot().paused === 'endpoint' || null";
    browser.until("the queue to blame the endpoint", DRAIN, paused, Value::Null).await?;
    let entries = queue.entries().await?;
    ensure!(entries.len() == 40 && entries.values().all(|entry| entry.parked.is_none()), "{entries:?}");
    backend.wire.heal();
    queue.resume().await?;
    queue.drained(DRAIN).await?;
    queue.matches(&backend, &memories).await
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_matched_by_id_and_ids_are_kept_verbatim() -> Result<()> {
    let (backend, browser) = (Backend::start().await?, Browser::fresh().await?);
    // In their order: what the server says the ids are. Those that are none leave their memory pending.
    let tokens = ["653247040368672768", "9007199254740993", "\"00042\"", "\"abc\"", "7", "-1"];
    let none = ["null", "7.0", "1e3", "{}", "\"\"", "true"];
    let all: Vec<&str> = tokens.into_iter().chain(none).collect();
    let mut given = BTreeMap::new();
    backend.wire.plan(move |seen| {
        for (id, _) in &seen.items {
            let next = all.get(given.len()).copied().unwrap_or("null");
            given.entry(id.clone()).or_insert(next);
        }
        // Shuffled, in upper case, and with a stranger among them.
        let results = seen.items.iter().rev().map(|(id, _)| {
            format!(r#"{{"clientMemoryId":"{}","memory_id":{},"status":"created"}}"#, id.to_uppercase(), given[id])
        });
        let stranger = r#"{"clientMemoryId":"0f8fad5b-d9cb-469f-a165-70867728950e","memory_id":8,"status":"created"}"#;
        let results = results.chain([stranger.to_owned()]).collect::<Vec<_>>().join(",");
        answer(200, &[JSON], format!(r#"{{"results":[{results}]}}"#)).unwrap_or(Fault::Hang)
    });
    let queue = Queue::paused(&browser, &backend).await?;
    queue.commit(&short(12)).await?;
    queue.resume().await?;
    let synced = "return (await window.outbox.list('memory', { only: 'synced' })).items.length >= 6 || null";
    browser.until("six acknowledgements", DRAIN, synced, Value::Null).await?;
    queue.run("outbox.pause()", Value::Null).await?;
    let first = backend.wire.seen().into_iter().next().context("no request")?;
    let entries = queue.entries().await?;
    for ((id, _), token) in first.items.iter().zip(tokens) {
        ensure!(entries[id].server_id.as_deref() == Some(token.trim_matches('"')), "{token}: {:?}", entries[id]);
    }
    for ((id, _), token) in first.items.iter().skip(tokens.len()).zip(none) {
        ensure!(entries[id].sync_state == "pending" && entries[id].parked.is_none(), "{token}: {:?}", entries[id]);
    }
    Ok(())
}

/// Forty memories, one of them poisoned: every request with it gets this answer. Gives why the one is parked.
async fn one_of_forty(poison: impl Fn() -> Result<Fault> + Send + 'static) -> Result<Value> {
    let (backend, browser, mut memories) = (Backend::start().await?, Browser::fresh().await?, short(40));
    memories[12].0 = "poison".to_owned();
    backend.wire.plan(move |seen| if seen.holds("poison") { poison().unwrap_or(Fault::Hang) } else { Fault::Pass });
    let queue = Queue::open(&browser, &backend).await?;
    let ids = queue.commit(&memories).await?;
    queue.drained(DRAIN).await?;
    let (entries, rows): (BTreeMap<_, _>, _) = (queue.entries().await?, backend.rows().await?);
    ensure!(rows.len() == 39 && !rows.contains_key(&ids[12]), "{} rows", rows.len());
    ensure!(entries.values().filter(|entry| entry.sync_state == "synced").count() == 39, "{entries:?}");
    ensure!(entries.values().filter(|entry| entry.parked.is_some()).count() == 1, "{entries:?}");
    let requests = backend.wire.seen().len();
    ensure!(requests <= 24, "{requests} requests to find one among forty");
    backend.wire.same_bytes()?;
    entries[&ids[12]].parked.clone().context("the poisoned one is not parked")
}

fn titled(seen: &Seen, title: &str) -> bool {
    seen.holds(&format!(r#""title":{}"#, json!(title)))
}

/// Half of an answer, then the connection dies.
fn cut_off(told: bool) -> Result<Fault> {
    let half = r#"{"results":[{"clientMemoryId":"0f8f"#;
    let body = stream::iter([Ok(half.as_bytes().to_vec()), Err(std::io::Error::other("cut off"))]);
    let mut response = Response::builder().header(JSON.0, JSON.1);
    if told {
        response = response.header("content-length", half.len() + 100);
    }
    Ok(Fault::Answer(response.body(Body::from_stream(body))?))
}

/// Opens a queue for each title, commits one memory with that title in it, and does this with it.
fn each_in_a_queue_of_its_own(script: &str) -> String {
    format!(
        "await window.ready;
        const one = async (title) => {{
          const headers = () => ({{ Authorization: 'Bearer warifu_token_of_the_scenarios' }});
          const outbox = await window.warifu.Outbox.open({{ owner: title, baseUrl: '/', headers }});
          const [events, troubles] = [[], []];
          outbox.subscribe(({{ type }}) => events.push(type));
          outbox.status.subscribe(({{ trouble }}) => trouble && troubles.push(trouble));
          const until = async (holds) => {{ while (!(await holds())) await new Promise((wake) => setTimeout(wake, 20)); }};
          const settled = (id) => until(async () => {{
            const {{ syncState, parked }} = await outbox.get('memory', id);
            return syncState === 'synced' || parked;
          }});
          const entry = await outbox.begin('memory').commit({{ title, body: '' }});
          {script}
          const after = await outbox.get('memory', entry.id);
          await outbox.close();
          return [title, {{ entry: after, events, troubles }}];
        }};
        return Object.fromEntries(await Promise.all(input.map(one)));"
    )
}

const SIGNED_OUT: &str = "
    await window.ready;
    [window.asked, window.signedIn, window.events] = [[], false, []];
    window.outbox = await window.warifu.Outbox.open({
      owner: 'aki',
      baseUrl: input.base,
      headers: (why) => {
        window.asked.push(why);
        if (why === 'unauthorized' && !window.signedIn) return null;
        const fresh = window.signedIn && (why === 'unauthorized' || window.asked.includes('unauthorized'));
        return { Authorization: `Bearer ${fresh ? input.fresh : 'stale'}` };
      },
    });";

const MIXED: &str = "
    outbox.pause();
    const commit = (values) => outbox.begin('memory').commit(values).then(({ id }) => id);
    const good = await Promise.all([1, 2, 3, 4, 5].map((number) => commit({ title: `良い ${number}`, body: '' })));
    const bad = await commit({ title: 7, body: '' });
    outbox.resume();
    return { good, bad };";

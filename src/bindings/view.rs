//! From the core's types to plain JavaScript objects.

use js_sys::JSON;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::event::{Event, EventKind, Pause, Progress, Sender, Status};
use crate::core::operation::{Choice, Parked, Record};
use crate::core::time::Time;
use crate::core::values::created_at;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryView<'a> {
    kind: &'a str,
    id: String,
    server_id: Option<&'a str>,
    sync_state: &'static str,
    parked: Option<ParkedView<'a>>,
    deleted: bool,
    created_at: String,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    values: JsValue,
    attempts: u32,
    next_attempt_at: Option<f64>,
    revision: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ParkedView<'a> {
    code: &'a str,
    detail: &'a str,
    field: Option<&'a str>,
    status: Option<u16>,
    choices: Vec<&'static str>,
    editable: bool,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    server: JsValue,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusView {
    online: bool,
    sending: bool,
    pending: f64,
    parked: f64,
    paused: Option<Pause>,
    progress: Option<Progress>,
    next_attempt_at: Option<f64>,
    last_synced_at: Option<f64>,
    trouble: Option<&'static str>,
    sender: Sender,
}

#[derive(Serialize)]
struct EventView<'a> {
    #[serde(rename = "type")]
    kind: EventKind,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    entry: JsValue,
    key: Option<&'a str>,
    attempt: u32,
    at: f64,
}

/// An `Entry`.
pub(super) fn entry(record: &Record, status: &Status, now: Time) -> JsValue {
    let pending = record.pending.as_ref();
    let parked = pending.and_then(|pending| pending.parked.as_ref());
    to_js(&EntryView {
        kind: &record.kind,
        id: record.id.to_string(),
        server_id: record.server_id.as_ref().map(|id| id.as_str()),
        sync_state: if pending.is_some() { "pending" } else { "synced" },
        parked: parked.map(parked_view),
        deleted: record.deleted,
        created_at: created_at(&record.content),
        values: parse(&record.content.values()),
        attempts: record.attempts(),
        next_attempt_at: status.next_attempt_of(record, now).map(millis),
        revision: record.server_revision.map(number),
    })
}

fn parked_view(parked: &Parked) -> ParkedView<'_> {
    let choice = |choice: &Choice| match choice {
        Choice::Retry => "retry",
        Choice::SaveAsNew => "save_as_new",
        Choice::Discard => "discard",
    };
    ParkedView {
        code: &parked.code,
        detail: &parked.detail,
        field: parked.field.as_deref(),
        status: parked.status,
        choices: parked.cause.choices().iter().map(choice).collect(),
        editable: parked.cause.correctable(),
        server: parked.server.as_ref().map_or(JsValue::NULL, |server| parse(server.as_bytes())),
    }
}

/// A `Status`.
pub(super) fn status(status: &Status) -> JsValue {
    to_js(&StatusView {
        online: status.online,
        sending: status.sending,
        pending: number(status.pending),
        parked: number(status.parked),
        paused: status.paused,
        progress: status.progress,
        next_attempt_at: status.next_attempt_at.map(millis),
        last_synced_at: status.last_synced_at.map(millis),
        trouble: status.trouble.map(crate::core::answer::Trouble::as_str),
        sender: status.sender,
    })
}

/// An `OutboxEvent`.
pub(super) fn event(event: &Event, status: &Status, now: Time) -> JsValue {
    to_js(&EventView {
        kind: event.kind,
        entry: event.record.as_ref().map_or(JsValue::NULL, |record| entry(record, status, now)),
        key: event.key.as_deref(),
        attempt: event.attempt,
        at: millis(event.at),
    })
}

/// A page of a list.
pub(super) fn page(items: &js_sys::Array, next: Option<String>) -> JsValue {
    #[derive(Serialize)]
    struct PageView {
        #[serde(with = "serde_wasm_bindgen::preserve")]
        items: JsValue,
        next: Option<String>,
    }
    to_js(&PageView { items: items.unchecked_ref::<JsValue>().clone(), next })
}

fn to_js(view: &impl Serialize) -> JsValue {
    // None of the views has anything that cannot be serialised.
    view.serialize(&Serializer::json_compatible()).unwrap_or(JsValue::NULL)
}

/// Text that this core wrote, or has checked to be JSON.
fn parse(text: &[u8]) -> JsValue {
    std::str::from_utf8(text).ok().and_then(|text| JSON::parse(text).ok()).unwrap_or(JsValue::NULL)
}

fn millis(time: Time) -> f64 {
    number(time.0)
}

fn number(whole: u64) -> f64 {
    crate::adapter::nearest_number(whole)
}

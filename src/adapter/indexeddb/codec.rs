//! Rows of the database to records, and back. Content is bytes, never a Blob, which some engines cannot store. A number
//! that JavaScript cannot hold exactly is stored as its digits.

use js_sys::{Object, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::adapter::decide::Header;
use crate::adapter::number::{UNSAFE, exactly, nearest};
use crate::core::operation::{Cause, Frozen, Parked, Pending, Record};
use crate::core::time::Time;
use crate::id::ServerId;
use crate::port::{Meta, QueueState};

/// What is wrong with a row.
pub(super) type Flaw = &'static str;

// Each name is stored with each row, hence their length.
#[wasm_bindgen]
extern "C" {
    /// A record.
    #[wasm_bindgen(extends = Object)]
    #[derive(Clone)]
    pub(super) type Row;

    #[wasm_bindgen(method, getter, js_name = o)]
    pub(super) fn order(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = o)]
    fn set_order(this: &Row, order: f64);
    /// The order negated.
    #[wasm_bindgen(method, getter, js_name = n)]
    pub(super) fn newness(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = n)]
    fn set_newness(this: &Row, newness: f64);
    #[wasm_bindgen(method, getter, js_name = r)]
    fn revision(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = r)]
    fn set_revision(this: &Row, revision: JsValue);
    #[wasm_bindgen(method, getter, js_name = k)]
    pub(super) fn kind(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = k)]
    fn set_kind(this: &Row, kind: &str);
    #[wasm_bindgen(method, getter, js_name = i)]
    fn id(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = i)]
    fn set_id(this: &Row, id: &str);
    #[wasm_bindgen(method, getter, js_name = s)]
    fn server_id(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = s)]
    fn set_server_id(this: &Row, id: &str);
    #[wasm_bindgen(method, getter, js_name = v)]
    fn server_revision(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = v)]
    fn set_server_revision(this: &Row, revision: JsValue);
    #[wasm_bindgen(method, getter, js_name = x)]
    fn deleted(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = x)]
    fn set_deleted(this: &Row, deleted: bool);
    #[wasm_bindgen(method, getter, js_name = e)]
    fn earlier_attempts(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = e)]
    fn set_earlier_attempts(this: &Row, attempts: f64);
    #[wasm_bindgen(method, getter, js_name = c)]
    fn content(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = c)]
    fn set_content(this: &Row, content: Uint8Array);
    #[wasm_bindgen(method, getter, js_name = a)]
    fn values_at(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = a)]
    fn set_values_at(this: &Row, at: f64);
    /// A [`State`].
    #[wasm_bindgen(method, getter, js_name = w)]
    pub(super) fn state(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = w)]
    fn set_state(this: &Row, state: f64);
    #[wasm_bindgen(method, getter, js_name = p)]
    fn key(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = p)]
    fn set_key(this: &Row, key: &str);
    #[wasm_bindgen(method, getter, js_name = q)]
    fn attempts(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = q)]
    fn set_attempts(this: &Row, attempts: f64);
    /// The due time as the index sorts it: there only while the record waits to be sent.
    #[wasm_bindgen(method, getter, js_name = t)]
    pub(super) fn due_key(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = t)]
    fn set_due_key(this: &Row, due: f64);
    /// The due time where `t` does not tell it.
    #[wasm_bindgen(method, getter, js_name = u)]
    fn due(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = u)]
    fn set_due(this: &Row, due: JsValue);
    #[wasm_bindgen(method, getter, js_name = f)]
    fn parked(this: &Row) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = f)]
    fn set_parked(this: &Row, parked: ParkedRow);

    /// Why a record waits for a person.
    #[wasm_bindgen(extends = Object)]
    type ParkedRow;
    #[wasm_bindgen(method, getter)]
    fn cause(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_cause(this: &ParkedRow, cause: &str);
    #[wasm_bindgen(method, getter)]
    fn code(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_code(this: &ParkedRow, code: &str);
    #[wasm_bindgen(method, getter)]
    fn detail(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_detail(this: &ParkedRow, detail: &str);
    #[wasm_bindgen(method, getter)]
    fn field(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_field(this: &ParkedRow, field: Option<&str>);
    #[wasm_bindgen(method, getter)]
    fn status(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_status(this: &ParkedRow, status: Option<f64>);
    #[wasm_bindgen(method, getter)]
    fn server(this: &ParkedRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_server(this: &ParkedRow, server: Option<&str>);

    /// The one row about the whole store.
    #[wasm_bindgen(extends = Object)]
    pub(super) type HeaderRow;
    #[wasm_bindgen(method, getter, js_name = lastOrder)]
    fn last_order(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = lastOrder)]
    fn set_last_order(this: &HeaderRow, order: JsValue);
    #[wasm_bindgen(method, getter)]
    fn generation(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_generation(this: &HeaderRow, generation: JsValue);
    #[wasm_bindgen(method, getter)]
    fn pending(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_pending(this: &HeaderRow, count: JsValue);
    #[wasm_bindgen(method, getter)]
    fn parked(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_parked(this: &HeaderRow, count: JsValue);
    #[wasm_bindgen(method, getter)]
    fn failures(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_failures(this: &HeaderRow, count: f64);
    #[wasm_bindgen(method, getter)]
    fn due(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_due(this: &HeaderRow, due: JsValue);
    #[wasm_bindgen(method, getter)]
    fn floor(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter)]
    fn set_floor(this: &HeaderRow, floor: JsValue);
    #[wasm_bindgen(method, getter, js_name = lastSyncedAt)]
    fn last_synced_at(this: &HeaderRow) -> JsValue;
    #[wasm_bindgen(method, setter, js_name = lastSyncedAt)]
    fn set_last_synced_at(this: &HeaderRow, at: JsValue);
}

/// What lists are filtered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Waiting = 0,
    Parked = 1,
    Settled = 2,
}

impl State {
    /// As it is stored.
    pub(super) fn number(self) -> f64 {
        f64::from(self as u8)
    }
}

/// A record as it is stored.
pub(super) fn encode(record: &Record) -> Row {
    let row: Row = Object::new().unchecked_into();
    row.set_order(nearest(record.order));
    row.set_newness(-nearest(record.order));
    row.set_revision(digits(record.revision));
    row.set_kind(&record.kind);
    row.set_id(&record.id.to_string());
    if let Some(id) = &record.server_id {
        row.set_server_id(id.as_str());
    }
    if let Some(revision) = record.server_revision {
        row.set_server_revision(digits(revision));
    }
    if record.deleted {
        row.set_deleted(true);
    }
    if record.earlier_attempts > 0 {
        row.set_earlier_attempts(f64::from(record.earlier_attempts));
    }
    row.set_content(Uint8Array::from(record.content.bytes.as_slice()));
    row.set_values_at(f64::from(record.content.values_at));
    let Some(pending) = &record.pending else {
        row.set_state(State::Settled.number());
        return row;
    };
    row.set_key(&pending.key.to_string());
    row.set_attempts(f64::from(pending.attempts));
    let Some(parked) = &pending.parked else {
        row.set_state(State::Waiting.number());
        row.set_due_key(nearest(pending.due.0));
        if pending.due.0 >= UNSAFE {
            row.set_due(digits(pending.due.0));
        }
        return row;
    };
    row.set_state(State::Parked.number());
    row.set_due(digits(pending.due.0));
    let why: ParkedRow = Object::new().unchecked_into();
    why.set_cause(parked.cause.as_str());
    why.set_code(&parked.code);
    why.set_detail(&parked.detail);
    why.set_field(parked.field.as_deref());
    why.set_status(parked.status.map(f64::from));
    why.set_server(parked.server.as_deref());
    row.set_parked(why);
    row
}

/// The record that is stored.
pub(super) fn decode(row: &Row) -> Result<Record, Flaw> {
    Ok(Record {
        order: whole(&row.order()).ok_or("order")?,
        revision: whole(&row.revision()).ok_or("revision")?,
        kind: row.kind().as_string().ok_or("kind")?,
        id: text(&row.id())?.and_then(|id| id.parse().ok()).ok_or("id")?,
        server_id: text(&row.server_id())?.map(ServerId::new).transpose().map_err(|_| "server id")?,
        server_revision: optional(&row.server_revision(), whole).map_err(|()| "server revision")?,
        deleted: row.deleted().as_bool().unwrap_or(false),
        earlier_attempts: optional(&row.earlier_attempts(), small).map_err(|()| "earlier attempts")?.unwrap_or(0),
        content: Frozen {
            bytes: row.content().dyn_ref::<Uint8Array>().ok_or("content")?.to_vec(),
            values_at: small(&row.values_at()).ok_or("values' offset")?,
        },
        pending: pending(row)?,
    })
}

fn pending(row: &Row) -> Result<Option<Pending>, Flaw> {
    let Some(key) = text(&row.key())? else {
        return if row.state() == State::Settled.number() { Ok(None) } else { Err("key") };
    };
    let exact = optional(&row.due(), whole).map_err(|()| "due time")?;
    Ok(Some(Pending {
        key: key.parse().map_err(|_| "key")?,
        attempts: small(&row.attempts()).ok_or("attempts")?,
        due: Time(exact.or_else(|| whole(&row.due_key())).ok_or("due time")?),
        parked: optional(&row.parked(), |row| row.dyn_ref::<Object>().map(|row| parked(row.unchecked_ref())))
            .map_err(|()| "refusal")?
            .transpose()?,
    }))
}

fn parked(row: &ParkedRow) -> Result<Parked, Flaw> {
    Ok(Parked {
        cause: text(&row.cause())?.as_deref().and_then(Cause::parse).ok_or("cause")?,
        code: text(&row.code())?.ok_or("code")?,
        detail: text(&row.detail())?.ok_or("detail")?,
        field: text(&row.field())?,
        status: optional(&row.status(), small).map_err(|()| "status")?,
        server: text(&row.server())?,
    })
}

/// A header as it is stored.
pub(super) fn encode_header(header: &Header) -> HeaderRow {
    let row: HeaderRow = Object::new().unchecked_into();
    let Meta { generation, pending, parked, queue } = &header.meta;
    row.set_last_order(digits(header.last_order));
    row.set_generation(digits(*generation));
    row.set_pending(digits(*pending));
    row.set_parked(digits(*parked));
    row.set_failures(f64::from(queue.failures));
    row.set_due(digits(queue.due.0));
    row.set_floor(digits(queue.floor.0));
    if let Some(at) = queue.last_synced_at {
        row.set_last_synced_at(digits(at.0));
    }
    row
}

/// The header that is stored; that of an empty store when there is none.
pub(super) fn decode_header(row: &JsValue) -> Result<Header, Flaw> {
    if row.is_undefined() {
        return Ok(Header::default());
    }
    let row: &HeaderRow = row.dyn_ref::<Object>().ok_or("header")?.unchecked_ref();
    Ok(Header {
        last_order: whole(&row.last_order()).ok_or("last order")?,
        meta: Meta {
            generation: whole(&row.generation()).ok_or("generation")?,
            pending: whole(&row.pending()).ok_or("count")?,
            parked: whole(&row.parked()).ok_or("count")?,
            queue: QueueState {
                failures: small(&row.failures()).ok_or("failures")?,
                due: Time(whole(&row.due()).ok_or("due time")?),
                floor: Time(whole(&row.floor()).ok_or("floor")?),
                last_synced_at: optional(&row.last_synced_at(), whole).map_err(|()| "last sync")?.map(Time),
            },
        },
    })
}

fn digits(number: u64) -> JsValue {
    if number < UNSAFE { JsValue::from_f64(nearest(number)) } else { JsValue::from_str(&number.to_string()) }
}

fn whole(value: &JsValue) -> Option<u64> {
    match value.as_f64() {
        Some(number) => exactly(number),
        None => value.as_string()?.parse().ok(),
    }
}

fn small<T: TryFrom<u64>>(value: &JsValue) -> Option<T> {
    T::try_from(whole(value)?).ok()
}

fn text(value: &JsValue) -> Result<Option<String>, Flaw> {
    optional(value, JsValue::as_string).map_err(|()| "text")
}

fn optional<T>(value: &JsValue, read: impl FnOnce(&JsValue) -> Option<T>) -> Result<Option<T>, ()> {
    if value.is_undefined() || value.is_null() { Ok(None) } else { read(value).map(Some).ok_or(()) }
}

use std::collections::BTreeMap;

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use super::codec::{Row, decode, decode_header, encode, encode_header};
use super::fault::Fault;
use super::schema::{BY_NAME, BY_SERVER_ID, HEADER_KEY};
use super::transaction::Transaction;
use crate::adapter::decide::{Concern, Decision, concerns, decide};
use crate::adapter::number::nearest;
use crate::port::{StoreError, Write, WriteOutcome};

/// Reads what the write concerns, decides, and asks for the changes. They are done when the transaction completes.
pub(super) async fn write(transaction: &Transaction, write: &Write) -> Result<WriteOutcome, Fault> {
    let (records, meta) = (transaction.records()?, transaction.meta()?);
    let (by_name, by_server_id) = (records.index(BY_NAME)?, records.index(BY_SERVER_ID)?);
    let mut requests = Vec::new();
    for concern in concerns(write) {
        requests.push(match concern {
            Concern::Order(order) => records.get(&nearest(order).into())?,
            Concern::Name(kind, id) => by_name.get(&Array::of2(&kind.into(), &id.to_string().into()))?,
            Concern::ServerId(kind, id) => by_server_id.get(&Array::of2(&kind.into(), &id.as_str().into()))?,
        });
    }
    let header_request = meta.get(&HEADER_KEY.into())?;
    transaction.succeeded(&header_request).await?;

    let header = decode_header(&header_request.result()?).map_err(corrupt)?;
    let mut found = BTreeMap::new();
    for request in &requests {
        let row = request.result()?;
        if !row.is_undefined() {
            let record = decode(row.unchecked_ref::<Row>()).map_err(corrupt)?;
            found.insert(record.order, record);
        }
    }
    let effects = match decide(&header, &found, write) {
        Decision::Refuse(outcome) => return Ok(outcome),
        Decision::Store(effects) => effects,
        Decision::Breach(rule) => return Err(corrupt(rule)),
    };
    for (order, row) in &effects.rows {
        match row {
            None => records.delete(&nearest(*order).into())?,
            Some(record) if found.contains_key(order) => records.put(&encode(record))?,
            // `add` rather than `put`: should the header ever be wrong, a row must not go under another.
            Some(record) => records.add(&encode(record))?,
        };
    }
    meta.put_with_key(&encode_header(&effects.header), &JsValue::from(HEADER_KEY))?;
    Ok(effects.outcome())
}

fn corrupt(flaw: &'static str) -> Fault {
    Fault::Final(StoreError::Corrupt(flaw.into()))
}

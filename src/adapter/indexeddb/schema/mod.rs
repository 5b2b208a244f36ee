//! What the database looks like. A version is never changed once it is out: each gets a file of its own, and an upgrade
//! runs through all that are missing. No upgrade drops a row.

mod v1;

use wasm_bindgen::JsValue;
use web_sys::IdbDatabase;

/// The version that this code writes.
pub(super) const VERSION: u32 = 1;

/// The records, by their order.
pub(super) const RECORDS: &str = "records";
/// One row about the whole store, under [`HEADER_KEY`].
pub(super) const META: &str = "meta";
/// The key of the one row of [`META`].
pub(super) const HEADER_KEY: u32 = 1;

/// Records by kind and id, each pair once.
pub(super) const BY_NAME: &str = "name";
/// Records by kind and server id, each pair once; only those that have one.
pub(super) const BY_SERVER_ID: &str = "server";
/// Records by due time and order; only those that wait to be sent.
pub(super) const BY_DUE: &str = "due";
/// Records by kind, state and negated order: the newest first, without a cursor that runs backwards.
pub(super) const BY_STATE: &str = "state";

/// Brings a database from a version to [`VERSION`].
pub(super) fn upgrade(database: &IdbDatabase, from: u32) -> Result<(), JsValue> {
    if from < 1 {
        v1::create(database)?;
    }
    Ok(())
}

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{IdbDatabase, IdbIndexParameters, IdbObjectStoreParameters};

/// The property names are those of the codec's `Row`.
pub(super) fn create(database: &IdbDatabase) -> Result<(), JsValue> {
    let keyed = IdbObjectStoreParameters::new();
    keyed.set_key_path(&JsValue::from_str("o"));
    let records = database.create_object_store_with_optional_parameters("records", &keyed)?;
    let unique = IdbIndexParameters::new();
    unique.set_unique(true);
    let repeated = IdbIndexParameters::new();
    for (name, properties, parameters) in [
        ("name", &["k", "i"] as &[&str], &unique),
        ("server", &["k", "s"], &unique),
        ("due", &["t", "o"], &repeated),
        ("state", &["k", "w", "n"], &repeated),
    ] {
        let path: Array = properties.iter().map(|property| JsValue::from_str(property)).collect();
        records.create_index_with_str_sequence_and_optional_parameters(name, &path, parameters)?;
    }
    database.create_object_store("meta")?;
    Ok(())
}

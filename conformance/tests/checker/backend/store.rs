//! Rows and keys.

use std::collections::HashMap;

use serde_json::{Value, json};

pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) owner: &'static str,
    pub(crate) resource: String,
    /// What makes it unique beside its key.
    pub(crate) identity: String,
    pub(crate) original: Value,
    pub(crate) record: Value,
    pub(crate) deleted: bool,
}

#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) endpoint: String,
    pub(crate) body: Value,
    pub(crate) status: u16,
    pub(crate) answer: Value,
}

#[derive(Default)]
pub(crate) struct Store {
    pub(crate) rows: Vec<Row>,
    pub(crate) keys: HashMap<(String, String), Known>,
    pub(crate) running: Vec<(String, String)>,
    pub(crate) clock: u64,
    next: u64,
}

impl Store {
    pub(crate) fn forget_keys(&mut self) {
        self.keys.clear();
    }

    pub(crate) fn find(&self, owner: &str, resource: &str, identity: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.owner == owner && row.resource == resource && row.identity == identity)
    }

    pub(crate) fn row(&mut self, owner: &str, resource: &str, id: u64) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.owner == owner && row.resource == resource && row.id == id)
    }

    /// Inserts a row and gives its record.
    pub(crate) fn insert(&mut self, owner: &'static str, resource: &str, identity: String, body: &Value) -> Value {
        self.next += 1;
        let mut record = body.clone();
        record["id"] = json!(self.next);
        record["revision"] = json!(1);
        self.rows.push(Row {
            id: self.next,
            owner,
            resource: resource.to_owned(),
            identity,
            original: body.clone(),
            record: record.clone(),
            deleted: false,
        });
        record
    }
}

/// What makes a body unique beside its key.
pub(crate) fn identity(resource: &str, body: &Value, key: &str) -> String {
    match resource {
        "invoices" => format!("{}/{}", body["terminal_id"], body["number"]),
        _ => key.to_lowercase(),
    }
}

/// Why a body is refused.
pub(crate) fn invalid(resource: &str, body: &Value) -> Option<&'static str> {
    let text = |field: &str| body[field].is_string();
    match resource {
        "invoices" => {
            let currency = body["currency"].as_str().is_some_and(|currency| currency.len() == 3);
            (!(text("terminal_id") && text("number") && text("total") && currency)).then_some("invalid_request")
        }
        _ => (!(text("title") && text("body") && text("clientMemoryId"))).then_some("invalid_request"),
    }
}

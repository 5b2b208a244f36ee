//! What a backend creates, one at a time or many at once.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Template;

/// What a backend takes as a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyKind {
    /// UUIDs only, in any case.
    Uuid,
    /// Any text.
    #[default]
    Any,
}

/// What can be created one at a time.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its name in the report.
    pub name: String,
    /// The method that creates one.
    #[serde(default = "post")]
    pub method: String,
    /// Where.
    pub path: Template,
    /// With what. JSON.
    pub body: Template,
    /// A body that validation refuses.
    pub refused_body: Option<Template>,
    /// Where the id is in the answer, as a dotted path.
    #[serde(default = "id")]
    pub id: String,
    /// What it takes as a key.
    #[serde(default)]
    pub keys: KeyKind,
    /// What else may exist only once.
    pub business: Option<Business>,
    /// How rows are counted.
    pub count: Option<Count>,
    /// How a record is changed.
    pub edit: Option<Call>,
    /// How a record is deleted.
    pub delete: Option<Call>,
}

fn post() -> String {
    "POST".to_owned()
}

fn id() -> String {
    "id".to_owned()
}

/// A second identity of the record, made of `{n}`, `{marker}` or `{uuid}`: the same body under a new key collides.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Business {
    /// The constraint that a refusal names.
    pub constraint: Option<String>,
}

/// A request to a record.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The path, with `{id}`.
    pub path: Template,
    /// The body, if there is one. JSON.
    pub body: Option<Template>,
    /// Further headers.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// Whether it carries a key of its own.
    #[serde(default = "yes")]
    pub key: bool,
}

fn yes() -> bool {
    true
}

/// How the rows of one record are counted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "RawCount")]
pub enum Count {
    /// By reading a listing of the owner.
    Listing(Box<Listing>),
    /// By a shell command that prints a number.
    Command(Template),
}

/// A listing, page by page.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The first page.
    pub path: Template,
    /// The further pages, with `{cursor}`; without it the answer gives whole addresses.
    pub next_path: Option<Template>,
    /// Where the records are in the answer; empty: the answer is the array.
    pub records: String,
    /// Where the cursor or the address of the next page is; null or absent at the end.
    pub next: Option<String>,
    /// Where it is told whether there are more pages.
    pub more: Option<String>,
    /// What the fields of a record must be to be counted.
    pub filter: BTreeMap<String, Template>,
    /// A field that is true, or not null, for a record that was deleted; such are not counted.
    pub deleted: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCount {
    command: Option<Template>,
    path: Option<Template>,
    next_path: Option<Template>,
    #[serde(default)]
    records: String,
    next: Option<String>,
    more: Option<String>,
    #[serde(rename = "where", default)]
    filter: BTreeMap<String, Template>,
    deleted: Option<String>,
}

impl TryFrom<RawCount> for Count {
    type Error = &'static str;

    fn try_from(raw: RawCount) -> Result<Self, Self::Error> {
        match (raw.command, raw.path) {
            (Some(command), None) => Ok(Self::Command(command)),
            (None, Some(path)) => {
                if raw.filter.is_empty() {
                    return Err("a listing needs `where`: which fields tell the records of one case");
                }
                if raw.next_path.is_some() && raw.next.is_none() {
                    return Err("`next_path` needs `next`: where the cursor is in the answer");
                }
                Ok(Self::Listing(Box::new(Listing {
                    path,
                    next_path: raw.next_path,
                    records: raw.records,
                    next: raw.next,
                    more: raw.more,
                    filter: raw.filter,
                    deleted: raw.deleted,
                })))
            }
            _ => Err("rows are counted either by a listing (`path`) or by a `command`"),
        }
    }
}

/// How many are created at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The resource whose rows it makes: its counting, its edits and deletes, its single create.
    pub resource: String,
    /// The method.
    #[serde(default = "post")]
    pub method: String,
    /// Where.
    pub path: Template,
    /// One item, with `{key}` as its identity. JSON.
    pub item: Template,
    /// An item that validation refuses, with `{key}`.
    pub bad_item: Option<Template>,
    /// The field of the request that holds the items.
    #[serde(default = "items")]
    pub items: String,
    /// Where the results are in the answer.
    #[serde(default = "results")]
    pub results: String,
    /// The field of a result that names the item.
    #[serde(default = "client_id")]
    pub client_id: String,
    /// The field of a result that holds the server's id.
    #[serde(default = "memory_id")]
    pub id: String,
    /// The field of a result that says what became of the item.
    #[serde(default = "status")]
    pub status: String,
    /// The most items in one batch.
    pub max_items: Option<u32>,
}

fn items() -> String {
    "items".to_owned()
}

fn results() -> String {
    "results".to_owned()
}

fn client_id() -> String {
    "clientMemoryId".to_owned()
}

fn memory_id() -> String {
    "memory_id".to_owned()
}

fn status() -> String {
    "status".to_owned()
}

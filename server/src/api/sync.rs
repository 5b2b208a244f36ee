//! `POST /api/memories/sync`: many creates at once, one result for each, none paying for another.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde_json::value::{RawValue, to_raw_value};
use warifu::id::{ClientMemoryId, Owner};
use warifu::wire::problem::code;
use warifu::wire::sync::{ID_MEMBER, ItemError, ItemResult, Status, SyncRequest, SyncResponse};

use super::json_body::{self, JsonBody};
use super::{json, listing};
use crate::app::App;
use crate::auth::Authenticated;
use crate::item::{self, Rejection};
use crate::problem::Refusal;
use crate::repository::{Creation, NewMemory};

pub(super) async fn sync(
    State(app): State<Arc<App>>,
    Authenticated(owner): Authenticated,
    JsonBody(body): JsonBody,
) -> Result<Response, Refusal> {
    let request = decode(&body)?;
    let count = request.items.len();
    if count > usize::try_from(app.limits.max_items).unwrap_or(usize::MAX) {
        let detail = format!("A batch takes {} items, this one has {count}. Nothing was stored.", app.limits.max_items);
        return Err(Refusal::too_large(detail, &app.limits));
    }
    let items: Vec<_> = request.items.iter().map(|raw| item::parse(raw)).collect();
    let results = store(&app, owner, items).await?;
    let of = |status| results.iter().filter(|result| result.status == status).count();
    tracing::info!(
        created = of(Status::Created),
        duplicated = of(Status::Duplicated),
        conflict = of(Status::Conflict),
        rejected = of(Status::Rejected),
        "synced"
    );
    Ok(json(&SyncResponse { results }))
}

fn decode(body: &[u8]) -> Result<SyncRequest<'_>, Refusal> {
    let text = json_body::text(body)?;
    let shape = |place: &str| {
        json_body::bad(&format!("The body must be an object with an array \"items\"{place}.")).field("items")
    };
    // A struct would be read from an array too.
    let object = text.trim_ascii_start().starts_with('{');
    match serde_json::from_str(text) {
        Ok(request) if object => Ok(request),
        Ok(_) => Err(shape("")),
        Err(error) if error.is_data() => Err(shape(&json_body::place(&error))),
        Err(error) => Err(json_body::bad(&format!("The body is not JSON{}.", json_body::place(&error)))),
    }
}

/// Stores what is valid in one transaction; results come in the order of the items.
async fn store(
    app: &Arc<App>,
    owner: Owner,
    items: Vec<Result<NewMemory, Rejection>>,
) -> Result<Vec<ItemResult>, Refusal> {
    // Every batch takes keys in one order, so two that cross do not wait for each other. Of one id given twice the first
    // is the create.
    let mut firsts: BTreeMap<ClientMemoryId, NewMemory> = BTreeMap::new();
    for memory in items.iter().flatten() {
        firsts.entry(memory.client_memory_id).or_insert_with(|| memory.clone());
    }
    let memories: Arc<[NewMemory]> = firsts.into_values().collect();
    let creations = if memories.is_empty() {
        Vec::new()
    } else {
        let (repository, memories) = (app.repository.clone(), memories.clone());
        // On its own task: a client that leaves must not stop it between two statements.
        tokio::spawn(async move { repository.create_all(&owner, &memories).await })
            .await
            .map_err(|_| Refusal::internal())??
    };
    let mut stored: HashMap<ClientMemoryId, Stored<'_>> = memories
        .iter()
        .zip(&creations)
        .map(|(create, creation)| (create.client_memory_id, Stored { create, creation, told: false }))
        .collect();
    items
        .into_iter()
        .map(|item| match item {
            Ok(memory) => {
                let stored = stored.get_mut(&memory.client_memory_id).ok_or_else(Refusal::internal)?;
                Ok(stored.result(&memory))
            }
            Err(rejection) => Ok(rejected(rejection.given_id, rejection.error)),
        })
        .collect()
}

/// What became of an id of the batch.
struct Stored<'a> {
    create: &'a NewMemory,
    creation: &'a Creation,
    /// An item was told that it was created.
    told: bool,
}

impl Stored<'_> {
    fn result(&mut self, memory: &NewMemory) -> ItemResult {
        let (id, revision, deleted, original) = match self.creation {
            Creation::Created(id) => (*id, 1, false, &self.create.fingerprint),
            Creation::Found { id, revision, deleted, original } => (*id, *revision, *deleted, original),
            Creation::Taken => {
                let error = ItemError {
                    code: code::KEY_REUSED.to_owned(),
                    detail: "this id is the key of another operation".to_owned(),
                    field: Some(ID_MEMBER.to_owned()),
                };
                return rejected(name(memory), error);
            }
        };
        let created = matches!(self.creation, Creation::Created(_)) && !std::mem::replace(&mut self.told, true);
        let status = if created {
            Status::Created
        } else if original.same_operation(&memory.fingerprint) {
            Status::Duplicated
        } else {
            Status::Conflict
        };
        ItemResult {
            client_memory_id: name(memory),
            memory_id: Some(listing::token(id)),
            status,
            deleted,
            revision: Some(revision),
            error: None,
        }
    }
}

fn name(memory: &NewMemory) -> Box<RawValue> {
    to_raw_value(&memory.client_memory_id).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

fn rejected(given_id: Box<RawValue>, error: ItemError) -> ItemResult {
    ItemResult {
        client_memory_id: given_id,
        memory_id: None,
        status: Status::Rejected,
        deleted: false,
        revision: None,
        error: Some(error),
    }
}

//! Ties the device's name for a record to the server's: results are matched by id, never by position.

use std::collections::HashMap;

use crate::core::operation::{Cause, Parked, Record};
use crate::id::{ClientMemoryId, ServerId};
use crate::wire::sync::{ItemVerdict, Results};

/// What an answer decides about one record of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is on the server.
    Acknowledge {
        /// The server's name for it.
        server_id: ServerId,
        /// Its revision there.
        revision: Option<u64>,
        /// It was deleted since.
        deleted: bool,
    },
    /// A person must decide.
    Park(Parked),
    /// The answer says nothing of it, or two things that contradict each other: no acknowledgement.
    Nothing,
}

/// The decisions about a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciled {
    /// One for each record, in the chunk's order.
    pub decisions: Vec<Decision>,
    /// Results that name no record of the chunk, or could not be read.
    pub strangers: usize,
}

/// Matches results to the records that were sent.
#[must_use]
pub fn reconcile(records: &[Record], results: &Results) -> Reconciled {
    let mut said: HashMap<ClientMemoryId, Said<'_>> = records.iter().map(|record| (record.id, Said::Nothing)).collect();
    let mut strangers = results.unreadable;
    for outcome in &results.outcomes {
        match said.get_mut(&outcome.id) {
            None => strangers += 1,
            Some(said) => said.hear(&outcome.verdict),
        }
    }
    let decisions = records
        .iter()
        .map(|record| match said.get(&record.id) {
            Some(Said::One(verdict)) => decide(record, verdict),
            _ => Decision::Nothing,
        })
        .collect();
    Reconciled { decisions, strangers }
}

/// The state of a record after an acknowledgement. Its map entry is written once and never again.
#[must_use]
pub fn acknowledged(record: &Record, server_id: ServerId, revision: Option<u64>, deleted: bool) -> Record {
    Record {
        server_id: Some(server_id),
        server_revision: revision.or(record.server_revision),
        deleted: deleted || record.deleted,
        earlier_attempts: record.attempts(),
        pending: None,
        ..record.clone()
    }
}

/// The refusal of an id that would rewrite the map.
#[must_use]
pub fn identity_mismatch(given: &ServerId) -> Parked {
    Parked {
        cause: Cause::IdentityMismatch,
        code: Cause::IdentityMismatch.as_str().to_owned(),
        detail: format!("The server gave this record the id {given}, which is not its own."),
        field: None,
        status: None,
        server: None,
    }
}

enum Said<'a> {
    Nothing,
    One(&'a ItemVerdict),
    Contradiction,
}

impl<'a> Said<'a> {
    fn hear(&mut self, verdict: &'a ItemVerdict) {
        match self {
            Said::Nothing => *self = Said::One(verdict),
            Said::One(before) if agree(before, verdict) => {}
            Said::One(_) | Said::Contradiction => *self = Said::Contradiction,
        }
    }
}

/// `created` and `duplicated` with one server id agree; so do two equal refusals.
fn agree(one: &ItemVerdict, other: &ItemVerdict) -> bool {
    match (one, other) {
        (ItemVerdict::Stored { server_id: a, .. }, ItemVerdict::Stored { server_id: b, .. }) => a == b,
        _ => one == other,
    }
}

fn decide(record: &Record, verdict: &ItemVerdict) -> Decision {
    match verdict {
        ItemVerdict::Stored { server_id, revision, deleted } => match &record.server_id {
            Some(own) if own != server_id => Decision::Park(identity_mismatch(server_id)),
            _ => Decision::Acknowledge { server_id: server_id.clone(), revision: *revision, deleted: *deleted },
        },
        ItemVerdict::Conflict { server_id } => Decision::Park(Parked {
            cause: Cause::Conflict,
            code: Cause::Conflict.as_str().to_owned(),
            detail: "The server has other content under this id.".to_owned(),
            field: None,
            status: None,
            server: server_id.as_ref().and_then(|id| serde_json::to_string(&server_detail(id)).ok()),
        }),
        ItemVerdict::Rejected(error) => Decision::Park(Parked {
            cause: Cause::Rejected,
            code: if error.code.is_empty() { Cause::Rejected.as_str().to_owned() } else { error.code.clone() },
            detail: error.detail.clone(),
            field: error.field.clone(),
            status: None,
            server: None,
        }),
    }
}

fn server_detail(id: &ServerId) -> serde_json::Value {
    serde_json::json!({ "memory_id": id.as_str() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::{Frozen, Pending};
    use crate::core::time::Time;
    use crate::wire::sync::decode_response;

    fn id(n: u8) -> ClientMemoryId {
        ClientMemoryId::from_random([n; 16])
    }

    fn record(n: u8) -> Record {
        Record {
            order: u64::from(n),
            revision: 1,
            kind: "memory".to_owned(),
            id: id(n),
            server_id: None,
            server_revision: None,
            deleted: false,
            earlier_attempts: 0,
            content: Frozen { bytes: b"{}".to_vec(), values_at: 1 },
            pending: Some(Pending { key: id(n).into(), attempts: 1, due: Time::ZERO, parked: None }),
        }
    }

    fn short(decision: &Decision) -> String {
        match decision {
            Decision::Acknowledge { server_id, .. } => server_id.to_string(),
            Decision::Park(parked) => parked.code.clone(),
            Decision::Nothing => "-".to_owned(),
        }
    }

    fn results(items: &[(u8, &str, &str)]) -> Results {
        let items: Vec<String> = items
            .iter()
            .map(|(n, id_token, status)| {
                let name = id(*n).to_string().to_uppercase();
                format!(r#"{{"clientMemoryId":"{name}","memory_id":{id_token},"status":"{status}"}}"#)
            })
            .collect();
        decode_response(format!("{{\"results\":[{}]}}", items.join(",")).as_bytes()).unwrap()
    }

    #[test]
    fn by_id_whatever_the_order_and_whatever_is_missing() {
        let sent: Vec<Record> = (1..=5).map(record).collect();
        let answer = results(&[
            (9, "99", "created"),
            (5, "50", "created"),
            (4, "40", "created"),
            (4, "41", "created"),
            (2, "null", "created"),
            (1, "10", "created"),
            (1, "10", "duplicated"),
        ]);
        let reconciled = reconcile(&sent, &answer);
        let short: Vec<String> = reconciled.decisions.iter().map(short).collect();
        assert_eq!(short, ["10", "-", "-", "-", "50"]);
        assert_eq!(reconciled.strangers, 2);
    }

    #[test]
    fn the_map_is_never_rewritten() {
        let mut sent = record(1);
        sent.server_id = ServerId::new("7").ok();
        let reconciled = reconcile(&[sent.clone()], &results(&[(1, "8", "duplicated")]));
        assert_eq!(short(&reconciled.decisions[0]), "identity_mismatch");
        let same = reconcile(&[sent], &results(&[(1, "\"7\"", "duplicated")]));
        assert_eq!(short(&same.decisions[0]), "7");
    }
}

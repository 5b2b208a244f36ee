//! What always holds of a record, whatever an engine asks for. Every store checks each change of a row against it, and
//! refuses the whole write on a breach: a bug then shows as an error, and never as a lost or doubled record.

use crate::core::operation::Record;

/// The rule that a change of a row breaks, if it breaks one.
#[must_use]
pub fn breach(before: Option<&Record>, after: Option<&Record>) -> Option<&'static str> {
    match (before, after) {
        (Some(before), Some(after)) => change(before, after),
        (Some(before), None) if before.pending.is_none() => Some("a settled record is not removed"),
        _ => None,
    }
}

fn change(before: &Record, after: &Record) -> Option<&'static str> {
    let rewritten = before.server_id.is_some() && after.server_id != before.server_id;
    let reopened = before.pending.is_none() && after.pending.is_some();
    let unacknowledged = before.pending.is_some() && after.pending.is_none() && after.server_id.is_none();
    let rekeyed = match (&before.pending, &after.pending) {
        (Some(before), Some(after)) => before.key != after.key,
        _ => false,
    };
    if rewritten {
        Some("the id map is never rewritten")
    } else if reopened {
        Some("a settled operation is not opened again")
    } else if unacknowledged {
        Some("an operation ends with an acknowledgement that carries the server's id")
    } else if rekeyed {
        Some("one operation has one key")
    } else if before.content != after.content && !may_change_its_bytes(before) {
        Some("an item's bytes are the same on every attempt")
    } else {
        None
    }
}

/// Before the first attempt, and after the server's word that it stored nothing.
fn may_change_its_bytes(record: &Record) -> bool {
    record.pending.as_ref().is_some_and(|pending| match &pending.parked {
        Some(parked) => parked.cause.correctable(),
        None => pending.attempts == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::operation::{Cause, Frozen, Parked, Pending};
    use crate::core::time::Time;
    use crate::id::{ClientMemoryId, ServerId};

    fn record(attempts: u32) -> Record {
        let id = ClientMemoryId::from_random([1; 16]);
        Record {
            order: 1,
            revision: 1,
            kind: "memory".to_owned(),
            id,
            server_id: None,
            server_revision: None,
            deleted: false,
            earlier_attempts: 0,
            content: Frozen { bytes: b"{}".to_vec(), values_at: 1 },
            pending: Some(Pending { key: id.into(), attempts, due: Time::ZERO, parked: None }),
        }
    }

    fn settled(server_id: &str) -> Record {
        Record { server_id: ServerId::new(server_id).ok(), pending: None, ..record(1) }
    }

    fn with_bytes(record: Record, bytes: &[u8]) -> Record {
        Record { content: Frozen { bytes: bytes.to_vec(), values_at: 1 }, ..record }
    }

    fn parked(cause: Cause) -> Record {
        let mut record = record(1);
        let parked =
            Parked { cause, code: String::new(), detail: String::new(), field: None, status: None, server: None };
        record.pending.as_mut().unwrap().parked = Some(parked);
        record
    }

    #[test]
    fn what_the_engine_does_is_lawful() {
        for (before, after) in [
            (Some(record(0)), Some(record(1))),
            (Some(record(1)), Some(settled("7"))),
            (Some(settled("7")), Some(settled("7"))),
            (Some(record(1)), Some(parked(Cause::Rejected))),
            (Some(parked(Cause::Rejected)), Some(with_bytes(record(0), b"{1}"))),
            (Some(record(0)), Some(with_bytes(record(0), b"{1}"))),
            (Some(record(1)), None),
            (None, Some(record(0))),
        ] {
            assert_eq!(breach(before.as_ref(), after.as_ref()), None, "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_would_break_the_promise_is_not() {
        let other_key = {
            let mut record = record(1);
            record.pending.as_mut().unwrap().key = ClientMemoryId::from_random([2; 16]).into();
            record
        };
        for (before, after, rule) in [
            (settled("7"), Some(settled("8")), "rewritten"),
            (settled("7"), Some(record(1)), "rewritten"),
            (settled("7"), None, "removed"),
            (record(1), Some(Record { pending: None, ..record(1) }), "acknowledgement"),
            (record(1), Some(other_key), "one key"),
            (record(1), Some(with_bytes(record(1), b"{1}")), "bytes"),
            (parked(Cause::Conflict), Some(with_bytes(record(0), b"{1}")), "bytes"),
        ] {
            let found = breach(Some(&before), after.as_ref());
            assert!(found.is_some_and(|found| found.contains(rule)), "{rule}: {found:?}");
        }
    }
}

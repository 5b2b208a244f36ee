//! What every store must do, whatever it is made of. A test of the suite takes a factory that can open several handles
//! on one store; [`each`] hands the names of all of them to a macro that makes them tests of a platform.

mod conditions;
mod reading;
mod sharing;
mod writing;

pub(crate) use conditions::*;
pub(crate) use reading::*;
pub(crate) use sharing::*;
pub(crate) use writing::*;

use uuid::Uuid;
use warifu::core::operation::{Cause, Frozen, Parked, Pending, Record};
use warifu::core::time::Time;
use warifu::id::{ClientMemoryId, ServerId};
use warifu::port::{Change, Filter, ListQuery, Store, Write, WriteOutcome, Written};

/// Opens stores.
#[allow(async_fn_in_trait, reason = "one thread")]
pub(crate) trait Factory {
    type Store: Store;
    /// A handle on the store of this name, which is made empty when it is not there.
    async fn open(&self, name: &str) -> Self::Store;
}

macro_rules! each {
    ($run:ident) => {
        $run! {
            an_empty_store_is_empty
            a_record_reads_back_whole
            every_byte_reads_back
            large_numbers_read_back
            names_belong_to_a_kind
            load_gives_what_is_there_in_the_order_asked
            due_is_by_time_and_then_by_order
            due_leaves_out_what_is_not_to_be_sent
            due_stops_at_the_count
            due_stops_at_the_bytes_but_gives_the_first
            due_gives_more_than_a_read_takes_at_once
            due_beyond_the_horizon_is_due_now
            due_tells_the_next_time
            a_list_is_paged_newest_first
            a_list_is_filtered
            an_insert_gives_order_and_revision
            orders_are_never_reused
            a_replace_counts_the_revision
            a_remove_leaves_nothing
            what_would_break_the_promise_is_refused_whole
            an_insert_of_a_taken_name_is_stale
            a_replace_of_another_revision_is_stale
            a_remove_of_another_revision_is_stale
            what_is_gone_is_stale_with_nothing
            a_record_keeps_its_name
            all_mismatches_are_told
            a_change_sees_the_earlier_ones
            a_server_id_belongs_to_one_record_of_a_kind
            a_server_id_clashes_within_a_write
            a_server_id_is_free_after_its_record
            stale_is_told_before_clash
            a_fence_lets_only_its_generation_through
            a_claim_counts_the_generation
            the_state_of_the_queue_is_kept
            a_refused_write_changes_nothing
            the_counts_follow_every_change
            a_thousand_changes_are_one_write
            handles_see_one_store
            of_two_replaces_one_wins
            of_two_inserts_of_a_name_one_wins
            writes_at_once_get_orders_of_their_own
            each_claim_is_a_generation_of_its_own
            a_thawed_sender_is_fenced_off
            reopening_keeps_everything
            stores_are_apart
        }
    };
}
pub(crate) use each;

/// A record as the engine inserts it, waiting and due.
pub(crate) fn record(n: u32) -> Record {
    let id = id(n);
    let pending = Pending { key: id.into(), attempts: 0, due: Time::ZERO, parked: None };
    Record {
        order: 0,
        revision: 0,
        kind: "memory".into(),
        id,
        server_id: None,
        server_revision: None,
        earlier_attempts: 0,
        deleted: false,
        content: content(format!("{{\"clientMemoryId\":\"{id}\",\"title\":\"思い出 {n}\"}}")),
        pending: Some(pending),
    }
}

pub(crate) fn id(n: u32) -> ClientMemoryId {
    ClientMemoryId::from(Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_0000_0000_0000 + u128::from(n)))
}

pub(crate) fn content(bytes: impl Into<Vec<u8>>) -> Frozen {
    Frozen { bytes: bytes.into(), values_at: 0 }
}

pub(crate) fn server_id(text: &str) -> ServerId {
    ServerId::new(text).unwrap()
}

pub(crate) fn due_at(record: Record, due: u64) -> Record {
    let pending = record.pending.clone().map(|pending| Pending { due: Time(due), ..pending });
    Record { pending, ..record }
}

pub(crate) fn settled(record: Record, server: &str) -> Record {
    Record { pending: None, server_id: Some(server_id(server)), server_revision: Some(1), ..record }
}

pub(crate) fn parked(record: Record) -> Record {
    let parked = Some(Parked {
        cause: Cause::Rejected,
        code: "too_long".into(),
        detail: "The title is too long.".into(),
        field: Some("title".into()),
        status: Some(422),
        server: Some("{\"max\":10}".into()),
    });
    let pending = record.pending.clone().map(|pending| Pending { attempts: 1, parked, ..pending });
    Record { pending, ..record }
}

/// Makes changes that must succeed.
pub(crate) async fn change(store: &impl Store, changes: Vec<Change>) -> Written {
    match store.write(Write { changes, ..Write::default() }).await.unwrap() {
        WriteOutcome::Done(written) => written,
        refused => panic!("refused: {refused:?}"),
    }
}

/// Inserts a record, and gives it back as it stands.
pub(crate) async fn insert(store: &impl Store, record: Record) -> Record {
    let (kind, id) = (record.kind.clone(), record.id);
    change(store, vec![Change::Insert(record)]).await;
    store.get(&kind, id).await.unwrap().unwrap()
}

/// Replaces a record, and gives it back as it stands.
pub(crate) async fn replace(store: &impl Store, record: Record) -> Record {
    let (kind, id) = (record.kind.clone(), record.id);
    change(store, vec![Change::Replace(record)]).await;
    store.get(&kind, id).await.unwrap().unwrap()
}

/// Makes changes that may be refused.
pub(crate) async fn attempt(store: &impl Store, changes: Vec<Change>) -> WriteOutcome {
    store.write(Write { changes, ..Write::default() }).await.unwrap()
}

/// All records of the kind, newest first.
pub(crate) async fn all(store: &impl Store, kind: &str) -> Vec<Record> {
    let query = ListQuery { kind: kind.into(), filter: Filter::All, before: None, limit: 10_000 };
    store.list(&query).await.unwrap().records
}

pub(crate) fn ids(records: &[Record]) -> Vec<ClientMemoryId> {
    records.iter().map(|record| record.id).collect()
}

use super::*;
use warifu::port::{Due, DueQuery, Meta, Page};

/// Far more than any test has.
const ALL: DueQuery = DueQuery { now: Time(1000), horizon: Time(9000), max_items: 1000, max_bytes: 1 << 30 };

pub(crate) async fn an_empty_store_is_empty(factory: &impl Factory) {
    let store = factory.open("empty").await;
    assert_eq!(store.meta().await.unwrap(), Meta::default());
    assert_eq!(store.get("memory", id(1)).await.unwrap(), None);
    assert_eq!(store.load(&[0, 1, 2]).await.unwrap(), []);
    assert_eq!(store.due(ALL).await.unwrap(), Due::default());
    let query = ListQuery { kind: "memory".into(), filter: Filter::All, before: None, limit: 10 };
    assert_eq!(store.list(&query).await.unwrap(), Page::default());
}

pub(crate) async fn a_record_reads_back_whole(factory: &impl Factory) {
    let store = factory.open("whole").await;
    let plain = record(1);
    let stored = insert(&store, plain.clone()).await;
    assert_eq!(stored, Record { order: stored.order, revision: 1, ..plain });

    let mut full = parked(record(2));
    full.server_id = Some(server_id("653247040368672768"));
    full.server_revision = Some(7);
    full.earlier_attempts = 3;
    full.deleted = true;
    full.content.values_at = 17;
    full.kind = "送り状/invoice".into();
    let stored = insert(&store, full.clone()).await;
    assert_eq!(stored, Record { order: stored.order, revision: 1, ..full.clone() });

    for cause in [Cause::Rejected, Cause::Conflict, Cause::IdentityMismatch, Cause::Unanswerable] {
        let (id, key) = (id(10 + cause as u32), id(99).into());
        let bare = Parked {
            cause,
            code: String::new(),
            detail: "a\u{0}b 👩‍👩‍👧‍👦 𠮷".into(),
            field: None,
            status: None,
            server: None,
        };
        let pending = Some(Pending { key, attempts: u32::MAX, due: Time(5), parked: Some(bare) });
        let sparse = Record { id, pending, ..record(0) };
        let stored = insert(&store, sparse.clone()).await;
        assert_eq!(stored, Record { order: stored.order, revision: 1, ..sparse });
    }
}

pub(crate) async fn every_byte_reads_back(factory: &impl Factory) {
    let store = factory.open("bytes").await;
    let every = (0..=255).collect::<Vec<u8>>();
    let texts = [vec![], every.clone(), every.repeat(4096), "が か\u{3099} 👩‍👩‍👧‍👦 𠮷野家\u{0}".into()];
    for (n, bytes) in (1..).zip(texts) {
        let stored = insert(&store, Record { content: content(bytes.clone()), ..record(n) }).await;
        assert!(stored.content.bytes == bytes, "text {n} of {} bytes", bytes.len());
    }
}

pub(crate) async fn large_numbers_read_back(factory: &impl Factory) {
    let store = factory.open("numbers").await;
    let numbers = [0, 1, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, u64::MAX];
    for (n, number) in (1..).zip(numbers) {
        let large = Record { server_revision: Some(number), ..due_at(record(n), number) };
        let stored = insert(&store, large.clone()).await;
        assert_eq!(stored, Record { order: stored.order, revision: 1, ..large.clone() });
        let stored = replace(&store, parked(stored)).await;
        assert_eq!(stored.pending.unwrap().due, Time(number));
    }
    for (n, server) in (100..).zip(["653247040368672768", "9007199254740993", "00042", "abc", "-1", "綴\"\\/"]) {
        let stored = insert(&store, settled(record(n), server)).await;
        assert_eq!(stored.server_id, Some(server_id(server)));
    }
}

pub(crate) async fn names_belong_to_a_kind(factory: &impl Factory) {
    let store = factory.open("kinds").await;
    let memory = insert(&store, record(1)).await;
    let invoice = insert(&store, Record { kind: "invoice".into(), ..record(1) }).await;
    assert_ne!(memory.order, invoice.order);
    assert_eq!(store.get("memory", id(1)).await.unwrap(), Some(memory.clone()));
    assert_eq!(store.get("invoice", id(1)).await.unwrap(), Some(invoice));
    assert_eq!(store.get("invoic", id(1)).await.unwrap(), None);
    assert_eq!(all(&store, "memory").await, [memory]);
}

pub(crate) async fn load_gives_what_is_there_in_the_order_asked(factory: &impl Factory) {
    let store = factory.open("load").await;
    let (one, two, three) =
        (insert(&store, record(1)).await, insert(&store, record(2)).await, insert(&store, record(3)).await);
    change(&store, vec![Change::Remove { order: two.order, revision: 1 }]).await;
    let asked = [three.order, two.order, 1 << 50, u64::MAX, one.order];
    assert_eq!(store.load(&asked).await.unwrap(), [three, one]);
    assert_eq!(store.load(&[]).await.unwrap(), []);
}

pub(crate) async fn due_is_by_time_and_then_by_order(factory: &impl Factory) {
    let store = factory.open("due").await;
    for (n, due) in [(1, 500), (2, 0), (3, 1000), (4, 500), (5, 0)] {
        insert(&store, due_at(record(n), due)).await;
    }
    let due = store.due(ALL).await.unwrap();
    assert_eq!(ids(&due.records), [id(2), id(5), id(1), id(4), id(3)]);
    assert!(!due.more);
    assert_eq!(due.records[0], store.get("memory", id(2)).await.unwrap().unwrap());
}

pub(crate) async fn due_leaves_out_what_is_not_to_be_sent(factory: &impl Factory) {
    let store = factory.open("due-not").await;
    insert(&store, settled(record(1), "1")).await;
    insert(&store, parked(record(2))).await;
    insert(&store, due_at(record(3), 1001)).await;
    insert(&store, due_at(record(4), 9000)).await;
    assert_eq!(store.due(ALL).await.unwrap(), Due { records: vec![], more: false, next: Some(Time(1001)) });

    let waits = insert(&store, record(5)).await;
    assert_eq!(ids(&store.due(ALL).await.unwrap().records), [id(5)]);
    replace(&store, parked(waits)).await;
    assert_eq!(store.due(ALL).await.unwrap().records, []);
}

pub(crate) async fn due_stops_at_the_count(factory: &impl Factory) {
    let store = factory.open("due-count").await;
    for n in 1..=4 {
        insert(&store, record(n)).await;
    }
    for (max_items, given, more) in [(0, 0, true), (1, 1, true), (3, 3, true), (4, 4, false), (5, 4, false)] {
        let due = store.due(DueQuery { max_items, ..ALL }).await.unwrap();
        assert_eq!((due.records.len(), due.more), (given, more), "at most {max_items}");
    }
}

pub(crate) async fn due_stops_at_the_bytes_but_gives_the_first(factory: &impl Factory) {
    let store = factory.open("due-bytes").await;
    for (n, size) in [(1, 100), (2, 50), (3, 51), (4, 1)] {
        insert(&store, Record { content: content(vec![b'x'; size]), ..record(n) }).await;
    }
    for (max_bytes, given, more) in
        [(0, 1, true), (99, 1, true), (149, 1, true), (150, 2, true), (201, 3, true), (202, 4, false)]
    {
        let due = store.due(DueQuery { max_bytes, ..ALL }).await.unwrap();
        // What does not fit ends the chunk: a smaller one behind it must not overtake.
        assert_eq!((due.records.len(), due.more), (given, more), "at most {max_bytes} bytes");
    }
}

pub(crate) async fn due_gives_more_than_a_read_takes_at_once(factory: &impl Factory) {
    let store = factory.open("due-many").await;
    let changes = (1..=150).map(|n| Change::Insert(due_at(record(n), u64::from(n % 7)))).collect();
    change(&store, changes).await;
    let mut expected: Vec<_> = (1..=150).collect();
    expected.sort_by_key(|n| (n % 7, *n));
    let expected: Vec<_> = expected.into_iter().map(id).collect();
    for (max_items, more) in [(149, true), (150, false), (1000, false)] {
        let due = store.due(DueQuery { max_items, ..ALL }).await.unwrap();
        assert_eq!((ids(&due.records), due.more), (expected[..(max_items as usize).min(150)].to_vec(), more));
    }
}

pub(crate) async fn due_beyond_the_horizon_is_due_now(factory: &impl Factory) {
    let store = factory.open("due-horizon").await;
    for (n, due) in [(1, u64::MAX), (2, 9001), (3, 9000), (4, 1000), (5, 1001)] {
        insert(&store, due_at(record(n), due)).await;
    }
    let due = store.due(ALL).await.unwrap();
    assert_eq!((ids(&due.records), due.more, due.next), (vec![id(2), id(1), id(4)], false, Some(Time(1001))));
    let due = store.due(DueQuery { max_items: 2, ..ALL }).await.unwrap();
    assert_eq!((ids(&due.records), due.more), (vec![id(2), id(1)], true));
    let due = store.due(DueQuery { max_items: 1, ..ALL }).await.unwrap();
    assert_eq!((ids(&due.records), due.more), (vec![id(2)], true));

    // A horizon in the past makes everything due, once each.
    let due = store.due(DueQuery { horizon: Time(500), ..ALL }).await.unwrap();
    assert_eq!((ids(&due.records), due.next), (vec![id(4), id(5), id(3), id(2), id(1)], None));
}

pub(crate) async fn due_tells_the_next_time(factory: &impl Factory) {
    let store = factory.open("due-next").await;
    let next = async |now| store.due(DueQuery { now: Time(now), ..ALL }).await.unwrap().next;
    for (n, due) in [(1, 100), (2, 300), (3, 200), (4, 9001)] {
        insert(&store, due_at(record(n), due)).await;
    }
    assert_eq!(next(0).await, Some(Time(100)));
    assert_eq!(next(100).await, Some(Time(200)));
    assert_eq!(next(299).await, Some(Time(300)));
    assert_eq!(next(300).await, None);
}

pub(crate) async fn a_list_is_paged_newest_first(factory: &impl Factory) {
    let store = factory.open("pages").await;
    for n in 1..=5 {
        insert(&store, if n % 2 == 0 { record(n) } else { settled(record(n), &n.to_string()) }).await;
        insert(&store, Record { kind: "invoice".into(), ..record(n) }).await;
    }
    let page = async |before, limit| {
        let query = ListQuery { kind: "memory".into(), filter: Filter::All, before, limit };
        let page = store.list(&query).await.unwrap();
        (ids(&page.records), page.more, page.records.last().map(|record| record.order))
    };
    let (records, more, last) = page(None, 2).await;
    assert_eq!((records, more), (vec![id(5), id(4)], true));
    let (records, more, last) = page(last, 2).await;
    assert_eq!((records, more), (vec![id(3), id(2)], true));
    let (records, more, last) = page(last, 2).await;
    assert_eq!((records, more), (vec![id(1)], false));
    assert_eq!(page(last, 2).await, (vec![], false, None));
    assert_eq!(page(None, 0).await, (vec![], true, None));
    assert_eq!(page(Some(0), 9).await, (vec![], false, None));
    assert_eq!(page(Some(u64::MAX), 5).await.0.len(), 5);
    assert!(!page(None, 5).await.1);
}

pub(crate) async fn a_list_is_filtered(factory: &impl Factory) {
    let store = factory.open("filters").await;
    insert(&store, record(1)).await;
    insert(&store, settled(record(2), "2")).await;
    insert(&store, parked(record(3))).await;
    insert(&store, record(4)).await;
    insert(&store, settled(record(5), "5")).await;
    insert(&store, parked(Record { kind: "invoice".into(), ..record(6) })).await;
    for (filter, expected) in [
        (Filter::All, vec![id(5), id(4), id(3), id(2), id(1)]),
        (Filter::Pending, vec![id(4), id(3), id(1)]),
        (Filter::Synced, vec![id(5), id(2)]),
        (Filter::Parked, vec![id(3)]),
    ] {
        let query = ListQuery { kind: "memory".into(), filter, before: None, limit: 10 };
        let page = store.list(&query).await.unwrap();
        assert_eq!((ids(&page.records), page.more), (expected.clone(), false), "{filter:?}");
        let page = store.list(&ListQuery { limit: 1, ..query }).await.unwrap();
        assert_eq!((ids(&page.records), page.more), (vec![expected[0]], expected.len() > 1), "{filter:?}");
    }
}

use super::*;
use warifu::port::{DueQuery, Durability, Meta, QueueState, StoreError};

pub(crate) async fn an_insert_gives_order_and_revision(factory: &impl Factory) {
    let store = factory.open("insert").await;
    let careless = Record { order: 77, revision: 5, ..record(1) };
    let written = change(&store, vec![Change::Insert(careless), Change::Insert(record(2))]).await;
    let (one, two) =
        (store.get("memory", id(1)).await.unwrap().unwrap(), store.get("memory", id(2)).await.unwrap().unwrap());
    assert_eq!(written.orders, [one.order, two.order]);
    assert!(one.order > 0 && one.order < two.order);
    assert_eq!((one.revision, two.revision), (1, 1));
    assert_eq!(store.load(&written.orders).await.unwrap(), [one, two]);
    assert_eq!(written.meta, store.meta().await.unwrap());
}

pub(crate) async fn orders_are_never_reused(factory: &impl Factory) {
    let store = factory.open("orders").await;
    let one = insert(&store, record(1)).await;
    let two = insert(&store, record(2)).await;
    change(&store, vec![Change::Remove { order: two.order, revision: 1 }]).await;
    let again = insert(&store, record(2)).await;
    assert!(again.order > two.order);
    change(&store, vec![Change::Remove { order: again.order, revision: 1 }]).await;
    change(&store, vec![Change::Remove { order: one.order, revision: 1 }]).await;
    let store = factory.open("orders").await;
    assert!(insert(&store, record(1)).await.order > again.order);
}

pub(crate) async fn a_replace_counts_the_revision(factory: &impl Factory) {
    let store = factory.open("replace").await;
    let first = insert(&store, record(1)).await;
    let changed = settled(Record { deleted: true, content: content("other"), ..first.clone() }, "42");
    let written = change(&store, vec![Change::Replace(changed.clone())]).await;
    assert_eq!(written.orders, [first.order]);
    let second = store.get("memory", id(1)).await.unwrap().unwrap();
    assert_eq!(second, Record { revision: 2, ..changed });
    let third = replace(&store, second).await;
    assert_eq!(third.revision, 3);
    assert_eq!(all(&store, "memory").await, [third]);
}

pub(crate) async fn a_remove_leaves_nothing(factory: &impl Factory) {
    let store = factory.open("remove").await;
    let gone = insert(&store, Record { server_id: Some(server_id("1")), ..record(1) }).await;
    let other = insert(&store, record(2)).await;
    let written = change(&store, vec![Change::Remove { order: gone.order, revision: 1 }]).await;
    assert_eq!(written.orders, [gone.order]);
    assert_eq!(store.get("memory", id(1)).await.unwrap(), None);
    assert_eq!(store.load(&[gone.order, other.order]).await.unwrap(), std::slice::from_ref(&other));
    assert_eq!(all(&store, "memory").await, [other]);
}

pub(crate) async fn what_would_break_the_promise_is_refused_whole(factory: &impl Factory) {
    let store = factory.open("breach").await;
    let synced = insert(&store, settled(record(1), "1")).await;
    let rewritten = Record { server_id: Some(server_id("2")), ..synced.clone() };
    let removed = Change::Remove { order: synced.order, revision: synced.revision };
    for breach in [Change::Replace(rewritten), removed] {
        let write = Write { changes: vec![Change::Insert(record(2)), breach], ..Write::default() };
        assert!(matches!(store.write(write).await, Err(StoreError::Corrupt(_))));
        assert_eq!(all(&store, "memory").await, std::slice::from_ref(&synced));
        assert_eq!(store.meta().await.unwrap().pending, 0);
    }
}

pub(crate) async fn a_fence_lets_only_its_generation_through(factory: &impl Factory) {
    let store = factory.open("fence").await;
    let fenced = async |fence, n| {
        let write = Write { fence: Some(fence), changes: vec![Change::Insert(record(n))], ..Write::default() };
        store.write(write).await.unwrap()
    };
    assert!(matches!(fenced(0, 1).await, WriteOutcome::Done(_)));
    assert_eq!(fenced(1, 2).await, WriteOutcome::Fenced);
    store.write(Write { claim: true, ..Write::default() }).await.unwrap();
    assert_eq!(fenced(0, 3).await, WriteOutcome::Fenced);
    // The fence is told first: what a fenced sender thinks of the records is of no interest.
    assert_eq!(fenced(0, 1).await, WriteOutcome::Fenced);
    assert!(matches!(fenced(1, 4).await, WriteOutcome::Done(_)));
    assert_eq!(ids(&all(&store, "memory").await), [id(4), id(1)]);
}

pub(crate) async fn a_claim_counts_the_generation(factory: &impl Factory) {
    let store = factory.open("claim").await;
    for (fence, generation) in [(None, 1), (Some(1), 2), (None, 3)] {
        let claim = Write { claim: true, fence, durability: Durability::Relaxed, ..Write::default() };
        let WriteOutcome::Done(written) = store.write(claim).await.unwrap() else { panic!("refused") };
        assert_eq!((written.meta.generation, written.orders.len()), (generation, 0));
        assert_eq!(store.meta().await.unwrap(), written.meta);
    }
    assert_eq!(
        store.write(Write { claim: true, fence: Some(1), ..Write::default() }).await.unwrap(),
        WriteOutcome::Fenced
    );
    let stale = Write { claim: true, changes: vec![Change::Remove { order: 1, revision: 1 }], ..Write::default() };
    assert!(matches!(store.write(stale).await.unwrap(), WriteOutcome::Stale(_)));
    assert_eq!(store.meta().await.unwrap().generation, 3);
}

pub(crate) async fn the_state_of_the_queue_is_kept(factory: &impl Factory) {
    let store = factory.open("queue").await;
    for last_synced_at in [Some(Time(1_796_070_937_123)), None] {
        let queue = QueueState { failures: u32::MAX, due: Time(3), floor: Time(u64::MAX), last_synced_at };
        store.write(Write { queue: Some(queue.clone()), ..Write::default() }).await.unwrap();
        insert(&store, record(if last_synced_at.is_some() { 1 } else { 2 })).await;
        assert_eq!(store.meta().await.unwrap().queue, queue);
    }
}

pub(crate) async fn a_refused_write_changes_nothing(factory: &impl Factory) {
    let store = factory.open("atomic").await;
    let one = insert(&store, record(1)).await;
    let two = insert(&store, settled(record(2), "2")).await;
    let three = insert(&store, parked(record(3))).await;
    let before = (store.meta().await.unwrap(), all(&store, "memory").await);
    let good = vec![
        Change::Insert(record(4)),
        Change::Replace(settled(one.clone(), "1")),
        Change::Remove { order: three.order, revision: 1 },
    ];
    let queue = Some(QueueState { failures: 3, ..QueueState::default() });
    for bad in [
        Change::Insert(record(2)),
        Change::Replace(Record { revision: 2, ..two.clone() }),
        Change::Insert(settled(record(9), "2")),
    ] {
        let changes = good.iter().cloned().chain([bad.clone()]).collect();
        let write = Write { changes, claim: true, queue: queue.clone(), ..Write::default() };
        let outcome = store.write(write).await.unwrap();
        assert!(matches!(outcome, WriteOutcome::Stale(_) | WriteOutcome::Clash(_)), "{outcome:?}");
        assert_eq!((store.meta().await.unwrap(), all(&store, "memory").await), before, "{bad:?}");
    }
    let written = change(&store, good).await;
    assert_eq!(written.orders[0], three.order + 1, "refused inserts use no order up");
}

pub(crate) async fn the_counts_follow_every_change(factory: &impl Factory) {
    let store = factory.open("counts").await;
    let counts = async || {
        let Meta { pending, parked, .. } = store.meta().await.unwrap();
        let everything = DueQuery { now: Time(u64::MAX), horizon: Time(u64::MAX), max_items: 1000, max_bytes: 1 << 30 };
        assert_eq!(store.due(everything).await.unwrap().records.len() as u64, pending);
        (pending, parked)
    };
    let waits = insert(&store, record(1)).await;
    assert_eq!(counts().await, (1, 0));
    let waits = replace(&store, due_at(waits, 5)).await;
    assert_eq!(counts().await, (1, 0));
    let stuck = replace(&store, parked(waits.clone())).await;
    assert_eq!(counts().await, (0, 1));
    let waits = replace(&store, Record { revision: stuck.revision, ..waits }).await;
    assert_eq!(counts().await, (1, 0));
    replace(&store, settled(waits, "1")).await;
    assert_eq!(counts().await, (0, 0));
    let again = insert(&store, record(5)).await;
    assert_eq!(counts().await, (1, 0));
    change(
        &store,
        vec![Change::Insert(record(2)), Change::Insert(parked(record(3))), Change::Insert(settled(record(4), "4"))],
    )
    .await;
    assert_eq!(counts().await, (2, 1));
    change(&store, vec![Change::Remove { order: again.order, revision: again.revision }]).await;
    assert_eq!(counts().await, (1, 1));
    let three = store.get("memory", id(3)).await.unwrap().unwrap();
    change(&store, vec![Change::Remove { order: three.order, revision: 1 }]).await;
    assert_eq!(counts().await, (1, 0));
}

pub(crate) async fn a_thousand_changes_are_one_write(factory: &impl Factory) {
    let store = factory.open("thousand").await;
    let written = change(&store, (0..1000).map(|n| Change::Insert(record(n))).collect()).await;
    assert!(written.orders.is_sorted_by(|a, b| a < b));
    assert_eq!(written.meta.pending, 1000);
    let stored = store.load(&written.orders).await.unwrap();
    assert!(ids(&stored).iter().copied().eq((0..1000).map(id)));
    let settle = stored.into_iter().zip(1..).map(|(record, n)| Change::Replace(settled(record, &format!("s{n}"))));
    assert_eq!(change(&store, settle.collect()).await.meta.pending, 0);
    assert!(all(&store, "memory").await.iter().all(|record| record.pending.is_none() && record.revision == 2));
}

use super::*;
use warifu::port::Mismatch;

pub(crate) async fn an_insert_of_a_taken_name_is_stale(factory: &impl Factory) {
    let store = factory.open("stale-insert").await;
    let there = insert(&store, record(1)).await;
    let outcome = attempt(&store, vec![Change::Insert(Record { content: content("other"), ..record(1) })]).await;
    assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 0, current: Some(there.clone()) }]));
    assert_eq!(all(&store, "memory").await, [there]);

    // Of the same name twice in one write, none of it is in the store.
    let outcome = attempt(&store, vec![Change::Insert(record(2)), Change::Insert(record(2))]).await;
    assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 1, current: None }]));
    assert_eq!(store.get("memory", id(2)).await.unwrap(), None);
}

pub(crate) async fn a_replace_of_another_revision_is_stale(factory: &impl Factory) {
    let store = factory.open("stale-replace").await;
    let first = insert(&store, record(1)).await;
    let second = replace(&store, due_at(first.clone(), 9)).await;
    for wrong in [0, 1, 3] {
        let outcome = attempt(&store, vec![Change::Replace(Record { revision: wrong, ..first.clone() })]).await;
        assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 0, current: Some(second.clone()) }]));
    }
    assert_eq!(all(&store, "memory").await, [second]);
}

pub(crate) async fn a_remove_of_another_revision_is_stale(factory: &impl Factory) {
    let store = factory.open("stale-remove").await;
    let first = insert(&store, record(1)).await;
    let second = replace(&store, due_at(first, 9)).await;
    let outcome = attempt(&store, vec![Change::Remove { order: second.order, revision: 1 }]).await;
    assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 0, current: Some(second.clone()) }]));
    assert_eq!(all(&store, "memory").await, [second]);
}

pub(crate) async fn what_is_gone_is_stale_with_nothing(factory: &impl Factory) {
    let store = factory.open("stale-gone").await;
    let gone = insert(&store, record(1)).await;
    let remove = Change::Remove { order: gone.order, revision: 1 };
    change(&store, vec![remove.clone()]).await;
    for late in [Change::Replace(gone), remove, Change::Remove { order: 0, revision: 0 }] {
        let outcome = attempt(&store, vec![late]).await;
        assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 0, current: None }]));
    }
}

pub(crate) async fn a_record_keeps_its_name(factory: &impl Factory) {
    let store = factory.open("name").await;
    let there = insert(&store, record(1)).await;
    for renamed in [Record { id: id(2), ..there.clone() }, Record { kind: "invoice".into(), ..there.clone() }] {
        let outcome = attempt(&store, vec![Change::Replace(renamed)]).await;
        assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 0, current: Some(there.clone()) }]));
    }
}

pub(crate) async fn all_mismatches_are_told(factory: &impl Factory) {
    let store = factory.open("stale-several").await;
    let (one, two) = (insert(&store, record(1)).await, insert(&store, record(2)).await);
    let changes = vec![
        Change::Insert(record(3)),
        Change::Replace(Record { revision: 9, ..one.clone() }),
        Change::Replace(two.clone()),
        Change::Insert(record(2)),
        Change::Remove { order: 999, revision: 1 },
    ];
    let told = |index, current: Option<&Record>| Mismatch { index, current: current.cloned() };
    let expected = vec![told(1, Some(&one)), told(3, Some(&two)), told(4, None)];
    assert_eq!(attempt(&store, changes).await, WriteOutcome::Stale(expected));
    assert_eq!(all(&store, "memory").await, [two, one]);
}

pub(crate) async fn a_change_sees_the_earlier_ones(factory: &impl Factory) {
    let store = factory.open("sequence").await;
    let first = insert(&store, record(1)).await;
    let twice = vec![
        Change::Replace(due_at(first.clone(), 5)),
        Change::Replace(Record { revision: 2, ..due_at(first.clone(), 6) }),
    ];
    change(&store, twice).await;
    let third = store.get("memory", id(1)).await.unwrap().unwrap();
    assert_eq!(third, Record { revision: 3, ..due_at(first.clone(), 6) });

    let anew = vec![Change::Remove { order: third.order, revision: 3 }, Change::Insert(record(1))];
    let written = change(&store, anew).await;
    assert!(written.orders[1] > written.orders[0]);
    let again = store.get("memory", id(1)).await.unwrap().unwrap();
    assert_eq!((again.order, again.revision), (written.orders[1], 1));
    let outcome =
        attempt(&store, vec![Change::Remove { order: again.order, revision: 1 }, Change::Replace(again.clone())]).await;
    assert_eq!(outcome, WriteOutcome::Stale(vec![Mismatch { index: 1, current: Some(again) }]));
    assert_eq!(store.meta().await.unwrap().pending, 1);
}

pub(crate) async fn a_server_id_belongs_to_one_record_of_a_kind(factory: &impl Factory) {
    let store = factory.open("clash").await;
    let bound = insert(&store, settled(record(1), "7")).await;
    let other = insert(&store, record(2)).await;
    let changes = vec![Change::Insert(record(3)), Change::Replace(settled(other.clone(), "7"))];
    assert_eq!(attempt(&store, changes).await, WriteOutcome::Clash(1));
    assert_eq!(attempt(&store, vec![Change::Insert(settled(record(4), "7"))]).await, WriteOutcome::Clash(0));
    assert_eq!(all(&store, "memory").await, [other.clone(), bound.clone()]);

    insert(&store, Record { kind: "invoice".into(), ..settled(record(5), "7") }).await;
    replace(&store, settled(other, "07")).await;
    let kept = replace(&store, Record { deleted: true, ..bound }).await;
    assert_eq!(kept.server_id, Some(server_id("7")));
}

pub(crate) async fn a_server_id_clashes_within_a_write(factory: &impl Factory) {
    let store = factory.open("clash-within").await;
    let changes =
        ["7", "8", "8", "7"].into_iter().zip(1..).map(|(server, n)| Change::Insert(settled(record(n), server)));
    assert_eq!(attempt(&store, changes.collect()).await, WriteOutcome::Clash(2));
    assert_eq!(all(&store, "memory").await, []);
}

pub(crate) async fn a_server_id_is_free_after_its_record(factory: &impl Factory) {
    let store = factory.open("clash-freed").await;
    let bound = insert(&store, Record { server_id: Some(server_id("7")), ..record(1) }).await;
    let remove = Change::Remove { order: bound.order, revision: 1 };
    let insert = Change::Insert(settled(record(2), "7"));
    assert_eq!(attempt(&store, vec![insert.clone(), remove.clone()]).await, WriteOutcome::Clash(0));
    change(&store, vec![remove, insert]).await;
    assert_eq!(ids(&all(&store, "memory").await), [id(2)]);
}

pub(crate) async fn stale_is_told_before_clash(factory: &impl Factory) {
    let store = factory.open("clash-stale").await;
    let bound = insert(&store, settled(record(1), "7")).await;
    let changes = vec![Change::Insert(settled(record(2), "7")), Change::Insert(record(1))];
    let told = Mismatch { index: 1, current: Some(bound) };
    assert_eq!(attempt(&store, changes).await, WriteOutcome::Stale(vec![told]));
}

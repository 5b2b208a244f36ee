use super::*;
use futures_util::future::{join, join_all};

pub(crate) async fn handles_see_one_store(factory: &impl Factory) {
    let (here, there) = (factory.open("shared").await, factory.open("shared").await);
    let first = insert(&here, record(1)).await;
    assert_eq!(there.get("memory", id(1)).await.unwrap(), Some(first.clone()));
    let second = replace(&there, settled(first.clone(), "1")).await;
    assert_eq!(here.load(&[first.order]).await.unwrap(), [second]);
    assert!(matches!(attempt(&here, vec![Change::Replace(first)]).await, WriteOutcome::Stale(_)));
    assert_eq!(here.meta().await.unwrap(), there.meta().await.unwrap());
}

pub(crate) async fn of_two_replaces_one_wins(factory: &impl Factory) {
    let (here, there) = (factory.open("race-replace").await, factory.open("race-replace").await);
    let mut current = insert(&here, record(1)).await;
    for round in 1..=10 {
        let (a, b) = (due_at(current.clone(), round * 2), due_at(current.clone(), round * 2 + 1));
        let outcomes =
            join(attempt(&here, vec![Change::Replace(a.clone())]), attempt(&there, vec![Change::Replace(b.clone())]))
                .await;
        let winner = match outcomes {
            (WriteOutcome::Done(_), WriteOutcome::Stale(told)) => (a, told),
            (WriteOutcome::Stale(told), WriteOutcome::Done(_)) => (b, told),
            both => panic!("round {round}: {both:?}"),
        };
        current = here.get("memory", id(1)).await.unwrap().unwrap();
        assert_eq!(current, Record { revision: current.revision, ..winner.0 });
        assert_eq!(winner.1[0].current, Some(current.clone()), "the loser is told what stands");
    }
    assert_eq!(current.revision, 11);
}

pub(crate) async fn of_two_inserts_of_a_name_one_wins(factory: &impl Factory) {
    let (here, there) = (factory.open("race-insert").await, factory.open("race-insert").await);
    for n in 1..=10 {
        let outcomes =
            join(attempt(&here, vec![Change::Insert(record(n))]), attempt(&there, vec![Change::Insert(record(n))]))
                .await;
        let done = |outcome: &WriteOutcome| matches!(outcome, WriteOutcome::Done(_));
        assert!(done(&outcomes.0) != done(&outcomes.1), "{outcomes:?}");
    }
    assert_eq!(all(&here, "memory").await.len(), 10);
    assert_eq!(there.meta().await.unwrap().pending, 10);
}

pub(crate) async fn writes_at_once_get_orders_of_their_own(factory: &impl Factory) {
    let handles =
        [factory.open("race-order").await, factory.open("race-order").await, factory.open("race-order").await];
    let writes = (0..60).map(|n| change(&handles[n as usize % 3], vec![Change::Insert(record(n))]));
    let mut orders: Vec<_> = join_all(writes).await.into_iter().flat_map(|written| written.orders).collect();
    orders.sort_unstable();
    orders.dedup();
    assert_eq!(orders.len(), 60);
    assert_eq!(handles[0].meta().await.unwrap().pending, 60);
}

pub(crate) async fn each_claim_is_a_generation_of_its_own(factory: &impl Factory) {
    let handles = [factory.open("race-claim").await, factory.open("race-claim").await];
    let claims = (0..10).map(|n| handles[n % 2].write(Write { claim: true, ..Write::default() }));
    let generation = |outcome| match outcome {
        Ok(WriteOutcome::Done(written)) => written.meta.generation,
        refused => panic!("refused: {refused:?}"),
    };
    let mut generations: Vec<u64> = join_all(claims).await.into_iter().map(generation).collect();
    generations.sort_unstable();
    assert!(generations.into_iter().eq(1..=10));
}

pub(crate) async fn a_thawed_sender_is_fenced_off(factory: &impl Factory) {
    let (frozen, awake) = (factory.open("thaw").await, factory.open("thaw").await);
    let item = insert(&frozen, record(1)).await;
    frozen.write(Write { claim: true, ..Write::default() }).await.unwrap();
    awake.write(Write { claim: true, ..Write::default() }).await.unwrap();
    let late = Write { fence: Some(1), changes: vec![Change::Replace(settled(item.clone(), "1"))], ..Write::default() };
    assert_eq!(frozen.write(late).await.unwrap(), WriteOutcome::Fenced);
    let rightful = Write { fence: Some(2), changes: vec![Change::Replace(settled(item, "1"))], ..Write::default() };
    assert!(matches!(awake.write(rightful).await.unwrap(), WriteOutcome::Done(_)));
}

pub(crate) async fn reopening_keeps_everything(factory: &impl Factory) {
    let before = {
        let store = factory.open("reopen").await;
        insert(&store, parked(record(1))).await;
        insert(&store, settled(record(2), "2")).await;
        insert(&store, record(3)).await;
        store.write(Write { claim: true, ..Write::default() }).await.unwrap();
        (store.meta().await.unwrap(), all(&store, "memory").await)
    };
    let store = factory.open("reopen").await;
    assert_eq!((store.meta().await.unwrap(), all(&store, "memory").await), before);
    assert_eq!(insert(&store, record(4)).await.order, before.1[0].order + 1);
}

pub(crate) async fn stores_are_apart(factory: &impl Factory) {
    let (aki, haru) = (factory.open("aki").await, factory.open("haru").await);
    insert(&aki, record(1)).await;
    assert_eq!(all(&haru, "memory").await, []);
    assert_eq!(haru.meta().await.unwrap().pending, 0);
}

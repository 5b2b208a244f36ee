use crate::fault::{Fault, Rates};
use crate::tests::stage::{self, DAY, HOUR, MINUTE, play};
use crate::world::answer::Answer;

#[test]
fn thirty_days_offline_park_nothing() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::Silence);
            stage::commit(&world, &tab, 3).await;
            world.sleep(30 * DAY).await;
            assert_eq!(world.disk.borrow().meta().parked, 0);
            stage::end(&world).await;
        },
    );
    let made = stage::requests(&outcome).len();
    assert!(made < 30_000, "{made} requests");
    assert_eq!(stage::synced(&outcome), 3);
}

#[test]
fn what_was_on_its_way_when_the_power_went_drains_in_one_session() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::Silence);
            stage::commit(&world, &tab, 1_200).await;
            world.sleep(10 * MINUTE).await;
            world.cut_power();
            world.server.borrow_mut().always = None;
            stage::tab(&world).await;
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 1_200);
}

#[test]
fn a_clock_that_is_set_back_strands_nothing() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::status(503));
            stage::commit(&world, &tab, 3).await;
            world.sleep(HOUR).await;
            world.jump_clock(-i64::try_from(20 * HOUR).unwrap());
            let began = world.executor.now();
            world.server.borrow_mut().always = None;
            while world.disk.borrow().pending > 0 {
                world.sleep(1_000).await;
            }
            assert!(world.executor.now() - began < 10 * MINUTE);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 3);
}

#[test]
fn a_commit_is_sent_though_no_word_of_it_comes() {
    let outcome = play(
        |plan| plan.rates = Rates::only(&[(Fault::MessageLost, 1.0)]),
        |world| async move {
            stage::tab(&world).await;
            let other = stage::tab(&world).await;
            stage::commit(&world, &other, 3).await;
            world.sleep(2 * MINUTE).await;
            assert_eq!(world.disk.borrow().pending, 0);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 3);
}

#[test]
fn a_commit_that_lands_while_due_records_are_read_is_sent_at_once() {
    let outcome = play(
        |plan| plan.store = 200,
        |world| async move {
            let tab = stage::tab(&world).await;
            for _ in 0..30 {
                stage::commit(&world, &tab, 1).await;
            }
            world.sleep(10_000).await;
            assert_eq!(world.disk.borrow().pending, 0);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 30);
}

#[test]
fn an_acknowledgement_whose_write_gave_no_answer_is_told_all_the_same() {
    // The checkers of what is told see to it.
    let outcome = play(
        |plan| plan.rates = Rates::only(&[(Fault::StoreTimeoutDone, 0.4)]),
        |world| async move {
            let tab = loop {
                let tab = world.open_tab();
                if crate::app::open(&world, &tab).await {
                    break tab;
                }
            };
            stage::commit(&world, &tab, 10).await;
            world.sleep(10 * MINUTE).await;
            world.faults_on.set(false);
            stage::end(&world).await;
        },
    );
    assert!(outcome.faults > 0);
    assert_eq!(stage::synced(&outcome), 10);
}

#[test]
fn the_next_tab_takes_over_when_the_sender_is_killed() {
    let outcome = play(
        |_| {},
        |world| async move {
            let first = stage::tab(&world).await;
            let second = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::Silence);
            stage::commit(&world, &first, 20).await;
            world.sleep(1_000).await;
            world.kill_tab(first.party);
            world.server.borrow_mut().always = None;
            world.sleep(MINUTE).await;
            assert_eq!(world.disk.borrow().pending, 0);
            assert!(world.is_alive(second.party));
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 20);
}

#[test]
fn a_tab_that_lost_the_lock_in_its_sleep_does_no_harm() {
    let outcome = play(
        |_| {},
        |world| async move {
            let first = stage::tab(&world).await;
            stage::tab(&world).await;
            stage::commit(&world, &first, 20).await;
            world.sleep(45).await;
            world.freeze_tab(first.party);
            assert!(world.steal_lock());
            world.sleep(HOUR).await;
            world.thaw_tab(first.party);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 20);
}

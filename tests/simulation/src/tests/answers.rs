use warifu::core::event::Pause;

use crate::fault::{Fault, Rates};
use crate::tests::stage::{self, DAY, HOUR, MINUTE, pause_of, play};
use crate::world::answer::Answer;

fn poisoned(fault: Fault, code: &str, most: usize) {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            let ids = stage::begin(&world, 40);
            world.server.borrow_mut().poison = Some((ids[12], fault));
            stage::commit_ids(&world, &tab, &ids).await;
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 39);
    assert_eq!(stage::parked(&outcome).iter().map(|(_, code)| code.as_str()).collect::<Vec<_>>(), [code]);
    let made = stage::requests(&outcome).len();
    assert!(made <= most, "{made} requests");
}

#[test]
fn one_of_forty_that_makes_the_server_fail_is_found_in_few_requests() {
    poisoned(Fault::PoisonFails, "server_error", 16);
}

#[test]
fn one_of_forty_that_makes_the_server_refuse_is_found_in_few_requests() {
    poisoned(Fault::PoisonRefused, "refused", 16);
}

#[test]
fn one_that_gets_no_answer_is_parked_while_others_pass() {
    poisoned(Fault::PoisonSilent, "deadline", 40);
}

#[test]
fn an_endpoint_that_refuses_everything_pauses_the_queue_and_parks_nothing() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::problem(422, "nope"));
            stage::commit(&world, &tab, 40).await;
            world.sleep(HOUR).await;
            assert_eq!(pause_of(&world, &tab), Some(Pause::Endpoint));
            assert_eq!(world.disk.borrow().meta().parked, 0);
            world.server.borrow_mut().always = None;
            stage::sync(&world, &tab);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 40);
}

#[test]
fn fresh_credentials_let_everything_through() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.token_valid.set(false);
            stage::commit(&world, &tab, 40).await;
            stage::end(&world).await;
        },
    );
    assert_eq!((stage::synced(&outcome), stage::requests(&outcome).len()), (40, 2));
}

#[test]
fn credentials_refused_twice_pause_the_queue_until_somebody_signs_in() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::status(401));
            stage::commit(&world, &tab, 5).await;
            world.sleep(DAY).await;
            assert_eq!(pause_of(&world, &tab), Some(Pause::SignedOut));
            world.server.borrow_mut().always = None;
            stage::resume(&world, &tab);
            stage::end(&world).await;
        },
    );
    assert_eq!((stage::synced(&outcome), stage::requests(&outcome).len()), (5, 3));
}

#[test]
fn an_answer_without_results_is_no_reason_to_hurry() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::body(200, "{\"results\":[]}"));
            stage::commit(&world, &tab, 5).await;
            world.sleep(20 * MINUTE).await;
            stage::end(&world).await;
        },
    );
    let made = stage::requests(&outcome).len();
    assert!((5..40).contains(&made), "{made} requests");
    assert_eq!(stage::synced(&outcome), 5);
}

#[test]
fn only_what_the_answer_left_out_is_sent_again() {
    let outcome = play(
        |plan| plan.rates = Rates::only(&[(Fault::MissingResult, 1.0)]),
        |world| async move {
            let tab = stage::tab(&world).await;
            stage::commit(&world, &tab, 5).await;
            while world.disk.borrow().pending != 1 {
                world.sleep(1).await;
            }
            world.faults_on.set(false);
            stage::end(&world).await;
        },
    );
    let sizes: Vec<usize> = stage::requests(&outcome).into_iter().map(|(_, size)| size).collect();
    assert_eq!((sizes, stage::synced(&outcome)), (vec![5, 1], 5));
}

#[test]
fn silence_twice_halves_the_chunk() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            world.server.borrow_mut().always = Some(Answer::Silence);
            stage::commit(&world, &tab, 40).await;
            world.sleep(5 * MINUTE).await;
            stage::end(&world).await;
        },
    );
    let sizes: Vec<usize> = stage::requests(&outcome).into_iter().map(|(_, size)| size).collect();
    assert_eq!(sizes[..5], [40, 40, 20, 20, 10]);
    assert_eq!(stage::synced(&outcome), 40);
}

#[test]
fn an_id_that_belongs_to_another_record_is_never_taken() {
    let outcome = play(
        |plan| plan.rates = Rates::only(&[(Fault::IdentityLie, 1.0)]),
        |world| async move {
            let tab = stage::tab(&world).await;
            world.faults_on.set(false);
            stage::commit(&world, &tab, 1).await;
            world.sleep(MINUTE).await;
            world.faults_on.set(true);
            stage::commit(&world, &tab, 1).await;
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome), 1);
    assert_eq!(stage::parked(&outcome)[0].1, "identity_mismatch");
}

#[test]
fn patience_of_ten_days_is_a_day() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            let answer = Answer::status(503).with_patience("864000".to_owned(), Some(DAY));
            world.server.borrow_mut().script.push(answer);
            stage::commit(&world, &tab, 3).await;
            world.sleep(HOUR).await;
            // Nobody's hurry comes before it.
            stage::sync(&world, &tab);
            tab.handle.online(true);
            stage::end(&world).await;
        },
    );
    let times: Vec<u64> = stage::requests(&outcome).into_iter().map(|(at, _)| at).collect();
    let waited = times[1] - times[0];
    assert!((DAY..DAY + 3 * HOUR).contains(&waited), "{waited}");
    assert_eq!((times.len(), stage::synced(&outcome)), (2, 3));
}

#[test]
fn a_few_that_are_always_refused_keep_no_other_from_its_turn() {
    let outcome = play(
        |_| {},
        |world| async move {
            let tab = stage::tab(&world).await;
            let ids = stage::begin(&world, 7);
            world.server.borrow_mut().taken = Some(ids[0]);
            stage::commit_ids(&world, &tab, &ids).await;
            for _ in 0..6 {
                world.sleep(HOUR).await;
                stage::sync(&world, &tab);
            }
            world.sleep(MINUTE).await;
            assert!(world.server.borrow().rows.contains_key(&ids[0]));
            world.server.borrow_mut().taken = None;
            stage::sync(&world, &tab);
            stage::end(&world).await;
        },
    );
    assert_eq!(stage::synced(&outcome) + stage::parked(&outcome).len(), 7);
}

#[test]
fn a_server_that_falls_ill_in_the_middle_of_a_search_blames_few() {
    let outcome = play(
        |plan| plan.network = 400,
        |world| async move {
            let tab = stage::tab(&world).await;
            let ids = stage::begin(&world, 80);
            world.server.borrow_mut().poison = Some((ids[79], Fault::PoisonFails));
            stage::commit_ids(&world, &tab, &ids).await;
            while world.server.borrow().rows.is_empty() {
                world.sleep(10).await;
            }
            world.server.borrow_mut().always = Some(Answer::status(500));
            world.sleep(HOUR).await;
            assert!(world.disk.borrow().meta().parked <= 2);
            stage::end(&world).await;
        },
    );
    let made = stage::requests(&outcome).len();
    assert!(made < 80, "{made} requests");
}

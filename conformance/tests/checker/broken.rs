//! Backends that break the contract in one way each: each fails, its fault is named, and nothing else fails with it.

use std::collections::BTreeSet;

use warifu_conformance::{Profile, Report, Verdict};

use crate::backend::Fault;
use crate::whole::{explain, run};

/// The cases whose effects failed under any profile.
fn failed(report: &Report) -> BTreeSet<&'static str> {
    report.results.iter().filter(|result| result.effects.failed()).map(|result| result.case).collect()
}

/// Runs every case, and tells that these fail and the others do not, `may` being those that a race decides.
async fn fails(fault: Fault, must: &[&str], may: &[&str]) -> Report {
    let report = run(fault, &[]).await;
    assert_eq!(report.verdict(), Verdict::Failed, "{}", explain(&report));
    let failed = failed(&report);
    for case in must {
        assert!(failed.contains(case), "{fault:?}: {case} did not fail\n{}", explain(&report));
    }
    for case in &failed {
        assert!(must.contains(case) || may.contains(case), "{fault:?}: {case} failed too\n{}", explain(&report));
    }
    report
}

/// That a case's sentence says so, with requests beside it.
fn says(report: &Report, profile: Profile, case: &str, words: &[&str]) {
    let result = report.case(case, profile).unwrap();
    let because = result.effects.because().unwrap();
    for word in words {
        assert!(because.contains(word), "{case} does not say \"{word}\": {because}");
    }
    assert!(because.ends_with('.') && !because.trim_end_matches('.').contains(". "), "not one sentence: {because}");
    assert!(result.exchanges.iter().any(|shown| shown.method == "POST"), "{case} shows no request");
    let shown = explain(report);
    let first_words: Vec<&str> = because.split(' ').take(4).collect();
    assert!(shown.contains(&first_words.join(" ")), "the table does not tell it: {shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_then_insert() {
    let report = fails(Fault::CheckThenInsert, &["S4", "S5", "S30"], &["S32", "B12"]).await;
    for profile in [Profile::Ietf, Profile::Token] {
        says(
            &report,
            profile,
            "S4",
            &["same key made 20 rows when 20 requests came at once", "looked up before the insert"],
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn key_by_token() {
    let report = fails(Fault::KeyByToken, &["S22"], &[]).await;
    says(
        &report,
        Profile::Ietf,
        "S22",
        &["with a refreshed token of the same owner", "kept by token instead of by owner"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unscoped_key() {
    let report = fails(Fault::Unscoped, &["S21"], &[]).await;
    says(&report, Profile::Token, "S21", &["was given the first owner's record", "keys are not kept by owner"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn cached_failure() {
    let report = fails(Fault::CachedFailure, &["S25"], &[]).await;
    says(&report, Profile::Ietf, "S25", &["answered 500 again", "the failure was kept as the key's answer"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_endpoints_answer() {
    let report = fails(Fault::OtherEndpoint, &["S8"], &[]).await;
    says(
        &report,
        Profile::Ietf,
        "S8",
        &["under a key used for invoices", "the other's response", "the endpoint is not compared"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_batch_lost_to_one_duplicate() {
    let meets_a_duplicate = ["B2", "B3", "B7", "B8", "B9", "B11", "B12", "B13", "B14"];
    let report = fails(Fault::WholeBatch, &meets_a_duplicate, &[]).await;
    says(
        &report,
        Profile::Batch,
        "B3",
        &["refused as a whole with 409", "2 of its 4 items have no row", "one item costs the others"],
    );
    says(&report, Profile::Batch, "B2", &["refused as a whole with 409", "though all its items have their rows"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_by_position() {
    let batches = ["B1", "B2", "B3", "B4", "B5", "B7", "B8", "B9", "B11", "B12", "B13", "B14"];
    let report = fails(Fault::ByPosition, &batches, &[]).await;
    says(&report, Profile::Batch, "B1", &["do not name their items", "only by position"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_forgotten_on_restart() {
    let report = fails(Fault::Forgotten, &["S26"], &[]).await;
    says(
        &report,
        Profile::Token,
        "S26",
        &["after the backend was restarted", "keys are forgotten when the backend restarts"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_refused_by_validation() {
    let report = fails(Fault::ValidationFirst, &["S33"], &[]).await;
    says(&report, Profile::Ietf, "S33", &["validation's own answer (400)", "validated before the key is looked up"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_refused_by_unique_validators() {
    // Whatever sends something again meets them.
    let must = ["S2", "S4", "S7", "S26", "S28", "S33"];
    let may = ["S3", "S5", "S25", "S12", "S13", "S14", "S17", "S18", "S19", "S21", "S22", "S27", "S30", "S32", "B12"];
    let report = fails(Fault::UniqueValidators, &must, &may).await;
    says(
        &report,
        Profile::Ietf,
        "S2",
        &["was refused with 400 though its row is there", "before the key is looked up"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_business_collision_as_a_failure() {
    let report = fails(Fault::BusinessAs500, &["S29"], &[]).await;
    says(&report, Profile::Ietf, "S29", &["same business identity was answered 500", "violation is not caught"]);
}

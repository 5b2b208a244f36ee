//! What keeps the contract passes, case by case.

use warifu_conformance::{CheckError, Grade, Options, Profile, Report, Verdict, check};

use crate::backend::{self, Fault};

pub(crate) async fn run(fault: Fault, only: &[&str]) -> Report {
    let target = backend::target(backend::start(fault).await);
    let options = Options {
        profiles: vec![Profile::Ietf, Profile::Token, Profile::Batch],
        only: only.iter().map(|&case| case.to_owned()).collect(),
        resource: None,
    };
    check(&target, &backend::settings(), &options, |_| {}).await.unwrap()
}

pub(crate) fn explain(report: &Report) -> String {
    anstream::adapter::strip_str(&warifu_conformance::table(report)).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_the_contract_passes_every_case() {
    for fault in [Fault::None, Fault::NoneWithConflicts] {
        let report = run(fault, &[]).await;
        assert_eq!(report.verdict(), Verdict::Passed, "{fault:?}\n{}", explain(&report));
        let untested: Vec<_> =
            report.results.iter().filter(|result| matches!(result.effects, Grade::NotTested(_))).collect();
        assert_eq!(untested.iter().map(|result| result.case).collect::<Vec<_>>(), ["B6"], "{}", explain(&report));
        assert_eq!(report.results.len(), 33 + 33 + 14);
        for result in &report.results {
            assert_ne!(result.statuses, Grade::NotGraded, "{} judges no status", result.case);
        }
    }
}

#[tokio::test]
async fn without_settings_a_case_is_not_tested_and_nothing_tested_is_no_pass() {
    let address = backend::start(Fault::None).await;
    let bare = "[auth]\nfirst = { Authorization = \"Bearer token-of-one\" }\n";
    let config = warifu_conformance::Config::parse(bare, "bare.toml".as_ref()).unwrap();
    let options = Options { profiles: vec![Profile::Ietf, Profile::Batch], ..Options::default() };
    let report = check(&backend::target(address), &config, &options, |_| {}).await.unwrap();
    assert_eq!(report.verdict(), Verdict::NothingTested, "{}", explain(&report));
    for result in &report.results {
        assert!(matches!(&result.effects, Grade::NotTested(needs) if needs.starts_with("needs ")), "{result:?}");
    }
    let needs = |case, profile| report.case(case, profile).unwrap().effects.because().unwrap();
    assert!(needs("S1", Profile::Ietf).contains("[[resource]]"));
    assert!(needs("B1", Profile::Batch).contains("[batch]"));
    assert!(needs("B6", Profile::Batch).contains("a client"));
    assert!(explain(&report).contains("Nothing was tested"));
}

#[tokio::test]
async fn each_part_that_is_left_out_closes_its_cases() {
    for (left_out, cases) in [
        ("second =", &["S21", "B11"][..]),
        ("refreshed =", &["S22"]),
        ("refused_body =", &["S24", "S33"]),
        ("bad_item =", &["B5"]),
        ("max_items =", &["B10"]),
        ("origins =", &["S31"]),
        ("restart =", &["B8"]),
        ("kill_before_commit =", &["S27"]),
        ("fail_next_request =", &["S25"]),
        ("move_clock =", &["S28"]),
        ("slow_next_request =", &["S5", "S30"]),
    ] {
        let settings: Vec<&str> = backend::SETTINGS
            .lines()
            .filter(|line| !line.starts_with(left_out) && (*line != "[cors]" || !left_out.starts_with("origins")))
            .collect();
        let config = warifu_conformance::Config::parse(&settings.join("\n"), "less.toml".as_ref()).unwrap();
        let options = Options {
            profiles: vec![Profile::Token, Profile::Batch],
            only: cases.iter().map(|&case| case.to_owned()).collect(),
            resource: None,
        };
        let target = backend::target(backend::start(Fault::None).await);
        let report = check(&target, &config, &options, |_| {}).await.unwrap();
        assert_eq!(report.results.len(), cases.len());
        for result in &report.results {
            assert!(matches!(result.statuses, Grade::NotTested(_)), "without {left_out}: {result:?}");
        }
        assert_eq!(report.verdict(), Verdict::NothingTested);
    }
}

#[tokio::test]
async fn statuses_alone_are_a_warning() {
    let report = run(Fault::OddStatuses, &["S2", "S6", "S10"]).await;
    assert_eq!(report.verdict(), Verdict::PassedWithWarnings, "{}", explain(&report));
    let replay = report.case("S2", Profile::Token).unwrap();
    assert_eq!(replay.statuses.because(), Some("The replay was answered 201 where 200 is expected."));
    assert!(explain(&report).contains("WARNING"));
}

#[tokio::test]
async fn a_backend_that_hangs_is_a_failed_case_and_not_a_hung_checker() {
    let target = backend::target(backend::start(Fault::Hangs).await);
    let settings = backend::SETTINGS.replace("deadline_seconds = 5", "deadline_seconds = 1");
    let config = warifu_conformance::Config::parse(&settings, "s.toml".as_ref()).unwrap();
    let options = Options { profiles: vec![Profile::Ietf], only: vec!["S1".to_owned()], resource: None };
    let started = std::time::Instant::now();
    let report = check(&target, &config, &options, |_| {}).await.unwrap();
    let because = report.results[0].effects.because().unwrap();
    assert!(because.contains("no answer within 1 s"), "{because}");
    assert!(started.elapsed().as_secs() < 5);
}

#[tokio::test]
async fn nobody_there_is_an_error_and_so_is_a_case_that_there_is_not() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let options = Options { profiles: vec![Profile::Ietf], ..Options::default() };
    let nobody = check(&backend::target(address), &backend::settings(), &options, |_| {}).await;
    assert!(matches!(nobody, Err(CheckError::Unreachable { .. })));
    let target = backend::target(backend::start(Fault::None).await);
    let options = Options { only: vec!["B1".to_owned()], ..options };
    assert!(matches!(check(&target, &backend::settings(), &options, |_| {}).await, Err(CheckError::NoCase(_))));
    let options = Options { only: Vec::new(), resource: Some("nothing".to_owned()), ..options };
    assert!(matches!(check(&target, &backend::settings(), &options, |_| {}).await, Err(CheckError::NoResource(_))));
}

//! The report for machines that know tests.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::{CaseResult, Grade, Profile, Report, Shown};

/// The report as JUnit's XML: a suite for each profile, and in it each case's effects and statuses. With `strict` a
/// status that is not as expected is a failure; without it is told in the case's output.
///
/// # Errors
/// When it cannot be written, which does not happen.
pub fn junit(report: &Report, strict: bool) -> Result<String, quick_junit::SerializeError> {
    let mut out = quick_junit::Report::new("warifu-conformance");
    for profile in &report.profiles {
        let mut suite = TestSuite::new(format!("warifu-conformance {profile}"));
        suite.add_property(("base_url", report.base_url.as_str()));
        for result in report.results.iter().filter(|result| result.profile == *profile) {
            suite.add_test_case(case(result, *profile, strict));
        }
        out.add_test_suite(suite);
    }
    out.to_string()
}

fn case(result: &CaseResult, profile: Profile, strict: bool) -> TestCase {
    let status = match (&result.effects, &result.statuses) {
        (Grade::Failed(because), _) => failure(because, "effect"),
        (_, Grade::Failed(because)) if strict => failure(because, "status"),
        (Grade::NotTested(because), _) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!("not tested: {because}"));
            status
        }
        _ => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(format!("{} {}", result.case, result.title), status);
    case.set_classname(format!("conformance.{profile}")).set_time(result.took);
    let mut output: Vec<String> = Vec::new();
    for (name, grade) in [("effects", &result.effects), ("statuses", &result.statuses)] {
        if let Grade::Failed(because) = grade {
            output.push(format!("{name}: {because}"));
        }
    }
    output.extend(result.note.iter().map(|note| format!("note: {note}")));
    if result.effects.failed() || result.statuses.failed() {
        output.extend(result.exchanges.iter().map(Shown::to_string));
    }
    if !output.is_empty() {
        case.set_system_out(XmlString::new(output.join("\n")));
    }
    case
}

fn failure(because: &str, kind: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(because).set_type(kind);
    status
}

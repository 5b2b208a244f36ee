//! What an answer to a batch is taken as. Only an acknowledgement, or a person's word, ever removes an operation.

use serde::{Deserialize, Serialize};

use crate::core::limits::REFUSAL_BYTES;
use crate::core::retry::retry_after;
use crate::core::time::{Millis, Time};
use crate::port::{Delivery, HttpAnswer};
use crate::wire::capabilities::Capabilities;
use crate::wire::problem::{self, Problem, code};
use crate::wire::sync::{Results, decode_response};

/// What came of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Results, to be matched by id.
    Results(Results),
    /// No verdict, and no item is to blame: the same keys again, later.
    Later {
        /// Why.
        trouble: Trouble,
        /// How long the server asks to wait.
        floor: Option<Millis>,
    },
    /// The server failed inside, perhaps on one of the items.
    Failed {
        /// How long the server asks to wait.
        floor: Option<Millis>,
    },
    /// The credentials are dead or missing.
    SignedOut {
        /// Whether the server said so; otherwise the app did, and nothing was sent.
        by_server: bool,
    },
    /// The batch as a whole was refused, perhaps for one of its items.
    Refused(Refusal),
}

/// Why the last attempt had no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// No answer, or one that broke off.
    NoAnswer,
    /// None before the deadline.
    Deadline,
    /// The server pointed elsewhere.
    Redirected,
    /// An answer that this contract does not know, such as a portal's login page.
    UnexpectedAnswer,
    /// The server asks for patience.
    Busy,
    /// The server failed inside.
    ServerError,
    /// The app's `headers` function failed.
    HeadersFailed,
    /// The device's own store failed.
    Storage,
}

/// A definite refusal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// The server's word, or `refused`.
    pub code: String,
    /// The server's reason.
    pub detail: String,
    /// The value at fault.
    pub field: Option<String>,
    /// The body, where it is JSON.
    pub body: Option<String>,
    /// With 413: what would have been taken.
    pub limits: Option<Capabilities>,
}

/// What a delivery is taken as. `signed_out` are the statuses by which this backend refuses dead credentials.
#[must_use]
pub fn classify(delivery: &Delivery, signed_out: &[u16], now: Time) -> Verdict {
    let later = |trouble| Verdict::Later { trouble, floor: None };
    match delivery {
        Delivery::Answer(answer) => classify_answer(answer, signed_out, now),
        Delivery::NoAnswer => later(Trouble::NoAnswer),
        Delivery::DeadlinePassed => later(Trouble::Deadline),
        Delivery::Redirected => later(Trouble::Redirected),
        Delivery::SignedOut => Verdict::SignedOut { by_server: false },
        Delivery::HeadersFailed(_) => later(Trouble::HeadersFailed),
    }
}

fn classify_answer(answer: &HttpAnswer, signed_out: &[u16], now: Time) -> Verdict {
    let floor = answer.retry_after.as_deref().and_then(|value| retry_after(value, answer.date.as_deref(), now));
    let later = |trouble| Verdict::Later { trouble, floor };
    let problem = recognised_problem(answer);
    let says = |word: &str| problem.as_ref().is_some_and(|problem| problem.code.as_deref() == Some(word));
    match answer.status {
        200..=299 => decode_response(&answer.body).map_or(later(Trouble::UnexpectedAnswer), Verdict::Results),
        status if signed_out.contains(&status) => Verdict::SignedOut { by_server: true },
        403 if says(code::NOT_AUTHENTICATED) => Verdict::SignedOut { by_server: true },
        407 | 408 | 421 | 425 | 429 => later(Trouble::Busy),
        409 if floor.is_some() || says(code::IN_PROGRESS) => later(Trouble::Busy),
        500 => Verdict::Failed { floor },
        503 => later(Trouble::Busy),
        501..=599 => later(Trouble::ServerError),
        400 | 413 | 422 => Verdict::Refused(refusal(answer, problem)),
        401..=499 if problem.is_some() => Verdict::Refused(refusal(answer, problem)),
        _ => later(Trouble::UnexpectedAnswer),
    }
}

/// The body, if it is one that this contract's backends write, and not some gateway's on the way.
fn recognised_problem(answer: &HttpAnswer) -> Option<Problem> {
    let problem: Problem = serde_json::from_slice(&answer.body).ok()?;
    let media_type = answer.content_type.as_deref().and_then(|value| value.split(';').next()).unwrap_or_default();
    let named = media_type.trim().eq_ignore_ascii_case(problem::MEDIA_TYPE);
    (named || problem.detail.is_some() || problem.code.is_some()).then_some(problem)
}

fn refusal(answer: &HttpAnswer, problem: Option<Problem>) -> Refusal {
    let body = std::str::from_utf8(&answer.body).ok().filter(|body| body.len() <= REFUSAL_BYTES);
    let body = body.filter(|body| serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok());
    let problem = problem.unwrap_or_default();
    Refusal {
        status: answer.status,
        code: problem.code.unwrap_or_else(|| "refused".to_owned()),
        detail: problem.detail.or(problem.title).unwrap_or_default(),
        field: problem.field,
        body: body.map(str::to_owned),
        limits: problem.limits,
    }
}

impl Trouble {
    /// The stable word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Trouble::NoAnswer => "no_answer",
            Trouble::Deadline => "deadline",
            Trouble::Redirected => "redirected",
            Trouble::UnexpectedAnswer => "unexpected_answer",
            Trouble::Busy => "busy",
            Trouble::ServerError => "server_error",
            Trouble::HeadersFailed => "headers_failed",
            Trouble::Storage => "storage",
        }
    }

    /// Whether the server may have done what it gave no verdict on.
    #[must_use]
    pub fn answer_lost(self) -> bool {
        matches!(self, Trouble::NoAnswer | Trouble::Deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn answer(status: u16, body: &str) -> Delivery {
        Delivery::Answer(HttpAnswer { status, body: body.as_bytes().to_vec(), ..HttpAnswer::default() })
    }

    fn taken_as(delivery: &Delivery) -> &'static str {
        match classify(delivery, &[401], Time(0)) {
            Verdict::Results(_) => "results",
            Verdict::Later { trouble, .. } => trouble.as_str(),
            Verdict::Failed { .. } => "failed",
            Verdict::SignedOut { .. } => "signed_out",
            Verdict::Refused(_) => "refused",
        }
    }

    #[test]
    fn every_row_of_the_answer_table() {
        let good = format!(r#"{{"results":[{{"clientMemoryId":"{ID}","memory_id":1,"status":"created"}}]}}"#);
        let problem = r#"{"code":"nope","detail":"No."}"#;
        for (status, body, expected) in [
            (200, good.as_str(), "results"),
            (207, good.as_str(), "results"),
            (200, "<html>Welcome to our Wi-Fi</html>", "unexpected_answer"),
            (200, "{}", "unexpected_answer"),
            (200, &good[..good.len() - 3], "unexpected_answer"),
            (200, r#"{"error":"no"}"#, "unexpected_answer"),
            (204, "", "unexpected_answer"),
            (302, "", "unexpected_answer"),
            (401, "", "signed_out"),
            (401, problem, "signed_out"),
            (403, r#"{"code":"not_authenticated"}"#, "signed_out"),
            (403, "", "unexpected_answer"),
            (403, problem, "refused"),
            (404, "<html>", "unexpected_answer"),
            (404, r#"{"message":"no Route matched"}"#, "unexpected_answer"),
            (404, problem, "refused"),
            (405, "", "unexpected_answer"),
            (400, "", "refused"),
            (413, "<html>nginx</html>", "refused"),
            (422, problem, "refused"),
            (409, r#"{"code":"in_progress"}"#, "busy"),
            (409, "", "unexpected_answer"),
            (407, "", "busy"),
            (408, "", "busy"),
            (421, "", "busy"),
            (425, "", "busy"),
            (429, "", "busy"),
            (500, "", "failed"),
            (501, "", "server_error"),
            (502, "", "server_error"),
            (503, "", "busy"),
            (504, "", "server_error"),
            (599, "", "server_error"),
        ] {
            assert_eq!(taken_as(&answer(status, body)), expected, "{status} {body}");
        }
        assert_eq!(taken_as(&Delivery::NoAnswer), "no_answer");
        assert_eq!(taken_as(&Delivery::DeadlinePassed), "deadline");
        assert_eq!(taken_as(&Delivery::Redirected), "redirected");
        assert_eq!(taken_as(&Delivery::SignedOut), "signed_out");
        assert_eq!(taken_as(&Delivery::HeadersFailed(String::new())), "headers_failed");
    }

    #[test]
    fn a_409_that_names_a_time_is_patience() {
        let delivery =
            Delivery::Answer(HttpAnswer { status: 409, retry_after: Some("3".to_owned()), ..HttpAnswer::default() });
        assert_eq!(
            classify(&delivery, &[401], Time(0)),
            Verdict::Later { trouble: Trouble::Busy, floor: Some(Millis(3_000)) }
        );
    }

    #[test]
    fn a_backend_may_say_signed_out_in_its_own_way() {
        let refused = answer(403, r#"{"detail":"Authentication credentials were not provided."}"#);
        assert!(matches!(classify(&refused, &[401, 403], Time(0)), Verdict::SignedOut { by_server: true }));
        assert!(matches!(classify(&refused, &[401], Time(0)), Verdict::Refused(_)));
    }
}

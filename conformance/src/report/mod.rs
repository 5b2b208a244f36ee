//! What came of a run.

mod junit;
mod table;

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};

pub use junit::junit;
pub use table::table;

/// Whose statuses are expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// `Idempotency-Key`, draft-ietf-httpapi-idempotency-key-header-07 and the contract's table.
    Ietf,
    /// `X-Idempotency-Token`: 400 without, 201 first, 200 and the same record on a replay.
    Token,
    /// Many memories at once.
    Batch,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ietf => "ietf",
            Self::Token => "token",
            Self::Batch => "batch",
        })
    }
}

/// How a case was judged, in one respect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "grade", content = "because", rename_all = "snake_case")]
pub enum Grade {
    /// As it must be.
    Held,
    /// Not so, and why, in one sentence.
    Failed(String),
    /// Nothing is known, and what is needed.
    NotTested(String),
    /// The case has nothing to judge in this respect.
    NotGraded,
}

impl Grade {
    /// Whether it failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Why it failed, or what is needed.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        match self {
            Self::Failed(because) | Self::NotTested(because) => Some(because),
            Self::Held | Self::NotGraded => None,
        }
    }
}

/// A request and what came back, without what proves who asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// Who asked: `first`, `second`, `refreshed`, `nobody`; or `checker` for what it did besides.
    pub who: String,
    /// The method, or what the checker did.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The idempotency key, if it carried one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How the body began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The status; `None` if there was no answer.
    pub status: Option<u16>,
    /// How the answer's body began, or why there was none.
    pub answer: String,
}

/// What came of one case under one profile.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// `S1` to `S33`, `B1` to `B14`.
    pub case: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// The profile.
    pub profile: Profile,
    /// The resource that it was tried on, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Rows, ids, and that every operation comes to an end.
    pub effects: Grade,
    /// The statuses of the profile, and what belongs to them.
    pub statuses: Grade,
    /// Something worth knowing that is no fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The requests that show it.
    pub exchanges: Vec<Shown>,
    /// How long it took.
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
}

fn milliseconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

/// What came of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The backend.
    pub base_url: String,
    /// What every record of this run is marked with.
    pub marker: String,
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The results, in the order of the cases.
    pub results: Vec<CaseResult>,
}

/// What a run comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every tested effect and status is as it must be.
    Passed,
    /// Every tested effect is; a status is not.
    PassedWithWarnings,
    /// An effect is not.
    Failed,
    /// No effect could be tested.
    NothingTested,
}

impl Report {
    /// What it comes to.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.results.iter().any(|result| result.effects.failed()) {
            Verdict::Failed
        } else if !self.results.iter().any(|result| result.effects == Grade::Held) {
            Verdict::NothingTested
        } else if self.results.iter().any(|result| result.statuses.failed()) {
            Verdict::PassedWithWarnings
        } else {
            Verdict::Passed
        }
    }

    /// The result of a case under a profile.
    #[must_use]
    pub fn case(&self, case: &str, profile: Profile) -> Option<&CaseResult> {
        self.results.iter().find(|result| result.case == case && result.profile == profile)
    }

    /// The report as JSON, its verdict with it.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which does not happen.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            verdict: Verdict,
            #[serde(flatten)]
            report: &'a Report,
        }
        serde_json::to_string_pretty(&Whole { verdict: self.verdict(), report: self })
    }
}

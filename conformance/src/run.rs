//! One run.

use std::fmt;
use std::time::{Duration, Instant};

use crate::bench::{Bench, Stop};
use crate::cases::{self, Case};
use crate::config::Config;
use crate::http::{self, Target};
use crate::record::Minter;
use crate::report::{CaseResult, Grade, Profile, Report};

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// Only these cases; all if empty.
    pub only: Vec<String>,
    /// The resource to use wherever it offers what a case needs.
    pub resource: Option<String>,
}

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// Nothing answers there.
    #[error("nothing answers at {url}: {why}")]
    Unreachable {
        /// The base URL.
        url: String,
        /// Why.
        why: String,
    },
    /// There is no such resource in the config.
    #[error("the config has no [[resource]] named \"{0}\"")]
    NoResource(String),
    /// There is no such case.
    #[error("there is no case \"{0}\" in these profiles; there are S1 to S33 (ietf, token) and B1 to B14 (batch)")]
    NoCase(String),
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Which case, from 1.
    pub at: usize,
    /// Of how many.
    pub of: usize,
    /// The profile.
    pub profile: Profile,
    /// The case.
    pub case: Case,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}/{}] {} {} ({})", self.at, self.of, self.case.id, self.case.title, self.profile)
    }
}

/// Runs the cases of the profiles, one after the other. `progress` is called before each.
///
/// Creates rows of the two owners, each marked as this checker's, and nothing else but what the hooks do.
///
/// # Errors
/// When nothing answers, or the options name what there is not. A backend that fails is no error but a report.
pub async fn check(
    target: &Target,
    config: &Config,
    options: &Options,
    mut progress: impl FnMut(Progress),
) -> Result<Report, CheckError> {
    let chosen = chosen(config, options)?;
    reach(target, config).await?;
    let minter = Minter::new();
    let mut results = Vec::with_capacity(chosen.len());
    for (index, (profile, case)) in chosen.iter().enumerate() {
        progress(Progress { at: index + 1, of: chosen.len(), profile: *profile, case: *case });
        results.push(one(target, config, options, &minter, *profile, case).await);
    }
    Ok(Report {
        base_url: target.url().to_owned(),
        marker: minter.marker(),
        profiles: options.profiles.clone(),
        results,
    })
}

fn chosen(config: &Config, options: &Options) -> Result<Vec<(Profile, Case)>, CheckError> {
    if let Some(name) = &options.resource
        && !config.resource.iter().any(|resource| resource.name == *name)
    {
        return Err(CheckError::NoResource(name.clone()));
    }
    let mut all: Vec<(Profile, Case)> = Vec::new();
    for profile in &options.profiles {
        all.extend(cases::of(*profile).iter().map(|case| (*profile, *case)));
    }
    if let Some(unknown) =
        options.only.iter().find(|name| !all.iter().any(|(_, case)| case.id.eq_ignore_ascii_case(name)))
    {
        return Err(CheckError::NoCase(unknown.clone()));
    }
    if !options.only.is_empty() {
        all.retain(|(_, case)| options.only.iter().any(|name| case.id.eq_ignore_ascii_case(name)));
    }
    Ok(all)
}

/// That something speaks HTTP there.
async fn reach(target: &Target, config: &Config) -> Result<(), CheckError> {
    let request = http::Request {
        method: "GET".to_owned(),
        path: config.hooks.ready_path.clone(),
        headers: Vec::new(),
        body: None,
    };
    match http::send(target, &request, config.deadline().min(Duration::from_secs(10))).await {
        Ok(_) => Ok(()),
        Err(why) => Err(CheckError::Unreachable { url: target.url().to_owned(), why: why.to_string() }),
    }
}

async fn one(
    target: &Target,
    config: &Config,
    options: &Options,
    minter: &Minter,
    profile: Profile,
    case: &Case,
) -> CaseResult {
    let token_alone = options.profiles.contains(&Profile::Token) && !options.profiles.contains(&Profile::Ietf);
    let mut bench = Bench {
        config,
        target,
        profile,
        minter,
        beside_batch: if token_alone { Profile::Token } else { Profile::Ietf },
        prefer: options.resource.as_deref(),
        log: Vec::new(),
        statuses: Vec::new(),
        judged: false,
        note: None,
        resource: None,
        used_hook: false,
    };
    let started = Instant::now();
    let mut outcome = cases::run(&mut bench, case).await;
    let reset = bench.reset_hooks().await;
    if outcome.is_ok() {
        outcome = reset;
    }
    let took = started.elapsed();
    let statuses = if !bench.statuses.is_empty() {
        Grade::Failed(sentence(&bench.statuses.join("; ")))
    } else if bench.judged {
        Grade::Held
    } else {
        Grade::NotGraded
    };
    let (effects, statuses) = match outcome {
        Ok(()) if case.id == "S31" => (Grade::NotGraded, statuses),
        Ok(()) => (Grade::Held, statuses),
        Err(Stop::Effect(because)) => (Grade::Failed(sentence(&because)), statuses),
        // Half a case says nothing.
        Err(Stop::NotTested(needs)) => (Grade::NotTested(needs.clone()), Grade::NotTested(needs)),
    };
    CaseResult {
        case: case.id,
        title: case.title,
        profile,
        resource: bench.resource,
        effects,
        statuses,
        note: bench.note,
        exchanges: bench.log,
        took,
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_begins_large_and_ends_with_a_stop() {
        assert_eq!(sentence("the key"), "The key.");
        assert_eq!(sentence(""), ".");
    }
}

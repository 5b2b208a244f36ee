//! What the cases work with: requests as an owner, what came back, and what is written down about both.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Barrier;

use crate::config::{Config, Credentials, Escape, Resource};
use crate::http::{self, Answer, Exchange, NoAnswer, Request, Target};
use crate::key::Key;
use crate::record::{Minter, Record};
use crate::report::{Profile, Shown};

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    First,
    Second,
    /// The first owner with another token.
    Refreshed,
    Nobody,
}

impl Who {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
            Self::Refreshed => "refreshed",
            Self::Nobody => "nobody",
        }
    }
}

/// Why a case ends before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An effect is not as it must be.
    Effect(String),
    /// What is needed is not there.
    NotTested(String),
}

pub(crate) fn effect<T>(because: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Effect(because.into()))
}

pub(crate) fn needs<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::NotTested(format!("needs {what}")))
}

/// A request of somebody.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) who: Who,
    pub(crate) request: Request,
    pub(crate) key: Option<String>,
}

/// One case at work.
pub(crate) struct Bench<'a> {
    pub(crate) config: &'a Config,
    pub(crate) target: &'a Target,
    pub(crate) profile: Profile,
    pub(crate) minter: &'a Minter,
    /// Whose header the single creates beside a batch carry.
    pub(crate) beside_batch: Profile,
    /// The resource to use if it offers what a case needs.
    pub(crate) prefer: Option<&'a str>,
    pub(crate) log: Vec<Shown>,
    /// Statuses that are not as the profile has them.
    pub(crate) statuses: Vec<String>,
    /// Whether any status was judged.
    pub(crate) judged: bool,
    pub(crate) note: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) used_hook: bool,
}

const EXCERPT: usize = 300;

impl<'a> Bench<'a> {
    /// The resource for a case: the preferred one or else the first that offers what is needed.
    pub(crate) fn pick(&mut self, need: &str, offers: impl Fn(&Resource) -> bool) -> Result<&'a Resource, Stop> {
        let counted = |resource: &&Resource| resource.count.is_some() && offers(resource);
        let all = &self.config.resource;
        let preferred = all.iter().filter(|resource| self.prefer == Some(resource.name.as_str())).find(counted);
        match preferred.or_else(|| all.iter().find(counted)) {
            Some(resource) => {
                self.resource = Some(resource.name.clone());
                Ok(resource)
            }
            None if all.is_empty() => needs("a [[resource]]"),
            None if all.iter().all(|resource| resource.count.is_none()) => needs("[resource.count]"),
            None => needs(need),
        }
    }

    pub(crate) fn any(&mut self) -> Result<&'a Resource, Stop> {
        self.pick("a [[resource]]", |_| true)
    }

    fn credentials(&self, who: Who) -> Option<&'a Credentials> {
        let auth = &self.config.auth;
        match who {
            Who::First => Some(&auth.first),
            Who::Second => auth.second.as_ref(),
            Who::Refreshed => auth.refreshed.as_ref(),
            Who::Nobody => None,
        }
    }

    /// That there are such credentials.
    pub(crate) fn require(&self, who: Who) -> Result<(), Stop> {
        if self.credentials(who).is_some() { Ok(()) } else { needs(&format!("[auth] {}", who.name())) }
    }

    /// A request of somebody; a body is JSON.
    pub(crate) fn call(&self, who: Who, method: &str, path: &str, key: Option<&Key>, body: Option<String>) -> Call {
        let mut headers: Vec<(String, Vec<u8>)> = Vec::new();
        let given = self.credentials(who).map(|credentials| &credentials.0);
        for (name, value) in self.config.headers.iter().chain(given.into_iter().flatten()) {
            headers.push((name.clone(), value.clone().into_bytes()));
        }
        if body.is_some() {
            headers.push(("Content-Type".to_owned(), b"application/json".to_vec()));
        }
        for (name, line) in key.into_iter().flat_map(|key| &key.lines) {
            headers.push((name.clone().unwrap_or_else(|| self.key_header().to_owned()), line.clone()));
        }
        let request =
            Request { method: method.to_owned(), path: path.to_owned(), headers, body: body.map(String::into_bytes) };
        Call { who, request, key: key.and_then(Key::shown) }
    }

    pub(crate) fn key_header(&self) -> &'a str {
        let profile = if self.profile == Profile::Batch { self.beside_batch } else { self.profile };
        if profile == Profile::Token { &self.config.keys.token } else { &self.config.keys.ietf }
    }

    /// A new key, as the profile writes it.
    pub(crate) fn key(&self) -> Key {
        let key = Key::new();
        if self.config.keys.quoted && self.key_header() == self.config.keys.ietf { key.quoted() } else { key }
    }

    /// A create.
    pub(crate) fn create(&self, resource: &Resource, who: Who, record: &Record, key: &Key) -> Call {
        let body = resource.body.render(&record.values(&key.text), Escape::Json);
        self.create_with(resource, who, record, key, body)
    }

    /// A create with another body.
    pub(crate) fn create_with(&self, resource: &Resource, who: Who, record: &Record, key: &Key, body: String) -> Call {
        let path = resource.path.render_path(&record.values(&key.text));
        self.call(who, &resource.method, &path, Some(key), Some(body))
    }

    pub(crate) fn deadline(&self) -> Duration {
        self.config.deadline()
    }

    /// Sends, and waits for an answer of any kind.
    pub(crate) async fn try_send(&mut self, call: &Call) -> Result<Answer, NoAnswer> {
        for _ in 0..3 {
            let outcome = http::send(self.target, &call.request, self.deadline()).await;
            self.write_down(call, &outcome);
            match outcome {
                // It is asked to be gentle, not wrong.
                Ok(answer) if answer.status == 429 => tokio::time::sleep(retry_after(&answer)).await,
                outcome => return outcome,
            }
        }
        let outcome = http::send(self.target, &call.request, self.deadline()).await;
        self.write_down(call, &outcome);
        outcome
    }

    /// Sends; no answer is a fault.
    pub(crate) async fn send(&mut self, call: &Call) -> Result<Answer, Stop> {
        match self.try_send(call).await {
            Ok(answer) => Ok(answer),
            Err(none) => effect(format!("{} {} got no answer: {none}", call.request.method, call.request.path)),
        }
    }

    /// Sends all at once: each on its own connection, held back before its last byte until all are there.
    pub(crate) async fn race(&mut self, calls: &[Call]) -> Vec<Result<Answer, NoAnswer>> {
        let (barrier, deadline, target) = (Barrier::new(calls.len()), self.deadline(), self.target);
        let barrier = &barrier;
        let one = |call: &'_ Call| {
            let request = call.request.clone();
            async move {
                let begun = Exchange::begin(target, &request, deadline).await;
                // One that cannot connect, or waits for a free worker to shake hands, must not hold up the others.
                let _ = tokio::time::timeout(Duration::from_secs(3), barrier.wait()).await;
                let mut exchange = begun?;
                exchange.release().await?;
                exchange.answer().await
            }
        };
        let outcomes = join_all(calls.iter().map(one)).await;
        for (call, outcome) in calls.iter().zip(&outcomes) {
            self.write_down(call, outcome);
        }
        outcomes
    }

    /// Sends the same again while the backend asks for it, as a client does.
    pub(crate) async fn settle(&mut self, call: &Call) -> Result<Answer, Stop> {
        let mut last = String::new();
        for attempt in 0..12_u64 {
            match self.try_send(call).await {
                Ok(answer) if answer.status < 500 && !is_retryable_conflict(&answer) => return Ok(answer),
                Ok(answer) => {
                    last = format!("the status {}", answer.status);
                    let after =
                        if answer.header("retry-after").is_some() { retry_after(&answer) } else { Duration::ZERO };
                    tokio::time::sleep(after.max(Duration::from_millis(100 * (attempt + 1)))).await;
                }
                Err(none) => {
                    last = none.to_string();
                    tokio::time::sleep(Duration::from_millis(100 * (attempt + 1))).await;
                }
            }
        }
        effect(format!(
            "{} {} never came to an end: sent again and again with the same key, the last time with {last}",
            call.request.method, call.request.path
        ))
    }

    pub(crate) fn write_down(&mut self, call: &Call, outcome: &Result<Answer, NoAnswer>) {
        let (status, answer) = match outcome {
            Ok(answer) => (Some(answer.status), self.excerpt(&answer.text())),
            Err(none) => (None, none.to_string()),
        };
        let body = call.request.body.as_ref().map(|body| self.excerpt(&String::from_utf8_lossy(body)));
        self.log.push(Shown {
            who: call.who.name().to_owned(),
            method: call.request.method.clone(),
            path: self.excerpt(&call.request.path),
            key: call.key.clone(),
            body,
            status,
            answer,
        });
    }

    /// Writes down what the checker did besides.
    pub(crate) fn write_down_step(&mut self, what: &str, came: impl Into<String>) {
        self.log.push(Shown {
            who: "checker".to_owned(),
            method: what.to_owned(),
            path: String::new(),
            key: None,
            body: None,
            status: None,
            answer: came.into(),
        });
    }

    /// The beginning of a text, on one line, without secrets.
    pub(crate) fn excerpt(&self, text: &str) -> String {
        let auth = &self.config.auth;
        let all = [Some(&auth.first), auth.second.as_ref(), auth.refreshed.as_ref()];
        let mut text = text.to_owned();
        for secret in all.into_iter().flatten().flat_map(Credentials::secrets) {
            text = text.replace(secret, "(secret)");
        }
        let flat: String = text.chars().take(EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text.chars().count() > EXCERPT { format!("{flat}…") } else { flat }
    }
}

/// Whether the answer says that the same request may be sent again.
pub(crate) fn is_retryable_conflict(answer: &Answer) -> bool {
    answer.status == 409 && (answer.header("retry-after").is_some() || answer.json()["code"] == "in_progress")
}

fn retry_after(answer: &Answer) -> Duration {
    let seconds = answer.header("retry-after").and_then(|value| value.trim().parse().ok()).unwrap_or(1_u64);
    Duration::from_secs(seconds.min(10))
}

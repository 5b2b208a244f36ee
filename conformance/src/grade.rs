//! What an answer is worth.

use crate::bench::{Bench, Call, Stop, Who, effect};
use crate::config::{Escape, KeyKind, Resource};
use crate::http::Answer;
use crate::json;
use crate::key::Key;
use crate::record::Record;
use crate::report::Profile;

/// What was asked, for the profile's statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    First,
    Replay,
    NoKey,
    BadKey,
    LongKey,
    OtherBody,
    OtherEndpoint,
    Business,
    Stranger,
    Invalid,
}

fn expected(profile: Profile, asked: Asked) -> &'static [u16] {
    let token = profile == Profile::Token;
    match asked {
        Asked::First => &[201],
        Asked::Replay => &[200],
        Asked::NoKey | Asked::BadKey => &[400],
        Asked::LongKey => &[400, 413, 431],
        Asked::OtherBody if token => &[200, 409, 422],
        Asked::OtherEndpoint if token => &[201, 409, 422],
        Asked::OtherBody | Asked::OtherEndpoint => &[422],
        Asked::Business => &[409],
        Asked::Stranger if token => &[401, 403],
        Asked::Stranger => &[401],
        Asked::Invalid => &[400, 422],
    }
}

/// A record that was created.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    pub(crate) id: String,
    pub(crate) answer: Answer,
}

impl<'a> Bench<'a> {
    /// Judges a status by the profile.
    pub(crate) fn status(&mut self, answer: &Answer, asked: Asked, what: &str) {
        self.status_in(answer.status, expected(self.profile, asked), what);
    }

    pub(crate) fn status_in(&mut self, status: u16, expected: &[u16], what: &str) {
        self.judged = true;
        if !expected.contains(&status) {
            let list: Vec<String> = expected.iter().map(u16::to_string).collect();
            self.differs(format!("{what} was answered {status} where {} is expected", list.join(" or ")));
        }
    }

    /// Something that belongs to the statuses is not as expected.
    pub(crate) fn differs(&mut self, because: String) {
        self.judged = true;
        if !self.statuses.contains(&because) {
            self.statuses.push(because);
        }
    }

    /// Judges what belongs to a replay's answer.
    pub(crate) fn replay_status(&mut self, created: &Created, answer: &Answer, what: &str) {
        self.status(answer, Asked::Replay, what);
        if self.profile == Profile::Ietf && answer.header("idempotency-replayed") != Some("true") {
            self.differs(format!("{what} carries no `Idempotency-Replayed: true`"));
        }
        if answer.is_success() && answer.json() != created.answer.json() {
            self.differs(format!("{what} is not the same record as the first answer"));
        }
    }

    /// Judges a refusal's body: a problem that says what is wrong.
    pub(crate) fn problem(&mut self, answer: &Answer, what: &str) {
        if self.profile != Profile::Ietf || !answer.is_refusal() {
            return;
        }
        let kind = answer.header("content-type").unwrap_or_default();
        if !kind.starts_with("application/problem+json") || !answer.json()["detail"].is_string() {
            self.differs(format!("the refusal of {what} is no application/problem+json with a `detail`"));
        }
    }

    /// The id in an answer that acknowledges.
    pub(crate) fn acknowledged(&self, resource: &Resource, answer: &Answer, what: &str) -> Result<String, Stop> {
        if matches!(answer.status, 401 | 403) {
            return effect(format!("{what} was answered {}: look at [auth] in the config", answer.status));
        }
        if !answer.is_success() {
            return effect(format!("{what} was answered {} instead of being done", answer.status));
        }
        match json::id_at(&answer.json(), &resource.id) {
            Some(id) => Ok(id),
            None => effect(format!("{what} was answered {} without an id at \"{}\"", answer.status, resource.id)),
        }
    }

    /// Creates a record under a new key of the first owner.
    pub(crate) async fn begin(&mut self, resource: &Resource) -> Result<(Record, Key, Created), Stop> {
        let (record, key) = (self.minter.record(), self.key());
        let created = self.created(resource, Who::First, &record, &key).await?;
        Ok((record, key, created))
    }

    /// Creates; it must be done.
    pub(crate) async fn created(
        &mut self,
        resource: &Resource,
        who: Who,
        record: &Record,
        key: &Key,
    ) -> Result<Created, Stop> {
        let call = self.create(resource, who, record, key);
        let answer = self.send(&call).await?;
        let id = self.acknowledged(resource, &answer, "a create with a new key")?;
        self.status(&answer, Asked::First, "a create with a new key");
        Ok(Created { id, answer })
    }

    /// Sends again what was created: one row, and its id. `what` is the request, `why` what it means if it is not so.
    pub(crate) async fn replay(
        &mut self,
        resource: &Resource,
        record: &Record,
        created: &Created,
        call: &Call,
        (what, why): (&str, &str),
    ) -> Result<Answer, Stop> {
        let answer = self.settle(call).await?;
        self.expect_rows(resource, Who::First, record, 1, |rows| match rows {
            "no row" => format!("after {what} there is no row any more: {why}"),
            rows => format!("{what} left {rows} of one operation: {why}"),
        })
        .await?;
        self.same_id(resource, created, &answer, (what, why))?;
        Ok(answer)
    }

    /// That an answer gives the id that the create gave.
    pub(crate) fn same_id(
        &self,
        resource: &Resource,
        created: &Created,
        answer: &Answer,
        (what, why): (&str, &str),
    ) -> Result<(), Stop> {
        if !answer.is_success() {
            return effect(format!("{what} was refused with {} though its row is there: {why}", answer.status));
        }
        match json::id_at(&answer.json(), &resource.id) {
            Some(id) if id == created.id => Ok(()),
            Some(id) => effect(format!("{what} was given the id {id} where the create gave {}: {why}", created.id)),
            None => effect(format!("{what} was answered {} without an id: {why}", answer.status)),
        }
    }

    /// An edit of a created record to another version, with a key of its own unless one is given.
    pub(crate) fn edit(
        &self,
        resource: &Resource,
        record: &Record,
        created: &Created,
        key: Option<&Key>,
    ) -> Option<Call> {
        self.call_on(resource.edit.as_ref()?, record, created, key)
    }

    /// A delete of a created record.
    pub(crate) fn delete(&self, resource: &Resource, record: &Record, created: &Created) -> Option<Call> {
        self.call_on(resource.delete.as_ref()?, record, created, None)
    }

    fn call_on(
        &self,
        call: &crate::config::Call,
        record: &Record,
        created: &Created,
        key: Option<&Key>,
    ) -> Option<Call> {
        let own = self.key();
        let key = key.unwrap_or(&own);
        let mut values = record.values(&key.text);
        values.id.clone_from(&created.id);
        values.answer = created.answer.json();
        let body = call.body.as_ref().map(|body| body.render(&values, Escape::Json));
        let mut made =
            self.call(Who::First, &call.method, &call.path.render_path(&values), call.key.then_some(key), body);
        for (name, value) in &call.headers {
            made.request.headers.push((name.clone(), value.render(&values, Escape::Plain).into_bytes()));
        }
        Some(made)
    }

    /// Sends an edit or a delete that must be done, so that the case means something.
    pub(crate) async fn done(&mut self, call: Option<Call>, what: &str) -> Result<Answer, Stop> {
        let Some(call) = call else { return Err(Stop::NotTested(format!("needs [resource.{what}]"))) };
        let answer = self.send(&call).await?;
        if answer.is_success() {
            return Ok(answer);
        }
        effect(format!("the {what} that the case begins with was answered {}, so nothing is known", answer.status))
    }

    /// A record under a key that a backend may refuse: refused without a row, or done once however often it is sent.
    /// Gives the id if it was done.
    pub(crate) async fn odd(
        &mut self,
        resource: &Resource,
        record: &Record,
        key: &Key,
        what: &str,
    ) -> Result<(Option<Answer>, Option<String>), Stop> {
        let call = self.create(resource, Who::First, record, key);
        let answer = match self.try_send(&call).await {
            Ok(answer) => answer,
            Err(crate::http::NoAnswer::Closed) => {
                // Some servers close the connection on what is no HTTP.
                self.expect_rows(resource, Who::First, record, 0, |rows| {
                    format!("a create with {what} was not answered, and made {rows}")
                })
                .await?;
                return Ok((None, None));
            }
            Err(none) => return effect(format!("a create with {what} got no answer: {none}")),
        };
        if !answer.is_success() {
            let status = answer.status;
            self.expect_rows(resource, Who::First, record, 0, |rows| {
                format!("a create with {what} was refused with {status} and made {rows} all the same")
            })
            .await?;
            return Ok((Some(answer), None));
        }
        let id = self.acknowledged(resource, &answer, &format!("a create with {what}"))?;
        let again = self.settle(&call).await?;
        self.expect_rows(resource, Who::First, record, 1, |rows| {
            format!("a create with {what} was run unprotected: sent twice it made {rows}")
        })
        .await?;
        let created = Created { id: id.clone(), answer: answer.clone() };
        let meaning = "the key is not kept as it was sent";
        self.same_id(resource, &created, &again, (&format!("a create with {what}, sent again,"), meaning))?;
        Ok((Some(answer), Some(id)))
    }

    /// Whether the resource takes any text as a key.
    pub(crate) fn takes_any(resource: &Resource) -> bool {
        resource.keys == KeyKind::Any
    }
}

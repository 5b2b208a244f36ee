//! One operation under one key: what every create, edit and delete does alike.
//!
//! First the key is looked up, so that a replay is answered before the body is judged by today's rules. That decides
//! nothing: only the transaction that takes the key, in the store, does.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use warifu::id::Owner;
use warifu::wire::problem::code;

use crate::app::App;
use crate::canonical::{Fingerprint, VERSION};
use crate::problem::Refusal;
use crate::repository::{Operation, Performed, Refused, Repository, RowId, StoreError, StoredOperation};

use super::memories;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What a request asks for, under which key.
pub(super) struct Request {
    pub(super) owner: Owner,
    pub(super) key: String,
    /// What is asked, as it is kept with the key.
    pub(super) endpoint: &'static str,
    /// The row that the address names; empty for a create.
    pub(super) target: String,
    /// The body's hash as it came.
    raw: [u8; 32],
    /// Its canonical text's hash, where it has one.
    canonical: Option<[u8; 32]>,
}

impl Request {
    /// `canonical` is the canonical text of a body that has one.
    pub(super) fn new(
        owner: Owner,
        key: String,
        endpoint: &'static str,
        target: String,
        body: &[u8],
        canonical: Option<&str>,
    ) -> Self {
        // A JSON value's own bytes, as in a batch, where whitespace around it is not part of it.
        let value: Option<&RawValue> = serde_json::from_slice(body).ok();
        let raw = value.map_or(body, |value| value.get().as_bytes());
        let canonical = canonical.map(|text| Sha256::digest(text).into());
        Self { owner, key, endpoint, target, raw: Sha256::digest(raw).into(), canonical }
    }

    /// The answer, if this was done before.
    ///
    /// # Errors
    /// When the key was used for anything else.
    pub(super) async fn replay(&self, app: &App) -> Result<Option<Response>, Refusal> {
        match app.repository.operation(&self.owner, &self.key).await? {
            Some(known) => self.answer_known(app, known).await.map(Some),
            None => {
                if let Some(demo) = &app.demo {
                    demo.pause().await;
                }
                Ok(None)
            }
        }
    }

    /// The operation for the store. `ttl` is how long its key must be remembered; `None` is for ever.
    pub(super) fn operation(&self, app: &App, ttl: Option<std::time::Duration>) -> Operation {
        let seconds = |ttl: std::time::Duration| i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
        Operation {
            key: self.key.clone(),
            endpoint: self.endpoint,
            target: self.target.clone(),
            fingerprint: Fingerprint { version: VERSION, canonical: self.canonical.unwrap_or(self.raw), raw: self.raw },
            expires_at: ttl.map(|ttl| app.clock.now().saturating_add(seconds(ttl))),
        }
    }

    /// Does it, on a task of its own: a client that leaves must not stop it between two statements. `done` makes the
    /// answer to what was done now.
    pub(super) async fn perform<F>(
        &self,
        app: &Arc<App>,
        work: impl FnOnce(Arc<dyn Repository>, Owner) -> F,
        done: impl FnOnce(RowId, String) -> Response,
    ) -> Result<Response, Refusal>
    where
        F: Future<Output = Result<Performed, StoreError>> + Send + 'static,
    {
        let work = work(app.repository.clone(), self.owner.clone());
        match tokio::spawn(work).await.map_err(|_| Refusal::internal())?? {
            Performed::Done { row, answer } => {
                tracing::info!(endpoint = self.endpoint, "done");
                Ok(done(row, answer))
            }
            Performed::Known(known) => self.answer_known(app, known).await,
            Performed::Refused(why) => Err(refuse(why)),
        }
    }

    async fn answer_known(&self, app: &App, known: StoredOperation) -> Result<Response, Refusal> {
        if known.endpoint != self.endpoint || known.target != self.target {
            return Err(Refusal::key_taken(
                code::KEY_REUSED,
                "This key was used for another operation. Nothing was changed; a new operation needs a key of its own.",
            ));
        }
        let same_text = known.fingerprint.version == VERSION && self.canonical == Some(known.fingerprint.canonical);
        if known.fingerprint.raw != self.raw && !same_text {
            return Err(Refusal::key_taken(
                code::KEY_MISMATCH,
                "This key was used with other content. Nothing was changed; other content is another operation.",
            ));
        }
        tracing::info!(endpoint = self.endpoint, "replayed");
        let mut response = match (self.endpoint, known.answer) {
            (memories::DELETE, _) => StatusCode::NO_CONTENT.into_response(),
            (_, Some(answer)) => json_text(StatusCode::OK, answer),
            // Made in a batch, or deleted since: the row itself is the answer.
            (memories::CREATE, None) => memories::answer(app, &self.owner, known.row).await?,
            (_, None) => return Err(Refusal::gone()),
        };
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        Ok(response)
    }
}

/// The `201` of a create, with the address of what was made.
pub(super) fn created(address: &str, answer: String) -> Response {
    let mut response = json_text(StatusCode::CREATED, answer);
    if let Ok(address) = HeaderValue::from_str(address) {
        response.headers_mut().insert(header::LOCATION, address);
    }
    response
}

/// An answer whose body is JSON already.
pub(super) fn json_text(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn refuse(why: Refused) -> Refusal {
    match why {
        Refused::Unique(constraint) => Refusal::unique(constraint.name, constraint.fields),
        Refused::NotFound => Refusal::not_found(),
        Refused::Gone => Refusal::gone(),
        Refused::Revision(current) => {
            Refusal::revision_conflict(RawValue::from_string(memories::render(&current)).ok())
        }
    }
}

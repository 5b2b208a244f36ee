//! What the server says, and how it can be spoilt.

use std::time::{Duration, UNIX_EPOCH};

use warifu::core::time::{Millis, Time};
use warifu::port::{Delivery, HttpAnswer};

use super::World;
use super::server::Item;
use crate::fault::Fault;
use crate::trace::Said;

/// An answer on its way.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    Http {
        status: u16,
        content_type: &'static str,
        body: Vec<u8>,
        /// `Retry-After`, and for how long it asks to wait.
        patience: Option<(String, Option<u64>)>,
    },
    Redirect,
    /// None.
    Silence,
}

/// What was decided about an item.
pub(crate) struct Said3 {
    pub(crate) said: Said,
    pub(crate) server_id: Option<u64>,
    pub(crate) fresh: bool,
}

impl Answer {
    pub(crate) fn body(status: u16, body: &str) -> Self {
        Answer::Http { status, content_type: "application/json", body: body.as_bytes().to_vec(), patience: None }
    }

    pub(crate) fn status(status: u16) -> Self {
        Answer::Http { status, content_type: "text/plain", body: b"no".to_vec(), patience: None }
    }

    pub(crate) fn html() -> Self {
        Answer::Http {
            status: 200,
            content_type: "text/html",
            body: b"<html>Welcome to our Wi-Fi</html>".to_vec(),
            patience: None,
        }
    }

    pub(crate) fn problem(status: u16, code: &str) -> Self {
        Answer::Http {
            status,
            content_type: "application/problem+json",
            body: format!("{{\"code\":\"{code}\",\"detail\":\"No.\"}}").into_bytes(),
            patience: None,
        }
    }

    pub(crate) fn limits(items: u32, bytes: u32) -> Self {
        let body = format!(
            "{{\"code\":\"too_large\",\"detail\":\"Too much.\",\"limits\":{{\"maxItems\":{items},\"maxBytes\":{bytes}}}}}"
        );
        Answer::Http { status: 413, content_type: "application/problem+json", body: body.into_bytes(), patience: None }
    }

    pub(crate) fn with_patience(mut self, value: String, length: Option<u64>) -> Self {
        if let Answer::Http { patience, .. } = &mut self {
            *patience = Some((value, length));
        }
        self
    }

    /// The answer as it is delivered, with what it asks to wait.
    pub(crate) fn deliver(self, world: &World, made: Time) -> (Delivery, Option<u64>) {
        match self {
            Answer::Http { status, content_type, body, patience } => {
                let date = (!world.plan.hides_date).then(|| http_date(made.0));
                let floor = patience.as_ref().and_then(|(_, length)| *length);
                let answer = HttpAnswer {
                    status,
                    content_type: Some(content_type.to_owned()),
                    retry_after: patience.map(|(value, _)| value),
                    date,
                    body,
                };
                (Delivery::Answer(answer), floor)
            }
            Answer::Redirect => (Delivery::Redirected, None),
            Answer::Silence => (Delivery::NoAnswer, None),
        }
    }
}

fn http_date(millis: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_millis(millis))
}

/// The contract's answer to a batch.
pub(crate) fn batch(world: &World, said: &[Said3], items: &[Item]) -> Answer {
    let upper = world.hit(Fault::UpperCase);
    let mut results: Vec<String> = Vec::new();
    for (said, item) in said.iter().zip(items) {
        let id = item.id.to_string();
        let id = if upper { id.to_uppercase() } else { id };
        let server_id = said.server_id.map(|server_id| format!(",\"memory_id\":{server_id}"));
        let status = match (said.said, said.fresh) {
            (Said::Stored, true) => "created",
            (Said::Stored, false) => "duplicated",
            (Said::Conflict, _) => "conflict",
            (Said::Rejected, _) => "rejected",
        };
        let error = match said.said {
            Said::Rejected => ",\"error\":{\"code\":\"invalid_item\",\"detail\":\"No.\",\"field\":\"title\"}",
            _ => "",
        };
        let server_id = server_id.unwrap_or_default();
        results.push(format!("{{\"clientMemoryId\":\"{id}\"{server_id},\"status\":\"{status}\"{error}}}"));
    }
    if world.hit(Fault::Shuffled) {
        world.net.borrow_mut().shuffle(&mut results);
    }
    let missing = world.hit(Fault::MissingResult);
    // Two results that contradict each other; a lone lie about the id is another fault.
    if world.hit(Fault::Contradiction) && !missing && !results.is_empty() {
        let index = world.net.borrow_mut().usize(..items.len());
        results.push(format!(
            "{{\"clientMemoryId\":\"{}\",\"memory_id\":\"other\",\"status\":\"created\"}}",
            items[index].id
        ));
    }
    if missing && !results.is_empty() {
        let index = world.net.borrow_mut().usize(..results.len());
        results.remove(index);
    }
    if world.hit(Fault::Stranger) {
        results.insert(
            0,
            "{\"clientMemoryId\":\"0f8fad5b-d9cb-469f-a165-70867728950e\",\"memory_id\":1,\"status\":\"created\"}"
                .to_owned(),
        );
    }
    if world.hit(Fault::NoResults) {
        results.clear();
    }
    Answer::body(200, &format!("{{\"results\":[{}]}}", results.join(",")))
}

impl World {
    /// Spoils an answer to something that the server has done.
    pub(crate) fn mangle(&self, request: u32, items: &[Item], answer: Answer) -> Answer {
        let Answer::Http { mut body, .. } = answer.clone() else {
            return answer;
        };
        if self.hit(Fault::CutOff) {
            let length = self.net.borrow_mut().usize(..body.len().max(1));
            body.truncate(length);
            return Answer::Http { status: 200, content_type: "application/json", body, patience: None };
        }
        if self.hit(Fault::Html) {
            return Answer::html();
        }
        if self.hit(Fault::EmptyObject) {
            return Answer::body(200, "{}");
        }
        if self.hit(Fault::NoContent) {
            return Answer::body(204, "");
        }
        if self.hit(Fault::Redirect) {
            return Answer::Redirect;
        }
        if self.hit(Fault::AnswerReplaced) {
            let status = [502, 504, 500, 403, 503][self.net.borrow_mut().usize(..5)];
            self.refused(request, status, items);
            return self.patience(status);
        }
        answer
    }

    /// A status with some `Retry-After`, or none.
    pub(crate) fn patience(&self, status: u16) -> Answer {
        let long = self.hit(Fault::LongPatience);
        let mut random = self.net.borrow_mut();
        let seconds = match (long, random.u8(..4)) {
            (true, _) => [3600, 20 * 3600, 240 * 3600][random.usize(..3)],
            (false, 0) => 0,
            (false, 1) => random.u64(1..600),
            _ => random.u64(1..30),
        };
        let cap = warifu::core::limits::RETRY_AFTER_CAP;
        let length = Some(Millis(seconds * 1000).min(cap).0);
        let (value, length) = match random.u8(..5) {
            0 | 1 => (seconds.to_string(), length),
            // Without the answer's own date, the server's clock may be any.
            2 if !self.plan.hides_date => {
                let at = self.server_wall().0 / 1000 * 1000 + seconds * 1000;
                (http_date(at), length)
            }
            3 => (["soon", "", "-5", "1.5"][random.usize(..4)].to_owned(), None),
            _ => return Answer::status(status),
        };
        Answer::status(status).with_patience(value, length)
    }
}

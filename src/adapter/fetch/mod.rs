//! Requests by the browser's `fetch`.

mod body;
mod credentials;

use std::cell::Cell;
use std::pin::pin;

use futures_util::future::{Either, select};
use gloo_net::http::{Headers, RequestBuilder, Response};
use js_sys::{Error, Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, AbortSignal, RequestCache, RequestCredentials, RequestRedirect, ResponseType};

use self::credentials::{Credentials, Refusal, Why};
use super::timers::BrowserClock;
use crate::core::time::Millis;
use crate::port::{Clock, Delivery, HttpAnswer, HttpRequest, Method, Transport};

/// How long the app may take to refresh its credentials.
const REFRESH_DEADLINE: Millis = Millis(30_000);

/// Sends requests to one backend. Dropping what it is doing cuts the request.
///
/// No answer is held to be one when it is larger than 16 MiB, so that a broken backend cannot fill the memory.
pub struct FetchTransport {
    /// Ends in a slash, so that paths are added to it rather than put in its last part's place.
    base_url: String,
    credentials: Credentials,
    mode: RequestCredentials,
}

impl FetchTransport {
    /// `base_url` is absolute; its path is a directory. `headers` is the app's function, called with `"send"` before
    /// each request and with `"unauthorized"` after a refusal; it gives what `new Headers()` takes, `null` when nobody
    /// is signed in, or a promise of either. `mode` says whether cookies go along.
    #[must_use]
    pub fn new(base_url: &str, headers: Option<Function>, mode: RequestCredentials) -> Self {
        let slash = if base_url.ends_with('/') { "" } else { "/" };
        Self { base_url: format!("{base_url}{slash}"), credentials: Credentials::new(headers), mode }
    }

    async fn exchange(&self, request: HttpRequest, signal: &AbortSignal, sent: &Cell<bool>) -> Delivery {
        let headers = match self.credentials.headers(Why::Send).await {
            Ok(headers) => headers,
            Err(Refusal::SignedOut) => return Delivery::SignedOut,
            Err(Refusal::Failed(text)) => return Delivery::HeadersFailed(text),
        };
        let request = match self.prepare(&request, headers, signal) {
            Ok(request) => request,
            Err(text) => return Delivery::HeadersFailed(text),
        };
        sent.set(true);
        // gloo-net's own `send` panics when the rejection is no Error, as in pages that replace `fetch`.
        let Ok(answered) = fetch(&request) else { return Delivery::NoAnswer };
        let Ok(response) = JsFuture::from(answered).await else { return Delivery::NoAnswer };
        let Ok(response) = response.dyn_into::<web_sys::Response>() else { return Delivery::NoAnswer };
        receive(Response::from(response)).await
    }

    fn prepare(
        &self,
        request: &HttpRequest,
        headers: web_sys::Headers,
        signal: &AbortSignal,
    ) -> Result<web_sys::Request, String> {
        let mut own = vec![("Accept", "application/json")];
        if !request.body.is_empty() {
            own.push(("Content-Type", "application/json"));
        }
        own.extend(request.headers.iter().map(|(name, value)| (*name, value.as_str())));
        for (name, value) in own {
            headers.set(name, value).map_err(|error| credentials::text(&error))?;
        }
        let url = web_sys::Url::new_with_base(&request.path, &self.base_url);
        let url = url.map_err(|error| credentials::text(&error))?;
        let method = match request.method {
            Method::Get => gloo_net::http::Method::GET,
            Method::Post => gloo_net::http::Method::POST,
        };
        let builder = RequestBuilder::new(&url.href())
            .method(method)
            .headers(Headers::from_raw(headers))
            .credentials(self.mode)
            .cache(RequestCache::NoStore)
            .redirect(RequestRedirect::Manual)
            .abort_signal(Some(signal));
        let built = if request.body.is_empty() {
            builder.build()
        } else {
            builder.body(Uint8Array::from(request.body.as_slice()))
        };
        built.map(Into::into).map_err(|error| error.to_string())
    }
}

impl Transport for FetchTransport {
    async fn send(&self, request: HttpRequest) -> Delivery {
        let Ok(controller) = AbortController::new() else { return Delivery::NoAnswer };
        let cut = Cut(controller);
        let (deadline, signal) = (request.deadline, cut.0.signal());
        let sent = Cell::new(false);
        let outcome = {
            let exchange = pin!(self.exchange(request, &signal, &sent));
            let deadline = pin!(BrowserClock.sleep(deadline));
            match select(exchange, deadline).await {
                Either::Left((delivery, _)) => delivery,
                Either::Right(_) if sent.get() => Delivery::DeadlinePassed,
                Either::Right(_) => Delivery::HeadersFailed("the headers did not come in time".into()),
            }
        };
        drop(cut);
        outcome
    }

    /// A function that fails, or does not answer, says nothing about who is signed in: the request that follows asks
    /// it once more, and is told.
    async fn refresh(&self) -> bool {
        let refreshed = pin!(self.credentials.refresh());
        let deadline = pin!(BrowserClock.sleep(REFRESH_DEADLINE));
        match select(refreshed, deadline).await {
            Either::Left((signed_in, _)) => signed_in,
            Either::Right(_) => true,
        }
    }
}

/// Cuts the request when it is dropped; afterwards that does nothing.
struct Cut(AbortController);

impl Drop for Cut {
    fn drop(&mut self) {
        self.0.abort_with_reason(&Error::new("warifu: nobody waits for this request any more"));
    }
}

async fn receive(response: Response) -> Delivery {
    let status = response.status();
    if response.type_() == ResponseType::Opaqueredirect || matches!(status, 301 | 302 | 303 | 307 | 308) {
        return Delivery::Redirected;
    }
    // An opaque or an error response: nothing can be told of it.
    if status == 0 {
        return Delivery::NoAnswer;
    }
    let headers = response.headers();
    let (content_type, retry_after, date) =
        (headers.get("Content-Type"), headers.get("Retry-After"), headers.get("Date"));
    match body::read(&response).await {
        Some(body) => Delivery::Answer(HttpAnswer { status, content_type, retry_after, date, body }),
        None => Delivery::NoAnswer,
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch)]
    fn fetch(request: &web_sys::Request) -> Result<Promise, JsValue>;
}

//! The real server in this process, and the wire before it: every byte kept, every answer scripted.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Method, Response, StatusCode},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use warifu::id::Owner;
use warifu::wire::listing::Page;
pub use warifu_server::fault::Fault;
use warifu_server::{
    Limits, Server,
    fault::{Hook, RequestInfo},
};

use crate::root;
use crate::store::Store;
use crate::upstream::Upstream;

/// The account of the scenarios.
pub const OWNER: &str = "aki";

/// Its first bearer token.
pub const TOKEN: &str = "warifu_token_of_the_scenarios";

/// A second token of the same account, for those that lose the first.
pub const FRESH_TOKEN: &str = "warifu_token_after_signing_in_again";

/// The token of the page's own account, which the demo gives it.
pub const PAGE_TOKEN: &str = "warifu_demo_token";

/// One sync request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Counted from 1 among the sync requests.
    pub number: usize,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its exact body.
    pub body: Bytes,
    /// Each item's id with its exact bytes, in their order.
    pub items: Vec<(String, String)>,
    /// When it came, from the backend's start.
    pub at: Duration,
}

impl Seen {
    /// Whether an item with this text somewhere in it is there.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        self.items.iter().any(|(_, item)| item.contains(text))
    }
}

/// Says what becomes of a sync request.
pub type Plan = Box<dyn FnMut(&Seen) -> Fault + Send>;

/// What passed between page and server.
#[derive(Clone)]
pub struct Wire(Arc<Mutex<State>>);

struct State {
    plan: Plan,
    seen: Vec<Seen>,
    started: std::time::Instant,
}

impl Wire {
    fn new(plan: Plan) -> Self {
        Self(Arc::new(Mutex::new(State { plan, seen: Vec::new(), started: std::time::Instant::now() })))
    }

    /// From now on, this becomes of each sync request.
    pub fn plan(&self, plan: impl FnMut(&Seen) -> Fault + Send + 'static) {
        self.state().plan = Box::new(plan);
    }

    /// From now on, all pass.
    pub fn heal(&self) {
        self.plan(|_| Fault::Pass);
    }

    /// The sync requests so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    /// How often each item came.
    #[must_use]
    pub fn attempts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for (id, _) in self.state().seen.iter().flat_map(|seen| &seen.items) {
            *counts.entry(id.clone()).or_default() += 1;
        }
        counts
    }

    /// Every repeated item was byte for byte the same; gives how many were repeated.
    ///
    /// # Errors
    /// Names the first that was not.
    pub fn same_bytes(&self) -> Result<usize> {
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        let mut repeated = BTreeSet::new();
        for (id, item) in self.seen().into_iter().flat_map(|seen| seen.items) {
            if let Some(before) = first.get(&id) {
                ensure!(*before == item, "{id} changed between attempts:\n{before}\n{item}");
                repeated.insert(id);
            } else {
                first.insert(id, item);
            }
        }
        Ok(repeated.len())
    }

    /// The wire as the server's hook; with an upstream, what would be served is asked there.
    fn hook(&self, upstream: Option<Upstream>) -> Hook {
        let wire = self.clone();
        Arc::new(move |request| {
            let fault = wire.decide(request);
            match upstream.clone() {
                Some(upstream) if request.path.starts_with("/api/") => {
                    let request = request.clone();
                    Box::pin(async move { upstream.through(fault, request).await })
                }
                _ => Box::pin(async move { fault }),
            }
        })
    }

    fn decide(&self, request: &RequestInfo) -> Fault {
        if request.method != Method::POST || !request.path.starts_with("/api/memories/sync") {
            return Fault::Pass;
        }
        let mut state = self.state();
        let seen = Seen {
            number: state.seen.len() + 1,
            headers: request.headers.clone(),
            body: request.body.clone(),
            items: items(&request.body),
            at: state.started.elapsed(),
        };
        state.seen.push(seen.clone());
        (state.plan)(&seen)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The real server on a database that outlives it; `WARIFU_BACKEND` chooses which, see [`Store`].
pub struct Backend {
    /// What passes.
    pub wire: Wire,
    address: SocketAddr,
    www: std::path::PathBuf,
    limits: Limits,
    origins: Vec<String>,
    running: Option<warifu_server::Running>,
    store: Store,
}

impl Backend {
    /// A server with the bare page of `pages/`.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start() -> Result<Self> {
        Self::with(&root().join("tests/end_to_end/pages"), Limits::default(), &[]).await
    }

    /// A server with the real page.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn with_page() -> Result<Self> {
        Self::with(&root().join("www"), Limits::default(), &[]).await
    }

    /// A server with these pages, these limits and these origins allowed.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn with(www: &Path, limits: Limits, origins: &[String]) -> Result<Self> {
        ensure!(root().join("pkg/generated").is_dir(), "pkg/ is not complete; run `cargo xtask pkg` first");
        let mut backend = Self {
            wire: Wire::new(Box::new(|_| Fault::Pass)),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            www: www.to_owned(),
            limits,
            origins: origins.to_vec(),
            running: None,
            store: Store::new()?,
        };
        backend.start_again().await?;
        Ok(backend)
    }

    /// Starts it at the same address on the same database.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start_again(&mut self) -> Result<()> {
        let owner: Owner = OWNER.parse().ok().context("the owner's name")?;
        let upstream = self.store.start(&self.origins).await?;
        let mut builder = Server::builder()
            .database(self.store.database()?)
            .bind(self.address)
            .www(&self.www)
            .pkg(root().join("pkg"))
            .limits(self.limits)
            .demo(true)
            .token(owner.clone(), TOKEN)
            .token(owner, FRESH_TOKEN)
            .patience(Duration::from_millis(200))
            .fault(self.wire.hook(upstream));
        for origin in &self.origins {
            builder = builder.allow_origin(origin.clone());
        }
        let running = builder.start().await?;
        self.address = running.addr();
        self.running = Some(running);
        Ok(())
    }

    /// Cuts every connection, and answers no more.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.kill().await;
        }
        self.store.stop();
    }

    /// An address in it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The rows of the account: the device's name for each, and the server's.
    ///
    /// # Errors
    /// When the server is stopped, or a memory is there twice.
    pub async fn rows(&self) -> Result<BTreeMap<String, String>> {
        let records = self.records(TOKEN).await?;
        let count = records.len();
        let rows: BTreeMap<_, _> = records.into_iter().map(|record| (record.id, record.row)).collect();
        ensure!(rows.len() == count, "{count} rows carry only {} names: a memory is there twice", rows.len());
        Ok(rows)
    }

    /// What the server stored: title and body of each row by the device's name.
    ///
    /// # Errors
    /// When the server is stopped.
    pub async fn texts(&self) -> Result<BTreeMap<String, (String, String)>> {
        let records = self.records(TOKEN).await?;
        Ok(records.into_iter().filter_map(|record| Some((record.id, record.text?))).collect())
    }

    /// How many rows the page's own account has.
    ///
    /// # Errors
    /// When the server is stopped.
    pub async fn page_rows(&self) -> Result<usize> {
        self.records(PAGE_TOKEN).await.map(|records| records.len())
    }

    async fn records(&self, token: &str) -> Result<Vec<Row>> {
        ensure!(self.running.is_some(), "the server is stopped");
        let here = Upstream::new(self.address);
        let (mut after, mut rows) = ("0".to_owned(), Vec::new());
        loop {
            let path = format!("/api/memories?limit=1000&after={after}");
            let body = here.get(&path, token).await?;
            let page: Page = serde_json::from_slice(&body).context("a page of the listing")?;
            for record in page.records {
                rows.push(Row {
                    id: record.client_memory_id.context("a row without the device's name")?.to_string(),
                    row: record.memory_id.get().to_owned(),
                    text: record.title.zip(record.body),
                });
            }
            if !page.has_more {
                return Ok(rows);
            }
            after = page.next;
        }
    }
}

/// A row as the listing shows it.
struct Row {
    id: String,
    row: String,
    text: Option<(String, String)>,
}

/// A scripted answer.
///
/// # Errors
/// When a header is none.
pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Result<Fault> {
    let mut builder = Response::builder().status(StatusCode::from_u16(status)?);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    Ok(Fault::Answer(builder.body(body.into())?))
}

fn items(body: &[u8]) -> Vec<(String, String)> {
    #[derive(Deserialize)]
    struct Batch<'a> {
        #[serde(borrow)]
        items: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "clientMemoryId")]
        id: String,
    }
    let Ok(batch) = serde_json::from_slice::<Batch<'_>>(body) else {
        return Vec::new();
    };
    let named = batch.items.into_iter().map(|item| {
        let id = serde_json::from_str::<Named>(item.get()).map_or_else(|_| "unreadable".to_owned(), |named| named.id);
        (id, item.get().to_owned())
    });
    named.collect()
}

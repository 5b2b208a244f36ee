//! Starting and stopping a server in this process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::HeaderValue;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use warifu::id::Owner;

use crate::app::{self, App, Site};
use crate::clock::Clock;
use crate::demo::{self, Demo};
use crate::fault::Hook;
use crate::limits::Limits;
use crate::repository::{Database, Repository, StoreError, TokenHash};
use crate::serve::{Ending, Service, serve};

/// How often expired keys are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(10 * 60);

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The database could not be opened.
    #[error("could not open the database: {0}")]
    Store(#[from] StoreError),
    /// The address could not be bound.
    #[error("could not listen on {addr}: {source}")]
    Bind {
        /// The address.
        addr: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// An allowed origin is not one.
    #[error("not an origin of the form scheme://host[:port]: {0:?}")]
    Origin(String),
}

/// The way in; see [`Server::builder`].
#[derive(Debug, Clone, Copy)]
pub struct Server;

impl Server {
    /// A server in memory on a free local port, until told otherwise.
    pub fn builder() -> Builder {
        Builder {
            database: Database::memory(),
            demo: false,
            site: Site::default(),
            origins: Vec::new(),
            tokens: Vec::new(),
            limits: Limits::default(),
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            hook: None,
            keep_alive: None,
            patience: Duration::from_secs(10),
        }
    }
}

/// What a server shall be.
#[must_use]
pub struct Builder {
    database: Database,
    demo: bool,
    site: Site,
    origins: Vec<String>,
    tokens: Vec<(Owner, String)>,
    limits: Limits,
    addr: SocketAddr,
    hook: Option<Hook>,
    keep_alive: Option<bool>,
    patience: Duration,
}

impl Builder {
    /// Where the rows are kept.
    pub fn database(mut self, database: Database) -> Self {
        self.database = database;
        self
    }

    /// With the demo's owners, switches and counts.
    pub fn demo(mut self, demo: bool) -> Self {
        self.demo = demo;
        self
    }

    /// The folder served at `/`.
    pub fn www(mut self, folder: impl Into<PathBuf>) -> Self {
        self.site.www = Some(folder.into());
        self
    }

    /// The folder served at `/pkg/`.
    pub fn pkg(mut self, folder: impl Into<PathBuf>) -> Self {
        self.site.pkg = Some(folder.into());
        self
    }

    /// One more origin whose pages may call the API, beside the webviews' own.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Gives an owner this token. Call it again for several.
    pub fn token(mut self, owner: Owner, token: impl Into<String>) -> Self {
        self.tokens.push((owner, token.into()));
        self
    }

    /// What is taken at once.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where to listen; port 0 takes a free one.
    pub fn bind(mut self, addr: SocketAddr) -> Self {
        self.addr = addr;
        self
    }

    /// Test support: what becomes of each request, see [`crate::fault`].
    pub fn fault(mut self, hook: Hook) -> Self {
        self.hook = Some(hook);
        self
    }

    /// Whether a connection serves several requests. By default it does, but not in the demo and not with faults: a
    /// browser repeats a POST by itself, unseen by the page, when a *reused* connection dies without an answer.
    pub fn keep_alive(mut self, keep_alive: bool) -> Self {
        self.keep_alive = Some(keep_alive);
        self
    }

    /// How long [`Running::stop`] waits for running requests; 10 seconds by default.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Opens the database, binds the address and serves.
    ///
    /// # Errors
    /// When one of them fails; nothing is left running then.
    pub async fn start(mut self) -> Result<Running, StartError> {
        for origin in &self.origins {
            self.site.origins.push(parse_origin(origin)?);
        }
        let listener =
            TcpListener::bind(self.addr).await.map_err(|source| StartError::Bind { addr: self.addr, source })?;
        let addr = listener.local_addr().map_err(|source| StartError::Bind { addr: self.addr, source })?;
        let repository = self.database.open().await?;
        for (owner, token) in &self.tokens {
            repository.add_token(owner, TokenHash::of(token)).await?;
        }
        if self.demo {
            for owner in demo::OWNERS.iter().filter_map(|(name, _)| name.parse().ok()) {
                repository.add_owner(&owner).await?;
            }
        }
        let ending = Ending::default();
        let app = Arc::new(App {
            repository: repository.clone(),
            limits: self.limits,
            demo: self.demo.then(Demo::new),
            clock: Clock::default(),
            stop: ending.stop.clone(),
        });
        tokio::spawn(forget_expired_keys(app.clone()));
        let service = Arc::new(Service {
            router: app::router(app, self.site),
            keep_alive: self.keep_alive.unwrap_or(!self.demo && self.hook.is_none()),
            hook: self.hook,
            requests: AtomicU64::new(0),
        });
        let task = tokio::spawn(serve(listener, service.clone(), ending.clone(), self.patience));
        tracing::info!(%addr, demo = self.demo, "listening");
        Ok(Running { addr, repository, service, ending, task })
    }
}

/// A server that runs. Dropping it stops it too, without waiting.
pub struct Running {
    addr: SocketAddr,
    repository: Arc<dyn Repository>,
    service: Arc<Service>,
    ending: Ending,
    task: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The same as a base URL, with a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.addr)
    }

    /// Its rows.
    #[must_use]
    pub fn repository(&self) -> Arc<dyn Repository> {
        self.repository.clone()
    }

    /// How many requests came so far, whatever became of them.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.service.requests.load(Ordering::Relaxed)
    }

    /// Takes no more requests, finishes those that run (within the builder's patience), closes the database.
    pub async fn stop(mut self) {
        self.ending.stop.cancel();
        self.finish().await;
    }

    /// Closes every connection at once, answered or not, then the database.
    pub async fn kill(mut self) {
        self.ending.kill.cancel();
        self.ending.stop.cancel();
        self.finish().await;
    }

    async fn finish(&mut self) {
        if (&mut self.task).await.is_err() {
            tracing::error!("the accepting task failed");
        }
        self.repository.close().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ending.stop.cancel();
        self.ending.kill.cancel();
    }
}

/// Every so often, until the server stops.
async fn forget_expired_keys(app: Arc<App>) {
    while app.stop.run_until_cancelled(tokio::time::sleep(FORGET_EVERY)).await.is_some() {
        match app.repository.forget_expired(app.clock.now()).await {
            Ok(0) => {}
            Ok(keys) => tracing::info!(keys, "forgot expired keys"),
            // There is always a next time.
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "could not forget expired keys"),
        }
    }
}

fn parse_origin(origin: &str) -> Result<HeaderValue, StartError> {
    let refuse = || StartError::Origin(origin.to_owned());
    let (scheme, host) = origin.split_once("://").ok_or_else(refuse)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-.:[]".contains(c);
    if scheme.is_empty() || host.is_empty() || !scheme.chars().chain(host.chars()).all(plain) {
        return Err(refuse());
    }
    HeaderValue::from_str(origin).map_err(|_| refuse())
}

//! The checker against this server, with every hook it can use.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use warifu_conformance::{Config, Grade, Options, Profile, Target, Verdict, check, table};

use crate::place::Place;
use crate::program::Process;

const SETTINGS: &str = include_str!("../../../conformance/reference.toml");

/// A server that can be killed and started again at the same address.
struct Restarts {
    process: Mutex<Option<Process>>,
    database_url: String,
    address: String,
}

impl Restarts {
    async fn start(database_url: &str) -> Arc<Self> {
        let process = Process::with_log(database_url, &["--demo", "--bind", "127.0.0.1:0"], "off").await;
        let address = process.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Arc::new(Self { process: Mutex::new(Some(process)), database_url: database_url.to_owned(), address })
    }

    async fn restart(&self) {
        let mut process = self.process.lock().await;
        if let Some(running) = process.take() {
            running.kill().await;
        }
        *process = Some(Process::with_log(&self.database_url, &["--demo", "--bind", &self.address], "off").await);
    }
}

async fn passes_every_case(place: Place) {
    let restarts = Restarts::start(&place.url).await;
    let control = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let restart_url = format!("http://{}/restart", control.local_addr().unwrap());
    let routes = Router::new()
        .route(
            "/restart",
            post(async |State(restarts): State<Arc<Restarts>>| {
                restarts.restart().await;
                StatusCode::NO_CONTENT
            }),
        )
        .with_state(restarts.clone());
    tokio::spawn(async move { axum::serve(control, routes).await });
    let hooks = format!(
        "[hooks.restart]\nurl = \"{restart_url}\"\n[hooks.kill_before_commit]\nurl = \"{restart_url}\"\nwhen = \"during\"\n"
    );
    let config = Config::parse(&format!("{SETTINGS}\n{hooks}"), "reference.toml".as_ref()).unwrap();
    let options = Options { profiles: vec![Profile::Ietf, Profile::Token, Profile::Batch], ..Options::default() };
    let target = Target::new(&format!("http://{}", restarts.address)).unwrap();
    let report = check(&target, &config, &options, |_| {}).await.unwrap();
    assert_eq!(report.verdict(), Verdict::Passed, "{}", table(&report));
    let untested = report.results.iter().filter(|result| matches!(result.statuses, Grade::NotTested(_)));
    // Only a client can show what becomes of shuffled results; this server makes the second request wait, so that no 409
    // is there to be retried.
    let untested: Vec<_> = untested.map(|result| result.case).collect();
    assert_eq!(untested, ["B6"], "{}", table(&report));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_checker_passes_this_server_on_sqlite() {
    passes_every_case(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_checker_passes_this_server_on_postgres() {
    passes_every_case(Place::postgres()).await;
}

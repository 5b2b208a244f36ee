//! The reference server, on both of its databases, case by case, with nothing left untested but what needs a client.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path as Segment, State};
use axum::http::StatusCode;
use axum::routing::post;
use tokio::sync::Mutex;
use warifu_conformance::{Config, Grade, Options, Profile, Report, Target, Verdict, check, table};
use warifu_server::{Database, Running, Server};
use warifu_test_postgres::Cluster;

const SETTINGS: &str = include_str!("../reference.toml");

/// The server, and what starts it again.
struct Machine {
    database: Database,
    address: SocketAddr,
    running: Mutex<Option<Running>>,
}

impl Machine {
    async fn start(database: Database) -> Arc<Self> {
        let running = Self::serve(&database, "127.0.0.1:0".parse().unwrap()).await;
        Arc::new(Self { database, address: running.addr(), running: Mutex::new(Some(running)) })
    }

    async fn serve(database: &Database, address: SocketAddr) -> Running {
        Server::builder().database(database.clone()).demo(true).bind(address).start().await.unwrap()
    }

    /// Beside the server, as whoever runs it: `restart` lets it finish, `kill` does not.
    async fn keeper(self: Arc<Self>) -> SocketAddr {
        let routes = Router::new().route("/{what}", post(again)).with_state(self);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        address
    }
}

async fn again(State(machine): State<Arc<Machine>>, Segment(what): Segment<String>) -> StatusCode {
    let mut running = machine.running.lock().await;
    match (what.as_str(), running.take()) {
        ("restart", Some(server)) => server.stop().await,
        ("kill", Some(server)) => server.kill().await,
        _ => return StatusCode::NOT_FOUND,
    }
    *running = Some(Machine::serve(&machine.database, machine.address).await);
    StatusCode::NO_CONTENT
}

async fn checked(database: Database) -> Report {
    let machine = Machine::start(database).await;
    let target = Target::new(&format!("http://{}/", machine.address)).unwrap();
    let keeper = machine.keeper().await;
    let hooks = format!(
        "\n[hooks.restart]\nurl = \"http://{keeper}/restart\"\n[hooks.kill_before_commit]\nurl = \"http://{keeper}/kill\"\n"
    );
    let config = Config::parse(&format!("{SETTINGS}{hooks}"), Path::new("reference.toml")).unwrap();
    let options = Options { profiles: vec![Profile::Ietf, Profile::Token, Profile::Batch], ..Options::default() };
    check(&target, &config, &options, |progress| eprintln!("{progress}")).await.unwrap()
}

fn passes(report: &Report) {
    let shown = anstream::adapter::strip_str(&table(report)).to_string();
    println!("{shown}");
    assert_eq!(report.verdict(), Verdict::Passed, "{shown}");
    let untested: Vec<_> = report
        .results
        .iter()
        .filter(|result| {
            matches!(result.effects, Grade::NotTested(_)) || matches!(result.statuses, Grade::NotTested(_))
        })
        .map(|result| result.case)
        .collect();
    assert_eq!(untested, ["B6"], "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    passes(&checked(Database::path(folder.path().join("warifu.sqlite"))).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_on_postgresql() {
    let url = Cluster::shared().database("conformance").unwrap();
    passes(&checked(url.parse().unwrap()).await);
}

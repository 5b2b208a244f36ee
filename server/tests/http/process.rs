//! The program itself: its commands, its signals, its log.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::common::*;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warifu-server"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

struct Process {
    child: Child,
    url: String,
}

impl Process {
    async fn start(database: &Path, args: &[&str]) -> Self {
        let mut command = program();
        command.args(["--bind", "127.0.0.1:0", "--database"]).arg(database).args(args).env("RUST_LOG", "trace");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the address").to_owned();
        Self { child, url }
    }

    /// Sends a signal and gives the exit code and the log.
    async fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().await.unwrap().success());
        let mut log = String::new();
        let reading = self.child.stderr.as_mut().unwrap().read_to_string(&mut log);
        tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it ends").unwrap();
        (self.child.wait().await.unwrap().code(), log)
    }
}

async fn token(database: &Path, owner: &str) -> String {
    let output = program().args(["token", "add", "--owner", owner, "--database"]).arg(database).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn killed_after_the_commit_and_started_again_it_has_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("rows.sqlite");
    let process = Process::start(&database, &["--demo"]).await;
    let api = Api::new(&process.url, "");
    let api = api.with_token(api.get("demo/session").await.json()["token"].as_str().unwrap());
    let switches = api.request(reqwest::Method::PUT, "demo/switches").json(&json!({"dropAnswers": 1}));
    assert_eq!(switches.send().await.unwrap().status(), 200);
    api.post(batch(&items(0..3))).send().await.expect_err("no answer");
    assert_eq!(process.end("-KILL").await.0, None);
    let process = Process::start(&database, &["--demo"]).await;
    let api = Api::new(&process.url, &api.token);
    assert!(api.statuses(&items(0..3)).await.iter().all(|status| status == "duplicated"));
    assert_eq!(api.records().await.len(), 3);
}

#[tokio::test]
async fn both_signals_end_it_in_order() {
    for signal in ["-TERM", "-INT"] {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("rows.sqlite");
        let process = Process::start(&database, &["--demo"]).await;
        let api = Api::new(&process.url, "");
        let api = api.with_token(api.get("demo/session").await.json()["token"].as_str().unwrap());
        let switches = api.request(reqwest::Method::PUT, "demo/switches").json(&json!({"delayMs": 0}));
        assert_eq!(switches.send().await.unwrap().status(), 200);
        assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
        let (code, log) = process.end(signal).await;
        assert_eq!(code, Some(0), "{log}");
        assert!(!database.with_extension("sqlite-wal").exists(), "the database was closed");
    }
}

#[tokio::test]
async fn a_token_is_printed_once_and_opens_its_owners_rows() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("rows.sqlite");
    let (first, second, other) =
        (token(&database, "aki").await, token(&database, "aki").await, token(&database, "haru").await);
    assert!(first != second && first.len() > 60);
    let process = Process::start(&database, &[]).await;
    let api = Api::new(&process.url, &first);
    assert_eq!(api.statuses(&items(0..1)).await, ["created"]);
    assert_eq!(api.with_token(&second).statuses(&items(0..1)).await, ["duplicated"]);
    assert_eq!(api.with_token(&other).records().await.len(), 0);
    let refused = program().args(["token", "add", "--owner", "", "--database"]).arg(&database).output().await.unwrap();
    assert!(!refused.status.success());
}

#[tokio::test]
async fn the_log_is_structured_and_holds_nobodys_words() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("rows.sqlite");
    let token = token(&database, "aki").await;
    let process = Process::start(&database, &["--log-json"]).await;
    let api = Api::new(&process.url, &token);
    let secret = "himitsu";
    let good = format!(
        r#"{{"clientMemoryId":"{}","title":"{secret}","body":"{secret}","createdAt":"{secret}","{secret}":"{secret}"}}"#,
        id(1)
    );
    let bad = format!(r#"{{"clientMemoryId":"{secret}","title":"{secret}\u0000"}}"#);
    assert_eq!(
        api.statuses(&[good.clone(), bad, good.replace("title", "x")]).await,
        ["created", "rejected", "rejected"]
    );
    assert_eq!(api.post(format!("{{\"items\":[\"{secret}\"")).send().await.unwrap().status(), 400);
    assert_eq!(api.with_token(secret).get(&format!("api/memories?after={secret}")).await.status, 401);
    assert_eq!(api.get(&format!("api/memories?after={secret}")).await.status, 400);
    assert_eq!(api.get("api/memories").await.status, 200);
    let (_, log) = process.end("-TERM").await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    let synced = lines.iter().find(|line| line["fields"]["message"] == "synced").expect("the sync is logged");
    assert_eq!((&synced["fields"]["created"], &synced["fields"]["rejected"]), (&json!(1), &json!(2)));
    assert!(lines.iter().any(|line| line["fields"]["status"] == 401));
    assert!(!log.contains(secret) && !log.contains(&token), "{log}");
}

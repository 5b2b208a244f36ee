//! The command as people and machines meet it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use tokio::process::Command;

use crate::backend::{self, Fault, SETTINGS};

async fn command(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warifu-conformance"));
    command.args(arguments).stdin(Stdio::null()).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("backend.toml"), settings).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }
}

async fn checked(address: SocketAddr, files: &Files, more: &[&str]) -> Output {
    let (url, config) = (format!("http://{address}"), files.path("backend.toml"));
    let mut arguments = vec!["--base-url", &url, "--config", &config];
    arguments.extend_from_slice(more);
    command(&arguments).await
}

#[tokio::test]
async fn a_good_backend_ends_with_0_and_three_reports() {
    let address = backend::start(Fault::None).await;
    let files = Files::new(SETTINGS);
    let (json, junit) = (files.path("report.json"), files.path("report.xml"));
    let more = ["--profile", "token", "--profile", "batch", "--only", "S1,s2,B6", "--json", &json, "--junit", &junit];
    let output = checked(address, &files, &more).await;
    let (shown, progress) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{shown}{progress}");
    assert!(progress.contains("[1/3] S1 new key (token)"), "{progress}");
    assert!(!shown.contains('\x1b'), "no colours where there is no terminal");
    for line in shown.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(shown.contains("not tested: needs a client"), "{shown}");
    assert!(shown.contains("2 held, 0 failed"), "{shown}");

    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&report["verdict"], report["results"].as_array().unwrap().len()), (&"passed".into(), 3));
    assert_eq!(report["results"][0]["effects"]["grade"], "held");
    assert_eq!(report["results"][2]["effects"]["grade"], "not_tested");
    let cases = cases(Path::new(&junit));
    assert_eq!(cases.iter().map(|case| case.kind.as_str()).collect::<Vec<_>>(), ["", "", "skipped"]);
}

/// A case in a JUnit file.
#[derive(Debug, Default)]
struct Case {
    name: String,
    kind: String,
    message: String,
    output: String,
}

/// Reads the file as XML that must be well formed.
fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = true;
    let (mut cases, mut depth) = (Vec::<Case>::new(), 0_i32);
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                depth += i32::from(matches!(event, Event::Start(_)));
                let value = |name: &str| {
                    let found = tag.attributes().map(Result::unwrap).find(|found| found.key.as_ref() == name);
                    found
                        .map(|found| found.normalized_value(quick_xml::XmlVersion::Explicit1_0).unwrap().into_owned())
                        .unwrap_or_default()
                };
                match tag.name().as_ref() {
                    "testcase" => cases.push(Case { name: value("name"), ..Case::default() }),
                    "failure" | "skipped" => {
                        let case = cases.last_mut().unwrap();
                        case.kind = tag.name().as_ref().to_owned();
                        case.message = value("message");
                    }
                    _ => {}
                }
            }
            Event::Text(found) => {
                if let Some(case) = cases.last_mut() {
                    case.output.push_str(found);
                }
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    cases
}

#[tokio::test]
async fn a_broken_backend_ends_with_1_and_shows_why_but_no_token() {
    let address = backend::start(Fault::ValidationFirst).await;
    let files = Files::new(SETTINGS);
    let (json, junit) = (files.path("report.json"), files.path("report.xml"));
    let more = ["--profile", "ietf", "--only", "S1,S33,S23", "--json", &json, "--junit", &junit, "--quiet"];
    let output = checked(address, &files, &more).await;
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(output.stderr.is_empty());
    assert!(shown.contains("S33 (ietf), effect: replay that validation would refuse"), "{shown}");
    assert!(shown.contains("first: POST /api/invoices/ key ") && shown.contains("-> 400"), "{shown}");
    let cases = cases(Path::new(&junit));
    let failed = cases.iter().find(|case| case.name.starts_with("S33 ")).unwrap();
    assert_eq!(failed.kind, "failure");
    assert!(failed.message.contains("validated before the key is looked up"), "{failed:?}");
    assert!(failed.output.contains("no currency"), "the requests are in the output: {failed:?}");
    let all = format!("{shown}{}{}", std::fs::read_to_string(&json).unwrap(), std::fs::read_to_string(&junit).unwrap());
    assert!(!all.contains("token-of-one") && all.contains("S23"), "{all}");
}

#[tokio::test]
async fn statuses_alone_end_with_0_and_a_warning_or_with_1_where_one_is_strict() {
    let address = backend::start(Fault::OddStatuses).await;
    let files = Files::new(SETTINGS);
    let junit = files.path("report.xml");
    let more = ["--profile", "token", "--only", "S2,S10", "--quiet", "--junit", &junit];
    let output = checked(address, &files, &more).await;
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("WARNING"));
    assert!(cases(Path::new(&junit)).iter().all(|case| case.kind.is_empty()));
    let output = checked(address, &files, &[&more[..], &["--strict"]].concat()).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(cases(Path::new(&junit)).iter().all(|case| case.kind == "failure"));
}

#[tokio::test]
async fn nothing_tested_ends_with_1() {
    let address = backend::start(Fault::None).await;
    let files = Files::new("[auth]\nfirst = { Authorization = \"Bearer token-of-one\" }\n");
    let output = checked(address, &files, &["--profile", "ietf", "--quiet"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("Nothing was tested"));
}

#[tokio::test]
async fn what_cannot_be_asked_ends_with_2() {
    let address = backend::start(Fault::None).await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let files = Files::new(&SETTINGS.replacen("keys = \"uuid\"", "keys = \"uid\"", 1));
    let good = Files::new(SETTINGS);
    for (output, says) in [
        (command(&[]).await, "--base-url"),
        (command(&["--base-url", "http://127.0.0.1:1/"]).await, "--profile"),
        (command(&["--base-url", "http://127.0.0.1:1/", "--profile", "stripe"]).await, "stripe"),
        (command(&["--base-url", "ftp://a/", "--profile", "ietf"]).await, "http://"),
        (command(&["--base-url", "http://a/", "--profile", "ietf", "--config", "/none"]).await, "/none"),
        (checked(address, &files, &["--profile", "ietf"]).await, "resource[1].keys"),
        (checked(closed, &good, &["--profile", "ietf"]).await, "nothing answers at"),
        (checked(address, &good, &["--profile", "ietf", "--only", "S99"]).await, "no case \"S99\""),
        (checked(address, &good, &["--profile", "ietf", "--only", "S1", "--json", "/none/x"]).await, "/none/x"),
    ] {
        assert_eq!(output.status.code(), Some(2), "{says}");
        assert!(text(&output.stderr).contains(says), "{says}: {}", text(&output.stderr));
    }
}

#[tokio::test]
async fn the_example_can_be_printed_and_read() {
    let output = command(&["--print-config"]).await;
    assert_eq!(output.status.code(), Some(0));
    warifu_conformance::Config::parse(&text(&output.stdout), Path::new("printed.toml")).unwrap();
}

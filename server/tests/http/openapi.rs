//! The API's description: whole, and true of the running server.

use std::collections::BTreeSet;
use std::path::PathBuf;

use reqwest::Method;
use serde_json::{Value, json};
use warifu::wire::problem::code;
use warifu_server::resource::RESOURCES;

use crate::common::*;
use crate::place::Place;

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH];

async fn document(api: &Api) -> Value {
    let answer = api.with_token("").get("api/openapi.json").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    answer.json()
}

#[tokio::test]
async fn every_address_and_method_in_it_is_there_and_no_other_method_is() {
    let (_server, api) = in_memory().await;
    let document = document(&api).await;
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let paths = document["paths"].as_object().unwrap();
    for (path, operations) in paths {
        let address = path.trim_start_matches('/').replace("{memory_id}", "1").replace("{id}", "1");
        for method in METHODS {
            let answer = Answer::of(api.request(method.clone(), &address).send().await.unwrap()).await;
            let described = operations.get(method.as_str().to_lowercase());
            assert_eq!(answer.status != 405, described.is_some(), "{method} {path}: {}", answer.text);
            if let Some(operation) = described {
                let statuses = operation["responses"].as_object().unwrap();
                assert!(statuses.contains_key(&answer.status.to_string()), "{method} {path}: {}", answer.status);
            } else {
                let taken = answer.header("allow").to_owned();
                let all = operations.as_object().unwrap().keys().filter(|key| *key != "parameters");
                assert!(all.into_iter().all(|method| taken.contains(&method.to_uppercase())), "{path}: {taken}");
            }
        }
    }
}

#[tokio::test]
async fn every_route_of_the_server_is_in_it() {
    let (_server, api) = in_memory().await;
    let plain = |path: &str| path.trim_end_matches('/').replace("memory_id", "id");
    let document = document(&api).await;
    let described: BTreeSet<String> = document["paths"].as_object().unwrap().keys().map(|path| plain(path)).collect();
    assert_eq!(described, routes().iter().map(|path| plain(path)).collect());
}

/// The addresses as the server's own text has them, since a router does not tell its routes.
fn routes() -> Vec<String> {
    let mut routes = Vec::new();
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/api")).unwrap() {
        let file = file.unwrap().path();
        let prefix = if file.ends_with("health.rs") { "/health" } else { "/api" };
        for call in std::fs::read_to_string(&file).unwrap_or_default().split(".route(").skip(1) {
            let address = call.split(", ").next().unwrap();
            if let Some(address) = address.strip_prefix('"') {
                routes.push(format!("{prefix}{}", address.trim_end_matches('"')));
            } else {
                let address = address.replace("&collection", "{collection}").replace("{{id}}", "{id}");
                let address = address.trim_start_matches("&format!(\"").trim_end_matches("\")");
                assert!(address.starts_with("{collection}"), "an address that this test cannot read: {address}");
                let names = RESOURCES.iter().map(|resource| format!("/api/{}", resource.name));
                routes.extend(names.map(|name| address.replace("{collection}", &name)));
            }
        }
    }
    routes
}

#[test]
fn every_code_is_among_all_of_them() {
    let text = include_str!("../../../src/wire/problem.rs");
    let codes = text.lines().filter(|line| line.starts_with("    pub const ") && line.contains(": &str = "));
    let codes: BTreeSet<&str> = codes.filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(codes, code::ALL.into_iter().collect());
}

#[tokio::test]
async fn what_is_declared_elsewhere_is_in_it() {
    let (_server, api) = in_memory().await;
    let document = document(&api).await;
    assert_eq!(document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"], json!(code::ALL));
    let text = document.to_string();
    for resource in &RESOURCES {
        let create = &document["paths"][format!("/api/{}/", resource.name)]["post"];
        let schema = create["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
        let schema = document.pointer(schema.trim_start_matches('#')).unwrap();
        for field in resource.fields {
            assert!(schema["properties"].get(field.name).is_some(), "{}", field.name);
        }
    }
    // Nothing is referred to that is not there.
    for reference in text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing_on_sqlite() {
    schemathesis_finds_nothing_that_is_not_as_described(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing_on_postgres() {
    schemathesis_finds_nothing_that_is_not_as_described(Place::postgres()).await;
}

async fn schemathesis_finds_nothing_that_is_not_as_described(place: Place) {
    let python: PathBuf = std::env::var_os("WARIFU_PYTHON")
        .expect("WARIFU_PYTHON names a Python with schemathesis: run this through `cargo xtask test --only native`")
        .into();
    let (_server, api) = place.start().await;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/openapi");
    let output = tokio::process::Command::new(python.with_file_name("schemathesis"))
        .args(["--config-file", "schemathesis.toml", "run", "--checks", "all", "--no-color"])
        // A deleted memory is still read: as its tombstone. The file's own switch would lose to `--checks all`.
        .args(["--exclude-checks", "use_after_free"])
        .args(["--phases", "examples,coverage,fuzzing,stateful", "--header"])
        .arg(format!("Authorization: Bearer {TOKEN}"))
        .arg(format!("{}api/openapi.json", api.url))
        .current_dir(folder)
        .output()
        .await
        .unwrap();
    let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{shown}");
    println!("{shown}");
}

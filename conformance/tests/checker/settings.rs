//! Settings that are wrong, and where they say so.

use std::path::Path;

use warifu_conformance::config::EXAMPLE;
use warifu_conformance::{Config, ConfigError};

use crate::backend::SETTINGS;

fn refused(text: &str) -> ConfigError {
    Config::parse(text, Path::new("backend.toml")).unwrap_err()
}

#[test]
fn the_example_is_right_and_says_what_every_setting_is() {
    let config = Config::reference().unwrap();
    assert_eq!(config.resource.len(), 2);
    let hooks: String = EXAMPLE.lines().filter_map(|line| line.strip_prefix("# [hooks.")).collect();
    for hook in ["restart", "kill_before_commit", "fail_next", "drop_next", "slow_next", "move_clock", "reset"] {
        assert!(hooks.contains(hook), "{hook}");
    }
}

#[test]
fn a_wrong_setting_is_told_with_its_place() {
    let line_of = |text: &str, what: &str| text.lines().position(|line| line.contains(what)).unwrap() + 1;
    for (from, to, path, says) in [
        ("keys = \"uuid\"", "keys = \"uid\"", "resource[1].keys", "uuid"),
        ("refused_body =", "refuse_body =", "resource[0]", "refuse_body"),
        ("{marker}\",\"number\"", "{mark}\",\"number\"", "resource[0].body", "{mark}"),
        ("max_items = 10", "max_items = \"ten\"", "batch.max_items", "expected u32"),
        ("restart = { url", "restart = { uri", "hooks.restart", "uri"),
        ("[batch]", "[batch", "", ""),
    ] {
        let text = SETTINGS.replacen(from, to, 1);
        assert_ne!(text, SETTINGS, "{from}");
        let ConfigError::Syntax { file, line, path: at, message, column } = refused(&text) else { panic!("{to}") };
        assert_eq!(file, Path::new("backend.toml"));
        assert_eq!(line, line_of(&text, to), "{to}: {at}: {message}");
        assert!(column > 0);
        assert!(at.starts_with(path), "{to}: {at}");
        assert!(message.contains(says), "{to}: {message}");
        let whole = refused(&text).to_string();
        assert!(whole.starts_with(&format!("backend.toml:{line}:{column}: ")), "{whole}");
    }
}

#[test]
fn settings_that_do_not_fit_together_are_told_with_their_path() {
    for (from, to, path, says) in [
        ("resource = \"memories\"", "resource = \"memory\"", "batch.resource", "no [[resource]] named \"memory\""),
        ("name = \"memories\"", "name = \"invoices\"", "resource[1].name", "two resources"),
        ("path = \"/api/invoices/\"", "path = \"api/invoices/\"", "resource[0].path", "slash"),
        (
            "where = { body = \"{marker}\" }",
            "where = { title = \"{text}\" }",
            "resource[1].count.where.title",
            "{text}",
        ),
        ("\"currency\":\"EUR\"}'", "\"currency\":EUR}'", "resource[0].body", "no JSON"),
        ("path = \"/api/memories/\"", "path = \"/api/{id}/\"", "resource[1].path", "{id} means nothing here"),
        ("deadline_seconds = 5", "deadline_seconds = 0", "deadline_seconds", "deadline"),
        ("\"Bearer token-of-two\"", "\"Bearer ${WARIFU_NO_SUCH}\"", "auth.second.Authorization", "WARIFU_NO_SUCH"),
        ("{ Authorization = \"Bearer token-of-two\" }", "{ \"A b\" = \"x\" }", "auth.second", "no name of a header"),
    ] {
        let text = SETTINGS.replacen(from, to, 1);
        assert_ne!(text, SETTINGS, "{from}");
        let error = refused(&text);
        let ConfigError::Meaning { path: at, message, .. } = &error else { panic!("{to}: {error}") };
        assert_eq!(at, path, "{to}: {message}");
        assert!(message.contains(says), "{to}: {message}");
        assert!(error.to_string().contains(path) && error.to_string().starts_with("backend.toml: "));
    }
}

#[test]
fn counting_is_by_a_listing_or_a_command() {
    let count = |count: &str| {
        let text = format!(
            "auth.first = {{}}\n[[resource]]\nname = \"a\"\npath = \"/a\"\nbody = \"{{}}\"\n[resource.count]\n{count}\n"
        );
        Config::parse(&text, Path::new("backend.toml"))
    };
    count("command = \"psql -c '{n} {marker} {uuid}'\"").unwrap();
    count("path = \"/a\"\nwhere = { n = \"{n}\" }").unwrap();
    for (wrong, says) in [
        ("command = \"x\"\npath = \"/a\"", "either by a listing"),
        ("", "either by a listing"),
        ("path = \"/a\"", "`where`"),
        ("path = \"/a\"\nwhere = { n = \"{n}\" }\nnext_path = \"/a?{cursor}\"", "`next`"),
        ("command = \"x '{key}'\"", "WARIFU_KEY"),
    ] {
        let error = count(wrong).unwrap_err().to_string();
        assert!(error.contains(says), "{wrong}: {error}");
    }
}

#[test]
fn secrets_come_from_the_environment_and_stay_out_of_sight() {
    let path = std::env::var("PATH").unwrap();
    let text = SETTINGS.replacen("Bearer token-of-two", "Bearer ${PATH}!", 1);
    let config = Config::parse(&text, Path::new("backend.toml")).unwrap();
    let second = config.auth.second.as_ref().unwrap();
    assert_eq!(second.0["Authorization"], format!("Bearer {path}!"));
    assert!(!format!("{config:?}").contains("token-of-one"));
}

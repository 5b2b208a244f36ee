//! The page's files.

use std::fs;

use warifu_server::{Database, Running};

use crate::common::*;

async fn site() -> (tempfile::TempDir, Running, Api) {
    let folder = tempfile::tempdir().unwrap();
    let (www, pkg) = (folder.path().join("www"), folder.path().join("pkg"));
    for (path, text) in [
        (www.join("index.html"), "<!doctype html><p>が"),
        (www.join("app.js"), "export {}"),
        (www.join("style.css"), "p {}"),
        (www.join("icon.svg"), "<svg/>"),
        (www.join("strings.json"), "{}"),
        (www.join("app.webmanifest"), "{}"),
        (www.join(".secret"), "x"),
        (www.join("sub/index.html"), "sub"),
        (pkg.join("index.js"), "export {}"),
        (pkg.join("index.d.ts"), "export {}"),
        (pkg.join("generated/warifu_bg.wasm"), "\0asm"),
        (folder.path().join("outside.txt"), "outside"),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let server = builder(Database::memory()).www(www).pkg(pkg).start().await.unwrap();
    let api = Api::new(&server.url(), TOKEN);
    (folder, server, api)
}

#[tokio::test]
async fn files_have_the_types_that_browsers_insist_on() {
    let (_folder, _server, api) = site().await;
    for (path, media_type) in [
        ("", "text/html; charset=utf-8"),
        ("index.html", "text/html; charset=utf-8"),
        ("sub/", "text/html; charset=utf-8"),
        ("app.js", "text/javascript; charset=utf-8"),
        ("style.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
        ("strings.json", "application/json"),
        ("app.webmanifest", "application/manifest+json"),
        ("pkg/index.js", "text/javascript; charset=utf-8"),
        ("pkg/index.d.ts", "text/typescript; charset=utf-8"),
        ("pkg/generated/warifu_bg.wasm", "application/wasm"),
    ] {
        let answer = api.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, media_type), "{path}");
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
    assert_eq!(api.get("").await.text, "<!doctype html><p>が");
}

#[tokio::test]
async fn the_policy_lets_in_only_what_the_page_needs() {
    let (_folder, _server, api) = site().await;
    for path in ["", "pkg/index.js", "nothing", "api/capabilities"] {
        assert_eq!(
            api.get(path).await.header("content-security-policy"),
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
             connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_a_plain_404() {
    let (_folder, _server, api) = site().await;
    for path in
        ["nothing", "pkg/nothing.js", "pkg/", ".secret", "..%2foutside.txt", "pkg/..%2f..%2foutside.txt", "%2esecret"]
    {
        let answer = api.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
        assert!(answer.text.starts_with("<!doctype html>"), "{path}");
    }
    let (_server, bare) = in_memory().await;
    let answer = bare.get("").await;
    assert_eq!((answer.status, answer.header("content-type")), (404, "text/html; charset=utf-8"));
}

#[tokio::test]
async fn a_file_that_did_not_change_is_not_sent_again() {
    let (folder, _server, api) = site().await;
    let tag = api.get("app.js").await.header("etag").to_owned();
    let again = async || {
        let request = api.request(reqwest::Method::GET, "app.js").header("if-none-match", &tag);
        Answer::of(request.send().await.unwrap()).await
    };
    assert_eq!(again().await.status, 304);
    fs::write(folder.path().join("www/app.js"), "export const changed = 1;").unwrap();
    let changed = again().await;
    assert_eq!((changed.status, &*changed.text), (200, "export const changed = 1;"));
}

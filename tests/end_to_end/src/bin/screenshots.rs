//! `cargo xtask screenshots`: the real page in every combination that people may look at.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use warifu_end_to_end::{
    Backend, Browser,
    backend::{Fault, Seen, answer},
};

/// What is in the list: one synced, one that was refused, one that waits.
const MEMORIES: [(&str, &str); 3] =
    [("海", "夕方、二人で歩いた。"), (REFUSED, "長さが合わない題名。"), (UNANSWERED, "山の上から 👩‍👩‍👧‍👦 に手を振った。")];
const REFUSED: &str = "届いたけれど断られた思い出";
const UNANSWERED: &str = "まだ返事のない思い出";

const SHOWN: &str = "return document.querySelectorAll('#list > li').length === input || null";
const LISTED: Duration = Duration::from_secs(20);

/// Time for fonts, and for what the page shows after it is loaded.
const SETTLING: Duration = Duration::from_millis(800);

#[tokio::main]
async fn main() -> Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).context("usage: screenshots FOLDER")?.into();
    fs::create_dir_all(&folder)?;
    let backend = Backend::with_page().await?;
    backend.wire.plan(answer_each);
    let browser = Browser::fresh().await?;
    browser.goto(&backend.url("?lang=ja")).await?;
    for (title, body) in MEMORIES {
        browser.find("main#app:not([hidden]) #title").await?.send_keys(title).await?;
        browser.find("#body").await?.send_keys(body).await?;
        browser.find("#save").await?.click().await?;
        tokio::time::sleep(SETTLING).await;
    }
    for width in [360, 1280] {
        let size = json!({ "width": width, "height": 1200, "deviceScaleFactor": 2, "mobile": width < 600 });
        browser.devtools("Emulation.setDeviceMetricsOverride", size).await?;
        for scheme in ["light", "dark"] {
            let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            browser.devtools("Emulation.setEmulatedMedia", media).await?;
            for language in ["ja", "en"] {
                browser.goto(&backend.url(&format!("?lang={language}"))).await?;
                browser.until("the list to be there", LISTED, SHOWN, json!(MEMORIES.len())).await?;
                tokio::time::sleep(SETTLING).await;
                let name = format!("{width}-{scheme}-{language}.png");
                fs::write(folder.join(&name), picture(&browser).await?)?;
                println!("{name}");
            }
        }
    }
    Ok(())
}

fn answer_each(seen: &Seen) -> Fault {
    if seen.holds(UNANSWERED) {
        return Fault::DropAfter;
    }
    let Some((id, _)) = seen.items.iter().find(|_| seen.holds(REFUSED)) else { return Fault::Pass };
    let error = json!({ "code": "too_long", "detail": "The title is too long.", "field": "title" });
    let results = json!({ "results": [{ "clientMemoryId": id, "status": "rejected", "error": error }] });
    answer(200, &[("content-type", "application/json")], results.to_string()).unwrap_or(Fault::Pass)
}

/// The whole page, not only what fits into the window.
async fn picture(browser: &Browser) -> Result<Vec<u8>> {
    let made = browser.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await?;
    let text = made["data"].as_str().context("the browser gave no picture")?;
    Ok(BASE64_STANDARD.decode(text)?)
}

//! `cargo xtask screenshots`: the real page in every combination that people may look at.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use warifu_end_to_end::{Backend, Browser};

/// Time for fonts, and for what the page shows after it is loaded.
const SETTLING: Duration = Duration::from_millis(800);

#[tokio::main]
async fn main() -> Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).context("usage: screenshots FOLDER")?.into();
    fs::create_dir_all(&folder)?;
    let backend = Backend::with_page().await?;
    let browser = Browser::fresh().await?;
    for width in [360, 1280] {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 2, "mobile": width < 600 });
        browser.devtools("Emulation.setDeviceMetricsOverride", size).await?;
        for scheme in ["light", "dark"] {
            let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
            browser.devtools("Emulation.setEmulatedMedia", media).await?;
            for language in ["ja", "en"] {
                browser.goto(&backend.url(&format!("?lang={language}"))).await?;
                tokio::time::sleep(SETTLING).await;
                let name = format!("{width}-{scheme}-{language}.png");
                fs::write(folder.join(&name), picture(&browser).await?)?;
                println!("{name}");
            }
        }
    }
    Ok(())
}

/// The whole page, not only what fits into the window.
async fn picture(browser: &Browser) -> Result<Vec<u8>> {
    let made = browser.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": true })).await?;
    let text = made["data"].as_str().context("the browser gave no picture")?;
    Ok(BASE64_STANDARD.decode(text)?)
}

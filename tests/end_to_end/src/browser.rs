//! A Chromium of its own, driven through WebDriver.

use std::{fs, path::Path, sync::Arc, time::Duration};

use anyhow::{Context, Result, bail};
use fantoccini::{
    Client, ClientBuilder, Locator,
    elements::Element,
    wd::{TimeoutConfiguration, WebDriverCompatibleCommand, WindowHandle},
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    driver::{Driver, kill_browser},
    root,
    wait::until,
};

/// How long a script may run.
const SCRIPT_DEADLINE: Duration = Duration::from_secs(600);

/// How long an element may take to appear.
const FIND_DEADLINE: Duration = Duration::from_secs(20);

/// What a browser keeps on disk. It outlives the browser.
pub struct Profile {
    folder: TempDir,
}

impl Profile {
    /// An empty one.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn fresh() -> Result<Self> {
        Ok(Self { folder: tempfile::Builder::new().prefix("warifu-profile-").tempdir()? })
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }
}

/// A running browser with one WebDriver session.
pub struct Browser {
    /// For what the methods here do not cover.
    pub client: Client,
    driver: Driver,
    profile: Profile,
    _turn: OwnedSemaphorePermit,
}

impl Browser {
    /// A browser with an empty profile.
    ///
    /// # Errors
    /// When chromedriver or the browser does not start.
    pub async fn fresh() -> Result<Self> {
        Self::with(Profile::fresh()?).await
    }

    /// A browser with a profile that another one left.
    ///
    /// # Errors
    /// When chromedriver or the browser does not start.
    pub async fn with(profile: Profile) -> Result<Self> {
        let turn = turns().acquire_owned().await?;
        let driver = Driver::start(&profile.folder.path().join("chromedriver.log")).await?;
        let connector = hyper_util::client::legacy::connect::HttpConnector::new();
        let client = ClientBuilder::new(connector)
            .capabilities(capabilities(&profile.data())?)
            .connect(&format!("http://127.0.0.1:{}", driver.port))
            .await
            .context("the browser did not start")?;
        let limits = TimeoutConfiguration::new(Some(SCRIPT_DEADLINE), Some(Duration::from_secs(60)), None);
        client.update_timeouts(limits).await?;
        Ok(Self { client, driver, profile, _turn: turn })
    }

    /// Goes to a page and waits until it is loaded.
    ///
    /// # Errors
    /// When it does not load.
    pub async fn goto(&self, url: &str) -> Result<()> {
        self.client.goto(url).await.with_context(|| format!("going to {url}"))
    }

    /// Runs the body of an async function in the page; `input` is its one argument. What it throws is the error here, with
    /// what the page's console said.
    ///
    /// # Errors
    /// What the script throws.
    pub async fn run(&self, body: &str, input: Value) -> Result<Value> {
        let script = format!(
            "const [input, done] = arguments;
            (async () => {{ {body} }})().then(
              (value) => done({{ value: value ?? null }}),
              (error) => done({{ error: `${{error?.code ?? error?.name}}: ${{error?.message ?? error}}`, stack: String(error?.stack) }}),
            );"
        );
        let answer = self.client.execute_async(&script, vec![input]).await;
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(error) => bail!("{error}\nwhile running:\n{body}\n{}", self.console().await),
        };
        match answer.get("error") {
            None => Ok(answer["value"].take()),
            Some(error) => {
                bail!("the script threw {error}\n{}\nin:\n{body}\n{}", answer["stack"], self.console().await)
            }
        }
    }

    /// Runs a script again and again until it gives something true, and gives that.
    ///
    /// # Errors
    /// When the deadline passes; tells what it gave last and what the console said.
    pub async fn until(&self, what: &str, deadline: Duration, body: &str, input: Value) -> Result<Value> {
        let waited = until(what, deadline, || async {
            let value = self.run(body, input.clone()).await?;
            let yes = !matches!(value, Value::Null | Value::Bool(false));
            Ok(if yes { Ok(value) } else { Err(value) })
        });
        match waited.await {
            Ok(value) => Ok(value),
            Err(error) => bail!("{error:#}\n{}", self.console().await),
        }
    }

    /// An element, waited for.
    ///
    /// # Errors
    /// When it does not appear.
    pub async fn find(&self, css: &str) -> Result<Element> {
        let found = self.client.wait().at_most(FIND_DEADLINE).for_element(Locator::Css(css)).await;
        match found {
            Ok(element) => Ok(element),
            Err(error) => bail!("{css} did not appear: {error}\n{}", self.console().await),
        }
    }

    /// Opens another tab on a page and goes on there; gives its name. The tabs share one profile.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn tab(&self, url: &str) -> Result<WindowHandle> {
        let tab = self.client.new_window(true).await?.handle;
        self.switch(&tab).await?;
        self.goto(url).await?;
        Ok(tab)
    }

    /// The tab that scripts run in.
    ///
    /// # Errors
    /// When there is none.
    pub async fn here(&self) -> Result<WindowHandle> {
        Ok(self.client.window().await?)
    }

    /// Goes on in another tab.
    ///
    /// # Errors
    /// When there is no such tab.
    pub async fn switch(&self, tab: &WindowHandle) -> Result<()> {
        Ok(self.client.switch_to_window(tab.clone()).await?)
    }

    /// A command of the DevTools protocol.
    ///
    /// # Errors
    /// What the browser answers with.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        let body = json!({ "cmd": command, "params": parameters });
        let answer = self.client.issue_cmd(Extra { path: "goog/cdp/execute", body }).await;
        answer.with_context(|| format!("the DevTools command {command}"))
    }

    /// What the page's console said since it was last asked, and the errors that nobody caught.
    pub async fn console(&self) -> String {
        let body = json!({ "type": "browser" });
        let said = self.client.issue_cmd(Extra { path: "se/log", body }).await.unwrap_or_default();
        let lines = said.as_array().into_iter().flatten();
        let lines = lines.map(|line| format!("\n  {} {}", line["level"], line["message"]));
        let complaints = self.client.execute("return window.complaints ?? []", vec![]).await.unwrap_or_default();
        format!("the console: {}\n  uncaught: {complaints}", lines.collect::<String>())
    }

    /// Kills the browser and all its processes with SIGKILL: nothing is closed, nothing is flushed. What is on disk stays.
    ///
    /// # Errors
    /// When it does not run.
    pub fn kill(self) -> Result<Profile> {
        kill_browser(&self.profile.data())?;
        let Self { driver, profile, .. } = self;
        drop(driver);
        // The lock names a process that is gone; a browser would wait for it.
        for lock in ["SingletonLock", "SingletonSocket", "SingletonCookie"] {
            let _ = fs::remove_file(profile.data().join(lock));
        }
        Ok(profile)
    }

    /// Closes the browser in order.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn close(self) -> Result<Profile> {
        self.client.close().await?;
        Ok(self.profile)
    }
}

/// At most so many browsers at once: two processors carry no more.
fn turns() -> Arc<Semaphore> {
    static TURNS: std::sync::LazyLock<Arc<Semaphore>> = std::sync::LazyLock::new(|| Arc::new(Semaphore::new(2)));
    TURNS.clone()
}

fn capabilities(data: &Path) -> Result<Map<String, Value>> {
    let text = fs::read_to_string(root().join("webdriver.json")).context("reading webdriver.json")?;
    let mut all: Map<String, Value> = serde_json::from_str(&text)?;
    let arguments = all["goog:chromeOptions"]["args"].as_array_mut().context("webdriver.json has no args")?;
    arguments.push(format!("--user-data-dir={}", data.display()).into());
    arguments.push("--window-size=1280,900".into());
    // A tab in the background is otherwise slowed down to a turn a minute, and every test with two tabs with it.
    arguments.extend(["--disable-background-timer-throttling", "--disable-renderer-backgrounding"].map(Value::from));
    arguments.push("--disable-backgrounding-occluded-windows".into());
    all.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL" }));
    Ok(all)
}

/// A command that WebDriver itself does not know.
#[derive(Debug)]
struct Extra {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extra {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

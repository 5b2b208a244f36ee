//! Where the rows are, and who keeps them: `WARIFU_BACKEND` is `sqlite` (the default) or `postgres` for the reference
//! server on one of the two, or `django` for the example in `examples/django`.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use warifu_server::Database;
use warifu_test_postgres::Cluster;

use crate::backend::{FRESH_TOKEN, OWNER, PAGE_TOKEN, TOKEN};
use crate::root;
use crate::upstream::Upstream;

/// Gunicorn and Django take so long at most to start, on a loaded machine.
const START_WITHIN: Duration = Duration::from_secs(60);

/// What keeps the rows.
pub enum Store {
    /// A file.
    Sqlite(TempDir),
    /// A database's URL.
    Postgres(String),
    /// The Django example.
    Django(Django),
}

impl Store {
    /// A new one, as the environment says.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self> {
        match std::env::var("WARIFU_BACKEND").as_deref() {
            Err(_) | Ok("sqlite") => Ok(Self::Sqlite(tempfile::Builder::new().prefix("warifu-backend-").tempdir()?)),
            Ok("postgres") => Ok(Self::Postgres(Cluster::shared().database("backend")?)),
            Ok("django") => Ok(Self::Django(Django::new()?)),
            Ok(other) => bail!("WARIFU_BACKEND is sqlite, postgres or django, not {other:?}"),
        }
    }

    pub(crate) fn database(&self) -> Result<Database> {
        Ok(match self {
            Self::Sqlite(folder) => Database::path(folder.path().join("server.sqlite")),
            Self::Postgres(url) => Database::url(url)?,
            // The server in front only serves the pages.
            Self::Django(_) => Database::memory(),
        })
    }

    /// Starts what has a process of its own.
    pub(crate) async fn start(&mut self, origins: &[String]) -> Result<Option<Upstream>> {
        match self {
            Self::Django(django) => Ok(Some(Upstream::new(django.start(origins)?))),
            Self::Sqlite(_) | Self::Postgres(_) => Ok(None),
        }
    }

    /// Kills it again.
    pub(crate) fn stop(&mut self) {
        if let Self::Django(django) = self {
            django.stop();
        }
    }
}

/// The Django example, on a database of its own.
pub struct Django {
    python: PathBuf,
    database: String,
    master: Option<Child>,
}

impl Django {
    /// Its tables, an owner with two tokens, and the page's own with one.
    ///
    /// # Errors
    /// When Python or PostgreSQL is missing, or Django fails.
    pub fn new() -> Result<Self> {
        let python = std::env::var_os("WARIFU_PYTHON");
        let python = python.context("WARIFU_PYTHON names no Python with Django; `cargo xtask test` sets it")?;
        let django = Self { python: python.into(), database: Cluster::shared().database("django")?, master: None };
        let tokens = format!(
            "from promise.models import *; from promise.auth import digest; \
             owner = Account.objects.create(name='{OWNER}'); \
             [Token.objects.create(account=owner, digest=digest(token)) for token in ('{TOKEN}', '{FRESH_TOKEN}')]; \
             page = Account.objects.create(name='page'); \
             Token.objects.create(account=page, digest=digest('{PAGE_TOKEN}'))"
        );
        for arguments in [&["migrate", "--verbosity", "0"][..], &["shell", "--command", &tokens]] {
            let output = django.command().arg("manage.py").args(arguments).output()?;
            ensure!(output.status.success(), "manage.py: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(django)
    }

    /// One more token of an owner.
    ///
    /// # Errors
    /// When Django fails.
    pub fn add_token(&self, owner: &str) -> Result<String> {
        let output = self.command().stdout(Stdio::piped()).args(["manage.py", "add_token", owner]).output()?;
        ensure!(output.status.success(), "manage.py: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    /// The shell's line that runs a script on its database.
    #[must_use]
    pub fn script(&self, path: &Path) -> String {
        format!("DATABASE_URL='{}' '{}' '{}'", self.database, self.python.display(), path.display())
    }

    /// The process that watches over the workers.
    ///
    /// # Errors
    /// When it was not started.
    pub fn pid(&self) -> Result<u32> {
        self.master.as_ref().map(Child::id).context("it was not started")
    }

    /// Serves, on a new port each time.
    ///
    /// # Errors
    /// When it does not answer in time.
    pub fn start(&mut self, origins: &[String]) -> Result<SocketAddr> {
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let mut gunicorn = self.command();
        gunicorn.args(["-m", "gunicorn", "--workers", "2", "--threads", "4", "--log-level", "warning", "--bind"]);
        gunicorn.arg(address.to_string()).arg("backend.wsgi").env("ALLOWED_ORIGINS", origins.join(" "));
        self.master = Some(gunicorn.stderr(Stdio::null()).spawn().context("gunicorn did not start")?);
        let give_up = Instant::now() + START_WITHIN;
        while TcpStream::connect(address).is_err() {
            ensure!(Instant::now() < give_up, "gunicorn does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(address)
    }

    /// Kills it and its workers, whatever they are doing.
    pub fn stop(&mut self) {
        let Some(mut master) = self.master.take() else {
            return;
        };
        if let Ok(pid) = i32::try_from(master.id()) {
            let workers = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
            let workers = workers.split_whitespace().filter_map(|worker| worker.parse().ok());
            for process in std::iter::once(pid).chain(workers) {
                // It may be gone already.
                let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
            }
        }
        let _ = master.wait();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.current_dir(root().join("examples/django")).stdin(Stdio::null()).stdout(Stdio::null());
        command
            .env("DATABASE_URL", &self.database)
            .env("DATABASE_CONNECTIONS", "4")
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }
}

impl Drop for Django {
    fn drop(&mut self) {
        self.stop();
    }
}

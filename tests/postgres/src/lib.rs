//! A throw-away PostgreSQL cluster for tests: on a free local port, of its own user, gone with the process that started
//! it.

mod program;

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::{User, geteuid};

/// The role that owns the databases; not a superuser, as in the field.
pub const ROLE: &str = "warifu";

/// What a cluster is started with. Nothing here outlives a test, so nothing is flushed to disk.
const SETTINGS: [&str; 7] = [
    "fsync=off",
    "full_page_writes=off",
    "max_connections=300",
    "shared_buffers=64MB",
    "log_min_messages=warning",
    "log_line_prefix=%d ",
    "timezone=UTC",
];

/// Starting takes so long at most, on a loaded machine.
const START_WITHIN: Duration = Duration::from_secs(60);

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// No server programs on this machine.
    #[error("PostgreSQL's server is not installed. On Debian: apt-get install --yes postgresql")]
    NotInstalled,
    /// PostgreSQL does not run as root, and there is nobody else to run it.
    #[error("PostgreSQL does not run as root, and there is no user `postgres`")]
    NoUser,
    /// A program of PostgreSQL failed.
    #[error("{program} failed:\n{output}")]
    Program {
        /// Its name.
        program: String,
        /// What it said.
        output: String,
    },
    /// The machine refused something.
    #[error("{what}: {source}")]
    Machine {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    home: PathBuf,
    port: u16,
    databases: AtomicU32,
}

impl Cluster {
    /// The cluster of this process, started at the first call. It ends with the process, however that ends.
    ///
    /// # Panics
    /// When it cannot be started: a test has nothing to run on then.
    #[allow(clippy::panic)]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::start().unwrap_or_else(|error| panic!("{error}")))
    }

    /// Starts a cluster.
    ///
    /// # Errors
    /// When PostgreSQL is not there or does not start.
    pub fn start() -> Result<Self, ClusterError> {
        let parent = std::env::temp_dir().join("warifu-postgres");
        program::remove_left_over(&parent);
        let home = parent.join(format!("{}-{}", std::process::id(), next()));
        let machine = |what| move |source| ClusterError::Machine { what, source };
        fs::create_dir_all(&home).map_err(machine("could not make a folder"))?;
        if geteuid().is_root() {
            let user = User::from_name("postgres").ok().flatten().ok_or(ClusterError::NoUser)?;
            chown(&home, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
                .map_err(machine("could not give a folder away"))?;
        }
        let mut initdb = program::command("initdb")?;
        initdb.args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "-D"]);
        program::run(initdb.arg(home.join("data")))?;
        let port = free_port().map_err(machine("found no free port"))?;
        let cluster = Self { home, port, databases: AtomicU32::new(0) };
        cluster.serve()?;
        cluster.run("createuser", &["--no-superuser", "--createdb", ROLE])?;
        Ok(cluster)
    }

    /// A new, empty database, and its URL.
    ///
    /// # Errors
    /// When PostgreSQL refuses.
    pub fn database(&self, hint: &str) -> Result<String, ClusterError> {
        let plain: String = hint.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        let name = format!("{}_{}", plain.to_lowercase(), self.databases.fetch_add(1, Ordering::Relaxed));
        self.run("createdb", &["--owner", ROLE, "--strategy=wal_log", &name])?;
        Ok(format!("postgres://{ROLE}@127.0.0.1:{}/{name}", self.port))
    }

    /// The URL of a superuser for the same database.
    #[must_use]
    pub fn as_superuser(&self, url: &str) -> String {
        url.replacen(&format!("{ROLE}@"), "postgres@", 1)
    }

    /// Stops the server as a crash would; databases stay.
    ///
    /// # Errors
    /// When it does not stop.
    pub fn stop(&self) -> Result<(), ClusterError> {
        let mut command = program::command("pg_ctl")?;
        program::run(command.args(["stop", "--mode=immediate", "--wait", "-D"]).arg(self.data()))
    }

    /// Starts it again after [`Self::stop`].
    ///
    /// # Errors
    /// When it does not start.
    pub fn resume(&self) -> Result<(), ClusterError> {
        self.serve()
    }

    /// What the server writes to its log; every line begins with the name of the database.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn log(&self) -> io::Result<String> {
        fs::read(self.log_path()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.home.join("log")
    }

    /// Starts the server below a thread that lives as long as this process: the kernel ends it with that thread.
    fn serve(&self) -> Result<(), ClusterError> {
        let machine = |what| move |source| ClusterError::Machine { what, source };
        let log = fs::File::create(self.log_path()).map_err(machine("could not make the log"))?;
        let mut command = program::command("postgres")?;
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string()).arg("-k").arg(&self.home);
        command.args(["-h", "127.0.0.1"]);
        SETTINGS.iter().for_each(|setting| {
            command.args(["-c", setting]);
        });
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        thread::Builder::new()
            .name("postgres".to_owned())
            .spawn(move || command.spawn().and_then(|mut child| child.wait()))
            .map_err(machine("could not start a thread"))?;
        let give_up = Instant::now() + START_WITHIN;
        loop {
            match self.run("pg_isready", &[]) {
                Ok(()) => return Ok(()),
                Err(_) if Instant::now() < give_up => thread::sleep(Duration::from_millis(50)),
                Err(_) => {
                    let output = self.log().unwrap_or_default();
                    return Err(ClusterError::Program { program: "postgres".to_owned(), output });
                }
            }
        }
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), ClusterError> {
        let mut command: Command = program::command(program)?;
        command.args(["-h", "127.0.0.1", "-U", "postgres", "-p"]).arg(self.port.to_string()).args(arguments);
        program::run(&mut command)
    }
}

fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

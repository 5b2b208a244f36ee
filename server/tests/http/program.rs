//! The program as a process of its own.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// The program, not yet started.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warifu-server"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.env_remove("DATABASE_URL");
    command
}

/// A server that runs.
pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
}

impl Process {
    /// With everything logged.
    pub(crate) async fn start(database_url: &str, args: &[&str]) -> Self {
        Self::with_log(database_url, args, "trace").await
    }

    pub(crate) async fn with_log(database_url: &str, args: &[&str], log: &str) -> Self {
        let mut command = program();
        if !args.contains(&"--bind") {
            command.args(["--bind", "127.0.0.1:0"]);
        }
        command.args(args).env("DATABASE_URL", database_url).env("RUST_LOG", log);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the address").to_owned();
        Self { child, url }
    }

    /// SIGKILL, now.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Sends a signal and gives the exit code and the log.
    pub(crate) async fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().await.unwrap().success());
        let mut log = String::new();
        let reading = self.child.stderr.as_mut().unwrap().read_to_string(&mut log);
        tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it ends").unwrap();
        (self.child.wait().await.unwrap().code(), log)
    }
}

//! `warifu-server`: the reference backend on the command line.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, value_parser};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;
use warifu::id::Owner;
use warifu_server::repository::{StoreError, TokenHash};
use warifu_server::{Database, Limits, Server, new_token};

/// The reference backend of Warifu: one operation, one row.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: Serve,
}

#[derive(Subcommand)]
enum Command {
    /// Manage the bearer tokens that name an owner.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Give an owner one more token, and print it. It is stored hashed, so it is shown only this once.
    Add {
        /// The account whose rows the token opens.
        #[arg(long, value_parser = |text: &str| text.parse::<Owner>())]
        owner: Owner,
        #[command(flatten)]
        store: Store,
    },
}

/// Where the rows are kept.
#[derive(Args)]
struct Store {
    /// The SQLite file, made if it is not there; `:memory:` keeps nothing. Goes before DATABASE_URL.
    #[arg(long)]
    database: Option<PathBuf>,
    /// `postgres://…` or `sqlite:FILE`. Without it and without --database: warifu.sqlite.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// The most connections to PostgreSQL.
    #[arg(long, default_value_t = Database::CONNECTIONS, env = "DATABASE_CONNECTIONS", value_parser = value_parser!(u32).range(1..))]
    database_connections: u32,
}

impl Store {
    fn database(self) -> Result<Database, StoreError> {
        let database = match (self.database, self.database_url) {
            (Some(path), _) if path.as_os_str() == ":memory:" => Database::memory(),
            (Some(path), _) => Database::path(path),
            (None, Some(url)) => Database::url(&url)?,
            (None, None) => Database::path("warifu.sqlite"),
        };
        Ok(database.connections(self.database_connections))
    }
}

#[derive(Args)]
struct Serve {
    #[command(flatten)]
    store: Store,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8787")]
    bind: SocketAddr,
    /// The folder served at `/`.
    #[arg(long)]
    www: Option<PathBuf>,
    /// The folder served at `/pkg/`.
    #[arg(long)]
    pkg: Option<PathBuf>,
    /// One more origin whose pages may call the API, as `https://app.example`. May be given several times.
    #[arg(long)]
    allow_origin: Vec<String>,
    /// The most items in one batch.
    #[arg(long, default_value_t = Limits::default().max_items)]
    max_items: u32,
    /// The most bytes in one batch.
    #[arg(long, default_value_t = Limits::default().max_bytes)]
    max_bytes: u32,
    /// Owners to play with, whose tokens anyone gets, and switches that spoil the sync. Never on a public address.
    #[arg(long)]
    demo: bool,
    /// Write the log as JSON, one object a line.
    #[arg(long)]
    log_json: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::Token { command: TokenCommand::Add { owner, store } }) => add_token(&owner, store).await,
        None => serve(cli.serve).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("warifu-server: {}", with_reasons(&*error));
            ExitCode::FAILURE
        }
    }
}

/// An error and what is behind it, in one line.
fn with_reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut reason = error.source();
    while let Some(error) = reason {
        let error_text = error.to_string();
        // Some errors tell their reason themselves.
        if !text.ends_with(&error_text) {
            text = format!("{text}: {error_text}");
        }
        reason = error.source();
    }
    text
}

async fn add_token(owner: &Owner, store: Store) -> Result<(), Box<dyn std::error::Error>> {
    let token = new_token()?;
    let repository = store.database()?.open().await?;
    repository.add_token(owner, TokenHash::of(&token)).await?;
    repository.close().await;
    println!("{token}");
    Ok(())
}

async fn serve(args: Serve) -> Result<(), Box<dyn std::error::Error>> {
    start_log(args.log_json);
    let limits = Limits { max_items: args.max_items, max_bytes: args.max_bytes, ..Limits::default() };
    let mut builder = Server::builder().database(args.store.database()?).bind(args.bind).demo(args.demo).limits(limits);
    if let Some(www) = args.www {
        builder = builder.www(www);
    }
    if let Some(pkg) = args.pkg {
        builder = builder.pkg(pkg);
    }
    for origin in args.allow_origin {
        builder = builder.allow_origin(origin);
    }
    // Before the address is told, so that whoever waits for it can stop the server from then on.
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let server = builder.start().await?;
    println!("listening on {}", server.url());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopping");
    server.stop().await;
    Ok(())
}

fn start_log(json: bool) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    if json { log.json().init() } else { log.init() }
}

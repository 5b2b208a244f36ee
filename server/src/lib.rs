//! The reference backend of Warifu: one operation, one row.
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use warifu_server::{Database, Server};
//!
//! let server = Server::builder().database(Database::memory()).demo(true).start().await?;
//! println!("{}", server.url());
//! server.stop().await;
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api;
mod app;
mod auth;
mod body;
pub mod canonical;
mod clock;
mod demo;
pub mod fault;
mod item;
mod limits;
mod problem;
pub mod repository;
pub mod resource;
mod serve;
mod server;
mod statics;

pub use app::WEBVIEW_ORIGINS;
pub use auth::new_token;
pub use limits::Limits;
pub use repository::Database;
pub use server::{Builder, Running, Server, StartError};

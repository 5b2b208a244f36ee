//! Checks any HTTP backend against the contract: one operation, one row.
//!
//! ```no_run
//! # async fn check() -> Result<(), Box<dyn std::error::Error>> {
//! use warifu_conformance::{Config, Options, Profile, Target, check};
//!
//! let config = Config::load("backend.toml".as_ref())?;
//! let target = Target::new("http://127.0.0.1:8000/")?;
//! let options = Options { profiles: vec![Profile::Token, Profile::Batch], ..Options::default() };
//! let report = check(&target, &config, &options, |progress| eprintln!("{progress}")).await?;
//! anstream::print!("{}", warifu_conformance::table(&report));
//! # Ok(()) }
//! ```
//!
//! Effects (rows, ids, and that every operation comes to an end) are graded apart from statuses. What cannot be tried
//! for want of a setting is `not tested`, never passed.

mod batching;
mod bench;
pub mod cases;
pub mod config;
mod count;
mod grade;
mod hooks;
mod http;
mod json;
mod key;
mod record;
mod report;
mod run;

pub use config::{Config, ConfigError};
pub use http::{Target, TargetError};
pub use report::{CaseResult, Grade, Profile, Report, Shown, Verdict, junit, table};
pub use run::{CheckError, Options, Progress, check};

//! What can be wrong with a config file.

use std::path::PathBuf;

/// A config file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no TOML, or not what is expected there.
    #[error("{}:{line}:{column}: {}{message}", file.display(), place(path))]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Which setting, as `resource[0].body`; empty when it is not known.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// The settings do not fit together.
    #[error("{}: {}{message}", file.display(), place(path))]
    Meaning {
        /// The file.
        file: PathBuf,
        /// Which setting.
        path: String,
        /// What is wrong.
        message: String,
    },
}

fn place(path: &str) -> String {
    if path.is_empty() || path == "." { String::new() } else { format!("`{path}`: ") }
}

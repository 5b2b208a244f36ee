//! Where things are.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Cargo's target directory.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |set| root().join(set))
}

/// A file or directory of our own beside Cargo's.
pub(crate) fn work(name: &str) -> PathBuf {
    target().join("xtask").join(name)
}

/// The Cargo that started us, at the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

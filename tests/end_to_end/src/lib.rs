//! A real browser against the real server: what the scenarios in `tests/` are written with.
//!
//! [`Backend`] is the real server in this process; every request passes its [`backend::Wire`], which keeps the exact bytes and
//! does what the test's plan says. [`Browser`] is a Chromium of its own with a profile that outlives it, so that it can be
//! killed and opened again. [`Queue`] drives the package's public API inside a page.

pub mod backend;
pub mod browser;
mod driver;
pub mod queue;
pub mod site;
pub mod store;
mod upstream;
pub mod wait;

pub use backend::Backend;
pub use browser::{Browser, Profile};
pub use queue::Queue;
pub use site::Site;

/// The root of the repository.
#[must_use]
pub fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether the full figures are asked for (`cargo xtask test --long`).
#[must_use]
pub fn long() -> bool {
    std::env::var_os("WARIFU_LONG").is_some()
}

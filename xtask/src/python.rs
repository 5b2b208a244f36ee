//! A Python of our own, with what the tests in that language need.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};

use crate::{
    process::{self, Log},
    project, setup,
};

/// What is installed, from the root of the repository.
const REQUIREMENTS: [&str; 2] = ["examples/django/requirements.txt", "tests/openapi/requirements.txt"];

/// Where its interpreter is, once it was made.
pub(crate) fn interpreter() -> PathBuf {
    home().join("bin/python")
}

/// Makes it, or makes it anew where what it needs has changed.
pub(crate) fn make() -> Result<()> {
    let mut wanted = String::new();
    for file in REQUIREMENTS {
        wanted += &fs::read_to_string(project::root().join(file)).with_context(|| file.to_owned())?;
    }
    let stamp = home().join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    println!("making a Python environment in {} …", home().display());
    let python = system()?;
    let log = Log::create(project::work("logs").join("python.log"))?;
    if home().exists() {
        fs::remove_dir_all(home())?;
    }
    if process::run(Command::new(python).args(["-m", "venv"]).arg(home()), &log).is_err() {
        // Debian keeps that part apart.
        setup::debian("Python's venv", &["python3-venv"], "Install it with your Python")?;
        process::run(Command::new(python).args(["-m", "venv"]).arg(home()), &log).with_context(|| log.tail())?;
    }
    let mut pip = Command::new(interpreter());
    pip.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]).current_dir(project::root());
    for file in REQUIREMENTS {
        pip.args(["--requirement", file]);
    }
    process::run(&mut pip, &log).with_context(|| log.tail())?;
    fs::write(stamp, wanted)?;
    Ok(())
}

fn home() -> PathBuf {
    project::work("python")
}

fn system() -> Result<&'static str> {
    if process::output("python3", &["--version"]).is_none() {
        setup::debian("Python", &["python3", "python3-venv"], "Get 3.10 or newer from https://www.python.org")?;
    }
    let recent = "import sys; print(sys.version_info >= (3, 10))";
    if process::output("python3", &["-c", recent]).as_deref() != Some("True") {
        bail!("Python 3.10 or newer is needed, from https://www.python.org");
    }
    Ok("python3")
}

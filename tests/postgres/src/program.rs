//! PostgreSQL's programs: where they are, and running them as somebody they accept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::kill;
use nix::unistd::{Pid, geteuid};

use crate::ClusterError;

/// A program of PostgreSQL that ends with the thread that starts it, run as `postgres` where we are root.
pub(crate) fn command(name: &str) -> Result<Command, ClusterError> {
    let path = find(name).ok_or(ClusterError::NotInstalled)?;
    let mut command = Command::new("setpriv");
    if geteuid().is_root() {
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
    }
    command.args(["--pdeathsig", "INT", "--"]).arg(path).current_dir("/");
    Ok(command)
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), ClusterError> {
    let name = command.get_args().find_map(|argument| {
        let path = Path::new(argument);
        path.is_absolute().then(|| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
    });
    let failed = |output: String| ClusterError::Program { program: name.clone().unwrap_or_default(), output };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()))
}

/// Removes the folders of clusters whose process is gone.
pub(crate) fn remove_left_over(parent: &Path) {
    let Ok(folders) = fs::read_dir(parent) else {
        return;
    };
    for folder in folders.flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let process = name.split('-').next().and_then(|pid| pid.parse().ok());
        if process.is_some_and(|pid| kill(Pid::from_raw(pid), None).is_err()) {
            // Another process may be removing it too.
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// On the PATH, or where Debian keeps it, the newest version first.
fn find(name: &str) -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()));
    // Debian's wrappers of the clients look for clusters that it manages itself.
    let mut debian: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|version| {
            Some((version.file_name().to_str()?.parse().ok()?, version.path().join("bin").join(name)))
        })
        .filter(|(_, file)| file.is_file())
        .collect();
    debian.sort();
    debian.pop().map(|(_, file)| file).or(on_path)
}

//! `warifu-test-postgres COMMAND…`: runs a command with `DATABASE_URL` set to a new database of a cluster that ends
//! with it.

use std::process::{Command, ExitCode};

use warifu_test_postgres::Cluster;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(program) = arguments.next() else {
        eprintln!("Usage: warifu-test-postgres COMMAND [ARGUMENTS]…");
        return ExitCode::from(2);
    };
    let url = match Cluster::start().and_then(|cluster| cluster.database("test")) {
        Ok(url) => url,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    match Command::new(&program).args(arguments).env("DATABASE_URL", url).status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("{}: {error}", program.to_string_lossy());
            ExitCode::from(2)
        }
    }
}

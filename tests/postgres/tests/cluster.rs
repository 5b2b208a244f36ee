//! The cluster runs, makes databases, and leaves nothing behind.

#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use warifu_test_postgres::Cluster;

fn ask(url: &str, sql: &str) -> String {
    let output = Command::new("psql").args([url, "-XAtc", sql]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn each_database_is_new_and_belongs_to_a_plain_role() {
    let cluster = Cluster::shared();
    let (one, other) = (cluster.database("same name!").unwrap(), cluster.database("same name!").unwrap());
    assert_ne!(one, other);
    ask(&one, "CREATE TABLE t (n int)");
    assert_eq!(ask(&other, "SELECT count(*) FROM pg_tables WHERE tablename = 't'"), "0");
    assert_eq!(ask(&one, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), "f");
    assert_eq!(ask(&cluster.as_superuser(&one), "SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), "t");
}

#[test]
fn it_ends_with_the_process_that_started_it_however_that_ends() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_warifu-test-postgres"))
        .args(["sh", "-c", "echo $DATABASE_URL; exec sleep 60"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut url).unwrap();
    assert_eq!(ask(url.trim(), "SELECT 1"), "1");
    child.kill().unwrap();
    child.wait().unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while Command::new("psql").args([url.trim(), "-XAtc", "SELECT 1"]).output().unwrap().status.success() {
        assert!(Instant::now() < give_up, "it still runs");
        thread::sleep(Duration::from_millis(50));
    }
}

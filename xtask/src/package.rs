//! The npm package: the core compiled, its bindings, and the files that the hand-written entry imports.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

use crate::{
    process::{self, Log},
    project, setup,
    steps::Steps,
};

const HELP: &str = "\
Make the npm package in pkg/ complete, so that `npm pack ./pkg` can take it

Usage: cargo xtask pkg [--no-opt]

  --no-opt   Leave out wasm-opt (and with it the need for Node): faster, and about a tenth larger

Written by hand in pkg/: package.template.json, README.md, index.js, index.d.ts. Made here: package.json, the licences, and
generated/. Prints the size of each file: raw, gzip, brotli.

`wasm-pack build` works by itself, too: it puts bare bindings for bundlers beside these files and replaces package.json
by its own. Nothing that is kept in git is touched, and this command makes ours again.";

/// The pinned optimizer, from npm's `binaryen`.
const WASM_OPT: &str = "xtask/wasm-opt";

/// What WebAssembly features rustc uses by default; browsers have had them all since 2022.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

#[derive(Clone, Copy, Hash, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Quick to make: not run through wasm-opt.
    Demo,
    /// What is published.
    Release,
}

pub(crate) fn run(mut arguments: lexopt::Parser) -> Result<bool> {
    let mut kind = Kind::Release;
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => {
                println!("{HELP}");
                return Ok(true);
            }
            Long("no-opt") => kind = Kind::Demo,
            other => bail!("{}\n\n{HELP}", other.unexpected()),
        }
    }
    let steps = Steps::new("pkg", 2);
    steps.run("checking the tools", |_| {
        setup::rust()?;
        if kind == Kind::Release { setup::node() } else { Ok(()) }
    })?;
    steps.run("building the package", |log| build(log, kind))?;
    print!("\n{}", sizes()?);
    Ok(true)
}

/// Makes `pkg/` complete. Does nothing that was done before for the same core.
pub(crate) fn build(log: &Log, kind: Kind) -> Result<()> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--package", "warifu", "--lib", "--release", "--target", "wasm32-unknown-unknown"]);
    process::run(&mut cargo, log)?;
    let mut cargo = project::cargo();
    cargo.args(["build", "--package", "warifu-bindgen", "--bin", "warifu-bindgen"]);
    process::run(&mut cargo, log)?;

    let wasm = project::target().join("wasm32-unknown-unknown/release/warifu.wasm");
    let generated = project::root().join("pkg/generated");
    let stamp = stamp(&wasm, kind)?;
    let stamp_file = generated.join(".stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        log.line("pkg/generated is up to date");
    } else {
        generate(log, &wasm, &generated, kind)?;
        fs::write(stamp_file, stamp)?;
    }
    write_manifest()?;
    copy_licences()
}

/// The sizes of what is published.
pub(crate) fn sizes() -> Result<String> {
    let folder = project::root().join("pkg");
    let files = ["generated/warifu_bg.wasm", "generated/wasm.js", "generated/warifu_bindgen.js", "index.js"];
    let present = files.iter().map(|file| folder.join(file)).filter(|file| file.is_file());
    let made = bindgen().arg("sizes").args(present).output()?;
    Ok(String::from_utf8_lossy(&made.stdout).into_owned())
}

fn generate(log: &Log, wasm: &Path, generated: &Path, kind: Kind) -> Result<()> {
    // Built beside and swapped in, so that a page being served never sees half of it.
    let fresh = project::work("generated");
    remove(&fresh)?;
    fs::create_dir_all(&fresh)?;
    process::run(bindgen().arg("generate").arg(wasm).arg(&fresh), log)?;
    let module = fresh.join("warifu_bg.wasm");
    if kind == Kind::Release {
        optimize(log, &module)?;
    }
    process::run(bindgen().arg("embed").arg(&module).arg(fresh.join("wasm.js")), log)?;
    remove(generated)?;
    copy(&fresh, generated)
}

fn optimize(log: &Log, module: &Path) -> Result<()> {
    let home = project::root().join(".cache/wasm-opt");
    fs::create_dir_all(&home)?;
    let pinned = project::root().join(WASM_OPT);
    let lock = fs::read(pinned.join("package-lock.json")).context("reading the pinned version of binaryen")?;
    let tool = home.join("node_modules/binaryen/bin/wasm-opt");
    if !tool.is_file() || fs::read(home.join("package-lock.json")).is_ok_and(|old| old != lock) {
        fs::copy(pinned.join("package.json"), home.join("package.json"))?;
        fs::write(home.join("package-lock.json"), lock)?;
        process::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&home), log)?;
    }
    let mut node = Command::new("node");
    node.arg(tool).arg("-Oz").args(FEATURES).arg(module).arg("-o").arg(module);
    process::run(&mut node, log)
}

fn bindgen() -> Command {
    let mut command = Command::new(project::target().join("debug").join("warifu-bindgen"));
    command.current_dir(project::root());
    command
}

fn stamp(wasm: &Path, kind: Kind) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    fs::read(wasm).with_context(|| format!("reading {}", wasm.display()))?.hash(&mut hasher);
    fs::read(project::root().join("Cargo.lock"))?.hash(&mut hasher);
    fs::read(bindgen().get_program())?.hash(&mut hasher);
    kind.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

/// `wasm-pack build` deletes pkg/package.json and writes its own, so ours is made from a file that it leaves alone.
fn write_manifest() -> Result<()> {
    let folder = project::root().join("pkg");
    let template =
        fs::read_to_string(folder.join("package.template.json")).context("reading pkg/package.template.json")?;
    let marker = "\"version\": \"0.0.0\"";
    if !template.contains(marker) {
        bail!("pkg/package.template.json has to say {marker}: Cargo.toml's version takes its place");
    }
    let manifest = template.replace(marker, &format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")));
    write_if_changed(&folder.join("package.json"), manifest.as_bytes())?;
    // wasm-pack's `*` would hide new files of ours from git.
    let ignore = folder.join(".gitignore");
    if fs::read_to_string(&ignore).is_ok_and(|text| text.trim() == "*") {
        fs::remove_file(ignore)?;
    }
    Ok(())
}

fn copy_licences() -> Result<()> {
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        write_if_changed(&project::root().join("pkg").join(licence), &fs::read(project::root().join(licence))?)?;
    }
    Ok(())
}

fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

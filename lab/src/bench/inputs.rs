//! The benchmark's recordings, created once in `bench-data`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use xtask::command;

/// Names of the inputs, in the order of the report.
pub(super) const NAMES: &[&str] =
    &["cargo-build", "cxx-compile", "cxx-templates", "search", "system-wide"];

/// Sampling frequency of the shorter recordings, per second and processor.
const FREQUENT: u32 = 997;

/// Parameters for a missing input.
pub(super) struct Making {
    /// Minimum size of the cargo build's recording, in MB.
    pub(super) size: u64,
    /// Initial sampling frequency of that recording, per second and processor.
    pub(super) frequency: u32,
}

/// Returns the recording of that name; records it if it does not exist.
pub(super) fn get(name: &str, data: &Path, making: &Making) -> Result<PathBuf> {
    std::fs::create_dir_all(data)?;
    let file = data.join(format!("{name}.perfdata"));
    if file.is_file() {
        return Ok(file);
    }
    match name {
        "cargo-build" => cargo_build(data, &file, making)?,
        "cxx-compile" => record(&file, FREQUENT, &cxx(data)?)?,
        // These take a few seconds: a higher frequency gives a hundred megabytes.
        "cxx-templates" => record(&file, 3 * FREQUENT, &templates(data)?)?,
        "search" => record(&file, 3 * FREQUENT, &search(data)?)?,
        "system-wide" => system_wide(data, &file, FREQUENT)?,
        _ => bail!("no input {name}; there are: {}", NAMES.join(" ")),
    }
    Ok(file)
}

/// Records a command with `perf record`. The file gets its name only after success.
fn record(file: &Path, frequency: u32, program: &Command) -> Result<()> {
    record_with(&[], file, frequency, program)
}

fn record_with(options: &[&str], file: &Path, frequency: u32, program: &Command) -> Result<()> {
    let part = file.with_extension("part");
    let mut perf = Command::new("perf");
    perf.args([
        "record",
        "--quiet",
        "-e",
        "cpu-clock",
        "--call-graph",
        "dwarf",
        "-F",
        &frequency.to_string(),
    ]);
    perf.args(options)
        .arg("-o")
        .arg(&part)
        .arg("--")
        .arg(program.get_program())
        .args(program.get_args());
    perf.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdout(std::process::Stdio::null());
    if let Some(dir) = program.get_current_dir() {
        perf.current_dir(dir);
    }
    command::run(&mut perf)?;
    std::fs::rename(&part, file)?;
    Ok(())
}

/// Records a build of a package with all its dependencies into an empty folder, at a frequency that gives the wanted
/// size.
///
/// OpenSSL, built from source, is one of the dependencies. It adds thousands of short processes of a handful of
/// programs (make, the shell, the parts of the C compiler) to the long ones of rustc.
fn cargo_build(data: &Path, file: &Path, making: &Making) -> Result<()> {
    let package = data.join("cargo-build");
    std::fs::create_dir_all(package.join("src"))?;
    std::fs::write(package.join("Cargo.toml"), PACKAGE)?;
    std::fs::write(package.join("src/main.rs"), "fn main() {}\n")?;
    let mut frequency = making.frequency;
    for _ in 0..4 {
        let target = package.join("target");
        if target.exists() {
            std::fs::remove_dir_all(&target)?;
        }
        let mut cargo = command::words("cargo build --release --quiet");
        record(file, frequency, cargo.env("CARGO_TARGET_DIR", &target).current_dir(&package))?;
        let size = std::fs::metadata(file)?.len() / 1_000_000;
        eprintln!("  {size} MB at {frequency} Hz");
        if size >= making.size {
            return Ok(());
        }
        // 10 % more, because the size is not exactly proportional to the frequency.
        let wanted = u64::from(frequency) * making.size * 11 / (size.max(1) * 10);
        frequency = u32::try_from(wanted.min(20_000))?;
    }
    bail!("{} stays smaller than {} MB", file.display(), making.size)
}

/// The package for the recording of a build.
const PACKAGE: &str = r#"[package]
name = "cargo-build"
version = "0.0.0"
edition = "2021"

[dependencies]
clap = { version = "4", features = ["derive"] }
openssl = { version = "0.10", features = ["vendored"] }
regex = "1"
serde = { version = "1", features = ["derive"] }

[workspace]
"#;

/// A C++ program full of templates.
fn templates_source() -> PathBuf {
    command::root().join("testdata/programs/templates.cpp")
}

/// Returns the run of that program on a long text: regular expressions, deeply inlined.
fn templates(data: &Path) -> Result<Command> {
    let program = data.join("templates");
    let mut compiler = command::words("g++ -std=c++17 -O2 -g");
    command::run(compiler.arg(templates_source()).arg("-o").arg(&program))?;
    let mut run = Command::new(program);
    // 64 rounds through a text of 126 kB take some seconds.
    run.args(["some-1 words-22 of-333 a text-4444 ", "3600", "64"]);
    Ok(run)
}

/// Returns the command that compiles it.
fn cxx(data: &Path) -> Result<Command> {
    let source = templates_source();
    let mut compiler = command::words("g++ -std=c++17 -O2 -g -c");
    compiler.arg(source).arg("-o").arg(data.join("templates.o"));
    Ok(compiler)
}

/// Returns a Rust program with full debug information that searches a large tree with two threads.
fn search(data: &Path) -> Result<Command> {
    let program = data.join("rg/bin/rg");
    if !program.is_file() {
        let mut install = command::words("cargo install ripgrep --locked --root");
        install
            .arg(data.join("rg"))
            .env("CARGO_PROFILE_RELEASE_DEBUG", "2")
            .env("CARGO_PROFILE_RELEASE_STRIP", "none");
        command::run(&mut install)?;
    }
    let mut search = Command::new(program);
    search.args([
        "--threads",
        "2",
        "--no-ignore",
        "--count-matches",
        r"(\w+)\s*\(\s*\w+[,)].*[aeiou]{3}",
    ]);
    for place in [cargo_home().join("registry"), sysroot()?] {
        if place.is_dir() {
            search.arg(place);
        }
    }
    Ok(search)
}

/// Records the complete system while a compile and a search run in parallel.
fn system_wide(data: &Path, file: &Path, frequency: u32) -> Result<()> {
    let (compile, search) = (cxx(data)?, search(data)?);
    let line = format!("({}) & ({}) & wait", command::show(&compile), command::show(&search));
    record_with(&["-a"], file, frequency, Command::new("sh").args(["-c", &line]))
}

fn cargo_home() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}

fn sysroot() -> Result<PathBuf> {
    let text = command::quiet_output(&mut command::words("rustc --print sysroot"))
        .context("the toolchain's folder")?;
    Ok(PathBuf::from(text.trim()))
}

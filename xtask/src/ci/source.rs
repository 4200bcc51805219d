//! Checks of the source: formatting, lints, documentation, conventions, the oldest compiler, tests.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::{Outcome, lab, passes, succeeds, task};
use crate::{api, command, machine};

/// Checks the formatting, also of the fuzz targets, which are a separate workspace.
pub(super) fn formatting(root: &Path) -> Result<Outcome> {
    passes("cargo fmt --all --check", root)?;
    passes("cargo fmt --all --check", &root.join("fuzz"))
}

/// Runs the lints, also for the fuzz targets: these are a separate workspace, and would otherwise first be compiled for
/// a run. The expansion of their macro calls methods that the product may not.
pub(super) fn lints(root: &Path) -> Result<Outcome> {
    passes("cargo clippy --quiet --workspace --all-targets -- -D warnings", root)?;
    let mut fuzz = command::words("cargo clippy --quiet --all-targets --");
    fuzz.args(["-D", "warnings", "-A", "clippy::disallowed_methods"]);
    // The target folder of the workspace, for shared dependencies.
    fuzz.env("CARGO_TARGET_DIR", std::path::absolute(command::target())?);
    command::run(fuzz.current_dir(root.join("fuzz")))?;
    Ok(Outcome::Passed)
}

/// Checks the command without features, and with each one alone: code of one feature must not be needed by the rest.
pub(super) fn features(root: &Path) -> Result<Outcome> {
    for features in
        ["", "arrow", "debuginfod", "flamegraph", "mcp", "parquet", "service", "tui", "urls"]
    {
        let check = "cargo clippy --quiet -p unwind-perf --no-default-features";
        passes(&format!("{check} --features={features} -- -D warnings"), root)?;
    }
    Ok(Outcome::Passed)
}

pub(super) fn documentation(root: &Path) -> Result<Outcome> {
    let mut doc = command::words("cargo doc --quiet --workspace --no-deps");
    command::run(doc.env("RUSTDOCFLAGS", "-Dwarnings").current_dir(root))?;
    Ok(Outcome::Passed)
}

/// Checks spelling with typos, if it is installed.
pub(super) fn spelling(root: &Path) -> Result<Outcome> {
    let installed = command::target().join("typos/bin/typos");
    let program = if installed.exists() { std::path::absolute(installed)? } else { "typos".into() };
    if !succeeds(Command::new(&program).arg("--version")) {
        return Ok(Outcome::Skipped("typos is not installed (pip install typos)".to_owned()));
    }
    command::run(Command::new(program).args(["--format", "brief"]).current_dir(root))?;
    Ok(Outcome::Passed)
}

/// Checks the lists of public items. They need the JSON of the compiler for which the reader was made.
pub(super) fn public_api(root: &Path) -> Result<Outcome> {
    match api::differences(root) {
        Ok(differing) if differing.is_empty() => Ok(Outcome::Passed),
        Ok(differing) => bail!("{}\n`cargo xtask api` writes the lists", differing.join("\n")),
        Err(error) => Ok(Outcome::Skipped(format!("{error:#}"))),
    }
}

pub(super) fn conventions(root: &Path) -> Result<Outcome> {
    command::run(&mut task(&["tidy"], root)?)?;
    Ok(Outcome::Passed)
}

/// Checks with the compiler of `rust-version`, if it is installed. Lints respect that version as well
/// (`incompatible_msrv`).
pub(super) fn oldest_compiler(root: &Path) -> Result<Outcome> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let Some(version) = stated_version(&manifest) else { bail!("no rust-version in Cargo.toml") };
    let cargo = format!("cargo +{version}");
    if !succeeds(command::words(&format!("{cargo} --version")).current_dir(root)) {
        return Ok(Outcome::Skipped(format!("rustup has no toolchain {version}")));
    }
    let mut check = command::words(&format!("{cargo} check --quiet --workspace --locked"));
    // A separate folder, so that builds of other compilers stay.
    check.env("CARGO_TARGET_DIR", command::target().join("oldest-compiler"));
    command::run(check.current_dir(root))?;
    Ok(Outcome::Passed)
}

/// Parses the version: `rust-version = "1.88"` gives `1.88`.
fn stated_version(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""))?;
    line.strip_suffix('"')
}

/// Runs the tests of `lab`, which those of the workspace omit.
pub(super) fn lab_tests(root: &Path) -> Result<Outcome> {
    passes("cargo test --quiet --package lab --bin lab", root)
}

/// Returns the command that builds the program.
pub(super) fn release_build(root: &Path) -> Command {
    let mut build = command::words("cargo build --quiet --release");
    build.current_dir(root);
    build
}

/// Checks C++ names against `llvm-cxxfilt`.
pub(super) fn names(root: &Path) -> Result<Outcome> {
    if machine::cxxfilt().is_none() {
        return Ok(Outcome::Skipped(
            "no llvm-cxxfilt that is new enough (package llvm-19)".to_owned(),
        ));
    }
    command::run(&mut lab(&["names"], root)?)?;
    Ok(Outcome::Passed)
}

pub(super) fn tests(root: &Path) -> Result<Outcome> {
    passes("cargo test --workspace", root)?;
    // The feature has 57 more dependencies, which other tests do not need.
    passes("cargo test -p unwind-perf-fleet --features urls", root)
}

#[cfg(test)]
mod tests {
    use super::stated_version;

    #[test]
    fn the_stated_version_is_found() {
        assert_eq!(stated_version("edition = \"2024\"\nrust-version = \"1.88\"\n"), Some("1.88"));
        assert_eq!(stated_version("rust-version.workspace = true\n"), None);
    }
}

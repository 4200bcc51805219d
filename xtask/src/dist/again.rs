//! `cargo xtask dist --again`: the packages of the same commit, built once more in another folder. They must be equal.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{emptied, settings::Settings};
use crate::command;

/// Folders of tools below the target folder, which both builds share.
const TOOLS: [&str; 2] = ["wheel-tools", "cargo-deb"];

/// Builds the commit in a clone, and compares the checksums with those of the packages.
pub(super) fn compare(named: &[String], settings: &Settings, packages: &Path) -> Result<()> {
    let target = std::path::absolute(command::target())?;
    let clone = target.join("again");
    emptied(&clone)?;
    let mut git = command::words("git clone --quiet");
    command::run(git.arg(command::root()).arg(&clone))?;
    let other = clone.join("target");
    std::fs::create_dir_all(&other)?;
    for tools in TOOLS {
        if target.join(tools).exists() {
            std::os::unix::fs::symlink(target.join(tools), other.join(tools))?;
        }
    }
    let mut dist = Command::new(std::env::current_exe()?);
    dist.arg("dist").args(named).args(["--profile", &settings.profile]).current_dir(&clone);
    dist.args(settings.has_recorder.then_some("--recorder"));
    dist.env_remove("CARGO_MANIFEST_DIR").env("CARGO_TARGET_DIR", &other);
    command::run(&mut dist)?;
    let read = |folder: &Path| {
        let path = folder.join("SHA256SUMS");
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    };
    let (first, second) = (read(packages)?, read(&other.join("dist/packages"))?);
    let differing: Vec<&str> =
        second.lines().filter(|sum| !first.lines().any(|it| it == *sum)).collect();
    if first.lines().count() != second.lines().count() || !differing.is_empty() {
        bail!("packages that are not equal in {}:\n{}", clone.display(), differing.join("\n"));
    }
    println!("{} packages are equal in two folders", first.lines().count());
    Ok(())
}

//! The source package for Python's registry, which builds with `--locked`: distributions and conda build so.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::settings::Settings;
use super::tools::Maturin;
use super::{emptied, only};
use crate::command;

/// Packs it. maturin leaves out members of the workspace that the program does not need, but not their packages in
/// `Cargo.lock`, which cargo then refuses to leave as it is.
pub(super) fn build(maturin: &Maturin, settings: &Settings, packages: &Path) -> Result<PathBuf> {
    let staging = std::path::absolute(command::target().join("dist/sdist"))?;
    emptied(&staging)?;
    let mut pack = maturin.sdist(&super::wheel::folder());
    command::run(settings.apply(pack.arg("--out").arg(&staging)))?;
    let packed = only(&staging, "gz")?;
    command::run(command::words("tar -xf").arg(&packed).arg("-C").arg(&staging))?;
    let name = command::file_name(&packed);
    let name = name.strip_suffix(".tar.gz").context("the name of the sdist")?;
    let folder = staging.join(name);
    let metadata = |lock: &str| {
        let mut cargo = command::words("cargo metadata --format-version 1 --offline --quiet");
        cargo.args(lock.split_whitespace());
        cargo.current_dir(&folder);
        command::quiet_output(&mut cargo)
    };
    let before = locked(&folder)?;
    metadata("")?;
    metadata("--locked").context("the sdist does not build with --locked")?;
    let after = locked(&folder)?;
    let added: Vec<&String> = after.iter().filter(|it| !before.contains(it)).collect();
    ensure!(added.is_empty(), "packages of the sdist that Cargo.lock does not have: {added:?}");
    archive(settings, &staging, name, packages)
}

/// Returns names and versions in the lock file.
fn locked(folder: &Path) -> Result<Vec<String>> {
    let lock = std::fs::read_to_string(folder.join("Cargo.lock")).context("Cargo.lock of sdist")?;
    let mut lines = lock.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line.starts_with("name = ") {
            found.push(format!("{line} {}", lines.next().unwrap_or_default()));
        }
    }
    Ok(found)
}

/// Packs the folder again, in the form of [`super::tarball`].
fn archive(settings: &Settings, staging: &Path, name: &str, packages: &Path) -> Result<PathBuf> {
    let plain = staging.join(format!("{name}.tar"));
    let mut tar = Command::new("tar");
    // PEP 625 requires the form of POSIX.
    tar.args(["--create", "--format=posix", "--pax-option=delete=atime,delete=ctime"]);
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u=rwX,go=rX", "--mtime"]).arg(format!("@{}", settings.epoch()));
    tar.arg("--file").arg(&plain);
    command::run(tar.arg("--directory").arg(staging).arg(name))?;
    command::run(command::words("gzip --best --no-name --force").arg(&plain))?;
    let packed = packages.join(format!("{name}.tar.gz"));
    std::fs::rename(staging.join(format!("{name}.tar.gz")), &packed)?;
    Ok(packed)
}

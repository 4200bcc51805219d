//! Archives of the static program, with its manual page, completions and licences; for systems without packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::settings::Settings;
use super::tools::Maturin;
use super::{PRINTED, emptied, tools};
use crate::command;

/// Files of the repository in an archive.
const FILES: [&str; 5] = [
    "README.md",
    "docs/CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "crates/unwind-perf/THIRD-PARTY-LICENSES.txt",
];

/// Returns the target of the static program of a processor.
fn triple(processor: &str) -> String {
    format!("{processor}-unknown-linux-musl")
}

/// Builds the static program of a processor and packs it. Returns `None`, with a line that says so, if the standard
/// library of the target cannot be had.
pub(super) fn build(
    maturin: &Maturin,
    settings: &Settings,
    processor: &str,
    printed: &Path,
    packages: &Path,
) -> Result<Option<PathBuf>> {
    let triple = triple(processor);
    tools::standard_library(&triple);
    if !tools::has_standard_library(&triple) {
        println!("skipped: no standard library for {triple}");
        return Ok(None);
    }
    let mut zig = maturin.zigbuild()?;
    zig.args(["--locked", "--package", "unwind-perf", "--profile", &settings.profile]);
    zig.args(["--target", &triple]).current_dir(command::root());
    command::run(settings.apply(&mut zig))?;
    let program = command::target().join(&triple).join(&settings.profile).join("unwind-perf");
    pack(settings, &program, &triple, printed, packages).map(Some)
}

/// Packs a program under the name that `cargo binstall` expects (crates/unwind-perf/Cargo.toml).
fn pack(
    settings: &Settings,
    program: &Path,
    triple: &str,
    printed: &Path,
    packages: &Path,
) -> Result<PathBuf> {
    let name = format!("unwind-perf-{}-{triple}", super::version()?);
    let staging = std::path::absolute(command::target().join("dist/tarballs"))?;
    let folder = staging.join(&name);
    emptied(&folder)?;
    let copy = |from: &Path| {
        std::fs::copy(from, folder.join(command::file_name(from)))
            .with_context(|| from.display().to_string())
    };
    copy(program)?;
    for file in FILES {
        copy(&command::root().join(file))?;
    }
    for (file, _) in PRINTED {
        copy(&printed.join(file))?;
    }
    for other in ["hotspot-perfparser", "perf_to_profile"] {
        std::os::unix::fs::symlink("unwind-perf", folder.join(other))?;
    }
    archive(settings, &staging, &name, packages)
}

/// Archives a folder: entries in order, owned by nobody, of the time of the commit.
fn archive(settings: &Settings, staging: &Path, name: &str, packages: &Path) -> Result<PathBuf> {
    let plain = staging.join(format!("{name}.tar"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0"]);
    tar.args(["--numeric-owner", "--mode=u=rwX,go=rX", "--mtime"]);
    tar.arg(format!("@{}", settings.epoch())).arg("--file").arg(&plain);
    command::run(tar.arg("--directory").arg(staging).arg(name))?;
    command::run(command::words("xz --force --threads=1 -9").arg(&plain))?;
    let packed = packages.join(format!("{name}.tar.xz"));
    std::fs::rename(staging.join(format!("{name}.tar.xz")), &packed)?;
    Ok(packed)
}

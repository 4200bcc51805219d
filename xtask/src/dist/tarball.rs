//! Archives of the static program, with its manual page, completions and licences; for systems without packages.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::settings::Settings;
use super::wheel::{Builder, OTHER_NAMES};
use super::{PRINTED, check, emptied, tools};
use crate::command;

/// Files of the repository in an archive.
pub(super) const FILES: [&str; 5] = [
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

/// Builds the static program of a processor and returns its path. Prints a line and returns `None` if the standard
/// library of the target is missing.
pub(super) fn program(builder: &Builder<'_>) -> Result<Option<PathBuf>> {
    let (settings, triple) = (builder.settings, triple(builder.processor));
    tools::standard_library(&triple);
    if !tools::has_standard_library(&triple) {
        println!("skipped: no standard library for {triple}");
        return Ok(None);
    }
    let mut zig = builder.maturin.zigbuild()?;
    zig.args(["--locked", "--package", "unwind-perf", "--profile", &settings.profile]);
    zig.args(["--target", &triple]).current_dir(command::root());
    command::run(settings.apply(&mut zig))?;
    Ok(Some(command::target().join(&triple).join(settings.folder()).join("unwind-perf")))
}

/// Packs a static program and runs it.
pub(super) fn pack(
    builder: &Builder<'_>,
    program: &Path,
    printed: &Path,
    packages: &Path,
) -> Result<()> {
    let triple = triple(builder.processor);
    let folder = staged(program, &triple, printed)?;
    let scratch = command::target().join("dist").join(format!("try-{triple}"));
    check::archive(&folder, builder.processor, &scratch)?;
    archive(builder.settings, &folder, packages)
}

/// Copies a program and its files into a folder with the name that `cargo binstall` expects
/// (crates/unwind-perf/Cargo.toml).
fn staged(program: &Path, triple: &str, printed: &Path) -> Result<PathBuf> {
    let name = format!("unwind-perf-{}-{triple}", super::version()?);
    let folder = std::path::absolute(command::target().join("dist/tarballs").join(name))?;
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
    for other in OTHER_NAMES {
        std::os::unix::fs::symlink("unwind-perf", folder.join(other))?;
    }
    Ok(folder)
}

/// Archives a folder: entries in order, owned by nobody, of the time of the commit.
fn archive(settings: &Settings, folder: &Path, packages: &Path) -> Result<()> {
    let (staging, name) = (folder.parent().context("a folder")?, command::file_name(folder));
    let plain = packages.join(format!("{name}.tar"));
    let mut tar = settings.tar(&plain, staging);
    command::run(tar.args(["--create", "--mode=u=rwX,go=rX"]).arg(name))?;
    command::run(command::words("xz --force --threads=1 -9").arg(&plain))
}

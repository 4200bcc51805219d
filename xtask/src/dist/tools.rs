//! The packing tools: from the search path, or installed below the target folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;

/// The packer of wheels, and the linker and C compiler for both processors and other C libraries.
const WHEEL_TOOLS: &[&str] = &["maturin>=1.16,<2", "ziglang==0.17.1", "cargo-zigbuild>=0.22,<1"];

/// Returns the path of cargo-deb.
pub(super) fn cargo_deb() -> Result<PathBuf> {
    let root = command::target().join("cargo-deb");
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&search).chain([root.join("bin")]);
    let mut places = folders.map(|folder| folder.join("cargo-deb"));
    if let Some(path) = places.find(|path| path.is_file()) {
        return Ok(path);
    }
    let mut install = command::words("cargo install cargo-deb@3.8.0 --quiet --locked --root");
    command::run(install.arg(&root))?;
    Ok(root.join("bin/cargo-deb"))
}

/// maturin with zig, in a separate environment.
pub(super) struct Maturin {
    bin: PathBuf,
}

impl Maturin {
    /// Installs them if they are missing.
    pub(super) fn get() -> Result<Self> {
        // Not `maturin`: that is a folder of maturin itself.
        let root = std::path::absolute(command::target().join("wheel-tools"))?;
        let bin = root.join("bin");
        let has_zig = || {
            let mut zig = Command::new(bin.join("python"));
            command::quiet_output(zig.args(["-m", "ziglang", "version"])).is_ok()
        };
        let programs = ["maturin", "cargo-zigbuild"].map(|name| bin.join(name));
        if !(programs.iter().all(|program| program.is_file()) && has_zig()) {
            command::run(command::words("python3 -m venv").arg(&root))?;
            let mut install = Command::new(bin.join("pip"));
            command::run(install.args(["install", "--quiet"]).args(WHEEL_TOOLS))?;
        }
        Ok(Self { bin })
    }

    /// Returns `maturin build` in a folder.
    pub(super) fn build(&self, folder: &Path) -> Result<Command> {
        let mut build = Command::new(self.bin.join("maturin"));
        build.arg("build").env("PATH", self.path()?).current_dir(folder);
        Ok(build)
    }

    /// Returns `maturin sdist` in a folder.
    pub(super) fn sdist(&self, folder: &Path) -> Command {
        let mut sdist = Command::new(self.bin.join("maturin"));
        sdist.arg("sdist").current_dir(folder);
        sdist
    }

    /// Returns `cargo zigbuild`, which builds for another C library.
    pub(super) fn zigbuild(&self) -> Result<Command> {
        let mut build = Command::new(self.bin.join("cargo-zigbuild"));
        build.arg("zigbuild").env("PATH", self.path()?);
        Ok(build)
    }

    /// Returns the search path; zig is found by the first Python on it.
    fn path(&self) -> Result<OsString> {
        let search = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&search));
        std::env::join_paths(folders).context("the search path")
    }
}

/// Returns true if the compiler has the standard library for a target.
pub(super) fn has_standard_library(triple: &str) -> bool {
    let mut rustc = command::words("rustc --print target-libdir --target");
    command::quiet_output(rustc.arg(triple)).is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// Installs the standard library for a target by rustup; without rustup the compiler has to have it.
pub(super) fn standard_library(triple: &str) {
    if let Err(error) = command::run(command::words("rustup target add").arg(triple)) {
        eprintln!("{error:#}");
    }
}

//! The packing tools: from the search path, or installed below the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command;

/// The packer of wheels, and the linker and C compiler for both processors and an old C library.
const WHEEL_TOOLS: &[&str] = &["maturin>=1.16,<2", "ziglang==0.17.1"];

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
        if !(bin.join("maturin").is_file() && has_zig()) {
            command::run(command::words("python3 -m venv").arg(&root))?;
            let mut install = Command::new(bin.join("pip"));
            command::run(install.args(["install", "--quiet"]).args(WHEEL_TOOLS))?;
        }
        Ok(Self { bin })
    }

    /// Returns `maturin build` in a folder; it finds zig by the first Python of the search path.
    pub(super) fn build(&self, folder: &Path) -> Result<Command> {
        let search = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&search));
        let path = std::env::join_paths(folders).context("the search path")?;
        let mut build = Command::new(self.bin.join("maturin"));
        build.arg("build").env("PATH", path).current_dir(folder);
        Ok(build)
    }
}

/// Installs the standard library for a target by rustup; without rustup the compiler has to have it.
pub(super) fn standard_library(triple: &str) {
    if let Err(error) = command::run(command::words("rustup target add").arg(triple)) {
        eprintln!("{error:#}");
    }
}

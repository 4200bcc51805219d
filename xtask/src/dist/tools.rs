//! The tools that pack: from the search path, or installed below the target folder.

use std::path::PathBuf;

use anyhow::Result;

use crate::command;

/// cargo-deb.
pub(super) fn cargo_deb() -> Result<PathBuf> {
    let root = command::target().join("cargo-deb");
    if let Some(path) = found("cargo-deb", &root) {
        return Ok(path);
    }
    let mut install = command::words("cargo install cargo-deb@3.8.0 --quiet --locked --root");
    command::run(install.arg(&root))?;
    Ok(root.join("bin/cargo-deb"))
}

/// maturin, in an environment of its own.
pub(super) fn maturin() -> Result<PathBuf> {
    let root = command::target().join("maturin");
    if let Some(path) = found("maturin", &root) {
        return Ok(path);
    }
    command::run(command::words("python3 -m venv").arg(&root))?;
    let mut install = std::process::Command::new(root.join("bin/pip"));
    command::run(install.args(["install", "--quiet", "maturin>=1.16,<2"]))?;
    Ok(root.join("bin/maturin"))
}

fn found(name: &str, root: &std::path::Path) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&search).chain([root.join("bin")]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

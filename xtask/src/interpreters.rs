//! The Pythons of this machine: on the search path, and those that pyenv has built.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;

/// The minor versions that the package is for, as far as there are any.
const VERSIONS: std::ops::RangeInclusive<u32> = 9..=20;

/// Python by its minor version, the oldest first; only those of different versions, and only those that make
/// environments.
pub fn interpreters() -> Vec<(u32, PathBuf)> {
    let named = VERSIONS.map(|minor| format!("python3.{minor}")).chain(["python3".to_owned()]);
    let candidates = named.map(PathBuf::from).chain(built());
    let mut found: Vec<(u32, PathBuf)> =
        candidates.filter_map(|path| Some((version(&path)?, path))).collect();
    found.retain(|(minor, _)| VERSIONS.contains(minor));
    // What is on the search path comes first among those of a version.
    found.sort_by_key(|(minor, _)| *minor);
    found.dedup_by_key(|(minor, _)| *minor);
    found
}

/// What pyenv has built: its commands on the search path run one version, the others lie in its folder.
fn built() -> Vec<PathBuf> {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv"));
    let Some(root) = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home) else {
        return Vec::new();
    };
    let versions = std::fs::read_dir(root.join("versions"));
    let mut paths: Vec<PathBuf> = versions
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/python3"))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn version(python: &Path) -> Option<u32> {
    let mut print = Command::new(python);
    print.args(["-c", "import sys, venv; print(sys.version_info[1] * (sys.version_info[0] == 3))"]);
    command::quiet_output(&mut print).ok()?.trim().parse().ok()
}

//! The packages that are linked into the program: names and versions by `cargo tree`, details by `cargo metadata`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command;

/// Systems that packages are made for.
const TARGETS: [&str; 3] =
    ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-unknown-linux-musl"];

/// Start of the names of the project's own packages.
const OWN: &str = "unwind-perf";

/// A package of a registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// SPDX expression.
    pub(crate) license: Option<String>,
    /// Address of its repository.
    pub(crate) repository: Option<String>,
    manifest_path: PathBuf,
}

impl Package {
    /// Returns its folder on this machine.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }

    /// Returns its name and version.
    pub(crate) fn id(&self) -> (&str, &str) {
        (&self.name, &self.version)
    }
}

/// Returns the packages of others that are linked into the program with all features, by name and version. Procedural
/// macros and build scripts only run at compile time and are left out.
pub(crate) fn linked(root: &Path) -> Result<Vec<Package>> {
    let mut tree = command::words("cargo tree --locked --package unwind-perf --all-features");
    tree.args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    let mut metadata = command::words("cargo metadata --locked --format-version 1 --all-features");
    for target in TARGETS {
        tree.args(["--target", target]);
        metadata.args(["--filter-platform", target]);
    }
    let tree = command::quiet_output(tree.current_dir(root))?;
    let metadata = command::quiet_output(metadata.current_dir(root))?;
    let linked = names(&tree);
    let mut found = packages(&metadata)?;
    found.retain(|it| linked.contains(&it.id()) && !it.name.starts_with(OWN));
    found.sort();
    Ok(found)
}

/// Returns names and versions of lines such as `zstd v0.14.0 (*)`.
fn names(tree: &str) -> BTreeSet<(&str, &str)> {
    let name = |line| {
        let (name, rest) = str::split_once(line, " v")?;
        Some((name, rest.split(' ').next()?))
    };
    tree.lines().filter_map(name).collect()
}

/// Reads the packages of cargo's metadata.
fn packages(metadata: &str) -> Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Package>,
    }
    let metadata: Metadata = serde_json::from_str(metadata).context("cargo's metadata")?;
    Ok(metadata.packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_tree_are_read() {
        let tree = "unwind-perf v0.1.0 (/a b/c)\nzstd v0.14.0\nzstd v0.14.0 (*)\n";
        let expected = [("unwind-perf", "0.1.0"), ("zstd", "0.14.0")];
        assert_eq!(names(tree).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn packages_of_the_metadata_are_read() {
        let text = r#"{"packages": [{"name": "a", "version": "1.0.0", "license": "MIT",
            "repository": null, "manifest_path": "/x/a/Cargo.toml", "id": "a"}]}"#;
        let found = packages(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id(), ("a", "1.0.0"));
        assert_eq!(found[0].folder(), Path::new("/x/a"));
    }
}

//! Texts that `cargo about` does not collect: notices of the Apache License, and licences of sources in other languages
//! inside a package.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::notice::Text;
use crate::packages::Package;

/// Licences that are not used, because the same source is offered under another one: path inside the package.
const NOT_USED: &[(&str, &str)] = &[("zstd-sys", "zstd/COPYING")];

/// Maximum depth of folders in a package.
const DEPTH: usize = 4;

/// Returns the texts; packages with equal ones share them.
pub(super) fn texts(packages: &[Package]) -> Result<Vec<Text>> {
    let mut texts: Vec<Text> = Vec::new();
    for package in packages {
        let mut files = Vec::new();
        walk(package.folder(), Path::new(""), 0, &mut files)?;
        files.sort();
        for file in files.iter().filter(|file| is_used(package, file)) {
            let path = package.folder().join(file);
            let text =
                std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let user = format!("{} {}", package.name, package.version);
            match texts.iter_mut().find(|it| it.text == text) {
                Some(known) => known.used_by.push(user),
                None => texts.push(Text {
                    title: file.display().to_string(),
                    text,
                    used_by: vec![user],
                }),
            }
        }
    }
    Ok(texts)
}

/// Returns true for notices, and for licences in folders.
fn is_used(package: &Package, file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_inside = file.parent().is_some_and(|folder| folder != Path::new(""));
    let is_text = !name.ends_with(".rs") && !name.ends_with(".py");
    let is_license = ["license", "licence", "copying"].iter().any(|start| name.starts_with(start));
    let is_unused =
        NOT_USED.iter().any(|&(of, path)| of == package.name && Path::new(path) == file);
    is_text && !is_unused && (name.starts_with("notice") || is_inside && is_license)
}

/// Lists the files of a package, except those of tests.
fn walk(root: &Path, folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        let path = folder.join(&name);
        let kind = entry.file_type()?;
        let is_test = ["tests", "benches", "examples"].iter().any(|test| name == *test);
        if kind.is_dir() && !is_test && depth < DEPTH {
            walk(root, &path, depth + 1, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_and_licences_in_folders_are_used() {
        let text = r#"{"name": "zstd-sys", "version": "1.0.0", "license": null, "repository": null, "manifest_path": "x"}"#;
        let package: Package = serde_json::from_str(text).unwrap();
        let used = |path: &str| is_used(&package, Path::new(path));
        assert!(used("NOTICE.txt") && used("zstd/LICENSE") && used("a/b/COPYING"));
        assert!(!used("LICENSE") && !used("zstd/COPYING") && !used("src/license.rs"));
    }
}

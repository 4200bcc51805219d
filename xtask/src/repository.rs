//! The files of this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command;

/// Returns tracked files and untracked ones that are not ignored, relative to the root.
/// In a copy without history, returns the existing files.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let Ok(listing) = command::quiet_output(&mut git) else {
        let mut found = Vec::new();
        walk(root, Path::new(""), &mut found)?;
        return Ok(found);
    };
    let paths = listing.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    Ok(paths.filter(|path| root.join(path).is_file()).collect())
}

/// Finds the files below a folder, except built and measured ones.
fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        let kind = entry.file_type()?;
        let made = ["target", "bench-data", ".git"].iter().any(|made| path.ends_with(made));
        if kind.is_dir() && !made {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

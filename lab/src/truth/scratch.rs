//! A folder for files, removed at the end.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder for files, removed at the end.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder.
    pub(super) fn new() -> Result<Self> {
        let name = format!("unwind-perf-truth-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

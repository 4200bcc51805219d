//! A temporary folder, removed at the end.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A temporary folder, removed when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder.
    pub(super) fn new() -> Result<Self> {
        let name = format!("unwind-perf-truth-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    /// Path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files that cannot be removed stay in the system's temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

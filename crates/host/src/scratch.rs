//! A folder for what is unpacked: nobody had it before, and it goes with its value.
#![allow(clippy::disallowed_methods, reason = "folders are made here, for everything else")]

use std::io;
use std::path::{Path, PathBuf};

/// A fresh folder of the real machine, removed with all that is in it when this value is dropped.
#[derive(Debug)]
pub struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Makes a folder below `parent`.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn below(parent: &Path) -> io::Result<Self> {
        const ATTEMPTS: u32 = 1000;
        for attempt in 0..ATTEMPTS {
            let path = parent.join(format!("unwind-perf-{}-{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // What cannot be removed is left to whatever cleans the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_fresh_and_go() {
        let first = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let second = ScratchDir::below(&std::env::temp_dir()).expect("another");
        assert_ne!(first.path(), second.path());
        std::fs::write(first.path().join("file"), b"x").expect("a file");
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists() && second.path().is_dir());
    }
}

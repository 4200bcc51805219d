//! A folder for what is unpacked: nobody had it before, and it goes with its value.
#![allow(clippy::disallowed_methods, reason = "folders are made here, for everything else")]

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use crate::writing::temporaries::{Temporary, random_name};

/// A fresh folder of the real machine that only this user can enter, removed with all that is in it when this value is
/// dropped.
#[derive(Debug)]
pub struct ScratchDir(Temporary);

impl ScratchDir {
    /// Makes a folder below `parent`.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn below(parent: &Path) -> io::Result<Self> {
        const ATTEMPTS: u32 = 16;
        for _ in 0..ATTEMPTS {
            let create = |path: &Path| DirBuilder::new().mode(0o700).create(path);
            match Temporary::file(parent.join(random_name("unwind-perf-")), create) {
                Ok((temporary, ())) => return Ok(Self(temporary)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
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

//! A file for others to find, such as a download in a cache.
#![allow(clippy::disallowed_methods, reason = "files are written here, for libraries")]

use std::fs::File;
use std::io;
use std::path::Path;

/// Writes a file of the real machine beside its place, with the folders that lead there, and renames it, so that nobody
/// ever sees a part of it. Where `write` fails, nothing is left and what was there stays.
///
/// # Errors
/// What `write` returns, and where the file cannot be made.
pub fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    std::fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("{}.part", std::process::id()));
    let written = File::create(&temporary)
        .and_then(|mut file| write(&mut file))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing more can be done about a file that cannot be removed either.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::ScratchDir;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let path = dir.path().join("a/b/file");
        replace_file(&path, |file| file.write_all(b"first")).expect("written");
        let failed = replace_file(&path, |file| {
            file.write_all(b"sec")?;
            Err(io::Error::from(io::ErrorKind::Interrupted))
        });
        assert_eq!(failed.expect_err("broken off").kind(), io::ErrorKind::Interrupted);
        assert_eq!(std::fs::read(&path).expect("the first"), b"first");
        let names = std::fs::read_dir(dir.path().join("a/b")).expect("a folder");
        assert_eq!(names.count(), 1);
    }
}

//! Files of one recording in turn, named by their start: `perf.data.20261128T020000Z`. The oldest are removed if they
//! exceed a number or a size.
#![allow(
    clippy::disallowed_methods,
    reason = "recordings are created here, and removed as the user asked"
)]

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, Utc};

/// Maximum number of files with the same time in their names.
const SAME_TIME: u32 = 1000;

/// Rules for the files of a recording.
#[derive(Clone, Debug)]
pub(super) struct RotationRules {
    /// Time until the next file begins.
    pub(super) every: Duration,
    /// Maximum number of files, at least one; `None` for no limit.
    pub(super) keep: Option<usize>,
    /// Maximum bytes of all files; `None` for no limit.
    pub(super) most: Option<u64>,
}

/// The files so far.
#[derive(Debug)]
pub(super) struct RotatedFiles {
    /// Path before the time.
    stem: PathBuf,
    rules: RotationRules,
    /// Complete files with their sizes, oldest first.
    complete: VecDeque<(PathBuf, u64)>,
    current: PathBuf,
    begun: Instant,
}

impl RotatedFiles {
    /// Creates the first file.
    pub(super) fn new(stem: &Path, rules: RotationRules) -> io::Result<(Self, File)> {
        let (current, file) = new_file_at(stem, SystemTime::now())?;
        let (complete, begun) = (VecDeque::new(), Instant::now());
        let stem = stem.to_owned();
        Ok((Self { stem, rules, complete, current, begun }, file))
    }

    /// Path of the file that is being written.
    pub(super) fn current(&self) -> &Path {
        &self.current
    }

    /// Returns true if the next file is due.
    pub(super) fn is_due(&self) -> bool {
        self.begun.elapsed() >= self.rules.every
    }

    /// Creates the next file. The current one gets `len` bytes.
    pub(super) fn next(&mut self, len: u64) -> io::Result<File> {
        let (path, file) = new_file_at(&self.stem, SystemTime::now())?;
        self.complete.push_back((std::mem::replace(&mut self.current, path), len));
        self.begun = Instant::now();
        Ok(file)
    }

    /// Removes all files.
    pub(super) fn discard(&mut self) {
        let complete = self.complete.drain(..).map(|(path, _)| path);
        for path in complete.chain([self.current.clone()]) {
            let _ = fs::remove_file(path);
        }
    }

    /// Removes the oldest complete files beyond the limits; the current one has `len` bytes. Returns the removed ones.
    pub(super) fn remove_oldest(&mut self, len: u64) -> Vec<PathBuf> {
        let RotationRules { keep, most, .. } = self.rules;
        let mut removed = Vec::new();
        let mut size = len + self.complete.iter().map(|(_, size)| size).sum::<u64>();
        while keep.is_some_and(|keep| self.complete.len() + 1 > keep)
            || most.is_some_and(|most| size > most)
        {
            let Some((path, freed)) = self.complete.pop_front() else { break };
            size -= freed;
            if fs::remove_file(&path).is_ok() {
                removed.push(path);
            }
        }
        removed
    }
}

/// Creates a file that only this user can read, as perf does; an existing one is replaced.
pub(super) fn new_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Creates a file with a name of this time; an existing one is never replaced.
pub(super) fn new_file_at(stem: &Path, time: SystemTime) -> io::Result<(PathBuf, File)> {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let time = i64::try_from(seconds).ok().and_then(|it| DateTime::<Utc>::from_timestamp(it, 0));
    let time = time.unwrap_or_default().format("%Y%m%dT%H%M%SZ").to_string();
    for number in 1..=SAME_TIME {
        let mut name = OsString::from(stem);
        name.push(".");
        name.push(&time);
        if number > 1 {
            name.push(format!("-{number}"));
        }
        let path = PathBuf::from(name);
        match File::options().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use host::ScratchDir;

    use super::*;

    #[test]
    fn files_are_named_by_their_start() {
        let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let stem = folder.path().join("perf.data");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_831_323);
        let names: Vec<_> = (0..3)
            .map(|_| new_file_at(&stem, time).unwrap().0.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "perf.data.20261128T020203Z",
                "perf.data.20261128T020203Z-2",
                "perf.data.20261128T020203Z-3"
            ]
        );
    }

    #[test]
    fn the_oldest_files_are_removed() {
        let folder = ScratchDir::below(&std::env::temp_dir()).unwrap();
        let stem = folder.path().join("perf.data");
        let rules = RotationRules { every: Duration::ZERO, keep: Some(3), most: Some(100) };
        let (mut files, _) = RotatedFiles::new(&stem, rules).unwrap();
        let first = files.current().to_owned();
        assert!(files.is_due());
        for len in [10, 20] {
            files.next(len).unwrap();
            assert_eq!(files.remove_oldest(0), Vec::<PathBuf>::new());
        }
        let second = files.complete[1].0.clone();
        files.next(30).unwrap();
        assert_eq!(files.remove_oldest(50), std::slice::from_ref(&first));
        assert_eq!(files.remove_oldest(51), [second]);
        assert_eq!((files.complete.len(), first.exists()), (1, false));
        assert!(files.current().exists());
        assert_eq!(files.remove_oldest(1000).len(), 1);
        assert!(files.current().exists());
    }
}

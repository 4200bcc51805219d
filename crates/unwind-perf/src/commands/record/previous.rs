//! Previous recordings at the path of the new one. perf renames the last one to `FILE.old`, over an older one, before
//! it has made sure that it can record. After a failure both are restored.
#![allow(
    clippy::disallowed_methods,
    reason = "recordings are renamed and removed here, as perf itself does it"
)]

use std::fs;
use std::path::{Path, PathBuf};

use host::{FileKind, FileStat, Host as _, Origin, RealHost, ScratchDir};

/// The previous recordings.
pub(super) struct PreviousRecordings {
    recording: PathBuf,
    old: PathBuf,
    before: Option<FileStat>,
    /// The older recording, until it is certain whether it is replaced.
    older: Option<(ScratchDir, PathBuf)>,
}

impl PreviousRecordings {
    /// Notes the files that exist before perf starts.
    pub(super) fn of(recording: &Path) -> Self {
        let mut old = recording.as_os_str().to_owned();
        old.push(".old");
        let mut previous = Self {
            recording: recording.to_owned(),
            old: PathBuf::from(old),
            before: RealHost.stat(recording, Origin::User).ok(),
            older: None,
        };
        previous.older = previous.set_aside();
        previous
    }

    /// Moves the older recording to a folder beside it, if perf would remove it.
    fn set_aside(&self) -> Option<(ScratchDir, PathBuf)> {
        let is_renamed = self.before.is_some_and(|before| match before.kind {
            FileKind::Regular => before.stamp.size > 0,
            kind => kind == FileKind::Directory,
        });
        if !is_renamed || self.old.symlink_metadata().is_err() {
            return None;
        }
        // If nothing can be written here, perf will fail as well.
        let folder = ScratchDir::for_recordings(folder_of(&self.recording)).ok()?;
        let aside = folder.path().join("perf.data.old");
        fs::rename(&self.old, &aside).ok()?;
        Some((folder, aside))
    }

    /// Returns true if perf wrote something at the path.
    pub(super) fn is_replaced(&self) -> bool {
        let now = RealHost.stat(&self.recording, Origin::User).ok();
        now.is_some() && now != self.before
    }

    /// Accepts the new recording: the last one stays as `FILE.old`, the older one is removed.
    pub(super) fn accept_new(self) {
        drop(self.older);
    }

    /// Without a new recording: removes perf's incomplete file, and restores the names of the others.
    pub(super) fn restore(self) {
        let stat = |path: &Path| RealHost.stat(path, Origin::User).ok();
        if self.is_replaced()
            && stat(&self.recording).is_some_and(|it| it.kind == FileKind::Regular)
        {
            let _ = fs::remove_file(&self.recording);
        }
        let is_free = stat(&self.recording).is_none();
        if let (Some(before), Some(old), true) = (self.before, stat(&self.old), is_free)
            && (before.stamp.device, before.stamp.inode) == (old.stamp.device, old.stamp.inode)
        {
            let _ = fs::rename(&self.old, &self.recording);
        }
        if let Some((_folder, aside)) = self.older
            && stat(&self.old).is_none()
        {
            let _ = fs::rename(&aside, &self.old);
        }
    }
}

/// Returns the folder that contains a file.
pub(super) fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Renames an existing recording to `FILE.old`, as perf does.
pub(super) fn make_old(place: &Path) -> std::io::Result<()> {
    let mut old = place.as_os_str().to_owned();
    old.push(".old");
    match fs::rename(place, &old) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Moves a recording to `place`, and renames the existing file there to `FILE.old`, as perf does.
pub(super) fn move_to(recording: &Path, place: &Path) -> std::io::Result<()> {
    make_old(place)?;
    fs::rename(recording, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> ScratchDir {
        let dir = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        for (name, text) in files {
            fs::write(dir.path().join(name), text).expect("a file");
        }
        dir
    }

    /// Returns the files of a folder with their contents.
    fn files(dir: &ScratchDir) -> Vec<(String, String)> {
        let entries = fs::read_dir(dir.path()).expect("a folder").map(|it| it.expect("an entry"));
        let mut files: Vec<_> = entries
            .map(|it| {
                let text = fs::read_to_string(it.path()).unwrap_or_default();
                (it.file_name().to_string_lossy().into_owned(), text)
            })
            .collect();
        files.sort();
        files
    }

    /// Does the same as perf before it has made sure that it can record.
    fn perf(dir: &ScratchDir, text: &str) {
        let recording = dir.path().join("r");
        if recording.is_file() {
            let _ = fs::remove_file(dir.path().join("r.old"));
            fs::rename(&recording, dir.path().join("r.old")).expect("renamed");
        }
        fs::write(&recording, text).expect("written");
    }

    #[test]
    fn a_failure_changes_nothing() {
        for before in [&[][..], &[("r", "1")], &[("r", "2"), ("r.old", "1")], &[("r.old", "1")]] {
            let dir = folder(before);
            let all = files(&dir);
            let previous = PreviousRecordings::of(&dir.path().join("r"));
            perf(&dir, "empty");
            assert!(previous.is_replaced());
            previous.restore();
            assert_eq!(files(&dir), all);
            // perf did not start recording.
            let previous = PreviousRecordings::of(&dir.path().join("r"));
            assert!(!previous.is_replaced());
            previous.restore();
            assert_eq!(files(&dir), all);
        }
    }

    #[test]
    fn the_last_one_stays() {
        let dir = folder(&[("r", "2"), ("r.old", "1")]);
        let previous = PreviousRecordings::of(&dir.path().join("r"));
        perf(&dir, "3");
        assert!(previous.is_replaced());
        previous.accept_new();
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(files(&dir), [file("r", "3"), file("r.old", "2")]);
        fs::write(dir.path().join("x"), "4").expect("a file");
        move_to(&dir.path().join("x"), &dir.path().join("r")).expect("moved");
        assert_eq!(files(&dir), [file("r", "4"), file("r.old", "3")]);
    }
}

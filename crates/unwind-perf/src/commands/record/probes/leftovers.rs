//! Probes of recordings that were killed. A recorder notes its probes in a file that it holds locked, so that a later one
//! finds those without an owner.
#![allow(clippy::disallowed_methods, reason = "notes of one machine, apart from recordings")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::print_removed;
use super::tracefs::Tracefs;
use crate::terminal::print_note;

/// Folder of the notes. Like probes, they do not survive a restart of the machine.
const FOLDER: &str = "/run/unwind-perf-probes";

/// The notes of a recorder. Without them, its probes remain if it is killed.
pub(super) struct Notebook(Option<(PathBuf, File)>);

impl Notebook {
    /// Creates a notebook.
    pub(super) fn new() -> Self {
        Self::create(Path::new(FOLDER)).map_or_else(|_| Self(None), |it| Self(Some(it)))
    }

    fn create(folder: &Path) -> std::io::Result<(PathBuf, File)> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let path = folder.join(std::process::id().to_string());
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok((path, file))
    }

    /// Notes an event before it is created.
    pub(super) fn note(&mut self, event: &str) {
        if let Some((_, file)) = &mut self.0 {
            let _ = file.write_all(format!("{event}\n").as_bytes());
        }
    }

    /// Removes the notebook.
    pub(super) fn close(&mut self) {
        if let Some((path, _)) = self.0.take() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the probes of recorders that no longer run.
pub(super) fn remove(tracefs: &Tracefs) {
    remove_noted(Path::new(FOLDER), |event| {
        if !tracefs.has(event) {
            return Ok(false);
        }
        tracefs.remove(event).map(|()| true)
    });
}

/// Calls `remove` for the events in notebooks without an owner. It returns false for those that do not exist.
fn remove_noted(folder: &Path, remove: impl Fn(&str) -> std::io::Result<bool>) {
    let Ok(notebooks) = fs::read_dir(folder) else { return };
    for notebook in notebooks.flatten() {
        let path = notebook.path();
        let Ok(mut file) = File::open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut text = String::new();
        if file.read_to_string(&mut text).is_err() {
            continue;
        }
        let (mut removed, mut remain) = (Vec::new(), Vec::new());
        for event in text.lines() {
            match remove(event) {
                Ok(true) => removed.push(event.to_owned()),
                Ok(false) => {}
                Err(error) => remain.push(format!("{event} ({error})")),
            }
        }
        if !removed.is_empty() {
            print_removed(&removed);
        }
        if remain.is_empty() {
            let _ = fs::remove_file(&path);
        } else {
            let remain = remain.join(", ");
            print_note(&format!("probes of a recording that was killed remain: {remain}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use host::ScratchDir;

    use super::*;

    #[test]
    fn notebooks_without_an_owner_are_removed() {
        let folder = ScratchDir::below(&std::env::temp_dir()).expect("a folder");
        let mut notebook = Notebook(Some(Notebook::create(folder.path()).expect("a notebook")));
        notebook.note("probe_a:f");
        notebook.note("probe_a:g");
        let seen = RefCell::new(Vec::new());
        let remove = |event: &str| {
            seen.borrow_mut().push(event.to_owned());
            Ok(event.ends_with('f'))
        };
        remove_noted(folder.path(), remove);
        assert_eq!(seen.take(), Vec::<String>::new());
        // The owner is gone; its notes are not.
        let path = notebook.0.take().map(|(path, _)| path).expect("a notebook");
        remove_noted(folder.path(), remove);
        assert_eq!(seen.take(), ["probe_a:f", "probe_a:g"]);
        assert!(File::open(path).is_err());
    }
}

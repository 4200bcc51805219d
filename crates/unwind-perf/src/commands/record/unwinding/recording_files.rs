//! The files of a recording, which the recorder creates: the unwinder gets their descriptors.
#![allow(clippy::disallowed_methods, reason = "recordings are created here")]

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::rotated::{RotatedFiles, RotationRules, new_file, new_file_at};
use super::second_perf::PerfSuccession;
use crate::terminal::{print_error, print_note, shown, size};

/// Free bytes of a file system below which the user is warned.
const NEARLY_FULL: u64 = 100 << 20;

/// Files of a recording as the unwinder uses them.
pub(in crate::commands) trait RecordingFiles: fmt::Debug + Send {
    /// Returns true if a file is to be completed. A request of the user is taken here, so that one that follows is for
    /// the next file.
    fn is_due(&mut self) -> io::Result<bool>;

    /// Creates the next file. The current one has `len` bytes.
    fn next(&mut self, len: u64) -> io::Result<File>;

    /// Takes that a requested file would have no samples.
    fn omitted(&mut self) -> io::Result<()>;

    /// Takes the size of the file before the one that [`Self::next`] created, or of that one if it was requested.
    fn completed(&mut self, written: Result<u64, String>) -> io::Result<()>;

    /// Takes the size of the current file, which has all samples so far.
    fn grown(&mut self, len: u64) -> io::Result<()>;

    /// Takes the size of the stack copies that serves.
    fn stack_size(&mut self, bytes: u32) -> io::Result<()>;
}

/// Form of the output.
#[derive(Clone, Debug)]
pub(super) enum OutputForm {
    /// One file, which ends at a number of bytes; `None` for no limit.
    File(Option<u64>),
    /// Several files in turn.
    Rotated(RotationRules),
    /// The last records, which are written on request and at the end.
    Last,
}

/// Facts of the output apart from its form.
pub(super) struct OutputFacts {
    /// Path of the recording.
    pub(super) path: PathBuf,
    /// Set if the user requests a file.
    pub(super) request: Arc<AtomicBool>,
    /// Ends the recording.
    pub(super) stop: Box<dyn FnMut() + Send>,
    /// Called with each complete file, except the last one.
    pub(super) completed: Box<dyn FnMut(&Path) + Send>,
    /// Starts a perf with smaller stack copies, if that is possible.
    pub(super) succession: Option<PerfSuccession>,
    /// True if messages are omitted.
    pub(super) is_quiet: bool,
}

/// Files that this process creates.
#[derive(Debug)]
pub(in crate::commands) struct LocalFiles {
    facts: OutputFacts,
    files: Files,
    /// Path of the file that is being completed.
    completing: PathBuf,
    /// True if the user was warned that the file system is nearly full.
    is_warned: bool,
}

#[derive(Debug)]
enum Files {
    One(Option<u64>),
    Rotated(RotatedFiles),
    Last,
}

impl LocalFiles {
    /// Creates the first file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(super) fn new(form: OutputForm, facts: OutputFacts) -> io::Result<(Self, File)> {
        let (files, first) = match form {
            OutputForm::File(most) => (Files::One(most), new_file(&facts.path)?),
            OutputForm::Rotated(rules) => {
                let (files, file) = RotatedFiles::new(&facts.path, rules)?;
                (Files::Rotated(files), file)
            }
            OutputForm::Last => (Files::Last, new_file(&facts.path)?),
        };
        let completing = facts.path.clone();
        Ok((Self { facts, files, completing, is_warned: false }, first))
    }

    /// Creates a file at a path, without limits and messages.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(super) fn at(path: &Path) -> io::Result<(Self, File)> {
        let facts = OutputFacts {
            path: path.to_owned(),
            request: Arc::default(),
            stop: Box::new(|| {}),
            completed: Box::new(|_| {}),
            succession: None,
            is_quiet: true,
        };
        Self::new(OutputForm::File(None), facts)
    }

    /// Path of the last file.
    pub(super) fn path(&self) -> &Path {
        match &self.files {
            Files::Rotated(files) => files.current(),
            Files::One(_) | Files::Last => &self.facts.path,
        }
    }

    /// Removes files that are named by a time and have no samples. At the path of the recording, the former one returns.
    pub(super) fn discard(&mut self) {
        if let Files::Rotated(files) = &mut self.files {
            files.discard();
        }
    }

    /// Starts a perf with stack copies of `bytes`, and returns its stream. If there is none, the size stays.
    pub(super) fn start_second(&mut self, bytes: u32) -> Option<OwnedFd> {
        let started = self.facts.succession.take()?.start(bytes);
        started.inspect_err(|error| self.facts.note(&format!("the stack size stays: {error}"))).ok()
    }

    /// Warns once if the file system of the output is nearly full.
    fn warn_if_nearly_full(&mut self) {
        let free = rustix::fs::statvfs(self.path()).map(|it| it.f_bavail * it.f_frsize);
        if let Ok(free) = free
            && free < NEARLY_FULL
            && !std::mem::replace(&mut self.is_warned, true)
        {
            let (name, free) = (name(self.path()), size(free));
            print_note(&format!(
                "{free} are free for {name}; the recording ends when the disk is full, or with --max-size earlier"
            ));
        }
    }
}

impl RecordingFiles for LocalFiles {
    fn is_due(&mut self) -> io::Result<bool> {
        let is_requested = self.facts.request.swap(false, Ordering::Relaxed);
        Ok(match &self.files {
            Files::One(_) => false,
            Files::Rotated(files) => is_requested || files.is_due(),
            Files::Last => is_requested,
        })
    }

    fn next(&mut self, len: u64) -> io::Result<File> {
        match &mut self.files {
            Files::Rotated(files) => {
                files.current().clone_into(&mut self.completing);
                files.next(len)
            }
            Files::One(_) | Files::Last => {
                let (path, file) = new_file_at(&self.facts.path, SystemTime::now())?;
                self.completing = path;
                Ok(file)
            }
        }
    }

    fn omitted(&mut self) -> io::Result<()> {
        self.facts.note("there are no samples yet; no file is written");
        Ok(())
    }

    fn completed(&mut self, written: Result<u64, String>) -> io::Result<()> {
        let path = name(&self.completing);
        match written {
            Ok(len) => {
                self.facts.note(&format!("recorded: {path}, {}", size(len)));
                (self.facts.completed)(&self.completing);
            }
            Err(error) => print_error(&format!("{path} is incomplete: {error}")),
        }
        Ok(())
    }

    fn grown(&mut self, len: u64) -> io::Result<()> {
        match &mut self.files {
            Files::One(most) => {
                if let Some(reached) = most.take_if(|most| len >= *most) {
                    let reached = size(reached);
                    print_note(&format!("the recording has reached {reached} and ends"));
                    (self.facts.stop)();
                }
            }
            Files::Rotated(files) => {
                for removed in files.remove_oldest(len) {
                    self.facts.note(&format!("removed: {}", name(&removed)));
                }
            }
            Files::Last => {}
        }
        self.warn_if_nearly_full();
        Ok(())
    }

    /// A converted stream has the size that it has.
    fn stack_size(&mut self, _bytes: u32) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a path as it is printed.
fn name(path: &Path) -> String {
    shown(&path.display().to_string())
}

impl OutputFacts {
    fn note(&self, text: &str) {
        if !self.is_quiet {
            eprintln!("{text}");
        }
    }
}

impl fmt::Debug for OutputFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputFacts").field("path", &self.path).finish_non_exhaustive()
    }
}

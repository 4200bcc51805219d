//! Recordings of a folder: those that exist, then those that are finished.
//!
//! A recording is finished if its writer closed it, or if it was renamed into the folder and has no writer.
#![allow(clippy::disallowed_methods, reason = "the user named the folder")]

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::hash::BuildHasher as _;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hashbrown::{DefaultHashBuilder, HashSet};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

use super::queue::Queue;
use super::writers::{FileId, written_files};
use crate::error::Error;
use crate::remote::scheme_of;

/// Size of the buffer for events, in bytes.
const BUFFER: usize = 1 << 16;

/// A folder whose events the kernel reports.
#[derive(Debug)]
pub struct WatchedFolder {
    folder: PathBuf,
    events: OwnedFd,
}

impl WatchedFolder {
    /// Starts to watch a folder. Events wait until the recordings are taken.
    ///
    /// # Errors
    /// If it is not a folder, or the kernel has no capacity for a further one.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        if let Some(scheme) = scheme_of(folder) {
            return Err(Error::WatchedUrl { scheme });
        }
        let start = || {
            let events = inotify::init(CreateFlags::CLOEXEC)?;
            let wanted = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
            inotify::add_watch(&events, folder, wanted)?;
            Ok(events)
        };
        let failed = |source: io::Error| Error::Watch { path: folder.to_owned(), source };
        Ok(Self { folder: folder.to_owned(), events: start().map_err(failed)? })
    }

    /// Adds the finished recordings of the folder to the queue until it is closed.
    pub(super) fn add_finished(self, queue: &Queue) -> Result<(), Error> {
        let Self { folder, events } = self;
        let failed = |source: io::Error| Error::Watch { path: folder.clone(), source };
        let mut taken = Taken {
            folder: &folder,
            hasher: DefaultHashBuilder::default(),
            states: HashSet::new(),
        };
        if !taken.add(names(&folder).map_err(failed)?, queue) {
            return Ok(());
        }
        let mut buffer = vec![MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&events, &mut buffer);
        loop {
            let (mut changed, mut is_incomplete) = (Vec::new(), false);
            loop {
                match reader.next() {
                    Ok(event) => {
                        is_incomplete |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                        let is_over = event.events().contains(ReadFlags::IGNORED);
                        if is_over {
                            return Err(failed(io::ErrorKind::NotFound.into()));
                        }
                        let name = event.file_name();
                        changed.extend(name.map(|name| OsStr::from_bytes(name.to_bytes()).into()));
                    }
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(error) => return Err(failed(error.into())),
                }
                if reader.is_buffer_empty() {
                    break;
                }
            }
            if is_incomplete {
                changed = names(&folder).map_err(failed)?;
            }
            if !taken.add(changed, queue) {
                return Ok(());
            }
        }
    }
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(folder)?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Recordings that were added to the queue.
struct Taken<'f> {
    folder: &'f Path,
    hasher: DefaultHashBuilder,
    /// Hashes of names and states, since several events can concern one version of a file.
    states: HashSet<u64>,
}

impl Taken<'_> {
    /// Adds the recordings with these names to the queue, except those that are still being written. Returns false if the
    /// queue is closed.
    fn add(&mut self, names: Vec<OsString>, queue: &Queue) -> bool {
        let mut found = Vec::new();
        for name in names {
            let path = self.folder.join(&name);
            if let Some(state) = recording_state(&name, &path) {
                found.push((name, path, state));
            }
        }
        if found.is_empty() {
            return true;
        }
        // The list is made after the states: a later writer causes a further event.
        let written = written_files();
        for (name, path, state) in found {
            let is_written = written.contains(&id_of(&state));
            if is_written || !self.states.insert(self.hash_of(&name, &state)) {
                continue;
            }
            if !queue.add(path) {
                return false;
            }
        }
        true
    }

    fn hash_of(&self, name: &OsStr, state: &Metadata) -> u64 {
        let time = (state.mtime(), state.mtime_nsec());
        self.hasher.hash_one((name, id_of(state), state.size(), time))
    }
}

fn id_of(state: &Metadata) -> FileId {
    (state.dev(), state.ino())
}

/// Returns the state of a file that can be a recording, or of the data of a directory; `None` for hidden and other files.
fn recording_state(name: &OsStr, path: &Path) -> Option<Metadata> {
    if name.as_bytes().starts_with(b".") {
        return None;
    }
    let state = fs::metadata(path).ok()?;
    let state = if state.is_dir() { fs::metadata(path.join("data")).ok()? } else { state };
    state.is_file().then_some(state)
}

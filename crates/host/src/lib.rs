//! The host system, as a value that answers all requests.
//!
//! Names of addresses require binaries, debug files, kernel symbol lists and maps of JIT compilers.
//! A library that opened such files directly could neither be tested without a disk nor handle untrusted recordings.
//! Each request (open, read, stat, list, the running kernel's vdso, the environment) is therefore a method of [`Host`].
//! Each states the source of its path, its [`Origin`].
//! An untrusted path has a folder as its root and cannot leave it, neither by `..` nor by a symlink.
//!
//! Four hosts exist: [`RealHost`] is the system itself; [`MemoryHost`] serves files of a test from memory.
//! [`RestrictedHost`] wraps another host and opens nothing that a recording names.
//! [`OpenedFileHost`] wraps another host and has one file that another process opened.
//! Those of bundles are in the crate `bundle`.
//!
//! There is one dynamic call per file: the result is [`Content`], which is then a slice.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use host::{Host, HostError, MemoryHost, Origin, RestrictedHost};
//!
//! let machine = MemoryHost::new();
//! machine.insert("/usr/bin/ls", *b"\x7fELF");
//! let root = Path::new("/usr");
//! let file = machine.open(Path::new("/usr/../bin/ls"), Origin::Recording { root })?;
//! assert_eq!((&file.content[..], file.stamp.size), (&b"\x7fELF"[..], 4));
//!
//! let careful = RestrictedHost::new(Arc::new(machine));
//! assert!(careful.open(Path::new("/usr/bin/ls"), Origin::User).is_ok());
//! let refused = careful.open(Path::new("/usr/bin/ls"), Origin::Recording { root: Path::new("/") });
//! assert!(matches!(refused, Err(HostError::Refused { .. })));
//! # Ok::<(), HostError>(())
//! ```

mod allocator;
mod byte_stream;
mod checked_file;
mod confined;
mod content;
mod error;
mod finding;
mod forbidden;
mod memory_host;
mod opened_file_host;
mod private;
mod real_host;
mod recorded_file;
mod restricted_host;
mod stat;
mod thread_priority;
mod witness;
mod writing;

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use allocator::{
    CountedBytes, CountingAllocator, FreedMemory, MemoryPart, MemoryWords, allocated_bytes,
    default_memory_limit, limit_memory, memory_is_for, restore_before_end, return_freed_memory,
    set_memory_words,
};
pub use byte_stream::{ByteStream, Ready};
pub use content::{Content, Damage, NewContent, Pages, Reads};
pub use error::HostError;
pub use finding::HostFinding;
pub use memory_host::MemoryHost;
pub use opened_file_host::OpenedFileHost;
pub use private::{
    Distrust, PrivateEntry, PrivateFile, PrivateFolder, PrivateTree, distrust_of, follow_own_links,
};
pub use real_host::RealHost;
pub use recorded_file::{MapsLine, RecordedFile};
pub use restricted_host::RestrictedHost;
pub use stat::{DirEntry, FileKind, FileOwner, FileStamp, FileStat, HostFile, HostText, is_near};
pub use thread_priority::{PREFERRED_NICE, prefer_this_thread};
pub use witness::{Testimony, WitnessHost};
pub use writing::growing::GrowingFile;
pub use writing::new_file::{NewFile, replace_file};
pub use writing::scratch::ScratchDir;
pub use writing::stream_copy::StreamCopy;
pub use writing::temporaries::clean_up_on_signals;

/// Source of the path of a request, and the folder that it must not leave.
///
/// A path with a root begins with it, and the rest is resolved as if the root were `/`.
/// `..` stops there, and symlinks are followed inside; a path outside of the root is reported as missing.
/// Below the root, pseudo file systems (`/proc`, `/sys`)
/// and `/dev` are inaccessible, unless the root itself is in them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin<'r> {
    /// The user named the file, or a folder that lists it.
    User,
    /// The path, or a part of it that can contain a `/`, is from a recording or from an ELF file.
    Recording {
        /// The folder that stands for `/`.
        root: &'r Path,
    },
    /// The path consists of a number, such as a build-id, below a folder with possibly untrusted symlinks.
    Stored {
        /// The folder.
        root: &'r Path,
    },
    /// A fixed path: `/proc/kallsyms`.
    System,
    /// A mapped file of a running process, by `/proc/PID/map_files` or `/proc/PID/exe`.
    /// The path consists of numbers of a recording, and its link is followed to any target.
    Process,
}

impl<'r> Origin<'r> {
    /// The folder that the path must not leave.
    #[must_use]
    pub const fn root(self) -> Option<&'r Path> {
        match self {
            Self::Recording { root } | Self::Stored { root } => Some(root),
            Self::User | Self::System | Self::Process => None,
        }
    }
}

/// Maximum number of bytes that [`Host::read`] reads of one file.
pub const READ_LIMIT: u64 = 256 << 20;
/// Maximum number of entries that [`Host::list`] returns for one folder; a whole system has fewer files.
pub const LIST_LIMIT: usize = 1 << 20;

/// The store of files by build-id, below the user's cache folder.
pub const FILE_STORE: &str = "unwind-perf/files";

/// All requests to the host system. Called by several threads concurrently.
pub trait Host: Debug + Send + Sync {
    /// Opens a regular file and returns its content, mapped if possible, and its stamp.
    /// Never blocks: a FIFO, device, socket or folder is refused.
    ///
    /// # Errors
    /// If it is missing, not a regular file, unreadable, or refused for its origin.
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError>;

    /// Opens a regular file unless the caller already has it;
    /// `is_cached` is called once with its stamp, before anything is read.
    /// Returns `None` if `is_cached` returns true.
    ///
    /// # Errors
    /// The same as of [`Host::open`].
    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_cached: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        let FileStat { kind, stamp } = self.stat(path, origin)?;
        if kind != FileKind::Regular {
            return Err(HostError::NotRegular { path: path.to_owned() });
        }
        if is_cached(&stamp) { Ok(None) } else { self.open(path, origin).map(Some) }
    }

    /// Opens a regular file to pass it to another process. Never blocks.
    ///
    /// # Errors
    /// The same as of [`Host::open`], and if the host has no descriptors.
    fn descriptor(&self, path: &Path, _origin: Origin<'_>) -> Result<File, HostError> {
        Err(HostError::missing(path))
    }

    /// Reads a regular file of unknown size: one below `/proc` or `/sys`, or a list that is read once.
    ///
    /// # Errors
    /// The same as of [`Host::open`], and if it has more than [`READ_LIMIT`] bytes.
    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError>;

    /// Opens a file that can only be read once and in order: a FIFO or device that the user named. May block.
    ///
    /// # Errors
    /// If it is missing, unreadable, or refused for its origin.
    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError>;

    /// Returns the metadata of a path, following symlinks.
    ///
    /// # Errors
    /// If nothing is there, the system does not report it, or the path is refused for its origin.
    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError>;

    /// Returns the identity of a regular file as a map record states it.
    /// `stat` reports other devices on some file systems.
    ///
    /// # Errors
    /// The same as of [`Host::open`].
    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let FileStat { kind, stamp } = self.stat(path, origin)?;
        if kind != FileKind::Regular {
            return Err(HostError::NotRegular { path: path.to_owned() });
        }
        Ok(RecordedFile::of_stamp(&stamp))
    }

    /// Returns the owner of a regular file.
    ///
    /// # Errors
    /// The same as of [`Host::open`], and if the host knows no owners.
    fn owner(&self, path: &Path, _origin: Origin<'_>) -> Result<FileOwner, HostError> {
        Err(HostError::missing(path))
    }

    /// Opens a regular file that a recording names, below a folder that it names as well.
    /// Both are resolved first, with symlinks and `..`; the folder must not be `/`.
    ///
    /// # Errors
    /// The same as of [`Host::open`]. A file outside of the folder looks like a missing one.
    fn open_below(&self, _folder: &Path, path: &Path) -> Result<HostFile, HostError> {
        Err(HostError::missing(path))
    }

    /// Returns the entries of a folder by name, at most [`LIST_LIMIT`]. Does not follow symlinks.
    ///
    /// # Errors
    /// If it is missing, not a folder, unreadable, or refused for its origin.
    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError>;

    /// Returns the bytes of the running kernel's vdso; `None` if this process has none.
    fn running_vdso(&self) -> Option<Vec<u8>>;

    /// Returns the time of a clock of the system in nanoseconds,
    /// by its `clock_gettime` number; `None` for an unknown clock.
    /// Times of recordings can be by such a clock.
    fn clock(&self, _id: i32) -> Option<u64> {
        None
    }

    /// Returns an environment variable; `None` if it is not set.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// Returns the requests so far that the host could not answer although the represented machine might have.
    fn findings(&self) -> Vec<HostFinding> {
        Vec::new()
    }

    /// Returns the reason not to trust a folder with files of earlier runs.
    /// `None` if other users cannot change it, or if it does not exist.
    fn distrust(&self, _folder: &Path) -> Option<Distrust> {
        None
    }

    /// Returns the bytes of [`Host::text`].
    ///
    /// # Errors
    /// The same as of [`Host::text`].
    fn read(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<u8>, HostError> {
        Ok(self.text(path, origin)?.bytes)
    }

    /// Returns true if the path leads to a regular file.
    fn is_file(&self, path: &Path, origin: Origin<'_>) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Regular)
    }

    /// Returns true if the path leads to a folder.
    fn is_dir(&self, path: &Path, origin: Origin<'_>) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    /// Returns the user's home folder; `None` if the environment does not name one.
    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    /// Returns the user's cache folder; `None` if the environment does not name one.
    ///
    /// Source: XDG Base Directory Specification: `$XDG_CACHE_HOME` if it is absolute, else `$HOME/.cache`.
    fn cache_home(&self) -> Option<PathBuf> {
        let named = self.variable("XDG_CACHE_HOME").map(PathBuf::from);
        named.filter(|path| path.is_absolute()).or_else(|| Some(self.home()?.join(".cache")))
    }

    /// Returns the store of files by build-id that `unwind-perf record` fills;
    /// `None` if the environment names no folder for it.
    fn file_store(&self) -> Option<PathBuf> {
        Some(self.cache_home()?.join(FILE_STORE))
    }

    /// Returns the host name; empty if unknown.
    fn hostname(&self) -> Vec<u8> {
        line_of(self, "/proc/sys/kernel/hostname")
    }

    /// Returns the release of the running kernel; empty if unknown.
    fn kernel_release(&self) -> Vec<u8> {
        line_of(self, "/proc/sys/kernel/osrelease")
    }
}

/// Returns the text of a file with one line.
fn line_of(host: &(impl Host + ?Sized), path: &str) -> Vec<u8> {
    let text = host.read(Path::new(path), Origin::System).unwrap_or_default();
    text.trim_ascii().to_vec()
}

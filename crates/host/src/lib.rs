//! The machine that this process runs on, as the one value that everything is asked through.
//!
//! To give names to addresses, binaries, debug files, the kernel's lists and the maps of JIT compilers have to be
//! found. A library that opens such files wherever it needs them can neither be tested without writing them to disk
//! nor be given a recording that a stranger uploaded. So each question (open, read, stat, list, the running kernel's
//! vdso, the environment) is a method of [`Host`], and each says where its path comes from, its [`Origin`]. A path that
//! strangers have a part in comes with a folder, its root, and leads nowhere else: neither `..` nor a link leaves it.
//!
//! Four hosts exist: [`RealHost`] is the machine; [`MemoryHost`] serves from memory what a test put there;
//! [`RefusingHost`] wraps another one and opens nothing that a recording names; [`HandedHost`] wraps one and has a file
//! that another process opened. Those of bundles are in the crate `bundle`.
//!
//! The dynamic call is made once a file: what it gives is [`Content`], a slice from then on.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//! use host::{Host, HostError, MemoryHost, Origin, RefusingHost};
//!
//! let machine = MemoryHost::new();
//! machine.insert("/usr/bin/ls", *b"\x7fELF");
//! let root = Path::new("/usr");
//! let file = machine.open(Path::new("/usr/../bin/ls"), Origin::Recording { root })?;
//! assert_eq!((&file.content[..], file.stamp.size), (&b"\x7fELF"[..], 4));
//!
//! let careful = RefusingHost::new(Arc::new(machine));
//! assert!(careful.open(Path::new("/usr/bin/ls"), Origin::User).is_ok());
//! let refused = careful.open(Path::new("/usr/bin/ls"), Origin::Recording { root: Path::new("/") });
//! assert!(matches!(refused, Err(HostError::Refused { .. })));
//! # Ok::<(), HostError>(())
//! ```

mod allocator;
mod byte_stream;
mod confined;
mod content;
mod error;
mod finding;
mod forbidden;
mod found;
mod handed;
mod memory;
mod own;
mod real;
mod recorded_file;
mod refusing;
mod stat;
mod writing;

use std::ffi::OsString;
use std::fmt::Debug;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use allocator::{
    CountedBytes, CountingAllocator, FreedMemory, MemoryPart, MemoryWords, allocated_bytes,
    limit_memory, memory_is_for, set_memory_words, usual_memory_limit,
};
pub use byte_stream::{ByteStream, Ready};
pub use content::{Content, Damage, NewContent, Pages, Reads};
pub use error::HostError;
pub use finding::HostFinding;
pub use handed::HandedHost;
pub use memory::MemoryHost;
pub use own::{Distrust, OwnEntry, OwnFile, OwnFolder, OwnTree, distrust_of, follow_own_links};
pub use real::RealHost;
pub use recorded_file::{MapsLine, RecordedFile};
pub use refusing::RefusingHost;
pub use stat::{DirEntry, FileKind, FileOwner, FileStamp, FileStat, HostFile, HostText};
pub use writing::growing::GrowingFile;
pub use writing::new_file::{NewFile, replace_file};
pub use writing::scratch::ScratchDir;
pub use writing::stream_copy::StreamCopy;
pub use writing::temporaries::clean_up_on_signals;

/// Where the path of a question comes from, and the folder that it must not leave.
///
/// A path with a root begins with it, and what follows is resolved as if the root were `/`: `..` ends there, and a link
/// is followed inside. What is not there, is outside. Below the root, the file systems that the kernel makes up (`/proc`,
/// `/sys`) and `/dev` lead nowhere, unless the root itself lies in them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin<'r> {
    /// The user named the file, or a folder that it was listed in.
    User,
    /// The path, or a part of it that can hold a `/`, comes out of a recording or of an ELF file.
    Recording {
        /// The folder that stands for `/`.
        root: &'r Path,
    },
    /// The path is made of a number, such as a build-id, below a folder in which strangers may have put links.
    Stored {
        /// The folder.
        root: &'r Path,
    },
    /// A fixed place: `/proc/kallsyms`.
    System,
    /// A file that a living process has mapped, by `/proc/PID/map_files` or `/proc/PID/exe`: the path is made of numbers of a
    /// recording, and its link is followed wherever it leads.
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

/// Bytes that [`Host::read`] reads of one file at most.
pub const READ_LIMIT: u64 = 256 << 20;
/// Entries that [`Host::list`] gives of one folder at most; a whole system has fewer files.
pub const LIST_LIMIT: usize = 1 << 20;

/// The store of files by build-id, below the user's folder for caches.
pub const FILE_STORE: &str = "unwind-perf/files";

/// Every question to the machine. Called from several threads at a time.
pub trait Host: Debug + Send + Sync {
    /// Opens a regular file: its content, mapped where that is possible, and which file it is. Never blocks: a FIFO,
    /// device, socket or folder of that name is refused.
    ///
    /// # Errors
    /// Where it is missing, no regular file, unreadable, or refused for its origin.
    fn open(&self, path: &Path, origin: Origin<'_>) -> Result<HostFile, HostError>;

    /// The same, unless the caller has that file already: `is_known` is asked once about which file it is, before
    /// anything of it is read. `None` where it says so.
    ///
    /// # Errors
    /// As for [`Host::open`].
    fn open_unless(
        &self,
        path: &Path,
        origin: Origin<'_>,
        is_known: &mut dyn FnMut(&FileStamp) -> bool,
    ) -> Result<Option<HostFile>, HostError> {
        let FileStat { kind, stamp } = self.stat(path, origin)?;
        if kind != FileKind::Regular {
            return Err(HostError::NotRegular { path: path.to_owned() });
        }
        if is_known(&stamp) { Ok(None) } else { self.open(path, origin).map(Some) }
    }

    /// Opens a regular file to hand it to another process. Never blocks.
    ///
    /// # Errors
    /// As for [`Host::open`], and where the machine has no descriptors.
    fn descriptor(&self, path: &Path, _origin: Origin<'_>) -> Result<File, HostError> {
        Err(HostError::missing(path))
    }

    /// Reads a regular file whose size is not known before: one below `/proc` or `/sys`, or a list that is read once.
    ///
    /// # Errors
    /// As for [`Host::open`], and where it has more than [`READ_LIMIT`] bytes.
    fn text(&self, path: &Path, origin: Origin<'_>) -> Result<HostText, HostError>;

    /// Opens what can only be read once and in order: a FIFO or device that the user named. May block.
    ///
    /// # Errors
    /// Where it is missing, unreadable, or refused for its origin.
    fn stream(&self, path: &Path, origin: Origin<'_>) -> Result<ByteStream, HostError>;

    /// What is at a path; symbolic links are followed.
    ///
    /// # Errors
    /// Where nothing is there, the machine does not say, or the path is refused for its origin.
    fn stat(&self, path: &Path, origin: Origin<'_>) -> Result<FileStat, HostError>;

    /// The identity of a regular file as a map record states it. `stat` shows other devices on some file systems.
    ///
    /// # Errors
    /// As for [`Host::open`].
    fn recorded_file(&self, path: &Path, origin: Origin<'_>) -> Result<RecordedFile, HostError> {
        let FileStat { kind, stamp } = self.stat(path, origin)?;
        if kind != FileKind::Regular {
            return Err(HostError::NotRegular { path: path.to_owned() });
        }
        Ok(RecordedFile::of_stamp(&stamp))
    }

    /// The entries of a folder by name, [`LIST_LIMIT`] at most. Symbolic links are not followed.
    ///
    /// # Errors
    /// Where it is missing, no folder, unreadable, or refused for its origin.
    fn list(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<DirEntry>, HostError>;

    /// The bytes of the running kernel's vdso; `None` where this process has none.
    fn running_vdso(&self) -> Option<Vec<u8>>;

    /// The time of one of the machine's clocks in nanoseconds, by the number that `clock_gettime` knows it by; `None` where
    /// there is no such clock. Recordings can have their times by one.
    fn clock(&self, _id: i32) -> Option<u64> {
        None
    }

    /// A variable of the environment; `None` where it is not set.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// What the host could not answer though somebody may know, so far; a machine itself knows all that can be known.
    fn findings(&self) -> Vec<HostFinding> {
        Vec::new()
    }

    /// Why a folder that holds files of earlier runs is not trusted; `None` if other users have no part in it, or it does
    /// not exist.
    fn distrust(&self, _folder: &Path) -> Option<Distrust> {
        None
    }

    /// The bytes of [`Host::text`].
    ///
    /// # Errors
    /// As for [`Host::text`].
    fn read(&self, path: &Path, origin: Origin<'_>) -> Result<Vec<u8>, HostError> {
        Ok(self.text(path, origin)?.bytes)
    }

    /// Whether a regular file is at a path.
    fn is_file(&self, path: &Path, origin: Origin<'_>) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Regular)
    }

    /// Whether a folder is at a path.
    fn is_dir(&self, path: &Path, origin: Origin<'_>) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    /// The user's folder; `None` where the environment names none.
    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    /// The user's folder for caches; `None` if the environment names none.
    ///
    /// Source: XDG Base Directory Specification: `$XDG_CACHE_HOME` if it is absolute, else `$HOME/.cache`.
    fn cache_home(&self) -> Option<PathBuf> {
        let named = self.variable("XDG_CACHE_HOME").map(PathBuf::from);
        named.filter(|path| path.is_absolute()).or_else(|| Some(self.home()?.join(".cache")))
    }

    /// The store of files by build-id that `unwind-perf record` fills; `None` if the environment names no folder for it.
    fn file_store(&self) -> Option<PathBuf> {
        Some(self.cache_home()?.join(FILE_STORE))
    }

    /// The machine's name; empty where it is not known.
    fn hostname(&self) -> Vec<u8> {
        line_of(self, "/proc/sys/kernel/hostname")
    }

    /// The running kernel's release; empty where it is not known.
    fn kernel_release(&self) -> Vec<u8> {
        line_of(self, "/proc/sys/kernel/osrelease")
    }
}

/// The text of a file of one line.
fn line_of(host: &(impl Host + ?Sized), path: &str) -> Vec<u8> {
    let text = host.read(Path::new(path), Origin::System).unwrap_or_default();
    text.trim_ascii().to_vec()
}

//! The machine that this process runs on, as the one value that everything is asked through.
//!
//! To give names to addresses, binaries, debug files, the kernel's lists and the maps of JIT compilers have to be
//! found. A library that opens such files wherever it needs them can neither be tested without writing them to disk
//! nor be given a recording that a stranger uploaded. So each question (open, read, stat, list, the running kernel's
//! vdso, the environment) is a method of [`Host`], and each says where its path comes from, its [`Origin`].
//!
//! Three hosts exist: [`RealHost`] is the machine; [`MemoryHost`] serves from memory what a test put there;
//! [`RefusingHost`] wraps another one and opens nothing that a recording names.
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
//! let file = machine.open(Path::new("/usr/bin/ls"), Origin::Recording)?;
//! assert_eq!((&file.content[..], file.stamp.size), (&b"\x7fELF"[..], 4));
//!
//! let careful = RefusingHost::new(Arc::new(machine));
//! assert!(careful.open(Path::new("/usr/bin/ls"), Origin::User).is_ok());
//! let refused = careful.open(Path::new("/usr/bin/ls"), Origin::Recording);
//! assert!(matches!(refused, Err(HostError::Refused { .. })));
//! # Ok::<(), HostError>(())
//! ```

mod content;
mod error;
mod memory;
mod real;
mod refusing;
mod replace;
mod scratch;
mod stat;

use std::ffi::OsString;
use std::fmt::Debug;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use content::{Content, Pages};
pub use error::HostError;
pub use memory::MemoryHost;
pub use real::RealHost;
pub use refusing::RefusingHost;
pub use replace::replace_file;
pub use scratch::ScratchDir;
pub use stat::{DirEntry, FileKind, FileStamp, FileStat, HostFile};

/// Where the path of a question comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The user named the file, or a folder that it was listed in.
    User,
    /// The path, or a part of it that can hold a `/`, comes out of a recording or of an ELF file.
    Recording,
    /// A fixed place, or one made of a build-id: `/proc/kallsyms`, `/usr/lib/debug/.build-id/ab/cdef.debug`.
    System,
}

/// Bytes that [`Host::read`] reads of one file at most.
pub const READ_LIMIT: u64 = 1 << 30;
/// Entries that [`Host::list`] gives of one folder at most; a whole system has fewer files.
pub const LIST_LIMIT: usize = 1 << 20;

/// Every question to the machine. Called from several threads at a time.
pub trait Host: Debug + Send + Sync {
    /// Opens a regular file: its content, mapped where that is possible, and which file it is. Never blocks: a FIFO,
    /// device, socket or folder of that name is refused.
    ///
    /// # Errors
    /// Where it is missing, no regular file, unreadable, or refused for its origin.
    fn open(&self, path: &Path, origin: Origin) -> Result<HostFile, HostError>;

    /// Reads a regular file whose size is not known before: one below `/proc` or `/sys`, or a list that is read once.
    ///
    /// # Errors
    /// As for [`Host::open`], and where it has more than [`READ_LIMIT`] bytes.
    fn read(&self, path: &Path, origin: Origin) -> Result<Vec<u8>, HostError>;

    /// Opens what can only be read once and in order: a FIFO or device that the user named. May block.
    ///
    /// # Errors
    /// Where it is missing, unreadable, or refused for its origin.
    fn stream(&self, path: &Path, origin: Origin) -> Result<Box<dyn Read + Send>, HostError>;

    /// What is at a path; symbolic links are followed.
    ///
    /// # Errors
    /// Where nothing is there, the machine does not say, or the path is refused for its origin.
    fn stat(&self, path: &Path, origin: Origin) -> Result<FileStat, HostError>;

    /// The entries of a folder by name, [`LIST_LIMIT`] at most. Symbolic links are not followed.
    ///
    /// # Errors
    /// Where it is missing, no folder, unreadable, or refused for its origin.
    fn list(&self, path: &Path, origin: Origin) -> Result<Vec<DirEntry>, HostError>;

    /// The bytes of the running kernel's vdso; `None` where this process has none.
    fn running_vdso(&self) -> Option<Vec<u8>>;

    /// A variable of the environment; `None` where it is not set.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// Whether a regular file is at a path.
    fn is_file(&self, path: &Path, origin: Origin) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Regular)
    }

    /// Whether a folder is at a path.
    fn is_dir(&self, path: &Path, origin: Origin) -> bool {
        self.stat(path, origin).is_ok_and(|stat| stat.kind == FileKind::Directory)
    }

    /// The user's folder; `None` where the environment names none.
    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
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

//! A module: something that was mapped, with the file that was found for it or why there is none.

mod modules;
mod name;
mod table;

use std::sync::{Arc, OnceLock};

use address::{Avma, BuildId, FileOffset, ModuleId, Pid};

use crate::files::{Library, LoadedImage, Refusal};
pub(crate) use modules::Modules;
pub use name::kernel_module_name;
pub(crate) use name::{is_archive, kernel_name, kind_of, path_on_disk};
pub(crate) use table::{ModuleKey, ModuleTable};

/// What kind of thing was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ModuleKind {
    /// A file with a path that can be looked for.
    File,
    /// A file whose name must not be opened as a path: memfd, devices, sockets.
    Unopened,
    /// The vdso: code of the kernel that is mapped into processes.
    Vdso,
    /// Memory without a file: heap, stack, JIT code.
    Anonymous,
    /// The kernel, one of its modules, or code that it made at run time.
    Kernel,
}

/// Which file a mapping was of, as far as the record says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileIdentity {
    /// The build-id in the record, else the one that the recording lists for the path.
    pub build_id: Option<BuildId>,
    /// Which file of its device.
    pub inode: Option<Inode>,
    /// Whether the path led to another file later on, which is the one that may be there now.
    pub replaced: bool,
}

/// A file on a device, as map records state it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inode {
    /// Device major.
    pub major: u32,
    /// Device minor.
    pub minor: u32,
    /// Its number.
    pub number: u64,
    /// Its generation; 0 in records that the recorder made up.
    pub generation: u64,
}

impl Inode {
    /// Whether two files of one path cannot be the same: of one device, with other numbers. Of different devices they
    /// can be one file seen through different mounts.
    #[must_use]
    pub const fn replaces(self, other: Self) -> bool {
        let generation =
            self.generation != other.generation && self.generation != 0 && other.generation != 0;
        self.major == other.major
            && self.minor == other.minor
            && (self.number != other.number || generation)
    }
}

/// Something that was mapped. Two mappings of the same path and identity are the same module; two modules of the same
/// content share one [`LoadedImage`].
#[derive(Debug)]
pub struct Module {
    /// Its number, in the order of first appearance.
    pub id: ModuleId,
    /// The name as recorded.
    pub path: Box<[u8]>,
    /// What it is.
    pub kind: ModuleKind,
    /// Which file it was.
    pub identity: FileIdentity,
    /// Whose anonymous memory it is; `None` for everything that has a name of its own.
    pub owner: Option<Pid>,
    /// For archives, which hold several files: the offset that was mapped.
    pub part: Option<FileOffset>,
    /// Who mapped it first, and where.
    pub first_mapped: Option<(Pid, Avma)>,
    file: OnceLock<Result<Arc<LoadedImage>, Refusal>>,
}

impl Module {
    pub(crate) fn new(id: ModuleId, key: ModuleKey<'_>, first_mapped: Option<(Pid, Avma)>) -> Self {
        Self {
            id,
            path: key.path.into(),
            kind: key.kind,
            identity: key.identity,
            owner: key.owner,
            part: key.part,
            first_mapped,
            file: OnceLock::new(),
        }
    }

    /// The file of this module, found, opened and checked at the first call.
    ///
    /// # Errors
    /// The reason why no file can be used for it.
    pub fn file(&self, library: &Library) -> Result<&Arc<LoadedImage>, &Refusal> {
        self.file.get_or_init(|| library.load(self)).as_ref()
    }

    /// What came of looking for its file; `None` where nobody asked.
    pub fn outcome(&self) -> Option<Result<&Arc<LoadedImage>, &Refusal>> {
        self.file.get().map(Result::as_ref)
    }
}

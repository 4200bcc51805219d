//! A module: something that was mapped, with the file that was found for it or why there is none.

use std::sync::{Arc, OnceLock};

use address::{Avma, BuildId, FileOffset, ModuleId, Pid};

use crate::library::{Library, Refusal};
use crate::loaded::LoadedImage;
use crate::table::ModuleKey;

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
    /// Device major, device minor, inode, inode generation.
    pub inode: Option<(u32, u32, u64, u64)>,
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

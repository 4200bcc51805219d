//! A module: something that was mapped, as the recording states it. Which file of this machine it is, the image store
//! knows.

mod grow_table;
mod name;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, BuildId, FileOffset, ModuleId, Pid};

pub(crate) use grow_table::GrowTable;
pub use name::kernel_module_name;
pub(crate) use name::{is_archive, kernel_name, kind_of, path_on_disk};
pub(crate) use table::{ModuleKey, ModuleTable};

/// The modules of a timeline, to be read while it goes on and finds more.
pub(crate) type Modules = GrowTable<Arc<Module>>;

/// What kind of thing was mapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MappedKind {
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
    /// Its generation; 0 in records that the recorder synthesized.
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
/// content share one [`crate::LoadedImage`].
#[derive(Debug)]
pub struct Module {
    /// Its id, in the order of first appearance.
    pub id: ModuleId,
    /// The name as recorded.
    pub path: Box<[u8]>,
    /// What it is.
    pub kind: MappedKind,
    /// Which file it was.
    pub identity: FileIdentity,
    /// Whose anonymous memory it is; `None` for everything that has a name of its own.
    pub owner: Option<Pid>,
    /// For archives, which hold several files: the offset that was mapped.
    pub part: Option<FileOffset>,
    /// Who mapped it first, and where.
    pub first_mapped: Option<(Pid, Avma)>,
    /// Which timeline it is on: ids of modules are unique on one timeline only.
    pub(crate) timeline: TimelineId,
}

/// An id that no two timelines of this process share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TimelineId(u64);

impl Default for TimelineId {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

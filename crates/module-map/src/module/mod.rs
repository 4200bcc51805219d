//! A module: something that was mapped, as the recording states it. Which file of this machine it is, the image store
//! knows.

mod grow_table;
mod name;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use address::{Avma, BuildId, FileOffset, ModuleId, Pid};

pub use grow_table::GrowTable;
pub use name::{is_archive, kernel_module_name, path_on_disk};
pub(crate) use name::{is_deleted, kernel_name, kind_of};
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
    /// A page of the kernel's own code that is no ELF file: of probes, of old system calls, of signals.
    KernelPage,
    /// The kernel, one of its modules, or code that it made at run time.
    Kernel,
    /// The kernel of a virtual machine, or one of its modules. No file or list of this machine is looked for.
    GuestKernel,
    /// A process of a virtual machine; likewise.
    GuestUser,
    /// The hypervisor that this machine runs on; likewise.
    Hypervisor,
}

impl MappedKind {
    /// Returns true for memory that no file is looked for: a frame there has its address in the process or the kernel.
    #[must_use]
    pub const fn is_without_file(self) -> bool {
        match self {
            Self::File | Self::Unopened | Self::Vdso => false,
            Self::Anonymous
            | Self::KernelPage
            | Self::Kernel
            | Self::GuestKernel
            | Self::GuestUser
            | Self::Hypervisor => true,
        }
    }
}

/// The identity of a mapped file: the evidence of the recording for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileIdentity {
    /// The build-id in the map record, else the one that the header lists for the path, if that can be of this file.
    pub build_id: Option<BuildId>,
    /// The build-id is from the header: the recorder read it from the path when the recording ended.
    pub is_listed: bool,
    /// Device, inode and generation in the map record.
    pub inode: Option<Inode>,
    /// The other files that the path led to.
    pub path_use: PathUse,
}

/// The files that a path led to while it was recorded, seen from one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PathUse {
    /// No other file is recorded for the path.
    #[default]
    Only,
    /// Other files were mapped by the path before this one, and none after it.
    Last,
    /// Another file was mapped by the path after this one, so this one was replaced.
    Earlier,
    /// Several files were mapped by the path at the same time, or on several devices, as by containers.
    Shared,
}

/// A file on a device, as map records state it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inode {
    /// Device major.
    pub major: u32,
    /// Device minor.
    pub minor: u32,
    /// Inode number.
    pub number: u64,
    /// Inode generation; 0 if the record does not state one, as those that the recorder synthesized.
    pub generation: u64,
}

impl Inode {
    /// Returns true if nothing stated contradicts that both are the same file.
    #[must_use]
    pub const fn is_same(self, other: Self) -> bool {
        self.is_on_device(other)
            && self.number == other.number
            && (self.generation == other.generation
                || self.generation == 0
                || other.generation == 0)
    }

    /// Returns true if both are on one device.
    #[must_use]
    pub const fn is_on_device(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

/// Something that was mapped. Two mappings of the same path and identity are the same module; two modules of the same
/// content share one opened file.
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
    /// The module of the parent process whose memory this was before a fork.
    pub inherited_from: Option<ModuleId>,
    /// For archives, which hold several files: the offset that was mapped.
    pub part: Option<FileOffset>,
    /// Who mapped it first, and where.
    pub first_mapped: Option<(Pid, Avma)>,
    /// The kernel reported it as deleted.
    pub(crate) deleted: bool,
    /// Which timeline it is on: ids of modules are unique on one timeline only.
    pub timeline: TimelineId,
}

impl Module {
    /// Returns true if the kernel reported the file as deleted when it was mapped: another file, or none, is at its path.
    #[must_use]
    pub const fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// The name of a copy of the file, if the recording states its device and inode: no two files of one recording have the
    /// same, and another reading of the recording gives the same. It has no characters but letters, digits and `-`.
    #[must_use]
    pub fn copy_name(&self) -> Option<String> {
        let Inode { major, minor, number, generation } = self.identity.inode?;
        // Subvolumes of btrfs repeat numbers, so that the path is a part of it.
        let path = hash_of(&self.path);
        Some(format!("{major:x}-{minor:x}-{number:x}-{generation:x}-{path:016x}"))
    }
}

/// A hash that stays the same from version to version (FNV-1a).
fn hash_of(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// An id that no two timelines of this process share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineId(u64);

impl Default for TimelineId {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

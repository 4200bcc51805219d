//! A module: a mapped object, as the recording states it. The image store knows its file on the host.

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

/// Modules of a timeline, readable while the timeline adds more.
pub(crate) type Modules = GrowTable<Arc<Module>>;

/// Kind of a mapped object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MappedKind {
    /// A file with a searchable path.
    File,
    /// A file with a name that must not be opened as a path: memfd, devices, sockets.
    Unopened,
    /// The vdso: kernel code that is mapped into processes.
    Vdso,
    /// Memory without a file: heap, stack, JIT code.
    Anonymous,
    /// A kernel page without an ELF file: for probes, old system calls or signals.
    KernelPage,
    /// The kernel, one of its modules, or code that it made at run time.
    Kernel,
    /// The kernel of a virtual machine, or one of its modules. Not searched in files and symbol lists of the host.
    GuestKernel,
    /// A process of a virtual machine. Not searched either.
    GuestUser,
    /// The hypervisor that the host runs on. Not searched either.
    Hypervisor,
}

impl MappedKind {
    /// Returns true for memory without a file to search: a frame there has its address in the process or the kernel.
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

/// Identity of a mapped file: the evidence in the recording.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FileIdentity {
    /// Build-id of the map record, else the header's one for the path if it can belong to this file.
    pub build_id: Option<BuildId>,
    /// True for a build-id from the header: the recorder read it from the path when the recording ended.
    pub is_listed: bool,
    /// Device, inode and generation of the map record.
    pub inode: Option<Inode>,
    /// Other files of the path.
    pub path_use: PathUse,
}

/// Files of a path during the recording, relative to one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PathUse {
    /// The recording has no other file for the path.
    #[default]
    Only,
    /// Other files were mapped by the path before this one, and none after it.
    Last,
    /// Another file was mapped by the path after this one, so this one was replaced.
    Earlier,
    /// Several files were mapped by the path at the same time or from several devices, as by containers.
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
    /// Inode generation; 0 if the record does not state one, as in synthesized records.
    pub generation: u64,
}

impl Inode {
    /// Returns true if both can be the same file by all stated fields.
    #[must_use]
    pub const fn is_same(self, other: Self) -> bool {
        self.is_on_device(other)
            && self.number == other.number
            && (self.generation == other.generation
                || self.generation == 0
                || other.generation == 0)
    }

    /// Returns true if both are on the same device.
    #[must_use]
    pub const fn is_on_device(self, other: Self) -> bool {
        self.major == other.major && self.minor == other.minor
    }
}

/// A mapped object. Mappings of the same path and identity share a module;
/// modules of equal content share one opened file.
#[derive(Debug)]
pub struct Module {
    /// Id, in order of first appearance.
    pub id: ModuleId,
    /// Name as recorded.
    pub path: Box<[u8]>,
    /// Kind of the object.
    pub kind: MappedKind,
    /// Identity of the file.
    pub identity: FileIdentity,
    /// Owner of anonymous memory with code; `None` for named objects.
    pub owner: Option<Pid>,
    /// The parent's module of this memory before a fork.
    pub inherited_from: Option<ModuleId>,
    /// For archives with several files: the mapped offset.
    pub part: Option<FileOffset>,
    /// Process and address of the first mapping.
    pub first_mapped: Option<(Pid, Avma)>,
    /// The module's timeline: ids are unique only on one timeline.
    pub timeline: TimelineId,
}

impl Module {
    /// Returns true if the kernel reported the file as deleted when it was mapped: its path has another file or none.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.kind == MappedKind::File && is_deleted(&self.path)
    }

    /// Returns a name for a copy of the file, if the recording states its device and inode.
    /// The name is unique in a recording, the same in every run, and consists of letters, digits and `-`.
    #[must_use]
    pub fn copy_name(&self) -> Option<String> {
        let Inode { major, minor, number, generation } = self.identity.inode?;
        // Subvolumes of btrfs repeat inode numbers, so the path is included.
        let path = hash_of(&self.path);
        Some(format!("{major:x}-{minor:x}-{number:x}-{generation:x}-{path:016x}"))
    }
}

/// A hash that is stable across versions (FNV-1a).
fn hash_of(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// An id that is unique among the timelines of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimelineId(u64);

impl Default for TimelineId {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

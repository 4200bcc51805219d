//! Map records, MMAP and MMAP2: most records other than samples are of these types.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comments of `enum perf_event_type`.

use address::{Avma, BuildId, FileOffset, Pid, Tid};

use crate::bytes::{Endian, FieldReader, until_nul};
use crate::record_header::CpuMode;

/// The mapping is of data.
const MISC_DATA: u16 = 1 << 13;
/// The record states a build-id instead of an inode.
const MISC_BUILD_ID: u16 = 1 << 14;
const MISC_PARSE_TIMEOUT: u16 = 1 << 12;
/// Length of the body of an MMAP2 record before the path, in bytes.
pub(crate) const MMAP2_FIXED: usize = 64;
const PROT_READ: u32 = 1;
/// Bit of `prot` for executable memory.
const PROT_EXEC: u32 = 4;

/// Recorded identity of a mapped file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MmapId {
    /// Not recorded, or not a file.
    None,
    /// Location in its file system.
    Inode {
        /// Major number of the device.
        major: u32,
        /// Minor number of the device.
        minor: u32,
        /// Inode.
        inode: u64,
        /// Generation of the inode.
        generation: u64,
    },
    /// Identity of its content.
    BuildId(BuildId),
}

/// MMAP and MMAP2: `[start, start + len)` of a process maps a file from `pgoff` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mmap<'d> {
    /// Process; -1 for the kernel and its modules.
    pub pid: Pid,
    /// Thread that made the mapping.
    pub tid: Tid,
    /// Kernel for the kernel and its modules; user for all others.
    pub cpu_mode: CpuMode,
    /// True if the recorder timed out while reading `/proc/PID/maps` of this process.
    pub parse_timeout: bool,
    /// True if the mapping is executable. Kernel maps and simpleperf's JIT code are, regardless of `prot`.
    pub executable: bool,
    /// First address.
    pub start: Avma,
    /// Length in bytes. In hostile input the end may wrap around.
    pub len: u64,
    /// Offset of `start` in the file.
    pub pgoff: FileOffset,
    /// Identity of the file.
    pub id: MmapId,
    /// `PROT_*` bits; for MMAP derived from `executable`.
    pub prot: u32,
    /// `MAP_*` bits; 0 for MMAP.
    pub flags: u32,
    /// Path, or a name such as `[vdso]`, `//anon`, `[kernel.kallsyms]_text`.
    pub path: &'d [u8],
}

impl Mmap<'_> {
    /// Bit of `prot` for JIT code in simpleperf recordings, with symbols at addresses of the process. Such a map has
    /// no other bit, and Linux does not use this one.
    ///
    /// Source: simpleperf's `thread_tree.h`, `map_flags::PROT_JIT_SYMFILE_MAP`.
    pub(crate) const PROT_JIT_SYMFILE: u32 = 0x4000;

    /// Returns true if simpleperf recorded the symbols of this code at addresses of the process.
    #[must_use]
    pub const fn is_jit_symfile(&self) -> bool {
        self.prot & Self::PROT_JIT_SYMFILE != 0
    }
}

/// An MMAP2 record of a process, with identity and path undecoded: most maps of a recording are of the same few files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedMap<'d> {
    /// Process.
    pub pid: Pid,
    /// First address.
    pub start: Avma,
    /// Length in bytes. In hostile input the end may wrap around.
    pub len: u64,
    /// Offset of `start` in the file.
    pub pgoff: FileOffset,
    /// `PROT_*` bits.
    pub prot: u32,
    /// Identity and path, undecoded. Equal values decode to equal identities and paths.
    pub name: MapName<'d>,
}

impl NamedMap<'_> {
    /// Returns true if the mapping is executable.
    #[must_use]
    pub const fn is_executable(&self) -> bool {
        self.prot & PROT_EXEC != 0
    }
}

/// Undecoded identity and path of an MMAP2 record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapName<'d> {
    /// True if the identity is a build-id.
    pub has_build_id: bool,
    /// Inode or build-id.
    pub id: &'d [u8; 24],
    /// Path with its padding.
    pub path: &'d [u8],
}

fn is_kernel(cpu_mode: CpuMode) -> bool {
    matches!(cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel)
}

/// Decodes the body of an MMAP record; `None` if it is too short.
pub(super) fn mmap<'d>(misc: u16, cursor: &mut FieldReader<'d>) -> Option<Mmap<'d>> {
    let (pid, tid) = (Pid(cursor.i32()?), Tid(cursor.i32()?));
    let [start, len, pgoff] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let executable = misc & MISC_DATA == 0;
    Some(Mmap {
        pid,
        tid,
        cpu_mode: CpuMode::from_misc(misc),
        parse_timeout: misc & MISC_PARSE_TIMEOUT != 0,
        executable,
        start: Avma(start),
        len,
        pgoff: FileOffset(pgoff),
        id: MmapId::None,
        prot: if executable { PROT_READ | PROT_EXEC } else { PROT_READ },
        flags: 0,
        path: until_nul(cursor.rest()),
    })
}

/// Decodes the body of an MMAP2 record; `None` if it is too short.
/// Most records are of this type, so its fixed part is read at once.
#[inline]
pub(crate) fn mmap2<'d>(misc: u16, cursor: &FieldReader<'d>) -> Option<Mmap<'d>> {
    let endian = cursor.endian();
    let (fixed, path) = cursor.rest().split_first_chunk::<MMAP2_FIXED>()?;
    let half = |at: usize| endian.u32_at(fixed, at);
    let word = |at: usize| endian.u64_at(fixed, at);
    let prot = half(56)?;
    let cpu_mode = CpuMode::from_misc(misc);
    Some(Mmap {
        pid: Pid(half(0)?.cast_signed()),
        tid: Tid(half(4)?.cast_signed()),
        cpu_mode,
        parse_timeout: misc & MISC_PARSE_TIMEOUT != 0,
        // The map of the kernel itself is written with prot 0.
        executable: prot & (PROT_EXEC | Mmap::PROT_JIT_SYMFILE) != 0 || is_kernel(cpu_mode),
        start: Avma(word(8)?),
        len: word(16)?,
        pgoff: FileOffset(word(24)?),
        id: mmap_id(misc, &mut FieldReader::new(fixed.get(32..56)?, endian))?,
        prot,
        flags: half(60)?,
        path: until_nul(path),
    })
}

/// Decodes the parts of an MMAP2 body that differ between maps of one file.
/// `None` if the body is too short, or not an ordinary mapping of a process.
#[inline]
pub(crate) fn named_map<'d>(misc: u16, body: &'d [u8], endian: Endian) -> Option<NamedMap<'d>> {
    let (fixed, path) = body.split_first_chunk::<MMAP2_FIXED>()?;
    let prot = endian.u32_at(fixed, 56)?;
    if CpuMode::from_misc(misc) != CpuMode::User || prot & Mmap::PROT_JIT_SYMFILE != 0 {
        return None;
    }
    let id = fixed.get(32..)?.first_chunk()?;
    Some(NamedMap {
        pid: Pid(endian.u32_at(fixed, 0)?.cast_signed()),
        start: Avma(endian.u64_at(fixed, 8)?),
        len: endian.u64_at(fixed, 16)?,
        pgoff: FileOffset(endian.u64_at(fixed, 24)?),
        prot,
        name: MapName { has_build_id: misc & MISC_BUILD_ID != 0, id, path },
    })
}

#[inline]
fn mmap_id(misc: u16, cursor: &mut FieldReader<'_>) -> Option<MmapId> {
    if misc & MISC_BUILD_ID != 0 {
        let len = usize::from(cursor.u8()?).min(BuildId::MAX_LEN);
        cursor.bytes(3)?;
        return Some(BuildId::new(cursor.bytes(len)?).map_or(MmapId::None, MmapId::BuildId));
    }
    let [major, minor] = [cursor.u32()?, cursor.u32()?];
    let [inode, generation] = [cursor.u64()?, cursor.u64()?];
    if major == 0 && minor == 0 && inode == 0 {
        return Some(MmapId::None);
    }
    Some(MmapId::Inode { major, minor, inode, generation })
}

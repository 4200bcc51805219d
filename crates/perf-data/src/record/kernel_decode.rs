//! Decoding of kernel records. The body is passed without header and trailer, so a name without
//! NUL ends before the trailer.
//!
//! Source: `include/uapi/linux/perf_event.h`, the comments of `enum perf_event_type`.

use address::{Avma, BuildId, FileOffset, Pid, Tid};

use super::callchain::Callchain;
use super::kernel::{
    Aux, BpfEvent, CallchainDeferred, Cgroup, Comm, Ksymbol, Lost, MapName, Mmap, MmapId, NamedMap,
    Namespaces, PROT_EXEC, Record, Switch, Task, TextPoke, Throttle,
};
use super::read_values::ReadValues;
use crate::bytes::{Endian, FieldReader, until_nul};
use crate::event::{ReadFormat, recorded_time};
use crate::record_header::{CpuMode, RecordHeader};
use crate::record_types::KernelType;

const MISC_PARSE_TIMEOUT: u16 = 1 << 12;
/// MMAP: data mapping; COMM: by exec; FORK: synthesized by the recorder; SWITCH: out.
const MISC_13: u16 = 1 << 13;
/// MMAP2: build-id instead of inode; SWITCH: preempted.
const MISC_14: u16 = 1 << 14;
/// Length of the body of an MMAP2 record before the path, in bytes.
pub(crate) const MMAP2_FIXED: usize = 64;
/// The same for COMM.
pub(crate) const COMM_FIXED: usize = 8;
/// Length of the body of FORK and EXIT, in bytes.
pub(crate) const TASK_FIXED: usize = 24;
const PROT_READ: u32 = 1;

/// Decodes the body of a kernel record; `None` if it is too short. Unknown types become [`Record::Unknown`].
pub(crate) fn kernel_record<'d>(
    header: RecordHeader,
    cursor: &mut FieldReader<'d>,
    read_format: ReadFormat,
) -> Option<Record<'d>> {
    let RecordHeader { kind, misc, size } = header;
    let Some(known) = KernelType::of(kind) else { return Some(Record::Unknown { kind, size }) };
    Some(match known {
        // A sample has the layout of its event.
        KernelType::Sample => Record::Unknown { kind, size },
        KernelType::Mmap => Record::Mmap(mmap(misc, cursor)?),
        KernelType::Mmap2 => Record::Mmap(mmap2(misc, cursor)?),
        KernelType::Comm => Record::Comm(comm(misc, cursor)?),
        KernelType::Fork => Record::Fork(task(misc, cursor)?),
        KernelType::Exit => Record::Exit(task(0, cursor)?),
        KernelType::Lost => Record::Lost(Lost { id: cursor.u64()?, lost: cursor.u64()? }),
        KernelType::LostSamples => Record::LostSamples(Lost { id: 0, lost: cursor.u64()? }),
        KernelType::Throttle => Record::Throttle(throttle(cursor)?),
        KernelType::Unthrottle => Record::Unthrottle(throttle(cursor)?),
        KernelType::Read => {
            let (pid, tid) = task_ids(cursor)?;
            Record::Read { pid, tid, values: ReadValues::read(cursor, read_format)? }
        }
        KernelType::Switch => Record::Switch(switch(misc, None)),
        KernelType::SwitchCpuWide => Record::Switch(switch(misc, Some(task_ids(cursor)?))),
        KernelType::Namespaces => Record::Namespaces(namespaces(cursor)?),
        KernelType::Ksymbol => Record::Ksymbol(ksymbol(cursor)?),
        KernelType::BpfEvent => Record::BpfEvent(bpf_event(cursor)?),
        KernelType::Cgroup => {
            Record::Cgroup(Cgroup { id: cursor.u64()?, path: until_nul(cursor.rest()) })
        }
        KernelType::TextPoke => Record::TextPoke(text_poke(cursor)?),
        KernelType::Aux => {
            Record::Aux(Aux { offset: cursor.u64()?, size: cursor.u64()?, flags: cursor.u64()? })
        }
        KernelType::ItraceStart => {
            let (pid, tid) = task_ids(cursor)?;
            Record::ItraceStart { pid, tid }
        }
        KernelType::AuxOutputHwId => Record::AuxOutputHwId(cursor.u64()?),
        KernelType::CallchainDeferred => Record::CallchainDeferred(callchain_deferred(cursor)?),
    })
}

fn comm<'d>(misc: u16, cursor: &mut FieldReader<'d>) -> Option<Comm<'d>> {
    let (pid, tid) = task_ids(cursor)?;
    Some(Comm { pid, tid, exec: misc & MISC_13 != 0, comm: until_nul(cursor.rest()) })
}

const fn switch(misc: u16, other: Option<(Pid, Tid)>) -> Switch {
    Switch { out: misc & MISC_13 != 0, preempted: misc & MISC_14 != 0, other }
}

fn namespaces<'d>(cursor: &mut FieldReader<'d>) -> Option<Namespaces<'d>> {
    let (pid, tid) = task_ids(cursor)?;
    let count = cursor.u64()?;
    Some(Namespaces { pid, tid, words: cursor.words(count.checked_mul(2)?)? })
}

fn ksymbol<'d>(cursor: &mut FieldReader<'d>) -> Option<Ksymbol<'d>> {
    let addr = Avma(cursor.u64()?);
    let len = cursor.u32()?;
    let [kind, flags] = [cursor.u16()?, cursor.u16()?];
    let name = until_nul(cursor.rest());
    Some(Ksymbol { addr, len, kind, unregister: flags & 1 != 0, name })
}

fn bpf_event(cursor: &mut FieldReader<'_>) -> Option<BpfEvent> {
    let [kind, flags] = [cursor.u16()?, cursor.u16()?];
    let id = cursor.u32()?;
    Some(BpfEvent { kind, flags, id, tag: *cursor.bytes(8)?.first_chunk()? })
}

fn text_poke<'d>(cursor: &mut FieldReader<'d>) -> Option<TextPoke<'d>> {
    let addr = Avma(cursor.u64()?);
    let [old, new] = [cursor.u16()?, cursor.u16()?];
    Some(TextPoke { addr, old: cursor.bytes(old.into())?, new: cursor.bytes(new.into())? })
}

fn callchain_deferred<'d>(cursor: &mut FieldReader<'d>) -> Option<CallchainDeferred<'d>> {
    let cookie = cursor.u64()?;
    let count = cursor.u64()?;
    Some(CallchainDeferred { cookie, chain: Callchain::new(cursor.words(count)?) })
}

fn task_ids(cursor: &mut FieldReader<'_>) -> Option<(Pid, Tid)> {
    Some((Pid(cursor.i32()?), Tid(cursor.i32()?)))
}

/// Decodes FORK and EXIT, which have the order pid, ppid, tid, ptid.
fn task(misc: u16, cursor: &mut FieldReader<'_>) -> Option<Task> {
    let [pid, ppid, tid, ptid] = [cursor.i32()?, cursor.i32()?, cursor.i32()?, cursor.i32()?];
    let time = recorded_time(Some(cursor.u64()?));
    Some(Task {
        pid: Pid(pid),
        ppid: Pid(ppid),
        tid: Tid(tid),
        ptid: Tid(ptid),
        time,
        synthesized: misc & MISC_13 != 0,
    })
}

fn throttle(cursor: &mut FieldReader<'_>) -> Option<Throttle> {
    Some(Throttle {
        time: recorded_time(Some(cursor.u64()?)),
        id: cursor.u64()?,
        stream_id: cursor.u64()?,
    })
}

fn is_kernel(cpu_mode: CpuMode) -> bool {
    matches!(cpu_mode, CpuMode::Kernel | CpuMode::GuestKernel)
}

fn mmap<'d>(misc: u16, cursor: &mut FieldReader<'d>) -> Option<Mmap<'d>> {
    let (pid, tid) = task_ids(cursor)?;
    let [start, len, pgoff] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let executable = misc & MISC_13 == 0;
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
        name: MapName { has_build_id: misc & MISC_14 != 0, id, path },
    })
}

#[inline]
fn mmap_id(misc: u16, cursor: &mut FieldReader<'_>) -> Option<MmapId> {
    if misc & MISC_14 != 0 {
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

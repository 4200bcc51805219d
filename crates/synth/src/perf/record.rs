//! Records of the kernel (types 1 to 22, without SAMPLE) and the trailer after them.

use super::attr::{EventAttr, attr_flag, sample_type};
use super::sample::ReadValues;
use crate::bytes::{ByteWriter, Endian};

/// Trailer of a record other than a sample; the event determines the written fields.
/// All zero by default, as in synthesized records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the kernel header")]
pub struct SampleId {
    /// Index of the event in the builder; its `sample_type` determines the layout.
    pub event_idx: usize,
    pub pid: u32,
    pub tid: u32,
    /// Nanoseconds.
    pub time: u64,
    /// Written for ID and for IDENTIFIER.
    pub id: u64,
    pub stream_id: u64,
    pub cpu: u32,
}

impl SampleId {
    /// Returns a trailer with task and time.
    #[must_use]
    pub fn at(pid: u32, tid: u32, time: u64) -> Self {
        Self { pid, tid, time, ..Self::default() }
    }

    /// Returns the bytes of the trailer; none if the event does not have `SAMPLE_ID_ALL`.
    ///
    /// Source: `struct sample_id` comment, `include/uapi/linux/perf_event.h`.
    #[must_use]
    pub fn encode(&self, attr: &EventAttr, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        if attr.flags & attr_flag::SAMPLE_ID_ALL == 0 {
            return w.into_bytes();
        }
        if attr.has(sample_type::TID) {
            w.u32(self.pid).u32(self.tid);
        }
        if attr.has(sample_type::TIME) {
            w.u64(self.time);
        }
        if attr.has(sample_type::ID) {
            w.u64(self.id);
        }
        if attr.has(sample_type::STREAM_ID) {
            w.u64(self.stream_id);
        }
        if attr.has(sample_type::CPU) {
            w.u32(self.cpu).u32(0);
        }
        if attr.has(sample_type::IDENTIFIER) {
            w.u64(self.id);
        }
        w.into_bytes()
    }
}

/// Identity of the file in an MMAP2 record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the kernel header")]
pub enum MmapFile<'a> {
    Inode {
        major: u32,
        minor: u32,
        inode: u64,
        generation: u64,
    },
    /// Up to 20 bytes; sets bit 14 of `misc`.
    BuildId(&'a [u8]),
}

/// A record of the kernel, with the fields of the kernel header in its order.
///
/// ```
/// use synth::{ByteWriter, Endian, Record};
/// let record = Record::Comm { pid: 1, tid: 2, comm: b"sh", exec: true };
/// assert_eq!((record.record_type(), record.misc()), (3, 0x2000));
/// let bytes = record.encode(0, Endian::Little);
/// assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0, b's', b'h', 0, 0, 0, 0, 0, 0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "variants and fields are those of the kernel header")]
pub enum Record<'a> {
    Mmap {
        pid: u32,
        tid: u32,
        addr: u64,
        len: u64,
        pgoff: u64,
        name: &'a [u8],
    },
    Lost {
        id: u64,
        lost: u64,
    },
    /// `exec` sets bit 13 of `misc`.
    Comm {
        pid: u32,
        tid: u32,
        comm: &'a [u8],
        exec: bool,
    },
    Exit {
        pid: u32,
        ppid: u32,
        tid: u32,
        ptid: u32,
        time: u64,
    },
    Throttle {
        time: u64,
        id: u64,
        stream_id: u64,
    },
    Unthrottle {
        time: u64,
        id: u64,
        stream_id: u64,
    },
    Fork {
        pid: u32,
        ppid: u32,
        tid: u32,
        ptid: u32,
        time: u64,
    },
    Read {
        pid: u32,
        tid: u32,
        values: ReadValues,
    },
    Mmap2 {
        pid: u32,
        tid: u32,
        addr: u64,
        len: u64,
        pgoff: u64,
        file: MmapFile<'a>,
        prot: u32,
        flags: u32,
        name: &'a [u8],
    },
    Aux {
        offset: u64,
        size: u64,
        flags: u64,
    },
    ItraceStart {
        pid: u32,
        tid: u32,
    },
    LostSamples {
        lost: u64,
    },
    /// `out` sets bit 13 of `misc`.
    Switch {
        out: bool,
    },
    /// Switch away of a thread that could have continued: bits 13 and 14 of `misc`.
    Preempted,
    /// `out` sets bit 13 of `misc`.
    SwitchCpuWide {
        next_prev_pid: u32,
        next_prev_tid: u32,
        out: bool,
    },
    /// Device and inode of each link.
    Namespaces {
        pid: u32,
        tid: u32,
        links: &'a [(u64, u64)],
    },
    Ksymbol {
        addr: u64,
        len: u32,
        ksym_type: u16,
        flags: u16,
        name: &'a [u8],
    },
    BpfEvent {
        event_type: u16,
        flags: u16,
        id: u32,
        tag: [u8; 8],
    },
    Cgroup {
        id: u64,
        path: &'a [u8],
    },
    TextPoke {
        addr: u64,
        old: &'a [u8],
        new: &'a [u8],
    },
    AuxOutputHwId {
        hw_id: u64,
    },
    CallchainDeferred {
        cookie: u64,
        ips: &'a [u64],
    },
}

impl Record<'_> {
    /// Source: `enum perf_event_type`, `include/uapi/linux/perf_event.h`.
    #[must_use]
    pub fn record_type(&self) -> u32 {
        match self {
            Self::Mmap { .. } => 1,
            Self::Lost { .. } => 2,
            Self::Comm { .. } => 3,
            Self::Exit { .. } => 4,
            Self::Throttle { .. } => 5,
            Self::Unthrottle { .. } => 6,
            Self::Fork { .. } => 7,
            Self::Read { .. } => 8,
            Self::Mmap2 { .. } => 10,
            Self::Aux { .. } => 11,
            Self::ItraceStart { .. } => 12,
            Self::LostSamples { .. } => 13,
            Self::Switch { .. } | Self::Preempted => 14,
            Self::SwitchCpuWide { .. } => 15,
            Self::Namespaces { .. } => 16,
            Self::Ksymbol { .. } => 17,
            Self::BpfEvent { .. } => 18,
            Self::Cgroup { .. } => 19,
            Self::TextPoke { .. } => 20,
            Self::AuxOutputHwId { .. } => 21,
            Self::CallchainDeferred { .. } => 22,
        }
    }

    /// Returns the `misc` field that the kernel would write: user mode for mappings, and the bits that variants state
    /// as fields.
    #[must_use]
    pub fn misc(&self) -> u16 {
        match self {
            Self::Mmap { .. } | Self::Mmap2 { file: MmapFile::Inode { .. }, .. } => 2,
            Self::Mmap2 { file: MmapFile::BuildId(_), .. } => 2 | 1 << 14,
            Self::Comm { exec: true, .. }
            | Self::Switch { out: true }
            | Self::SwitchCpuWide { out: true, .. } => 1 << 13,
            Self::Preempted => 1 << 13 | 1 << 14,
            _ => 0,
        }
    }

    /// Returns the body between header and trailer; a multiple of 8 bytes.
    ///
    /// Source: the comments in `enum perf_event_type`, `include/uapi/linux/perf_event.h`.
    #[must_use]
    pub fn encode(&self, read_format: u64, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        match *self {
            Self::Mmap { pid, tid, addr, len, pgoff, name } => {
                w.u32(pid).u32(tid).u64s(&[addr, len, pgoff]).c_str(name, 8)
            }
            Self::Lost { id, lost } => w.u64(id).u64(lost),
            Self::Comm { pid, tid, comm, .. } => w.u32(pid).u32(tid).c_str(comm, 8),
            Self::Exit { pid, ppid, tid, ptid, time }
            | Self::Fork { pid, ppid, tid, ptid, time } => {
                w.u32(pid).u32(ppid).u32(tid).u32(ptid).u64(time)
            }
            Self::Throttle { time, id, stream_id } | Self::Unthrottle { time, id, stream_id } => {
                w.u64s(&[time, id, stream_id])
            }
            Self::Read { pid, tid, ref values } => {
                w.u32(pid).u32(tid);
                values.write(read_format, &mut w);
                &mut w
            }
            Self::Mmap2 { pid, tid, addr, len, pgoff, file, prot, flags, name } => {
                w.u32(pid).u32(tid).u64s(&[addr, len, pgoff]);
                write_mmap_file(file, &mut w);
                w.u32(prot).u32(flags).c_str(name, 8)
            }
            Self::Aux { offset, size, flags } => w.u64s(&[offset, size, flags]),
            Self::ItraceStart { pid, tid } => w.u32(pid).u32(tid),
            Self::LostSamples { lost } => w.u64(lost),
            Self::Switch { .. } | Self::Preempted => &mut w,
            Self::SwitchCpuWide { next_prev_pid, next_prev_tid, .. } => {
                w.u32(next_prev_pid).u32(next_prev_tid)
            }
            Self::Namespaces { pid, tid, links } => {
                w.u32(pid).u32(tid).u64(links.len() as u64);
                for &(device, inode) in links {
                    w.u64(device).u64(inode);
                }
                &mut w
            }
            Self::Ksymbol { addr, len, ksym_type, flags, name } => {
                w.u64(addr).u32(len).u16(ksym_type).u16(flags).c_str(name, 8)
            }
            Self::BpfEvent { event_type, flags, id, tag } => {
                w.u16(event_type).u16(flags).u32(id).bytes(&tag)
            }
            Self::Cgroup { id, path } => w.u64(id).c_str(path, 8),
            Self::TextPoke { addr, old, new } => w
                .u64(addr)
                .u16(old.len() as u16)
                .u16(new.len() as u16)
                .bytes(old)
                .bytes(new)
                .align(8),
            Self::AuxOutputHwId { hw_id } => w.u64(hw_id),
            Self::CallchainDeferred { cookie, ips } => {
                w.u64(cookie).u64(ips.len() as u64).u64s(ips)
            }
        };
        w.into_bytes()
    }
}

/// Writes the 24 bytes that are either device and inode or a build id.
fn write_mmap_file(file: MmapFile<'_>, w: &mut ByteWriter) {
    match file {
        MmapFile::Inode { major, minor, inode, generation } => {
            w.u32(major).u32(minor).u64(inode).u64(generation);
        }
        MmapFile::BuildId(id) => {
            w.u8(id.len() as u8).zeros(3).fixed_str(id, 20);
        }
    }
}

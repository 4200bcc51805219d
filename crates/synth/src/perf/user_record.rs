//! Records of the recorder itself (types 64 to 86); they have no trailer.

use super::attr::EventAttr;
use crate::bytes::{ByteWriter, Endian};

/// One entry of the `BUILD_ID` feature, or a `BUILD_ID` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildIdEntry<'a> {
    /// Mode in the low three bits: 1 kernel, 2 user.
    pub misc: u16,
    /// -1 for the host's kernel.
    pub pid: i32,
    /// Up to 20 bytes.
    pub id: &'a [u8],
    /// True to state the length (and set bit 15 of `misc`); otherwise the id is padded with zeros.
    pub sized: bool,
    /// Path or bracketed name.
    pub name: &'a [u8],
}

impl BuildIdEntry<'_> {
    /// Returns header and body. The record type is 0 in the feature section and 67 in a stream.
    ///
    /// Source: `struct perf_record_header_build_id`, `tools/lib/perf/include/perf/event.h`.
    #[must_use]
    pub fn encode(&self, record_type: u32, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        w.u32(self.pid as u32).fixed_str(self.id, 20);
        w.u8(if self.sized { self.id.len() as u8 } else { 0 }).zeros(3);
        w.fixed_str(self.name, (self.name.len() + 1).next_multiple_of(64));
        let size_bit = if self.sized { 1 << 15 } else { 0 };
        super::record_bytes(endian, record_type, self.misc | size_bit, w.as_bytes())
    }
}

/// A record of type 64 or higher, in the recorder's form.
///
/// ```
/// use synth::{Endian, UserRecord};
/// let bytes = UserRecord::FinishedRound.encode(Endian::Little);
/// assert_eq!(bytes, [68, 0, 0, 0, 0, 0, 8, 0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "variants and fields are those of perf's event.h")]
pub enum UserRecord<'a> {
    HeaderAttr {
        attr: &'a EventAttr,
        ids: &'a [u64],
    },
    /// The old record with id and name.
    EventType {
        id: u64,
        name: &'a [u8],
    },
    /// The data follow outside of the record's size, padded to 8 bytes.
    TracingData {
        data: &'a [u8],
    },
    BuildId(BuildIdEntry<'a>),
    FinishedRound,
    /// Rows of id, index, cpu, tid; `machines` (pid, vcpu) are omitted if empty.
    IdIndex {
        rows: &'a [[u64; 4]],
        machines: &'a [(u64, u64)],
    },
    AuxtraceInfo {
        kind: u32,
        private: &'a [u64],
    },
    /// The data follow outside of the record's size.
    Auxtrace {
        offset: u64,
        reference: u64,
        idx: u32,
        tid: u32,
        cpu: u32,
        data: &'a [u8],
    },
    AuxtraceError {
        kind: u32,
        code: u32,
        cpu: u32,
        pid: u32,
        tid: u32,
        ip: u64,
        time: u64,
        msg: &'a [u8],
    },
    ThreadMap {
        threads: &'a [(u64, &'a [u8])],
    },
    /// The payload after `kind` (0 list, 1 mask, 2 range).
    CpuMap {
        kind: u16,
        payload: &'a [u8],
    },
    /// Rows of tag and value.
    StatConfig {
        rows: &'a [(u64, u64)],
    },
    Stat {
        id: u64,
        cpu: u32,
        thread: u32,
        value: u64,
        enabled: u64,
        running: u64,
    },
    StatRound {
        kind: u64,
        time: u64,
    },
    /// Kind 0 unit, 1 scale, 2 name, 3 cpus.
    EventUpdate {
        kind: u64,
        id: u64,
        payload: &'a [u8],
    },
    /// Shift, mult, zero, cycles, mask, and the two capability bytes.
    TimeConv {
        words: [u64; 5],
        caps: [u8; 2],
    },
    /// Not padded to a multiple of 8.
    HeaderFeature {
        bit: u64,
        payload: &'a [u8],
    },
    /// Not padded to a multiple of 8.
    Compressed {
        data: &'a [u8],
    },
    FinishedInit,
    /// With its own length, padded to 8 bytes.
    Compressed2 {
        data: &'a [u8],
    },
    BpfMetadata {
        program: &'a [u8],
        entries: &'a [(&'a [u8], &'a [u8])],
    },
    SchedstatCpu {
        payload: &'a [u8],
    },
    SchedstatDomain {
        payload: &'a [u8],
    },
}

impl UserRecord<'_> {
    /// Source: `enum perf_user_event_type`, `tools/lib/perf/include/perf/event.h`.
    #[must_use]
    pub fn record_type(&self) -> u32 {
        match self {
            Self::HeaderAttr { .. } => 64,
            Self::EventType { .. } => 65,
            Self::TracingData { .. } => 66,
            Self::BuildId(_) => 67,
            Self::FinishedRound => 68,
            Self::IdIndex { .. } => 69,
            Self::AuxtraceInfo { .. } => 70,
            Self::Auxtrace { .. } => 71,
            Self::AuxtraceError { .. } => 72,
            Self::ThreadMap { .. } => 73,
            Self::CpuMap { .. } => 74,
            Self::StatConfig { .. } => 75,
            Self::Stat { .. } => 76,
            Self::StatRound { .. } => 77,
            Self::EventUpdate { .. } => 78,
            Self::TimeConv { .. } => 79,
            Self::HeaderFeature { .. } => 80,
            Self::Compressed { .. } => 81,
            Self::FinishedInit => 82,
            Self::Compressed2 { .. } => 83,
            Self::BpfMetadata { .. } => 84,
            Self::SchedstatCpu { .. } => 85,
            Self::SchedstatDomain { .. } => 86,
        }
    }

    /// Returns the complete record with its header, and the data that follow outside of its size.
    #[must_use]
    pub fn encode(&self, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        let mut outside: &[u8] = &[];
        match *self {
            Self::BuildId(entry) => return entry.encode(67, endian),
            Self::TracingData { data } => {
                // The recorder's compiler pads the record to 16 bytes.
                w.u32(data.len().next_multiple_of(8) as u32).u32(0);
                outside = data;
            }
            Self::Auxtrace { data, .. } => {
                self.write_body(&mut w);
                outside = data;
            }
            _ => self.write_body(&mut w),
        }
        let mut all = ByteWriter::new(endian);
        all.bytes(&super::record_bytes(endian, self.record_type(), 0, w.as_bytes()));
        all.bytes(outside);
        if matches!(self, Self::TracingData { .. }) {
            all.align(8);
        }
        all.into_bytes()
    }

    /// Source: the structs `perf_record_*` in `tools/lib/perf/include/perf/event.h`.
    fn write_body(&self, w: &mut ByteWriter) {
        match *self {
            Self::HeaderAttr { attr, ids } => w.bytes(&attr.encode(w.endian())).u64s(ids),
            Self::EventType { id, name } => w.u64(id).c_str(name, 8),
            Self::IdIndex { rows, machines } => {
                w.u64(rows.len() as u64).u64s(rows.as_flattened());
                write_pairs(machines, w)
            }
            Self::AuxtraceInfo { kind, private } => w.u32(kind).u32(0).u64s(private),
            Self::Auxtrace { offset, reference, idx, tid, cpu, data } => {
                w.u64s(&[data.len() as u64, offset, reference]).u32(idx).u32(tid).u32(cpu).u32(0)
            }
            Self::AuxtraceError { kind, code, cpu, pid, tid, ip, time, msg } => {
                for word in [kind, code, cpu, pid, tid, 1] {
                    w.u32(word);
                }
                w.u64(ip).u64(time).fixed_str(msg, 64).u32(0).u32(0)
            }
            Self::ThreadMap { threads } => {
                w.u64(threads.len() as u64);
                for &(pid, comm) in threads {
                    w.u64(pid).fixed_str(comm, 16);
                }
                w
            }
            Self::CpuMap { kind, payload } => w.u16(kind).bytes(payload).align(8),
            Self::StatConfig { rows } => {
                w.u64(rows.len() as u64);
                write_pairs(rows, w)
            }
            Self::Stat { id, cpu, thread, value, enabled, running } => {
                w.u64(id).u32(cpu).u32(thread).u64s(&[value, enabled, running])
            }
            Self::StatRound { kind, time } => w.u64(kind).u64(time),
            Self::EventUpdate { kind, id, payload } => w.u64(kind).u64(id).bytes(payload).align(8),
            Self::TimeConv { words, caps } => w.u64s(&words).bytes(&caps).align(8),
            Self::HeaderFeature { bit, payload } => w.u64(bit).bytes(payload),
            Self::Compressed { data } => w.bytes(data),
            Self::Compressed2 { data } => w.u64(data.len() as u64).bytes(data).align(8),
            Self::BpfMetadata { program, entries } => {
                w.fixed_str(program, 512).u64(entries.len() as u64);
                for &(key, value) in entries {
                    w.fixed_str(key, 64).fixed_str(value, 256);
                }
                w
            }
            Self::SchedstatCpu { payload } | Self::SchedstatDomain { payload } => w.bytes(payload),
            Self::TracingData { .. }
            | Self::BuildId(_)
            | Self::FinishedRound
            | Self::FinishedInit => w,
        };
    }
}

fn write_pairs<'w>(pairs: &[(u64, u64)], w: &'w mut ByteWriter) -> &'w mut ByteWriter {
    for &(first, second) in pairs {
        w.u64(first).u64(second);
    }
    w
}

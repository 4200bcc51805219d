//! Offsets of the fixed fields of an event's samples and trailers, computed once per event, so that the
//! scan reads a time or thread id with one load.
//!
//! Source: `kernel/events/core.c`, `perf_output_sample`, `__perf_event__output_id_sample`.

use address::{Pid, Tid, Timestamp};

use super::attr::{EventAttr, ReadFormat, SampleType};
use crate::bytes::Endian;
use crate::record_header::HEADER_LEN;

/// Offset of an absent field.
const ABSENT: u8 = u8::MAX;

/// Fields before the first one of variable length, as offsets in bytes from `base` of [`FieldOffsets::new`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FieldOffsets {
    identifier: u8,
    ip: u8,
    tid: u8,
    time: u8,
    addr: u8,
    id: u8,
    stream_id: u8,
    cpu: u8,
    period: u8,
    /// Offset after the last of them.
    pub(crate) end: u8,
}

macro_rules! word_fields {
    ($($name:ident),*) => {
        $(pub(crate) fn $name(&self, bytes: &[u8], endian: Endian) -> Option<u64> {
            word(bytes, self.$name, endian)
        })*
    };
}

fn word(bytes: &[u8], at: u8, endian: Endian) -> Option<u64> {
    if at == ABSENT { None } else { endian.u64_at(bytes, at.into()) }
}

impl FieldOffsets {
    /// Assigns consecutive offsets to the fields of `order` that are in `sample_type`.
    fn new(sample_type: SampleType, base: u8, order: &[SampleType]) -> Self {
        let mut fields = Self {
            identifier: ABSENT,
            ip: ABSENT,
            tid: ABSENT,
            time: ABSENT,
            addr: ABSENT,
            id: ABSENT,
            stream_id: ABSENT,
            cpu: ABSENT,
            period: ABSENT,
            end: base,
        };
        for &bit in order.iter().filter(|bit| sample_type.has(**bit)) {
            let slot = match bit {
                SampleType::IDENTIFIER => &mut fields.identifier,
                SampleType::IP => &mut fields.ip,
                SampleType::TID => &mut fields.tid,
                SampleType::TIME => &mut fields.time,
                SampleType::ADDR => &mut fields.addr,
                SampleType::ID => &mut fields.id,
                SampleType::STREAM_ID => &mut fields.stream_id,
                SampleType::CPU => &mut fields.cpu,
                _ => &mut fields.period,
            };
            *slot = fields.end;
            fields.end += 8;
        }
        fields
    }

    word_fields!(ip, time, addr, stream_id, period);

    /// Returns the event id from either of its fields.
    pub(crate) fn id(&self, bytes: &[u8], endian: Endian) -> Option<u64> {
        word(bytes, if self.identifier == ABSENT { self.id } else { self.identifier }, endian)
    }

    /// Returns the offset of the event id from `base`.
    fn id_at(&self) -> Option<u8> {
        [self.identifier, self.id].into_iter().find(|&at| at != ABSENT)
    }

    pub(crate) fn task(&self, bytes: &[u8], endian: Endian) -> Option<(Pid, Tid)> {
        if self.tid == ABSENT {
            return None;
        }
        let at = usize::from(self.tid);
        let pid = endian.u32_at(bytes, at)?;
        let tid = endian.u32_at(bytes, at + 4)?;
        Some((Pid(pid.cast_signed()), Tid(tid.cast_signed())))
    }

    pub(crate) fn cpu(&self, bytes: &[u8], endian: Endian) -> Option<u32> {
        if self.cpu == ABSENT { None } else { endian.u32_at(bytes, self.cpu.into()) }
    }
}

/// Fixed properties of the records of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventLayout {
    pub(crate) sample_type: SampleType,
    /// Fields of a sample, as offsets from the start of the record.
    pub(crate) sample: FieldOffsets,
    /// Fields of the trailer, as offsets from its start; `end` is its length, 0 if there is none.
    pub(crate) trailer: FieldOffsets,
    /// Size in bytes of the user registers of a sample, unless their ABI is "none".
    pub(crate) regs_user_len: u16,
    /// The same for the registers of the interrupted context.
    pub(crate) regs_intr_len: u16,
    /// True if a stack with valid length 0 is valid as a whole (simpleperf).
    pub(crate) whole_stacks: bool,
    /// True if samples carry the number of lost samples.
    pub(crate) reads_lost: bool,
    /// True if user callchains may be in separate records.
    pub(crate) defers_chains: bool,
}

impl EventLayout {
    pub(crate) fn new(attr: &EventAttr) -> Self {
        use SampleType as T;
        const SAMPLE: [SampleType; 9] = [
            T::IDENTIFIER,
            T::IP,
            T::TID,
            T::TIME,
            T::ADDR,
            T::ID,
            T::STREAM_ID,
            T::CPU,
            T::PERIOD,
        ];
        const TRAILER: [SampleType; 6] =
            [T::TID, T::TIME, T::ID, T::STREAM_ID, T::CPU, T::IDENTIFIER];
        let trailer: &[SampleType] = if attr.flags.sample_id_all() { &TRAILER } else { &[] };
        Self {
            sample_type: attr.sample_type,
            sample: FieldOffsets::new(attr.sample_type, HEADER_LEN as u8, &SAMPLE),
            trailer: FieldOffsets::new(attr.sample_type, 0, trailer),
            regs_user_len: attr.sample_regs_user.count_ones() as u16 * 8,
            regs_intr_len: attr.sample_regs_intr.count_ones() as u16 * 8,
            whole_stacks: false,
            reads_lost: attr.sample_type.has(SampleType::READ)
                && attr.read_format.has(ReadFormat::LOST),
            defers_chains: attr.sample_type.has(SampleType::CALLCHAIN)
                && attr.flags.defer_callchain(),
        }
    }

    /// Length of the trailer, in bytes.
    pub(crate) fn trailer_len(&self) -> usize {
        self.trailer.end.into()
    }

    /// Returns the offset of the event id in a sample, from the start of the record.
    pub(crate) fn sample_id_at(&self) -> Option<usize> {
        self.sample.id_at().map(usize::from)
    }

    /// Returns the offset of the event id in other records, in bytes back from the end.
    pub(crate) fn trailer_id_back(&self) -> Option<usize> {
        self.trailer.id_at().map(|at| self.trailer_len() - usize::from(at))
    }

    /// Returns the time of a trailer.
    #[inline]
    pub(crate) fn trailer_time(&self, trailer: &[u8], endian: Endian) -> Timestamp {
        recorded_time(self.trailer.time(trailer, endian))
    }
}

/// Returns the time of a record. Absent times, and all ones, become 0, which means no time.
///
/// Source: `tools/perf/util/ordered-events.c`, `ordered_events__queue`.
pub(crate) fn recorded_time(word: Option<u64>) -> Timestamp {
    Timestamp(word.filter(|&time| time != u64::MAX).unwrap_or_default())
}

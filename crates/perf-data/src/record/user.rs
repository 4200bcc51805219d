//! Records of the recording tool (types from 64 on). They have no trailer.
//!
//! Source: `tools/lib/perf/include/perf/event.h`, `enum perf_user_event_type`.

use super::build_ids::{BuildIdEntry, build_id_body};
use crate::bytes::{FieldReader, Words, until_nul};
use crate::event::EventAttr;
use crate::record_header::RecordHeader;
use crate::record_types::ToolType;

/// `EVENT_UPDATE`: a property of an event that is not part of its attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventUpdate<'d> {
    /// 0 unit, 1 scale, 2 name, 3 processors.
    pub kind: u64,
    /// An id of the event.
    pub id: u64,
    /// Text up to the first NUL for unit and name; an f64; a CPU map.
    pub payload: &'d [u8],
}

impl EventUpdate<'_> {
    /// Kind of the updates with the event's name as payload.
    pub(crate) const NAME: u64 = 2;
}

/// `ID_INDEX`: meaning of an event id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdIndexEntry {
    /// Event id.
    pub id: u64,
    /// Index of the event.
    pub index: u64,
    /// Processor, or -1 as u64.
    pub cpu: u64,
    /// Thread, or -1 as u64.
    pub tid: u64,
}

/// AUXTRACE: description of the payload that follows the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Auxtrace {
    /// Length of the payload, in bytes.
    pub size: u64,
    /// Offset in the AUX area.
    pub offset: u64,
    /// Unique id of this part of the trace.
    pub reference: u64,
    /// Index of the AUX area.
    pub index: u32,
    /// Thread, or -1.
    pub tid: i32,
    /// Processor, or -1 as u32.
    pub cpu: u32,
}

/// `THREAD_MAP`: the requested threads; [`UserRecord::threads`] decodes them.
#[derive(Clone, Copy, Debug)]
pub struct ThreadMap<'d> {
    /// Id and name of each, 24 bytes.
    entries: FieldReader<'d>,
}

/// `THREAD_MAP`: a recorded thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadMapEntry<'d> {
    /// Thread.
    pub tid: u64,
    /// Its name.
    pub comm: &'d [u8],
}

/// `TIME_CONV`: nanoseconds = zero + (cycles * mult) >> shift.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeConv {
    /// Shift.
    pub shift: u64,
    /// Factor.
    pub mult: u64,
    /// Nanoseconds at cycle 0.
    pub zero: u64,
    /// Since Linux 5.10: reference cycles and mask of the short counter.
    pub short: Option<(u64, u64)>,
}

/// One record of the recording tool.
#[derive(Clone, Copy, Debug)]
pub enum UserRecord<'d> {
    /// An event of a pipe stream.
    HeaderAttr {
        /// Attribute, for [`EventAttr::parse`].
        attr: &'d [u8],
        /// Ids.
        ids: Words<'d>,
    },
    /// Name of an event of an old pipe stream.
    EventType {
        /// Id of the event.
        config: u64,
        /// Name.
        name: &'d [u8],
    },
    /// Tracing data. They follow the record; in old recordings of simpleperf they are inside of it.
    TracingData {
        /// Length in bytes.
        size: u32,
        /// Data inside of the record; empty if they follow it.
        inside: &'d [u8],
    },
    /// A build-id.
    BuildId(BuildIdEntry<'d>),
    /// All records up to an earlier point are written.
    FinishedRound,
    /// Meanings of event ids.
    IdIndex(Words<'d>),
    /// Kind of AUX traces.
    AuxtraceInfo {
        /// Kind: 1 Intel PT, 2 Intel BTS, 3 `CoreSight`, 4 SPE, ….
        kind: u32,
        /// Parameters.
        data: Words<'d>,
    },
    /// A part of an AUX trace follows the record.
    Auxtrace(Auxtrace),
    /// An error in AUX tracing; undecoded.
    AuxtraceError(&'d [u8]),
    /// Recorded threads; [`UserRecord::threads`] decodes them.
    ThreadMap(ThreadMap<'d>),
    /// Recorded processors, in one of several encodings; undecoded.
    CpuMap(&'d [u8]),
    /// Counting configuration: pairs of a tag and a value.
    StatConfig(Words<'d>),
    /// A count; undecoded.
    Stat(&'d [u8]),
    /// End of a round of counts.
    StatRound {
        /// 0 interval, 1 final.
        kind: u64,
        /// Nanoseconds.
        time: u64,
    },
    /// A property of an event.
    EventUpdate(EventUpdate<'d>),
    /// Conversion of the time stamp counter to nanoseconds.
    TimeConv(TimeConv),
    /// A feature of a pipe stream.
    Feature {
        /// Bit of the feature, see [`Feature::bit`](crate::Feature::bit).
        bit: u64,
        /// Content, as in its section of a file.
        payload: &'d [u8],
    },
    /// Compressed records.
    Compressed(&'d [u8]),
    /// The recorder has written the initial state.
    FinishedInit,
    /// A BPF program's name with its key-value pairs; undecoded.
    BpfMetadata(&'d [u8]),
    /// Scheduler statistics; undecoded.
    Schedstat(&'d [u8]),
}

impl<'d> UserRecord<'d> {
    /// Decodes the body of a record; `None` if it is too short, or of unknown type.
    pub(crate) fn decode(header: RecordHeader, cursor: &mut FieldReader<'d>) -> Option<Self> {
        Some(match ToolType::of(header.kind)? {
            ToolType::Attr => header_attr(cursor)?,
            ToolType::EventType => {
                Self::EventType { config: cursor.u64()?, name: until_nul(cursor.rest()) }
            }
            ToolType::TracingData => {
                let size = cursor.u32()?;
                Self::TracingData {
                    size,
                    inside: cursor.bytes_u64(size.into()).unwrap_or_default(),
                }
            }
            ToolType::BuildId => Self::BuildId(build_id_body(cursor, header.misc, true)?),
            ToolType::FinishedRound => Self::FinishedRound,
            ToolType::IdIndex => {
                let count = cursor.u64()?;
                Self::IdIndex(cursor.words(count.checked_mul(4)?)?)
            }
            ToolType::AuxtraceInfo => {
                let kind = cursor.u32()?;
                let _reserved = cursor.u32()?;
                Self::AuxtraceInfo { kind, data: Words::new(cursor.rest(), cursor.endian()) }
            }
            ToolType::Auxtrace => Self::Auxtrace(auxtrace(cursor)?),
            ToolType::AuxtraceError => Self::AuxtraceError(cursor.rest()),
            ToolType::ThreadMap => {
                let count = cursor.u64()?;
                let entries = cursor.bytes_u64(count.checked_mul(24)?)?;
                let entries = FieldReader::new(entries, cursor.endian());
                Self::ThreadMap(ThreadMap { entries })
            }
            ToolType::CpuMap => Self::CpuMap(cursor.rest()),
            ToolType::StatConfig => {
                let count = cursor.u64()?;
                Self::StatConfig(cursor.words(count.checked_mul(2)?)?)
            }
            ToolType::Stat => Self::Stat(cursor.rest()),
            ToolType::StatRound => Self::StatRound { kind: cursor.u64()?, time: cursor.u64()? },
            ToolType::EventUpdate => Self::EventUpdate(event_update(cursor)?),
            ToolType::TimeConv => Self::TimeConv(time_conv(cursor)?),
            ToolType::Feature => Self::Feature { bit: cursor.u64()?, payload: cursor.rest() },
            ToolType::Compressed => Self::Compressed(cursor.rest()),
            ToolType::Compressed2 => {
                let size = cursor.u64()?;
                Self::Compressed(cursor.bytes_u64(size)?)
            }
            ToolType::FinishedInit => Self::FinishedInit,
            ToolType::BpfMetadata => Self::BpfMetadata(cursor.rest()),
            ToolType::SchedstatCpu | ToolType::SchedstatDomain => Self::Schedstat(cursor.rest()),
        })
    }

    /// Returns the entries of an `ID_INDEX`; none for other records.
    pub fn id_index(&self) -> impl Iterator<Item = IdIndexEntry> + use<'d> {
        let words = if let Self::IdIndex(words) = self { Some(*words) } else { None };
        words.into_iter().flat_map(|words| {
            (0..words.len() / 4).filter_map(move |entry| {
                let word = |at: usize| words.get(entry * 4 + at);
                Some(IdIndexEntry { id: word(0)?, index: word(1)?, cpu: word(2)?, tid: word(3)? })
            })
        })
    }

    /// Returns the entries of a `THREAD_MAP`; none for other records.
    pub fn threads(&self) -> impl Iterator<Item = ThreadMapEntry<'d>> + use<'d> {
        let mut cursor = if let Self::ThreadMap(map) = self { Some(map.entries) } else { None };
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            Some(ThreadMapEntry { tid: cursor.u64()?, comm: until_nul(cursor.bytes(16)?) })
        })
    }
}

/// Decodes an event. The ids start at the stated end of the attribute.
fn header_attr<'d>(cursor: &mut FieldReader<'d>) -> Option<UserRecord<'d>> {
    let size = EventAttr::parse(cursor.rest(), cursor.endian())?.effective_size();
    let attr = cursor.bytes(size)?;
    Some(UserRecord::HeaderAttr { attr, ids: Words::new(cursor.rest(), cursor.endian()) })
}

pub(crate) fn auxtrace(cursor: &mut FieldReader<'_>) -> Option<Auxtrace> {
    let [size, offset, reference] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    Some(Auxtrace {
        size,
        offset,
        reference,
        index: cursor.u32()?,
        tid: cursor.i32()?,
        cpu: cursor.u32()?,
    })
}

fn event_update<'d>(cursor: &mut FieldReader<'d>) -> Option<EventUpdate<'d>> {
    let [kind, id] = [cursor.u64()?, cursor.u64()?];
    let payload = if matches!(kind, 0 | 2) { until_nul(cursor.rest()) } else { cursor.rest() };
    Some(EventUpdate { kind, id, payload })
}

fn time_conv(cursor: &mut FieldReader<'_>) -> Option<TimeConv> {
    let [shift, mult, zero] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let mut short = || Some((cursor.u64()?, cursor.u64()?));
    Some(TimeConv { shift, mult, zero, short: short() })
}

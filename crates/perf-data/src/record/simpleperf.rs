//! Records of Android's simpleperf (types from 32768 on). They have no trailer.
//!
//! Source: simpleperf's `record.h` and `record.cpp`.

use address::{Avma, Pid, Tid, Timestamp};

use super::callchain::Callchain;
use crate::bytes::{FieldReader, Words, until_nul};
use crate::record_header::RecordKind;
use crate::record_types::SimpleperfType;

/// One record of simpleperf.
#[derive(Clone, Copy, Debug)]
pub enum SimpleperfRecord<'d> {
    /// The kernel's symbols, in the form of `/proc/kallsyms`.
    KernelSymbols(&'d [u8]),
    /// A file hit by samples.
    Dso {
        /// 0 kernel, 1 kernel module, 2 ELF file, 3 DEX file, 4 symbol map.
        kind: u64,
        /// Id of the file in symbols.
        id: u64,
        /// Lowest address of its executable segments.
        min_vaddr: u64,
        /// Path.
        name: &'d [u8],
    },
    /// A symbol of a file.
    Symbol {
        /// Address as stated in the file.
        addr: u64,
        /// Length in bytes.
        len: u64,
        /// Id of the file.
        dso: u64,
        /// Name.
        name: &'d [u8],
    },
    /// A part of a record that exceeds the maximum length.
    Split(&'d [u8]),
    /// End of the parts.
    SplitEnd,
    /// Additional ids of events: pairs of an event's index and an id.
    EventIds(Words<'d>),
    /// A callchain unwound on the device, for the sample of the same thread and time.
    Callchain(SimpleperfChain<'d>),
    /// Reason why unwinding failed; undecoded.
    UnwindingResult(&'d [u8]),
    /// Formats of tracepoints.
    TracingData(&'d [u8]),
    /// A message.
    Debug {
        /// Time.
        time: Timestamp,
        /// Text.
        text: &'d [u8],
    },
}

/// A callchain that simpleperf unwound.
#[derive(Clone, Copy, Debug)]
pub struct SimpleperfChain<'d> {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// 0 and 1: unwound offline or remotely; 2 and 3: the same, completed with frames of other samples.
    pub kind: u64,
    /// Time of the sample.
    pub time: Timestamp,
    /// User frames, innermost first.
    pub chain: Callchain<'d>,
    /// Stack pointers of the frames.
    pub stack_pointers: Words<'d>,
}

impl SimpleperfChain<'_> {
    /// Address of the first frame.
    #[must_use]
    pub fn leaf(&self) -> Option<Avma> {
        self.chain.entries().next().map(Avma)
    }
}

impl<'d> SimpleperfRecord<'d> {
    /// Decodes the body of a record; `None` if it is too short.
    pub(crate) fn decode(kind: RecordKind, cursor: &mut FieldReader<'d>) -> Option<Self> {
        Some(match SimpleperfType::of(kind)? {
            SimpleperfType::KernelSymbol => Self::KernelSymbols(sized_bytes(cursor)?),
            SimpleperfType::Dso => Self::Dso {
                kind: cursor.u64()?,
                id: cursor.u64()?,
                min_vaddr: cursor.u64()?,
                name: until_nul(cursor.rest()),
            },
            SimpleperfType::Symbol => Self::Symbol {
                addr: cursor.u64()?,
                len: cursor.u64()?,
                dso: cursor.u64()?,
                name: until_nul(cursor.rest()),
            },
            SimpleperfType::Split => Self::Split(cursor.rest()),
            SimpleperfType::SplitEnd => Self::SplitEnd,
            SimpleperfType::EventId => {
                let count = cursor.u64()?;
                Self::EventIds(cursor.words(count.checked_mul(2)?)?)
            }
            SimpleperfType::Callchain => Self::Callchain(chain(cursor)?),
            SimpleperfType::UnwindingResult => Self::UnwindingResult(cursor.rest()),
            SimpleperfType::TracingData => Self::TracingData(sized_bytes(cursor)?),
            SimpleperfType::Debug => {
                Self::Debug { time: Timestamp(cursor.u64()?), text: until_nul(cursor.rest()) }
            }
        })
    }
}

fn sized_bytes<'d>(cursor: &mut FieldReader<'d>) -> Option<&'d [u8]> {
    let len = cursor.u32()?;
    cursor.bytes_u64(len.into())
}

fn chain<'d>(cursor: &mut FieldReader<'d>) -> Option<SimpleperfChain<'d>> {
    let (pid, tid) = (Pid(cursor.i32()?), Tid(cursor.i32()?));
    let [kind, time, count] = [cursor.u64()?, cursor.u64()?, cursor.u64()?];
    let chain = Callchain::new(cursor.words(count)?);
    let stack_pointers = cursor.words(count)?;
    Some(SimpleperfChain { pid, tid, kind, time: Timestamp(time), chain, stack_pointers })
}

//! One decoded sample: everything borrowed, nothing allocated.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_RECORD_SAMPLE`.

use address::{Avma, Pid, Tid, Timestamp};
use thiserror::Error;

use super::branch_stack::BranchStack;
use super::callchain::Callchain;
use super::read_values::ReadValues;
use super::registers::RecordedRegisters;
use crate::record_header::CpuMode;

/// Why a sample could not be decoded at all. `position` is that of its record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// No record begins at the position.
    #[error("no sample record at {position:#x}")]
    NotASample {
        /// The position asked for.
        position: u64,
    },
    /// The entry names an event that the recording does not have.
    #[error("sample at {position:#x} is of event {event}, which does not exist")]
    NoEvent {
        /// The position asked for.
        position: u64,
        /// The event's index.
        event: u16,
    },
    /// The record ends in front of its fixed fields.
    #[error("sample at {position:#x} has {found} bytes, expected at least {expected}")]
    TooShort {
        /// The position asked for.
        position: u64,
        /// Bytes up to the end of the fixed fields.
        expected: u32,
        /// Bytes of the record.
        found: u32,
    },
}

/// The first field of a sample that is damaged. It and what comes after it are missing, unless said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SampleDamage {
    /// Counter values.
    Read,
    /// The callchain's count leaves the record.
    Callchain,
    /// Raw data.
    Raw,
    /// The branch stack's count leaves the record.
    BranchStack,
    /// User registers.
    UserRegisters,
    /// The stack's size leaves the record.
    UserStack,
    /// The stack says that more of it is valid than was copied. Only the stack is missing.
    UserStackLength,
    /// Registers of the interrupted context.
    InterruptRegisters,
    /// AUX data.
    Aux,
    /// One of the words after the user stack.
    Word,
}

/// A copy of the top of the user stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserStack<'d> {
    /// The bytes, from the stack pointer upwards; only those that the kernel could copy.
    pub bytes: &'d [u8],
    /// Bytes that the record has room for. Where `bytes` is shorter, the stack ended or a page was not there; where it
    /// is as long, the stack may go on.
    pub dumped: u64,
}

/// The cost of a memory access or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// One number.
    Full(u64),
    /// Three numbers, meaning by processor.
    Split {
        /// Usually the latency in cycles.
        var1: u32,
        /// Usually the latency of the instruction in cycles.
        var2: u16,
        /// Usually the latency to retirement.
        var3: u16,
    },
}

/// A decoded sample. What its event does not record, or what is damaged, is `None`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'d> {
    /// Index of its event.
    pub event: u16,
    /// Flags of its header.
    pub misc: u16,
    /// The mode of the processor.
    pub cpu_mode: CpuMode,
    /// Where the processor was.
    pub ip: Option<Avma>,
    /// Process; -1 after its end.
    pub pid: Option<Pid>,
    /// Thread; -1 after its end.
    pub tid: Option<Tid>,
    /// Time; 0 where there is none.
    pub time: Timestamp,
    /// Address accessed, or another word that belongs to the event.
    pub addr: Option<Avma>,
    /// Id of the event.
    pub id: Option<u64>,
    /// Id of the event on that CPU or thread.
    pub stream_id: Option<u64>,
    /// Processor.
    pub cpu: Option<u32>,
    /// Events since the last sample.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<ReadValues<'d>>,
    /// Recorded callchain. With a stack dump it has the kernel's part only.
    pub callchain: Option<Callchain<'d>>,
    /// The user part of the callchain, where it came in a record of its own: recorded on the way back to user mode
    /// (without marker), or unwound by simpleperf. Only [`crate::Batch::sample`] knows of it.
    pub user_callchain: Option<Callchain<'d>>,
    /// Raw data of a tracepoint or PMU.
    pub raw: Option<&'d [u8]>,
    /// Last branches.
    pub branch_stack: Option<BranchStack<'d>>,
    /// User registers; `None` also for kernel threads, which have none.
    pub user_regs: Option<RecordedRegisters<'d>>,
    /// Top of the user stack; `None` also where nothing was copied.
    pub user_stack: Option<UserStack<'d>>,
    /// Cost.
    pub weight: Option<Weight>,
    /// Where data came from, `union perf_mem_data_src` as a word.
    pub data_src: Option<u64>,
    /// Transaction, `PERF_TXN_*`.
    pub transaction: Option<u64>,
    /// Registers of the interrupted context.
    pub intr_regs: Option<RecordedRegisters<'d>>,
    /// Physical address accessed.
    pub phys_addr: Option<u64>,
    /// Control group.
    pub cgroup: Option<u64>,
    /// Bytes of the page of `addr`.
    pub data_page_size: Option<u64>,
    /// Bytes of the page of `ip`.
    pub code_page_size: Option<u64>,
    /// A part of an AUX trace.
    pub aux: Option<&'d [u8]>,
    /// The first damaged field.
    pub damage: Option<SampleDamage>,
}

impl Sample<'_> {
    /// Bit 14 of `misc`: `ip` is the very instruction that caused the event.
    #[must_use]
    pub fn exact_ip(&self) -> bool {
        self.misc >> 14 & 1 == 1
    }
}

//! A decoded sample. Its fields are borrowed and need no allocation.
//!
//! Source: `include/uapi/linux/perf_event.h`, `PERF_RECORD_SAMPLE`.

use address::{Avma, Pid, Tid, Timestamp};
use thiserror::Error;

use super::branch_stack::BranchStack;
use super::callchain::Callchain;
use super::read_values::ReadValues;
use super::registers::RecordedRegisters;
use crate::record_header::CpuMode;

/// Reason why a sample could not be decoded at all. `position` is the position of its record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// No record begins at the position.
    #[error("no sample record at {position:#x}")]
    NotASample {
        /// Requested position.
        position: u64,
    },
    /// The entry refers to an event that the recording does not have.
    #[error("sample at {position:#x} is of event {event}, which does not exist")]
    NoEvent {
        /// Requested position.
        position: u64,
        /// Index of the event.
        event: u16,
    },
    /// The record ends before its last fixed field.
    #[error("sample at {position:#x} has {found} bytes, expected at least {expected}")]
    TooShort {
        /// Requested position.
        position: u64,
        /// Length up to the end of the fixed fields, in bytes.
        expected: u32,
        /// Length of the record, in bytes.
        found: u32,
    },
}

/// First damaged field of a sample. Unless stated otherwise, it and all later fields are missing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum SampleDamage {
    /// Counter values.
    Read,
    /// The callchain's count extends past the record.
    Callchain,
    /// Raw data.
    Raw,
    /// The branch stack's count extends past the record.
    BranchStack,
    /// User registers.
    UserRegisters,
    /// The stack's size extends past the record.
    UserStack,
    /// The valid length of the stack exceeds the copied length. Only the stack is missing.
    UserStackLength,
    /// Registers of the interrupted context.
    InterruptRegisters,
    /// AUX data.
    Aux,
    /// One of the one-word fields after the user stack.
    Word,
}

/// Copy of the top of the user stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserStack<'d> {
    /// Bytes from the stack pointer upwards that the kernel could copy.
    pub bytes: &'d [u8],
    /// Capacity of the copy in bytes. If `bytes` is shorter, the stack ended or a page was
    /// missing; if equal, the stack may continue.
    pub dumped: u64,
}

/// Cost of a memory access or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// One number.
    Full(u64),
    /// Three numbers that depend on the processor.
    Split {
        /// Usually the latency in cycles.
        var1: u32,
        /// Usually the latency of the instruction in cycles.
        var2: u16,
        /// Usually the latency to retirement.
        var3: u16,
    },
}

/// A decoded sample. Fields that are damaged, or not recorded by its event, are `None`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sample<'d> {
    /// Index of the event.
    pub event: u16,
    /// Flags of the header.
    pub misc: u16,
    /// Mode of the processor.
    pub cpu_mode: CpuMode,
    /// Sampled instruction pointer.
    pub ip: Option<Avma>,
    /// Process; -1 after its end.
    pub pid: Option<Pid>,
    /// Thread; -1 after its end.
    pub tid: Option<Tid>,
    /// Time; 0 if not recorded.
    pub time: Timestamp,
    /// Accessed address, or another value specific to the event.
    pub addr: Option<Avma>,
    /// Id of the event.
    pub id: Option<u64>,
    /// Id of the event on that CPU or thread.
    pub stream_id: Option<u64>,
    /// Processor.
    pub cpu: Option<u32>,
    /// Events since the previous sample.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<ReadValues<'d>>,
    /// Recorded callchain; only the kernel part if there is a stack dump.
    pub callchain: Option<Callchain<'d>>,
    /// User part of the callchain from a separate record: recorded on return to user mode (without marker), or unwound
    /// by simpleperf. Set only by [`crate::Batch::sample`].
    pub user_callchain: Option<Callchain<'d>>,
    /// Raw data of a tracepoint or PMU.
    pub raw: Option<&'d [u8]>,
    /// Last branches.
    pub branch_stack: Option<BranchStack<'d>>,
    /// User registers; `None` also for kernel threads, which have none.
    pub user_regs: Option<RecordedRegisters<'d>>,
    /// Top of the user stack; `None` also if no bytes were copied.
    pub user_stack: Option<UserStack<'d>>,
    /// Cost.
    pub weight: Option<Weight>,
    /// Source of the accessed data, `union perf_mem_data_src` as a word.
    pub data_src: Option<u64>,
    /// Transaction, `PERF_TXN_*`.
    pub transaction: Option<u64>,
    /// Registers of the interrupted context.
    pub intr_regs: Option<RecordedRegisters<'d>>,
    /// Accessed physical address.
    pub phys_addr: Option<u64>,
    /// Control group.
    pub cgroup: Option<u64>,
    /// Size of the page of `addr`, in bytes.
    pub data_page_size: Option<u64>,
    /// Size of the page of `ip`, in bytes.
    pub code_page_size: Option<u64>,
    /// Part of an AUX trace.
    pub aux: Option<&'d [u8]>,
    /// First damaged field.
    pub damage: Option<SampleDamage>,
}

impl Sample<'_> {
    /// Returns true if `ip` is exactly the instruction that caused the event (bit 14 of `misc`).
    #[must_use]
    pub fn exact_ip(&self) -> bool {
        self.misc >> 14 & 1 == 1
    }
}

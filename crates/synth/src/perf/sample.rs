//! `PERF_RECORD_SAMPLE` (9): every field of every `sample_type` bit, in the kernel's order.

use super::attr::{EventAttr, branch_sample, read_format, sample_type};
use crate::bytes::{ByteWriter, Endian};

/// One value of a READ field or a READ record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadValue {
    /// Counter value.
    pub value: u64,
    /// Written with `read_format::ID`.
    pub id: u64,
    /// Written with `read_format::LOST`.
    pub lost: u64,
}

/// Counter values; the event's `read_format` determines the written ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadValues {
    /// Nanoseconds.
    pub time_enabled: u64,
    /// Nanoseconds.
    pub time_running: u64,
    /// All values with `read_format::GROUP`; otherwise only the first is written.
    pub values: Vec<ReadValue>,
}

impl ReadValues {
    /// Source: `struct perf_event_read_format` comment, `include/uapi/linux/perf_event.h`.
    pub(crate) fn write(&self, format: u64, w: &mut ByteWriter) {
        let group = format & read_format::GROUP != 0;
        let first = self.values.first().copied().unwrap_or_default();
        w.u64(if group { self.values.len() as u64 } else { first.value });
        if format & read_format::TOTAL_TIME_ENABLED != 0 {
            w.u64(self.time_enabled);
        }
        if format & read_format::TOTAL_TIME_RUNNING != 0 {
            w.u64(self.time_running);
        }
        let rows = if group { self.values.as_slice() } else { &[first] };
        for row in rows {
            if group {
                w.u64(row.value);
            }
            if format & read_format::ID != 0 {
                w.u64(row.id);
            }
            if format & read_format::LOST != 0 {
                w.u64(row.lost);
            }
        }
    }
}

/// One taken branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Address of the branch instruction.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
    /// The first four flag bits in order: mispredicted, predicted, in transaction, abort.
    pub outcome: [bool; 4],
    /// 16 bits.
    pub cycles: u16,
    /// `PERF_BR_*` in 4 bits; from 16 on, 15 and `PERF_BR_NEW_*` in 4 other bits, added up.
    pub kind: u8,
}

impl Branch {
    /// Returns the flags as a bit-field, from the least or the most significant bit by byte order.
    fn flags(&self, endian: Endian) -> u64 {
        let fields = [
            (u64::from(self.outcome[0]), 1),
            (u64::from(self.outcome[1]), 1),
            (u64::from(self.outcome[2]), 1),
            (u64::from(self.outcome[3]), 1),
            (u64::from(self.cycles), 16),
            (u64::from(self.kind.min(15)), 4),
            (0, 2),
            (u64::from(self.kind.saturating_sub(15) & 15), 4),
        ];
        let mut used = 0;
        let mut word = 0;
        for (value, width) in fields {
            word |= match endian {
                Endian::Little => value << used,
                Endian::Big => value << (64 - used - width),
            };
            used += width;
        }
        word
    }
}

/// The `BRANCH_STACK` field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchStack {
    /// Newest first.
    pub entries: Vec<Branch>,
    /// Written if the event has `HW_INDEX`; `None` omits it, as the kernel does for a sample without any branch stack.
    pub hw_idx: Option<u64>,
    /// Written if the event has `COUNTERS`; one per entry.
    pub counters: Vec<u64>,
}

/// A `REGS_USER` or `REGS_INTR` field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleRegs {
    /// 0 none, 1 32-bit, 2 64-bit; other values for hostile files.
    pub abi: u64,
    /// Values in ascending order of the bits of the event's mask; not written if `abi` is 0.
    pub values: Vec<u64>,
}

/// The `STACK_USER` field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleStack {
    /// Bytes from the stack pointer upwards; padded with zeros to a multiple of 8.
    pub bytes: Vec<u8>,
    /// Number of valid bytes; `None` means the length of `bytes`.
    pub dyn_size: Option<u64>,
    /// Stated size, if it differs from the true one.
    pub stated_size: Option<u64>,
}

/// A sample; its event determines the written fields.
///
/// ```
/// use synth::{Endian, EventAttr, SampleBuilder, sample_type};
/// let attr = EventAttr { sample_type: sample_type::IP | sample_type::TID, ..EventAttr::default() };
/// let sample = SampleBuilder { ip: 0x10, pid: 1, tid: 2, ..SampleBuilder::default() };
/// let bytes = sample.encode(&attr, Endian::Little);
/// assert_eq!(bytes[..8], [9, 0, 0, 0, 2, 0, 24, 0]);
/// assert_eq!(bytes[8..], [0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the plain fields are those of the kernel header")]
pub struct SampleBuilder {
    /// `misc` of the record header; 2 (user mode) by default.
    pub misc: u16,
    pub ip: u64,
    pub pid: u32,
    pub tid: u32,
    /// Nanoseconds.
    pub time: u64,
    pub addr: u64,
    /// Written for ID and for IDENTIFIER.
    pub id: u64,
    pub stream_id: u64,
    pub cpu: u32,
    pub period: u64,
    pub read: ReadValues,
    /// Callchain with its context markers.
    pub callchain: Vec<u64>,
    /// Stated count of the callchain, if it differs from the true one.
    pub stated_callchain_nr: Option<u64>,
    /// Padded with zeros, so that it and its 4-byte size are a multiple of 8.
    pub raw: Vec<u8>,
    pub branches: BranchStack,
    pub regs_user: SampleRegs,
    pub stack_user: SampleStack,
    /// Written for WEIGHT.
    pub weight: u64,
    /// `var1_dw`, `var2_w`, `var3_w`; written for `WEIGHT_STRUCT`.
    pub weight_struct: (u32, u16, u16),
    pub data_src: u64,
    pub transaction: u64,
    pub regs_intr: SampleRegs,
    pub phys_addr: u64,
    pub cgroup: u64,
    pub data_page_size: u64,
    pub code_page_size: u64,
    /// Padded with zeros to a multiple of 8.
    pub aux: Vec<u8>,
    /// Bytes after the last field, as in files of a future kernel.
    pub rest: Vec<u8>,
}

impl Default for SampleBuilder {
    /// Returns a user-mode sample with all values zero.
    fn default() -> Self {
        Self {
            misc: 2,
            ip: 0,
            pid: 0,
            tid: 0,
            time: 0,
            addr: 0,
            id: 0,
            stream_id: 0,
            cpu: 0,
            period: 0,
            read: ReadValues::default(),
            callchain: Vec::new(),
            stated_callchain_nr: None,
            raw: Vec::new(),
            branches: BranchStack::default(),
            regs_user: SampleRegs::default(),
            stack_user: SampleStack::default(),
            weight: 0,
            weight_struct: (0, 0, 0),
            data_src: 0,
            transaction: 0,
            regs_intr: SampleRegs::default(),
            phys_addr: 0,
            cgroup: 0,
            data_page_size: 0,
            code_page_size: 0,
            aux: Vec::new(),
            rest: Vec::new(),
        }
    }
}

impl SampleBuilder {
    /// Returns a user-mode sample of period 1.
    #[must_use]
    pub fn at(ip: u64, pid: u32, tid: u32, time: u64) -> Self {
        Self { ip, pid, tid, time, period: 1, ..Self::default() }
    }

    /// Sets the recorded callchain, markers included.
    #[must_use]
    pub fn with_callchain(self, ips: &[u64]) -> Self {
        Self { callchain: ips.to_vec(), ..self }
    }

    /// Sets 64-bit user registers, ascending by mask bit.
    #[must_use]
    pub fn with_regs(self, values: &[u64]) -> Self {
        Self { regs_user: SampleRegs { abi: 2, values: values.to_vec() }, ..self }
    }

    /// Sets user registers of a 32-bit process (`PERF_SAMPLE_REGS_ABI_32`), ascending by mask bit.
    #[must_use]
    pub fn with_regs_of_32_bits(self, values: &[u64]) -> Self {
        Self { regs_user: SampleRegs { abi: 1, values: values.to_vec() }, ..self }
    }

    /// Sets a copy of the user stack, all of it valid.
    #[must_use]
    pub fn with_stack(self, bytes: &[u8]) -> Self {
        let stack_user = SampleStack { bytes: bytes.to_vec(), ..SampleStack::default() };
        Self { stack_user, ..self }
    }

    /// Returns the complete record with its header.
    ///
    /// Source: `perf_output_sample`, `kernel/events/core.c`; `PERF_RECORD_SAMPLE` in
    /// `include/uapi/linux/perf_event.h`.
    #[must_use]
    pub fn encode(&self, attr: &EventAttr, endian: Endian) -> Vec<u8> {
        let mut w = ByteWriter::new(endian);
        self.write_words(attr, &mut w);
        if attr.has(sample_type::READ) {
            self.read.write(attr.read_format, &mut w);
        }
        if attr.has(sample_type::CALLCHAIN) {
            w.u64(self.stated_callchain_nr.unwrap_or(self.callchain.len() as u64));
            w.u64s(&self.callchain);
        }
        if attr.has(sample_type::RAW) {
            let size = (self.raw.len() + 4).next_multiple_of(8) - 4;
            w.u32(size as u32).fixed_str(&self.raw, size);
        }
        if attr.has(sample_type::BRANCH_STACK) {
            self.write_branches(attr, &mut w);
        }
        if attr.has(sample_type::REGS_USER) {
            write_regs(&self.regs_user, &mut w);
        }
        if attr.has(sample_type::STACK_USER) {
            self.write_stack(&mut w);
        }
        self.write_tail(attr, &mut w);
        super::record_bytes(endian, 9, self.misc, w.as_bytes())
    }

    fn write_words(&self, attr: &EventAttr, w: &mut ByteWriter) {
        if attr.has(sample_type::IDENTIFIER) {
            w.u64(self.id);
        }
        if attr.has(sample_type::IP) {
            w.u64(self.ip);
        }
        if attr.has(sample_type::TID) {
            w.u32(self.pid).u32(self.tid);
        }
        if attr.has(sample_type::TIME) {
            w.u64(self.time);
        }
        if attr.has(sample_type::ADDR) {
            w.u64(self.addr);
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
        if attr.has(sample_type::PERIOD) {
            w.u64(self.period);
        }
    }

    fn write_branches(&self, attr: &EventAttr, w: &mut ByteWriter) {
        w.u64(self.branches.entries.len() as u64);
        if attr.branch_sample_type & branch_sample::HW_INDEX != 0
            && let Some(hw_idx) = self.branches.hw_idx
        {
            w.u64(hw_idx);
        }
        for branch in &self.branches.entries {
            let flags = branch.flags(w.endian());
            w.u64(branch.from).u64(branch.to).u64(flags);
        }
        if attr.branch_sample_type & branch_sample::COUNTERS != 0 {
            w.u64s(&self.branches.counters);
        }
    }

    fn write_stack(&self, w: &mut ByteWriter) {
        let stack = &self.stack_user;
        let size = stack.bytes.len().next_multiple_of(8);
        let stated = stack.stated_size.unwrap_or(size as u64);
        w.u64(stated);
        // The kernel writes neither bytes nor the valid length for a size of zero.
        if stated != 0 {
            w.fixed_str(&stack.bytes, size);
            w.u64(stack.dyn_size.unwrap_or(stack.bytes.len() as u64));
        }
    }

    fn write_tail(&self, attr: &EventAttr, w: &mut ByteWriter) {
        if attr.has(sample_type::WEIGHT) {
            w.u64(self.weight);
        }
        if attr.has(sample_type::WEIGHT_STRUCT) {
            // The fields are declared in opposite orders for the two byte orders, so they form one number in both.
            let (var1, var2, var3) = self.weight_struct;
            w.u64(u64::from(var1) | u64::from(var2) << 32 | u64::from(var3) << 48);
        }
        if attr.has(sample_type::DATA_SRC) {
            w.u64(self.data_src);
        }
        if attr.has(sample_type::TRANSACTION) {
            w.u64(self.transaction);
        }
        if attr.has(sample_type::REGS_INTR) {
            write_regs(&self.regs_intr, w);
        }
        if attr.has(sample_type::PHYS_ADDR) {
            w.u64(self.phys_addr);
        }
        if attr.has(sample_type::CGROUP) {
            w.u64(self.cgroup);
        }
        if attr.has(sample_type::DATA_PAGE_SIZE) {
            w.u64(self.data_page_size);
        }
        if attr.has(sample_type::CODE_PAGE_SIZE) {
            w.u64(self.code_page_size);
        }
        if attr.has(sample_type::AUX) {
            let size = self.aux.len().next_multiple_of(8);
            w.u64(size as u64).fixed_str(&self.aux, size);
        }
        w.bytes(&self.rest);
    }
}

fn write_regs(regs: &SampleRegs, w: &mut ByteWriter) {
    w.u64(regs.abi);
    if regs.abi != 0 {
        w.u64s(&regs.values);
    }
}

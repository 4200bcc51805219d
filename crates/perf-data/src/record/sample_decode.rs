//! Decoding of sample records, in the kernel's order of the fields.
//!
//! Source: `kernel/events/core.c`, `perf_output_sample`; bits of `enum perf_branch_sample_type`.

use address::Avma;

use super::branch_stack::BranchStack;
use super::callchain::Callchain;
use super::read_values::ReadValues;
use super::registers::RecordedRegisters;
use super::sample::{Sample, SampleDamage, UserStack, Weight};
use crate::bytes::{Endian, FieldReader};
use crate::event::{Event, EventAttr, EventLayout, SampleType, recorded_time};
use crate::record_header::CpuMode;

const BRANCH_HW_INDEX: u64 = 1 << 17;
/// Bits of all fields after `STACK_USER`: from 14 on, except IDENTIFIER, which comes first.
const AFTER_STACK: u64 = !0 << 14 & SampleType::KNOWN.0 & !SampleType::IDENTIFIER.0;
const BRANCH_COUNTERS: u64 = 1 << 19;

/// Decodes `record`, a whole sample record with its header. `None` if it ends before its last fixed field.
#[inline]
pub(crate) fn decode_sample<'d>(
    record: &'d [u8],
    misc: u16,
    index: u16,
    event: &Event,
    endian: Endian,
) -> Option<Sample<'d>> {
    let layout = &event.layout;
    let fields = &layout.sample;
    let variable = record.get(usize::from(fields.end)..)?;
    let task = fields.task(record, endian);
    let mut sample = Sample {
        event: index,
        misc,
        cpu_mode: CpuMode::from_misc(misc),
        ip: fields.ip(record, endian).map(Avma),
        pid: task.map(|task| task.0),
        tid: task.map(|task| task.1),
        time: recorded_time(fields.time(record, endian)),
        addr: fields.addr(record, endian).map(Avma),
        id: fields.id(record, endian),
        stream_id: fields.stream_id(record, endian),
        cpu: fields.cpu(record, endian),
        period: fields.period(record, endian),
        read: None,
        callchain: None,
        user_callchain: None,
        raw: None,
        branch_stack: None,
        user_regs: None,
        user_stack: None,
        weight: None,
        data_src: None,
        transaction: None,
        intr_regs: None,
        phys_addr: None,
        cgroup: None,
        data_page_size: None,
        code_page_size: None,
        aux: None,
        damage: None,
    };
    let mut decoder =
        Decoder { cursor: FieldReader::new(variable, endian), attr: &event.attr, layout };
    if let Err(damage) = decoder.chains(&mut sample).and_then(|()| decoder.tail(&mut sample)) {
        sample.damage = sample.damage.or(Some(damage));
    }
    Some(sample)
}

#[derive(Clone)]
struct Decoder<'d, 'e> {
    cursor: FieldReader<'d>,
    attr: &'e EventAttr,
    layout: &'e EventLayout,
}

impl<'d> Decoder<'d, '_> {
    fn has(&self, bit: SampleType) -> bool {
        self.layout.sample_type.has(bit)
    }

    /// Decodes READ to `BRANCH_STACK`.
    fn chains(&mut self, sample: &mut Sample<'d>) -> Result<(), SampleDamage> {
        if self.has(SampleType::READ) {
            let read = ReadValues::read(&mut self.cursor, self.attr.read_format);
            sample.read = Some(read.ok_or(SampleDamage::Read)?);
        }
        if self.has(SampleType::CALLCHAIN) {
            let words = self.cursor.u64().and_then(|count| self.cursor.words(count));
            sample.callchain = Some(Callchain::new(words.ok_or(SampleDamage::Callchain)?));
        }
        if self.has(SampleType::RAW) {
            let raw = self.cursor.u32().and_then(|size| self.cursor.bytes_u64(size.into()));
            sample.raw = Some(raw.ok_or(SampleDamage::Raw)?);
        }
        if self.has(SampleType::BRANCH_STACK) {
            let stack = self.branch_stack(sample);
            sample.branch_stack = Some(stack.ok_or(SampleDamage::BranchStack)?);
        }
        Ok(())
    }

    fn branch_stack(&mut self, sample: &Sample<'d>) -> Option<BranchStack<'d>> {
        let endian = self.cursor.endian();
        let count = self.cursor.u64()?;
        let hw_index = self.attr.branch_sample_type & BRANCH_HW_INDEX != 0;
        let hw_index = if hw_index && (count > 0 || self.has_empty_hw_index(sample)) {
            Some(self.cursor.u64()?)
        } else {
            None
        };
        let entries = self.cursor.words(count.checked_mul(3)?)?;
        let has_counters = count > 0 && self.attr.branch_sample_type & BRANCH_COUNTERS != 0;
        let counters = if has_counters { Some(self.cursor.words(count)?) } else { None };
        Some(BranchStack { hw_index, entries, counters, endian })
    }

    /// Returns true if an index follows a count of 0. The kernel omits it if the PMU provided no branch stack.
    /// Both cases are tried; the index is present if only then the record decodes to its end.
    fn has_empty_hw_index(&self, sample: &Sample<'d>) -> bool {
        let comes_out = |skipped: usize| {
            let mut rest = self.clone();
            let mut trial = *sample;
            rest.cursor.bytes(skipped).is_some()
                && rest.tail(&mut trial).is_ok()
                && trial.damage.is_none()
                && rest.cursor.remaining() == 0
        };
        !comes_out(0) && comes_out(8)
    }

    /// Decodes `REGS_USER` to AUX.
    fn tail(&mut self, sample: &mut Sample<'d>) -> Result<(), SampleDamage> {
        // simpleperf unwinds while it records and then removes registers and stack.
        let stripped = self.cursor.remaining() == 0 && self.layout.sample_type.0 & AFTER_STACK == 0;
        if stripped {
            return Ok(());
        }
        if self.has(SampleType::REGS_USER) {
            let regs = self.registers(self.attr.sample_regs_user, self.layout.regs_user_len);
            sample.user_regs = regs.ok_or(SampleDamage::UserRegisters)?;
        }
        if self.has(SampleType::STACK_USER) {
            self.user_stack(sample)?;
        }
        let word = SampleDamage::Word;
        if self.has(SampleType::WEIGHT) || self.has(SampleType::WEIGHT_STRUCT) {
            let weight = self.cursor.u64().ok_or(word)?;
            // As a struct it is mirrored on big-endian machines, so its parts have the same positions in the word.
            let split = Weight::Split {
                var1: weight as u32,
                var2: (weight >> 32) as u16,
                var3: (weight >> 48) as u16,
            };
            sample.weight = Some(if self.has(SampleType::WEIGHT_STRUCT) {
                split
            } else {
                Weight::Full(weight)
            });
        }
        sample.data_src = self.word(SampleType::DATA_SRC)?;
        sample.transaction = self.word(SampleType::TRANSACTION)?;
        if self.has(SampleType::REGS_INTR) {
            let regs = self.registers(self.attr.sample_regs_intr, self.layout.regs_intr_len);
            sample.intr_regs = regs.ok_or(SampleDamage::InterruptRegisters)?;
        }
        sample.phys_addr = self.word(SampleType::PHYS_ADDR)?;
        sample.cgroup = self.word(SampleType::CGROUP)?;
        sample.data_page_size = self.word(SampleType::DATA_PAGE_SIZE)?;
        sample.code_page_size = self.word(SampleType::CODE_PAGE_SIZE)?;
        if self.has(SampleType::AUX) {
            let aux = self.cursor.u64().and_then(|size| self.cursor.bytes_u64(size));
            sample.aux = Some(aux.ok_or(SampleDamage::Aux)?);
        }
        Ok(())
    }

    fn word(&mut self, bit: SampleType) -> Result<Option<u64>, SampleDamage> {
        if !self.has(bit) {
            return Ok(None);
        }
        self.cursor.u64().map(Some).ok_or(SampleDamage::Word)
    }

    /// Reads registers; the inner `None` means the ABI "none".
    fn registers(&mut self, mask: u64, len: u16) -> Option<Option<RecordedRegisters<'d>>> {
        let abi = self.cursor.u64()?;
        if abi == 0 {
            return Some(None);
        }
        let values = self.cursor.bytes(len.into())?;
        Some(Some(RecordedRegisters::new(abi, mask, values, self.cursor.endian())))
    }

    fn user_stack(&mut self, sample: &mut Sample<'d>) -> Result<(), SampleDamage> {
        let dumped = self.cursor.u64().ok_or(SampleDamage::UserStack)?;
        if dumped == 0 {
            self.skip_unaccounted_length(sample);
            return Ok(());
        }
        let bytes = self.cursor.bytes_u64(dumped).ok_or(SampleDamage::UserStack)?;
        let valid = self.cursor.u64().ok_or(SampleDamage::UserStack)?;
        // Kernels of old Android devices leave the valid length 0 although all bytes are
        // present; simpleperf treats them as valid, too.
        let valid = if valid == 0 && self.layout.whole_stacks { dumped } else { valid };
        // After the valid bytes there is old content of the ring buffer, not zeros.
        match usize::try_from(valid).ok().and_then(|valid| bytes.get(..valid)) {
            Some([]) => {}
            Some(bytes) => sample.user_stack = Some(UserStack { bytes, dumped }),
            None => sample.damage = Some(SampleDamage::UserStackLength),
        }
        Ok(())
    }

    /// Skips a length that the kernel writes without reserving space for it.
    /// For a task with registers but without a stack (stack pointer 0 or a kernel address), it
    /// writes the valid length 0 after the size 0.
    /// Later fields are shifted by eight bytes, and the last one is truncated.
    fn skip_unaccounted_length(&mut self, sample: &Sample<'d>) {
        let mut after = self.cursor;
        if sample.user_regs.is_some() && after.u64() == Some(0) {
            self.cursor = after;
        }
    }
}

//! The samples of a slice, decoded one by one, ahead of the walk: what is read of the next ones is on its way to the cache
//! while one is walked.

use perf_data::{Batch, BatchReader, LINE, RegsAbi, Sample, read_soon};
use unwinder::Walker;

use crate::plan::planner::Planned;

/// Samples of a batch in the order of a plan.
pub(crate) struct Ahead<'b> {
    reader: BatchReader<'b>,
    planned: &'b [Planned],
    /// The bit of the stack pointer in the recorder's mask, if stacks are walked.
    sp_bit: Option<u32>,
    /// The sample that was given out last, and the next one, by their indexes; `None` where it cannot be decoded. They stay
    /// where they are decoded: copying one takes as long as walking three frames.
    decoded: [Option<Sample<'b>>; 2],
    /// The index of the next one.
    next: usize,
}

/// So many samples before it is decoded, the head of a sample is asked for.
const HEAD: usize = 3;
/// And its end, by what the head says.
const END: usize = 1;

impl<'b> Ahead<'b> {
    /// Before the first sample.
    pub(crate) fn new(batch: &'b Batch, planned: &'b [Planned], sp_bit: Option<u32>) -> Self {
        let mut reader = batch.reader();
        let first = planned.iter().take(HEAD);
        first.for_each(|planned| reader.head_read_soon(&planned.entry));
        let decoded = [planned.first().and_then(|it| reader.sample(&it.entry).ok()), None];
        Self { reader, planned, sp_bit, decoded, next: 0 }
    }

    /// The next sample of the plan; `None` where it cannot be decoded.
    pub(crate) fn next(&mut self, walker: &Walker<'_>) -> Option<&Sample<'b>> {
        let Self { reader, planned, decoded, next, .. } = self;
        let entry = |index: usize| planned.get(index).map(|planned| &planned.entry);
        let given_out = *next;
        *next += 1;
        if let Some(entry) = entry(*next + HEAD) {
            reader.head_read_soon(entry);
        }
        if let Some(entry) = entry(*next + END) {
            reader.end_read_soon(entry);
        }
        let following = &mut decoded[*next % 2];
        *following = match entry(*next).map(|entry| reader.sample(entry)) {
            Some(Ok(sample)) => Some(sample),
            _ => None,
        };
        if let (Some(following), Some(sp_bit)) = (following, self.sp_bit) {
            stack_read_soon(following, sp_bit, walker);
        }
        self.decoded[given_out % 2].as_ref()
    }
}

/// The lines of a sample's stack are read soon that its walk reads if it goes as the one before did, and the first ones,
/// since a sample's innermost frames are seldom those of the one before.
fn stack_read_soon(sample: &Sample<'_>, sp_bit: u32, walker: &Walker<'_>) {
    const FIRST: usize = 256;
    /// Below a return address are so many bytes of saved registers, which may begin in the line before.
    const SAVED: usize = 48;
    /// More where nothing is known of the stack: most chains are shorter.
    const UNKNOWN: usize = 2048;
    let (Some(registers), Some(stack)) = (sample.user_regs, sample.user_stack) else { return };
    if registers.abi() == RegsAbi::Bits64
        && let Some(sp) = registers.get(sp_bit)
    {
        let thread = sample.tid.map_or(0, |tid| tid.0 as u32);
        let mut is_known = false;
        for offset in walker.return_addresses_read(thread, sp) {
            is_known |= offset < stack.bytes.len();
            read_soon(stack.bytes, offset);
            read_soon(stack.bytes, offset.wrapping_sub(SAVED));
        }
        let first = if is_known { FIRST } else { UNKNOWN };
        (0..first).step_by(LINE).for_each(|at| read_soon(stack.bytes, at));
    }
}

//! Decoded samples of a slice, one ahead of the walk: the bytes of the next samples are prefetched during a walk.

use perf_data::{Batch, BatchReader, LINE, RegsAbi, Sample, prefetch_line};
use unwinder::Walker;

use crate::plan::planned::PlannedSample;

/// Samples of a batch in the order of a plan.
pub(crate) struct PrefetchedSamples<'b> {
    reader: BatchReader<'b>,
    planned: &'b [PlannedSample],
    /// Bit of the stack pointer in the recorder's register mask, if stacks are walked.
    sp_bit: Option<u32>,
    /// The last returned sample and the next one, by index modulo 2; `None` if it cannot be decoded.
    /// They are decoded in place: copying one takes as long as walking three frames.
    decoded: [Option<Sample<'b>>; 2],
    /// Index of the next sample.
    next: usize,
}

/// Prefetch distance of a sample's head, in samples.
const HEAD: usize = 3;
/// Prefetch distance of its end, which needs the head.
const END: usize = 1;

impl<'b> PrefetchedSamples<'b> {
    /// Creates a reader before the first sample.
    pub(crate) fn new(batch: &'b Batch, planned: &'b [PlannedSample], sp_bit: Option<u32>) -> Self {
        let mut reader = batch.reader();
        let first = planned.iter().take(HEAD);
        first.for_each(|planned| reader.prefetch_head(&planned.entry));
        let decoded = [planned.first().and_then(|it| reader.sample(&it.entry).ok()), None];
        Self { reader, planned, sp_bit, decoded, next: 0 }
    }

    /// Returns the next sample of the plan; `None` if it cannot be decoded.
    pub(crate) fn next(&mut self, walker: &Walker<'_>) -> Option<&Sample<'b>> {
        let Self { reader, planned, decoded, next, .. } = self;
        let entry = |index: usize| planned.get(index).map(|planned| &planned.entry);
        let given_out = *next;
        *next += 1;
        if let Some(entry) = entry(*next + HEAD) {
            reader.prefetch_head(entry);
        }
        if let Some(entry) = entry(*next + END) {
            reader.prefetch_end(entry);
        }
        let following = &mut decoded[*next % 2];
        *following = match entry(*next).map(|entry| reader.sample(entry)) {
            Some(Ok(sample)) => Some(sample),
            _ => None,
        };
        if let (Some(following), Some(sp_bit)) = (following, self.sp_bit) {
            prefetch_stack(following, sp_bit, walker);
        }
        self.decoded[given_out % 2].as_ref()
    }
}

/// Prefetches the stack lines that the thread's previous walk read, and the first lines.
/// The innermost frames of consecutive samples are rarely the same.
fn prefetch_stack(sample: &Sample<'_>, sp_bit: u32, walker: &Walker<'_>) {
    const FIRST: usize = 256;
    /// Bytes of saved registers below a return address, which may begin in the previous line.
    const SAVED: usize = 48;
    /// Prefetched bytes if nothing is known of the stack: most chains are shorter.
    const UNKNOWN: usize = 2048;
    let (Some(registers), Some(stack)) = (sample.user_regs, sample.user_stack) else { return };
    if registers.abi() == RegsAbi::Bits64
        && let Some(sp) = registers.get(sp_bit)
    {
        let thread = sample.tid.map_or(0, |tid| tid.0 as u32);
        let mut is_known = false;
        for offset in walker.return_addresses_read(thread, sp) {
            is_known |= offset < stack.bytes.len();
            prefetch_line(stack.bytes, offset);
            prefetch_line(stack.bytes, offset.wrapping_sub(SAVED));
        }
        let first = if is_known { FIRST } else { UNKNOWN };
        (0..first).step_by(LINE).for_each(|at| prefetch_line(stack.bytes, at));
    }
}

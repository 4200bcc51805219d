//! The canonical form of a tool's output: samples with their user frames, innermost first.

use std::collections::BTreeMap;

use crate::strings::{StringId, StringTable};

/// Marks an address that the tool did not state; never a real address.
pub(super) const UNSTATED: u64 = u64::MAX;

/// A frame. Tools state different addresses: `perf script` prints file offsets for user frames, hotspot addresses in
/// the process, ours both. Two frames are equal if any stated number is.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// Address in the process, offset in the file, address stated in the file, address in any process that had the
    /// module mapped; each may be [`UNSTATED`].
    pub(super) stated: [u64; 4],
    /// Path of the module.
    pub(super) module: StringId,
    /// Name of the function, without its offset.
    pub(super) symbol: StringId,
    /// Found-by (ours only).
    pub(super) found_by: StringId,
}

impl Frame {
    /// Returns true if both state the same location. A difference of one is the convention for callers (return address,
    /// or one before it), not a finding. Tools without a common number are compared by the offset in the page.
    pub(super) fn same_location(&self, other: &Self) -> bool {
        let reported = |number: u64| number != UNSTATED;
        let near = |a: u64, b: u64| a.abs_diff(b) <= 1;
        let pairs =
            || self.stated.iter().zip(other.stated).filter(|&(&a, b)| reported(a) && reported(b));
        if pairs().next().is_none() {
            return near(self.shown() & 0xfff, other.shown() & 0xfff);
        }
        let any = |&number: &u64| {
            reported(number) && other.stated.iter().any(|&b| reported(b) && near(number, b))
        };
        pairs().any(|(&a, b)| near(a, b)) || self.stated.iter().any(any)
    }

    /// Returns one number for printing.
    pub(super) fn shown(&self) -> u64 {
        self.stated.into_iter().find(|&number| number != UNSTATED).unwrap_or(UNSTATED)
    }
}

/// A sample.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Nanoseconds of the recording's clock.
    pub(super) time: u64,
    /// Thread.
    pub(super) tid: u32,
    /// Processor, or `u32::MAX`.
    pub(super) cpu: u32,
    /// Name of the event.
    pub(super) event: StringId,
    /// First user frame in [`Chains::frames`].
    pub(super) first: u32,
    /// Number of user frames.
    pub(super) n_user: u32,
    /// Number of kernel frames.
    pub(super) n_kernel: u32,
    /// End reason of the chain (ours only).
    pub(super) end: StringId,
}

/// The output of one tool.
#[derive(Default)]
pub(super) struct Chains {
    /// Samples in output order; sorted by [`Chains::sort`].
    pub(super) samples: Vec<Sample>,
    /// User frames of all samples.
    pub(super) frames: Vec<Frame>,
    /// Number of omitted frames at the outer end that represent "no address".
    pub(super) null_tails: u64,
    /// Build-ids of modules (ours only).
    pub(super) build_ids: BTreeMap<StringId, StringId>,
}

impl Chains {
    /// Returns the user frames of a sample, innermost first.
    pub(super) fn user(&self, sample: &Sample) -> &[Frame] {
        let first = sample.first as usize;
        self.frames.get(first..first + sample.n_user as usize).unwrap_or_default()
    }

    /// Starts a sample: the frames pushed after it belong to it.
    pub(super) fn open(&mut self, mut sample: Sample) {
        self.close();
        sample.first = index(self.frames.len());
        self.samples.push(sample);
    }

    /// Adds the next outer frame to the last sample.
    pub(super) fn push(&mut self, frame: Frame, kernel: bool) {
        let Some(sample) = self.samples.last_mut() else { return };
        if kernel {
            sample.n_kernel += 1;
        } else {
            sample.n_user += 1;
            self.frames.push(frame);
        }
    }

    /// Ends the last sample, and removes its outer frames without an address (0, or 0 - 1 as a caller) or at unmapped
    /// addresses. They are not part of the chain: some tools print the place of a failed walk, others do not.
    pub(super) fn close(&mut self) {
        let Some(sample) = self.samples.last_mut() else { return };
        let nowhere = |frame: &Frame| frame.module == 0 || matches!(frame.shown(), 0 | UNSTATED);
        while sample.n_user > 1 && self.frames.last().is_some_and(nowhere) {
            self.frames.pop();
            sample.n_user -= 1;
            self.null_tails += 1;
        }
    }

    /// Sorts samples by (time, thread, event, processor); equal ones keep their order.
    pub(super) fn sort(&mut self, words: &StringTable) {
        self.close();
        self.samples.sort_by(|a, b| {
            let key = |sample: &Sample| (sample.time, sample.tid);
            key(a)
                .cmp(&key(b))
                .then_with(|| words.text(a.event).cmp(words.text(b.event)))
                .then_with(|| a.cpu.cmp(&b.cpu))
        });
    }
}

/// Converts an index: outputs with 2^32 frames are not compared.
pub(super) fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame([addr, offset, svma]: [u64; 3]) -> Frame {
        Frame { stated: [addr, offset, svma, UNSTATED], module: 1, symbol: 0, found_by: 0 }
    }

    #[test]
    fn one_stated_number_in_common_is_enough() {
        let ours = frame([0x7f10_0000_1234, 0x234, 0x1234]);
        assert!(ours.same_location(&frame([UNSTATED, 0x234, UNSTATED])));
        assert!(ours.same_location(&frame([UNSTATED, 0x235, UNSTATED])));
        assert!(ours.same_location(&frame([UNSTATED, 0x1234, UNSTATED])));
        assert!(!ours.same_location(&frame([UNSTATED, 0x236, UNSTATED])));
        assert!(!ours.same_location(&frame([0x7f10_0000_2234, UNSTATED, UNSTATED])));
    }

    #[test]
    fn without_a_common_space_the_page_offset_decides() {
        let offset = frame([UNSTATED, 0x1234, UNSTATED]);
        assert!(offset.same_location(&frame([0x7f10_0005_6234, UNSTATED, UNSTATED])));
        let elsewhere =
            Frame { stated: [UNSTATED, UNSTATED, UNSTATED, 0x7f66_0005_6234], ..offset };
        assert!(frame([0x7f10_0005_6234, 0x1234, UNSTATED]).same_location(&elsewhere));
        assert!(!offset.same_location(&frame([0x7f10_0005_6237, UNSTATED, UNSTATED])));
    }

    #[test]
    fn tails_without_an_address_are_left_out() {
        let mut chains = Chains::default();
        chains.open(Sample {
            time: 0,
            tid: 0,
            cpu: 0,
            event: 0,
            first: 0,
            n_user: 0,
            n_kernel: 0,
            end: 0,
        });
        for address in [0x10, 0x20, UNSTATED, 0] {
            let module = u32::from(address != 0x20);
            chains.push(Frame { module, ..frame([UNSTATED, address, UNSTATED]) }, false);
        }
        chains.close();
        assert_eq!((chains.samples[0].n_user, chains.frames.len(), chains.null_tails), (1, 1, 3));
    }
}

//! Observed stacks of the samples of a slice, as input of the repair.

use profile::EndReason;
use unwinder::Frame;

use crate::join::{ObservedFrame, ObservedStack, StackEnd, StackOwner};

/// Observed stacks of the samples of a slice, in sample order.
#[derive(Debug, Default)]
pub(crate) struct ObservedSamples {
    samples: Vec<ObservedSample>,
    frames: Vec<ObservedFrame>,
}

#[derive(Debug)]
struct ObservedSample {
    owner: StackOwner,
    /// Number of kernel frames before the user frames.
    n_kernel: u32,
    first: u32,
    len: u32,
    end: StackEnd,
}

impl ObservedSamples {
    /// Reserves memory for that many samples. Their frames vary too much for an estimate.
    pub(crate) fn with_capacity(samples: usize) -> Self {
        Self { samples: Vec::with_capacity(samples), frames: Vec::new() }
    }

    /// Adds a sample: its frames, the first `n_kernel` from the kernel,
    /// its end reason, and the CFA of the last function.
    pub(crate) fn push(
        &mut self,
        owner: StackOwner,
        n_kernel: usize,
        frames: &[Frame],
        end: EndReason,
        truncated_at: Option<u64>,
    ) {
        let first = self.frames.len();
        let user = frames.get(n_kernel..).unwrap_or_default();
        let sure = user.iter().map_while(|it| {
            it.sp().map(|sp| ObservedFrame { location: it.location(), sp, saved: it.saved() })
        });
        self.frames.extend(sure);
        let len = self.frames.len() - first;
        let end = match end {
            _ if len < user.len() => StackEnd::Other,
            EndReason::Root => StackEnd::Root,
            EndReason::StackExhausted | EndReason::NoUserStack | EndReason::ReturnProbe => {
                StackEnd::Truncated(truncated_at)
            }
            _ => StackEnd::Other,
        };
        self.samples.push(ObservedSample {
            owner,
            n_kernel: n_kernel as u32,
            first: first as u32,
            len: len as u32,
            end,
        });
    }

    /// Returns the owner of the sample's stack, if the sample has user frames.
    pub(crate) fn owner(&self, index: usize) -> Option<StackOwner> {
        self.samples.get(index).filter(|sample| sample.len > 0).map(|sample| sample.owner)
    }

    /// Number of user frames of a sample.
    pub(crate) fn n_frames(&self, index: usize) -> usize {
        self.samples.get(index).map_or(0, |sample| sample.len as usize)
    }

    /// Number of user frames of all samples.
    pub(crate) const fn n_all_frames(&self) -> usize {
        self.frames.len()
    }

    /// Size of the tables, in bytes.
    pub(crate) const fn heap_bytes(&self) -> usize {
        self.samples.capacity() * size_of::<ObservedSample>()
            + self.frames.capacity() * size_of::<ObservedFrame>()
    }

    /// Number of kernel frames of a sample.
    pub(crate) fn n_kernel(&self, index: usize) -> usize {
        self.samples.get(index).map_or(0, |sample| sample.n_kernel as usize)
    }

    /// Returns the observed stack of a sample; `None` if it has no user frames.
    pub(crate) fn get(&self, index: usize) -> Option<ObservedStack<'_>> {
        let ObservedSample { owner, first, len, end, .. } = *self.samples.get(index)?;
        let frames = self.frames.get(first as usize..)?.get(..len as usize)?;
        (!frames.is_empty()).then_some(ObservedStack { owner, frames, end })
    }
}

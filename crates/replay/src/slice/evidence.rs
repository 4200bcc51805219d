//! Callchains that were unwound when the recording was written: their evidence is in the recording, so that nothing is
//! walked or repaired again.

use std::sync::Arc;

use address::Avma;
use budget::{HeldMemory, MemoryBudget, MemoryUse};
use module_map::Space;
use perf_data::{CallchainContext, ChainEvidence, FrameRun, Sample};
use profile::{EndReason, FoundBy};
use unwinder::Walker;

use crate::plan::planned::PlannedSample;
use crate::slice::frame_key::PlacedFrame;

/// Evidence for the user part of callchains, in the terms of this program.
#[derive(Debug)]
pub(crate) struct UnwoundChains {
    evidence: ChainEvidence,
    /// `None` for keywords of another version.
    ends: Vec<Option<EndReason>>,
    found_by: Vec<Option<FoundBy>>,
    _held: HeldMemory,
}

impl UnwoundChains {
    /// Reads the evidence of a recording; `None` if it is damaged, or if memory does not suffice.
    pub(crate) fn read(section: &[u8], memory: &Arc<MemoryBudget>) -> Option<Self> {
        let most = section.len() as u64 * ChainEvidence::MOST_BYTES;
        if !memory.allows(most, || "evidence for callchains".to_owned()) {
            return None;
        }
        let evidence = ChainEvidence::decode(section)?;
        let mut held = HeldMemory::new(memory, MemoryUse::Stacks);
        held.set(evidence.heap_bytes() as u64);
        let ends = evidence.ends.iter().map(|word| value(EndReason::ALL, word, EndReason::as_str));
        let found_by =
            evidence.found_by.iter().map(|word| value(FoundBy::ALL, word, FoundBy::as_str));
        let (ends, found_by) = (ends.collect(), found_by.collect());
        Some(Self { evidence, ends, found_by, _held: held })
    }

    /// Appends the user frames of a sample, innermost first, and returns the end of its chain. Returns `None`, with
    /// `frames` as before, if there is no evidence for the sample, or if it does not fit the recorded addresses.
    pub(crate) fn user_frames(
        &self,
        planned: &PlannedSample,
        sample: &Sample<'_>,
        spaces: &[&Space],
        walker: &mut Walker<'_>,
        frames: &mut Vec<PlacedFrame>,
    ) -> Option<EndReason> {
        let shape = self.evidence.of_sample(planned.entry.position)?;
        let end = (*self.ends.get(shape.end as usize)?)?;
        let before = frames.len();
        let added = self.add(shape.runs, sample, spaces, walker, frames);
        if added.is_none() {
            frames.truncate(before);
        }
        added.map(|()| end)
    }

    /// Appends the frames of runs; `None` if they do not fit the recorded addresses.
    fn add(
        &self,
        runs: &[FrameRun],
        sample: &Sample<'_>,
        spaces: &[&Space],
        walker: &mut Walker<'_>,
        frames: &mut Vec<PlacedFrame>,
    ) -> Option<()> {
        let total: u64 = runs.iter().map(|run| u64::from(run.frames)).sum();
        if total > MOST_FRAMES {
            return None;
        }
        let mut addresses = user_addresses(sample);
        for run in runs {
            let found_by = (*self.found_by.get(run.found_by as usize)?)?;
            for _ in 0..run.frames {
                frames.push(if run.has_address {
                    let frame = placed(addresses.next()?, spaces, walker, found_by);
                    PlacedFrame { whole: run.is_whole, ..frame }
                } else {
                    PlacedFrame::nowhere(found_by)
                });
            }
        }
        addresses.next().is_none().then_some(())
    }
}

/// Maximum number of user frames of a sample: a record has at most 65,535 bytes.
const MOST_FRAMES: u64 = 1 << 14;

/// Returns the frame at an address in the first of the spaces that maps it.
fn placed(
    address: Avma,
    spaces: &[&Space],
    walker: &mut Walker<'_>,
    found_by: FoundBy,
) -> PlacedFrame {
    let mut frames = spaces.iter().map(|space| walker.frame_at(address, space, found_by));
    let own = frames.next();
    let mapped = own.filter(|frame| frame.module.is_some());
    let frame = mapped.or_else(|| frames.find(|frame| frame.module.is_some())).or(own);
    frame.as_ref().map_or(PlacedFrame::nowhere(found_by), PlacedFrame::from)
}

/// Returns the looked-up addresses of the user part of a sample's callchain, innermost first.
fn user_addresses<'s>(sample: &'s Sample<'_>) -> impl Iterator<Item = Avma> + 's {
    let frames = sample.callchain.into_iter().flat_map(|chain| chain.frames());
    frames.filter(|(context, _)| *context == CallchainContext::User).map(|(_, address)| address)
}

fn value<T: Copy>(all: &[T], word: &[u8], text: fn(T) -> &'static str) -> Option<T> {
    all.iter().copied().find(|&value| text(value).as_bytes() == word)
}

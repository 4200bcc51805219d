//! Completions of chains: each sample is decided separately, from the evidence of both directions.

use rayon::prelude::*;
use unwinder::CodeLocation;

use crate::join::{CallHistory, ChainRepair, Lists, Trials, TruncatedChain, beginning};
use crate::repair::thread_group::{EarlierEvidence, LaterEvidence, SamplePosition, WindowSlices};

/// Number of samples that one task decides.
const TOGETHER: usize = 128;
/// Initial capacity for their callers at most, 3 MB, if both directions know that many.
const CALLERS: usize = 1 << 17;
/// Prefetch distance, in samples.
const PREFETCH_DISTANCE: usize = 4;

/// State of both directions for the threads of a group.
#[derive(Clone, Copy)]
pub(crate) struct RepairContext<'w> {
    pub(crate) window: WindowSlices<'w>,
    pub(crate) past: &'w CallHistory,
    pub(crate) future: &'w CallHistory,
    pub(crate) trials: &'w Trials,
    /// True if chains may be completed after a gap.
    pub(crate) gaps: bool,
}

/// Completions of the chains of a thread group.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Chains in sample order, with the index of their first caller.
    chains: Vec<(SamplePosition, ChainRepair, usize)>,
    /// Callers of all chains, one chain after the other.
    locations: Vec<CodeLocation>,
}

impl Repairs {
    /// Returns the chains of a slice in sample order, each with its callers, innermost first.
    pub(crate) fn of_slice(
        &self,
        slice: usize,
    ) -> impl Iterator<Item = (SamplePosition, ChainRepair, &[CodeLocation])> {
        let first = self.chains.partition_point(|(position, ..)| position.slice < slice);
        let chains = self.chains.get(first..).unwrap_or_default().iter();
        let of_slice = chains.take_while(move |(position, ..)| position.slice == slice);
        of_slice.filter_map(|&(position, repaired, start)| {
            let callers = self.locations.get(start..)?.get(..repaired.len)?;
            Some((position, repaired, callers))
        })
    }
}

impl<'w> RepairContext<'w> {
    /// Decides the chains of samples in order, in parallel parts.
    pub(crate) fn all(
        self,
        positions: &'w [SamplePosition],
        before: &'w [Option<EarlierEvidence>],
        later: &'w [Option<LaterEvidence>],
    ) -> impl IndexedParallelIterator<Item = Repairs> {
        let parts = positions.par_chunks(TOGETHER).zip(before.par_chunks(TOGETHER));
        let parts = parts.zip(later.par_chunks(TOGETHER)).with_max_len(1);
        parts.map(move |((positions, before), later)| self.part(positions, before, later))
    }

    #[inline(never)] // A stage of its own in profiles.
    fn part(
        self,
        positions: &[SamplePosition],
        before: &[Option<EarlierEvidence>],
        later: &[Option<LaterEvidence>],
    ) -> Repairs {
        let mut lists = Lists::default();
        let evidence_at = |at: usize| Some((before.get(at).copied()??, later.get(at).copied()??));
        let chains = || (0..positions.len()).filter_map(evidence_at);
        let longest = |(before, later): (EarlierEvidence, LaterEvidence)| {
            before.outside.len().max(later.outside.len())
        };
        let mut all = Repairs {
            chains: Vec::with_capacity(chains().count()),
            locations: Vec::with_capacity(CALLERS.min(chains().map(longest).sum())),
        };
        for (at, &position) in positions.iter().enumerate() {
            if let Some((&position, (before, later))) =
                positions.get(at + PREFETCH_DISTANCE).zip(evidence_at(at + PREFETCH_DISTANCE))
            {
                self.window.fetch_ends(position);
                self.past.fetch(before.outside);
                self.future.fetch(later.outside);
            }
            let Some((before, later)) = evidence_at(at) else { continue };
            let start = all.locations.len();
            let repaired = self.decide(position, before, later, &mut lists, &mut all.locations);
            all.chains.extend(repaired.map(|repaired| (position, repaired, start)));
        }
        all.chains.shrink_to_fit();
        all.locations.shrink_to_fit();
        all
    }

    /// Appends the callers of a sample's chain.
    fn decide(
        &self,
        position: SamplePosition,
        before: EarlierEvidence,
        later: LaterEvidence,
        lists: &mut Lists<'w>,
        locations: &mut Vec<CodeLocation>,
    ) -> Option<ChainRepair> {
        let Self { window, past, future, trials, .. } = *self;
        let observed = window.sample(position)?;
        let views = [
            past.view_at_snapshot(&before.evidence, before.start, before.outside, trials),
            future.view(&later.evidence, later.outside, trials),
        ];
        let several = before.several || future.has_several(&later.evidence);
        let chain = TruncatedChain::new(&observed, self.gaps && !several, window.max_frames);
        chain.repair(views, lists, locations, || beginning(&observed, window.code))
    }
}

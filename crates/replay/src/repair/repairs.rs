//! Completions of chains: each sample is decided separately, from the evidence of both directions.

use rayon::prelude::*;
use unwinder::CodeLocation;

use crate::join::{CutChain, Lists, Memory, Repaired, Trials};
use crate::repair::thread_group::{Before, Later, Position, WindowSlices};

/// Number of samples that one task decides.
const TOGETHER: usize = 512;
/// Initial capacity for their callers at most, 3 MB, if both directions know that many.
const PLACES: usize = 1 << 17;
/// Prefetch distance, in samples.
const AHEAD: usize = 4;

/// State of both directions for the threads of a group.
#[derive(Clone, Copy)]
pub(crate) struct Deciding<'w> {
    pub(crate) window: WindowSlices<'w>,
    pub(crate) past: &'w Memory,
    pub(crate) future: &'w Memory,
    pub(crate) trials: &'w Trials,
    /// True if chains may be completed after a gap.
    pub(crate) gaps: bool,
}

/// Completions of the chains of a thread group.
#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Chains in sample order, with the index of their first caller.
    chains: Vec<(Position, Repaired, usize)>,
    /// Callers of all chains, one chain after the other.
    places: Vec<CodeLocation>,
}

impl Repairs {
    /// Returns the chains of a slice in sample order, each with its callers, innermost first.
    pub(crate) fn of_slice(
        &self,
        slice: usize,
    ) -> impl Iterator<Item = (Position, Repaired, &[CodeLocation])> {
        let first = self.chains.partition_point(|(position, ..)| position.slice < slice);
        let chains = self.chains.get(first..).unwrap_or_default().iter();
        let of_slice = chains.take_while(move |(position, ..)| position.slice == slice);
        of_slice.filter_map(|&(position, repaired, start)| {
            let callers = self.places.get(start..)?.get(..repaired.len)?;
            Some((position, repaired, callers))
        })
    }
}

impl<'w> Deciding<'w> {
    /// Decides the chains of samples in order, in parallel parts.
    pub(crate) fn all(
        self,
        positions: &'w [Position],
        before: &'w [Option<Before>],
        later: &'w [Option<Later>],
    ) -> impl IndexedParallelIterator<Item = Repairs> {
        let parts = positions.par_chunks(TOGETHER).zip(before.par_chunks(TOGETHER));
        let parts = parts.zip(later.par_chunks(TOGETHER)).with_max_len(1);
        parts.map(move |((positions, before), later)| self.part(positions, before, later))
    }

    #[inline(never)] // A stage of its own in profiles.
    fn part(
        self,
        positions: &[Position],
        before: &[Option<Before>],
        later: &[Option<Later>],
    ) -> Repairs {
        let mut lists = Lists::default();
        let said = |at: usize| Some((before.get(at).copied()??, later.get(at).copied()??));
        let chains = || (0..positions.len()).filter_map(said);
        let longest =
            |(before, later): (Before, Later)| before.outside.len().max(later.outside.len());
        let mut all = Repairs {
            chains: Vec::with_capacity(chains().count()),
            places: Vec::with_capacity(PLACES.min(chains().map(longest).sum())),
        };
        for (at, &position) in positions.iter().enumerate() {
            if let Some((&position, (before, later))) =
                positions.get(at + AHEAD).zip(said(at + AHEAD))
            {
                self.window.fetch_ends(position);
                self.past.fetch(before.outside);
                self.future.fetch(later.outside);
            }
            let Some((before, later)) = said(at) else { continue };
            let start = all.places.len();
            let repaired = self.decide(position, before, later, &mut lists, &mut all.places);
            all.chains.extend(repaired.map(|repaired| (position, repaired, start)));
        }
        all.chains.shrink_to_fit();
        all.places.shrink_to_fit();
        all
    }

    /// Appends the callers of a sample's chain.
    fn decide(
        &self,
        position: Position,
        before: Before,
        later: Later,
        lists: &mut Lists<'w>,
        places: &mut Vec<CodeLocation>,
    ) -> Option<Repaired> {
        let Self { window, past, future, trials, .. } = *self;
        let seen = window.sample(position)?;
        let views = [
            past.view_of_then(&before.known, before.start, before.outside, trials),
            future.view(&later.known, later.outside, trials),
        ];
        let several = before.several || future.has_several(&later.known);
        let chain = CutChain::new(&seen, self.gaps && !several);
        chain.repair_to_beginning(views, lists, places, &seen, window.code)
    }
}

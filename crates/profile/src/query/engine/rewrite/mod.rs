//! Function filters applied to a profile itself, for outputs that do not query an index.
//!
//! ```text
//!   frames        -> places     one for each function of a frame
//!   stacks, rules -> tree       of the shown places, and the bits of each stack
//!   tree, samples -> tables     of the remaining rows only
//! ```

mod account;
mod places;
mod shown_stacks;
mod strings;
mod tables;

use super::filter::FunctionFilter;
use super::paths::NONE;
use super::rules::FunctionRules;
use crate::id::{RowId as _, SampleId};
use crate::profile::Profile;
use crate::quality::AppliedFilter;
use crate::query::functions::Functions;
use crate::tables::{SampleRow, Table};
use account::{LostChains, recount, spans};
use places::Places;
use shown_stacks::ShownStacks;
use tables::{RemainingStacks, retain_layouts, retain_threads};

/// Number of samples before and after a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilteredSamples {
    /// Number of samples before.
    pub before: u64,
    /// Number of samples that the filter left.
    pub left: u64,
}

impl Profile {
    /// Applies a filter of functions: removes samples with stacks that it does not select, and functions that it
    /// hides. The tables then have only rows that the remaining samples use; ids of strings, events and modules stay.
    /// With `inlines`, inlined functions are separate functions.
    ///
    /// Samples keep their other properties, also the reason that their chain ended, and stay if all functions of their
    /// stack are hidden. If no sample would be left, the profile stays as it is.
    pub fn filter_functions(&mut self, filter: &FunctionFilter, inlines: bool) -> FilteredSamples {
        let before = self.counted_samples().count() as u64;
        if filter.is_empty() {
            return FilteredSamples { before, left: before };
        }
        let functions = Functions::new(self, inlines);
        let rules = FunctionRules::new(self, &functions.rows, filter);
        let places = Places::new(self, &functions);
        let shown = ShownStacks::new(self, &places, &rules, filter.collapse_recursion);
        let node = |sample: &SampleRow| {
            let (node, path) = shown.end(sample.stack);
            rules.keeps(path).then_some(node)
        };
        if !self.samples.iter().any(|sample| node(sample).is_some()) {
            return FilteredSamples { before, left: 0 };
        }
        let left = self.counted_samples().filter(|sample| node(sample).is_some()).count() as u64;
        let applied = AppliedFilter::new(filter.words.clone(), spans(self));
        let lost = LostChains::new(self, |sample| node(sample).is_some());
        let ends = self.samples.iter().filter_map(node);
        let remaining = RemainingStacks::new(self, &places, shown.tree(), ends);
        if !self.fields.has_nothing() {
            let mut last = 0;
            let ids = self.samples.iter().map(|row| {
                node(row)?;
                last += 1;
                Some(SampleId::from_index(last - 1))
            });
            let ids: Table<SampleId, Option<SampleId>> = ids.collect();
            self.fields.renumber(|sample| ids.get(sample).copied().flatten());
        }
        let kept = self.samples.iter().filter_map(|sample| {
            let node = node(sample)?;
            let stack = if node == NONE { None } else { remaining.stack(node) };
            let mut sample = *sample;
            sample.stack = stack;
            Some(sample)
        });
        self.samples = kept.collect();
        remaining.store(self);
        retain_threads(self);
        retain_layouts(self);
        recount(self, applied, before, &lost);
        FilteredSamples { before, left }
    }
}

//! What each function costs: by itself, and with all that it called.

use hashbrown::HashMap;

use crate::id::StackId;
use crate::profile::Profile;
use crate::query::functions::{Function, Functions};
use crate::query::grouped::group;

/// A function and the samples that it was seen in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCost {
    /// The function.
    pub function: Function,
    /// Samples in which it ran itself: it is the innermost function.
    pub own: u64,
    /// Samples in whose stack it is, however often.
    pub inclusive: u64,
}

/// The costs of all functions, those with most samples of their own first; of equal ones the one that is seen first.
/// `inlines`: whether inlined functions are functions of their own.
#[must_use]
pub fn function_costs(profile: &Profile, inlines: bool) -> Vec<FunctionCost> {
    let functions = Functions::new(profile, inlines);
    let cost = |&function: &Function| FunctionCost { function, own: 0, inclusive: 0 };
    let mut costs: Vec<FunctionCost> = functions.rows.iter().map(cost).collect();
    let mut path = Vec::new();
    // By function: the last group of samples that was counted, so that recursion counts once.
    let mut counted: HashMap<usize, usize> = HashMap::new();
    let groups = group(profile, |sample| sample.stack);
    for (number, samples) in groups.iter().enumerate() {
        let stack: Option<StackId> = samples.key;
        functions.path(profile, stack, &mut path);
        for (depth, at) in path.iter().enumerate() {
            let index = at.function.index();
            let Some(cost) = costs.get_mut(index) else { continue };
            if depth == 0 {
                cost.own += samples.count;
            }
            if counted.insert(index, number) != Some(number) {
                cost.inclusive += samples.count;
            }
        }
    }
    costs.sort_by_key(|cost| std::cmp::Reverse((cost.own, cost.inclusive)));
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        EndReason, EventId, FoundBy, FrameRow, InlineRow, LayoutId, LayoutRow, LocationRow,
        SampleRow, StackRow, ThreadId,
    };

    /// `main` calls `work`, which calls itself.
    #[test]
    fn recursion_counts_once() {
        let mut profile = Profile::default();
        profile.layouts.push(LayoutRow::default());
        let mut stacks = Vec::new();
        for name in ["main", "work", "work"] {
            let function = Some(profile.strings.intern(name.as_bytes()));
            let first_inline = profile.inlines.push(InlineRow { function, ..InlineRow::NAMELESS });
            let place = LocationRow::unnamed(None, stacks.len() as u64);
            let location =
                profile.locations.push(LocationRow { first_inline, n_inlines: 1, ..place });
            let found_by = FoundBy::Cfi;
            let frame =
                profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 });
            stacks.push(profile.stacks.push(StackRow { parent: stacks.last().copied(), frame }));
        }
        for &stack in &[stacks[0], stacks[2], stacks[2]] {
            profile.samples.push(SampleRow::new(
                ThreadId::new(0),
                EventId::new(0),
                EndReason::Root,
                Some(stack),
                LayoutId::new(0),
            ));
        }
        let costs: Vec<_> = function_costs(&profile, true)
            .iter()
            .map(|it| (it.function.name.map(|id| profile.strings.get(id)), it.own, it.inclusive))
            .collect();
        assert_eq!(costs, [(Some(&b"work"[..]), 2, 2), (Some(&b"main"[..]), 1, 3)]);
    }
}

//! Direct callers and callees of a function.

use std::cmp::Reverse;

use hashbrown::HashMap;

use super::paths::NONE;
use super::selection::Selection;
use crate::query::cost::Cost;
use crate::query::functions::FunctionId;

/// A function with its direct callers and callees.
///
/// A sample counts once for each caller and each callee, even if the function is recursive.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Neighbors {
    /// Cost of samples in the function itself.
    pub own: Cost,
    /// Cost of samples with the function on their stack.
    pub inclusive: Cost,
    /// Callers, sorted by decreasing cost; `None` for stacks that begin with the function.
    pub callers: Vec<(Option<FunctionId>, Cost)>,
    /// Callees, sorted by decreasing cost.
    pub callees: Vec<(FunctionId, Cost)>,
}

/// Costs by key. A key has at most one cost of a stack.
struct Sums<K> {
    positions: HashMap<K, usize>,
    /// Key, cost, and number of the last stack that was added.
    rows: Vec<(K, Cost, usize)>,
}

impl<K: Copy + Eq + std::hash::Hash> Sums<K> {
    fn new() -> Self {
        Self { positions: HashMap::new(), rows: Vec::new() }
    }

    fn add(&mut self, key: K, cost: Cost, stack: usize) {
        let position = *self.positions.entry(key).or_insert_with(|| {
            self.rows.push((key, Cost::default(), 0));
            self.rows.len() - 1
        });
        if let Some((_, sum, last)) = self.rows.get_mut(position)
            && std::mem::replace(last, stack) != stack
        {
            sum.add(cost);
        }
    }

    fn sorted(mut self) -> Vec<(K, Cost)> {
        self.rows.sort_by_key(|(_, cost, _)| Reverse((cost.weight, cost.samples)));
        self.rows.into_iter().map(|(key, cost, _)| (key, cost)).collect()
    }
}

/// Returns the direct callers and callees of a function in the shown part of the selected stacks.
#[must_use]
pub fn neighbors(selection: &Selection<'_>, function: FunctionId) -> Neighbors {
    let (view, paths) = (&selection.view, selection.view.paths());
    // By run: whether the function is on the path to its end.
    let mut has_function = Vec::new();
    for run in paths.runs() {
        let above = has_function.get(paths.parent(run) as usize) == Some(&true);
        has_function.push(above || view.functions(run).any(|it| it == function));
    }
    let mut found = Neighbors::default();
    let (mut callers, mut callees) = (Sums::new(), Sums::new());
    for (stack, it) in (1..).zip(&selection.counted) {
        let mut run = paths.end(it.set.stack);
        if has_function.get(run as usize) != Some(&true) {
            continue;
        }
        found.inclusive.add(it.cost);
        // The next inner function, once the innermost one was passed.
        let mut callee = None;
        while run != NONE {
            for at in view.functions(run).rev() {
                if callee == Some(function) {
                    callers.add(Some(at), it.cost, stack);
                }
                if at == function {
                    match callee {
                        Some(callee) => callees.add(callee, it.cost, stack),
                        None => found.own.add(it.cost),
                    }
                }
                callee = Some(at);
            }
            run = paths.parent(run);
        }
        if callee == Some(function) {
            callers.add(None, it.cost, stack);
        }
    }
    found.callers = callers.sorted();
    found.callees = callees.sorted();
    found
}

#[cfg(test)]
mod tests {
    use address::{Pid, Tid};
    use options::Weight;

    use super::*;
    use crate::id::LayoutId;
    use crate::profile::Profile;
    use crate::query::engine::{EventChoice, Filter, Index};
    use crate::query::functions::Functions;
    use crate::reason::{EndReason, FoundBy};
    use crate::tables::{
        EventRow, FrameRow, InlineRow, LocationRow, SampleRow, StackRow, ThreadRow,
    };

    /// Returns a profile with one sample for each stack, outermost function first.
    fn profile(stacks: &[&str]) -> Profile {
        let mut profile = Profile::default();
        let name = profile.strings.intern(b"cycles");
        let event = EventRow { name, kind: 0, config: 0, frequency: true, rate: 1 };
        let event = profile.events.push(event);
        let (pid, tid) = (Pid(1), Tid(1));
        let row = ThreadRow { pid, tid, comm: name, process: name, cgroup: None };
        let thread = profile.threads.push(row);
        let mut frames = HashMap::new();
        for functions in stacks {
            let mut parent = None;
            for function in functions.chars() {
                let frame = *frames.entry(function).or_insert_with(|| {
                    let name = Some(profile.strings.intern(function.to_string().as_bytes()));
                    let first_inline =
                        profile.inlines.push(InlineRow { function: name, ..InlineRow::NAMELESS });
                    let place = LocationRow::unnamed(None, u64::from(u32::from(function)));
                    let row = LocationRow { first_inline, n_inlines: 1, ..place };
                    let location = profile.locations.push(row);
                    let found_by = FoundBy::Cfi;
                    profile.frames.push(FrameRow { location, found_by, kernel: false, instance: 0 })
                });
                parent = Some(profile.stacks.push(StackRow { parent, frame }));
            }
            let layout = LayoutId::new(0);
            profile.samples.push(SampleRow::new(thread, event, EndReason::Root, parent, layout));
        }
        profile
    }

    /// Returns own and inclusive samples, callers and callees of `f`.
    fn of_f(stacks: &[&str], filter: &Filter) -> (u64, u64, String, String) {
        let profile = profile(stacks);
        let index = Index::new(&profile, true);
        let first = EventChoice::First;
        let selection = Selection::new(&profile, &index, Weight::Samples, &first, filter);
        let selection = selection.expect("an event");
        let name = |id: FunctionId| {
            let name = selection.function(id).name.map_or(&b""[..], |it| profile.strings.get(it));
            String::from_utf8_lossy(name).into_owned()
        };
        let functions = Functions::new(&profile, true);
        let f = functions.rows.ids().find(|&id| name(id) == "f").expect("f");
        let found = neighbors(&selection, f);
        let callers = found.callers.iter().map(|&(caller, cost)| {
            format!("{}{}", caller.map_or_else(|| "-".to_owned(), name), cost.samples)
        });
        let callees =
            found.callees.iter().map(|&(callee, cost)| format!("{}{}", name(callee), cost.samples));
        let (callers, callees): (Vec<_>, Vec<_>) = (callers.collect(), callees.collect());
        (found.own.samples, found.inclusive.samples, callers.join(" "), callees.join(" "))
    }

    #[test]
    fn a_sample_counts_once_for_each_neighbor() {
        let text = |own, inclusive, callers: &str, callees: &str| {
            (own, inclusive, callers.to_owned(), callees.to_owned())
        };
        let all = Filter::default();
        assert_eq!(of_f(&["mfa", "mf", "mgf", "x"], &all), text(2, 3, "m2 g1", "a1"));
        assert_eq!(of_f(&["f", "fb", "fc", "fb"], &all), text(1, 4, "-4", "b2 c1"));
        // Recursion: the function is its own caller and callee, once per sample.
        assert_eq!(of_f(&["mfffa", "mff"], &all), text(1, 2, "f2 m2", "f2 a1"));
        assert_eq!(of_f(&["mfgfga"], &all), text(0, 1, "g1 m1", "g1"));
        let hide = options::QueryFilter { hide: vec!["g".to_owned()], ..Default::default() };
        let hidden = Filter::bounded(&hide).expect("a pattern");
        assert_eq!(of_f(&["mgfga"], &hidden), text(0, 1, "m1", "a1"));
    }
}

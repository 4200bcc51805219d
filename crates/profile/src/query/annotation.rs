//! Costs of the lines and the instructions of a function.

use address::ModuleId;
use hashbrown::HashMap;

use crate::id::{LocationId, StackId, StringId};
use crate::profile::Profile;
use crate::query::cost::Cost;
use crate::query::functions::{Function, FunctionId, Functions};
use crate::query::stack_walk::each_location;
use crate::query::weights::Weights;
use crate::tables::Table;

/// Cost of a source line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineCost {
    /// The source file; `None` if unknown.
    pub file: Option<StringId>,
    /// The line; 0 if unknown.
    pub line: u32,
    /// Cost of samples on the line itself.
    pub own: Cost,
    /// Cost of samples on the line or in functions called from it.
    pub inclusive: Cost,
}

/// Cost of a code address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressCost {
    /// The address, in the address space of the module's kind; for a call, the last byte of the instruction.
    pub address: u64,
    /// Cost of samples at the address itself.
    pub own: Cost,
    /// Cost of samples at the address or in functions called from it.
    pub inclusive: Cost,
}

/// Machine code of a function: its module and its start address there.
pub type FunctionCode = (ModuleId, u64);

/// A function with the costs of its lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    /// The function.
    pub function: Function,
    /// Cost of samples in the function itself.
    pub own: Cost,
    /// Cost of samples with the function on their stack.
    pub inclusive: Cost,
    /// Its lines, sorted by file and line.
    pub lines: Vec<LineCost>,
    /// Machine code that contains it: its own, or that of functions it was inlined into; sorted by decreasing cost.
    pub code: Vec<(FunctionCode, Cost)>,
}

/// Costs by key; each group of samples is added at most once to a key's inclusive cost.
struct Tally<K> {
    costs: HashMap<K, (Cost, Cost, usize)>,
}

impl<K: Copy + Eq + std::hash::Hash + Ord> Tally<K> {
    fn new() -> Self {
        Self { costs: HashMap::new() }
    }

    fn count(&mut self, key: K, cost: Cost, own: bool, group: usize) {
        let (own_sum, inclusive, last) = self.costs.entry(key).or_default();
        if own {
            own_sum.add(cost);
        }
        if std::mem::replace(last, group) != group {
            inclusive.add(cost);
        }
    }

    /// Returns the keys with their own and inclusive costs, sorted.
    fn sorted(self) -> Vec<(K, Cost, Cost)> {
        let rows = self.costs.into_iter().map(|(key, (own, inclusive, _))| (key, own, inclusive));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|row| row.0);
        rows
    }
}

/// Returns the functions that `wanted` accepts, sorted by decreasing own cost; `stacks` are distinct.
#[must_use]
pub fn annotate(
    profile: &Profile,
    stacks: &[(StackId, Cost)],
    functions: &Functions,
    wanted: impl Fn(FunctionId, &Function) -> bool,
) -> Vec<Annotation> {
    let wanted: Table<FunctionId, bool> =
        functions.rows.entries().map(|(id, function)| wanted(id, function)).collect();
    let mut whole = Tally::<FunctionId>::new();
    let mut lines = Tally::<(FunctionId, Option<StringId>, u32)>::new();
    let mut code = Tally::<(FunctionId, FunctionCode)>::new();
    for (number, &(stack, cost)) in (1..).zip(stacks) {
        let mut innermost = true;
        each_location(profile, Some(stack), |location| {
            let place = function_code(profile, location);
            for at in functions.at(location) {
                let own = std::mem::replace(&mut innermost, false);
                if wanted.get(at.function) == Some(&true) {
                    whole.count(at.function, cost, own, number);
                    lines.count((at.function, at.file, at.line), cost, own, number);
                    if let Some(place) = place {
                        code.count((at.function, place), cost, own, number);
                    }
                }
            }
        });
    }
    let (lines, code) = (lines.sorted(), code.sorted());
    let mut all = Vec::new();
    for (id, own, inclusive) in whole.sorted() {
        let Some(&function) = functions.rows.get(id) else { continue };
        let of_lines = lines.iter().filter(|((of, ..), ..)| *of == id);
        let cost = |&((_, file, line), own, inclusive)| LineCost { file, line, own, inclusive };
        let lines = of_lines.map(cost).collect();
        let of_code = code.iter().filter(|((of, _), ..)| *of == id);
        let mut code: Vec<(FunctionCode, Cost)> =
            of_code.map(|&((_, place), _, inclusive)| (place, inclusive)).collect();
        code.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.weight));
        all.push(Annotation { function, own, inclusive, lines, code });
    }
    all.sort_by_key(|it| std::cmp::Reverse((it.own.weight, it.inclusive.weight)));
    all
}

/// Returns the costs of the addresses in a function's machine code, sorted by address; inlined functions are included.
/// `stacks` are distinct.
#[must_use]
pub fn address_costs(
    profile: &Profile,
    stacks: &[(StackId, Cost)],
    code: FunctionCode,
) -> Vec<AddressCost> {
    let mut addresses = Tally::<u64>::new();
    for (number, &(stack, cost)) in (1..).zip(stacks) {
        let mut innermost = true;
        each_location(profile, Some(stack), |location| {
            let own = std::mem::replace(&mut innermost, false);
            if function_code(profile, location) == Some(code)
                && let Some(row) = profile.locations.get(location)
            {
                addresses.count(row.relative, cost, own, number);
            }
        });
    }
    let row = |(address, own, inclusive)| AddressCost { address, own, inclusive };
    addresses.sorted().into_iter().map(row).collect()
}

/// Returns the machine code that contains a location; `None` if the start of its function is unknown.
fn function_code(profile: &Profile, location: LocationId) -> Option<FunctionCode> {
    let row = profile.locations.get(location)?;
    Some((row.module?, row.relative.checked_sub(row.function_offset?)?))
}

/// Returns the distinct stacks of the counted samples with their costs, in order of appearance.
#[must_use]
pub fn stack_costs(profile: &Profile, weights: &Weights) -> Vec<(StackId, Cost)> {
    let mut index: HashMap<StackId, usize> = HashMap::new();
    let mut stacks: Vec<(StackId, Cost)> = Vec::new();
    for sample in &profile.samples {
        let (Some(weight), Some(stack)) = (weights.of(sample), sample.stack) else { continue };
        let at = *index.entry(stack).or_insert_with(|| {
            stacks.push((stack, Cost::default()));
            stacks.len() - 1
        });
        if let Some((_, cost)) = stacks.get_mut(at) {
            cost.add(Cost { samples: 1, weight });
        }
    }
    stacks
}

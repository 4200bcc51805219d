//! Costs of the instructions of a function.

use address::ModuleId;
use hashbrown::HashMap;
use profile::query::{Cost, FunctionCode, FunctionId, each_location};
use profile::{LocationId, Profile, StackId};

use super::snapshot::Snapshot;
use crate::feed::Instruction;

/// An instruction with its costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeLine {
    pub(crate) address: u64,
    pub(crate) text: String,
    pub(crate) own: Cost,
    pub(crate) inclusive: Cost,
}

/// Returns the machine code that contains a function, its own or that of one it was inlined into: the most costly one.
pub(crate) fn hottest_code(
    data: &Snapshot,
    stacks: &[(StackId, Cost)],
    function: FunctionId,
) -> Option<FunctionCode> {
    let mut costs: HashMap<(ModuleId, u64), (u64, usize)> = HashMap::new();
    for (number, &(stack, cost)) in (1..).zip(stacks) {
        each_location(&data.profile, Some(stack), |location| {
            let has = data.functions.at(location).iter().any(|at| at.function == function);
            if let Some(place) = code_at(&data.profile, location).filter(|_| has) {
                let (sum, last) = costs.entry(place).or_default();
                if std::mem::replace(last, number) != number {
                    *sum += cost.weight;
                }
            }
        });
    }
    let hottest = costs.into_iter().max_by_key(|&(place, (weight, _))| (weight, place));
    hottest.map(|(place, _)| place)
}

/// Returns instructions with the costs of their addresses.
pub(crate) fn code_lines(
    profile: &Profile,
    stacks: &[(StackId, Cost)],
    code: FunctionCode,
    instructions: Vec<Instruction>,
) -> Vec<CodeLine> {
    let line = |it: Instruction| CodeLine {
        address: it.address,
        text: it.text,
        own: Cost::default(),
        inclusive: Cost::default(),
    };
    let ends: Vec<u64> =
        instructions.iter().map(|it| it.address.saturating_add(u64::from(it.len))).collect();
    let mut lines: Vec<CodeLine> = instructions.into_iter().map(line).collect();
    let mut counted = vec![0; lines.len()];
    for (number, &(stack, cost)) in (1..).zip(stacks) {
        let mut is_innermost = true;
        each_location(profile, Some(stack), |location| {
            let own = std::mem::replace(&mut is_innermost, false);
            if code_at(profile, location) != Some(code) {
                return;
            }
            let Some(row) = profile.locations.get(location) else { return };
            let at = ends.partition_point(|&end| end <= row.relative);
            let Some(line) = lines.get_mut(at).filter(|line| line.address <= row.relative) else {
                return;
            };
            if own {
                add(&mut line.own, cost);
            }
            let last = counted.get_mut(at).map(|last| std::mem::replace(last, number));
            if last != Some(number) {
                add(&mut line.inclusive, cost);
            }
        });
    }
    lines
}

fn add(sum: &mut Cost, cost: Cost) {
    *sum = [*sum, cost].into_iter().sum();
}

/// Returns the machine code that contains a location; `None` if the start of its function is unknown.
fn code_at(profile: &Profile, location: LocationId) -> Option<FunctionCode> {
    let row = profile.locations.get(location)?;
    Some((row.module?, row.relative.checked_sub(row.function_offset?)?))
}

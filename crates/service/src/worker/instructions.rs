//! Instructions of the function at an address, with their costs.

use std::collections::{BTreeMap, BTreeSet};

use pipeline::{Analysis, Svma};
use profile::query::{Weight, Weights, address_costs, stack_costs};
use serde::Serialize;

use super::answer::{Answer, answer};
use super::task_context::TaskContext;
use crate::problem::{Problem, ProblemKind};
use crate::protocol::InstructionsTask;

/// Instruction with its costs.
#[derive(Debug, Serialize)]
struct InstructionRow {
    /// Address, as stated in the file.
    address: u64,
    /// Length in bytes.
    length: u8,
    text: String,
    /// Samples at this instruction.
    own: u64,
    /// Samples at this instruction or in its callees.
    inclusive: u64,
}

/// Instructions of a function.
#[derive(Debug, Serialize)]
struct FunctionInstructions {
    instructions: Vec<InstructionRow>,
}

/// Returns the instructions of the function that covers an address.
pub(super) fn show(
    context: &mut TaskContext<'_>,
    task: &InstructionsTask,
) -> Result<Answer, Problem> {
    let analysis = context.analysis(&task.recording, &task.options)?;
    answer(&function_instructions(&analysis, &task.module, task.address)?)
}

fn function_instructions(
    analysis: &Analysis,
    requested: &str,
    address: u64,
) -> Result<FunctionInstructions, Problem> {
    let profile = &analysis.profile;
    let is_requested = |module: &profile::ModuleRow| {
        profile.strings.get(module.path) == requested.as_bytes()
            || module.build_id.is_some_and(|id| id.to_string() == requested)
    };
    let found = profile.modules.entries().find(|(_, module)| is_requested(module));
    let missing =
        || Problem::new(ProblemKind::DoesNotFit).detail(format!("there is no module {requested}"));
    let (id, _) = found.ok_or_else(missing)?;
    let instructions = analysis
        .code()
        .instructions(id, Svma(address))
        .map_err(|error| Problem::new(ProblemKind::NoCode).detail(error.to_string()))?;
    let first = instructions.first().map_or(0, |it| it.address.0);
    let end = instructions.last().map_or(0, |it| it.address.0 + u64::from(it.len));
    // One function of the file can have several symbols.
    let locations = profile.locations.iter().filter(|it| it.module == Some(id));
    let inside = locations.filter(|it| (first..end).contains(&it.relative));
    let starts: BTreeSet<u64> =
        inside.filter_map(|it| it.relative.checked_sub(it.function_offset?)).collect();
    let stacks = stack_costs(profile, &Weights::new(profile, Weight::Samples));
    let mut costs = BTreeMap::new();
    for start in starts {
        for cost in address_costs(profile, &stacks, (id, start)) {
            costs.insert(cost.address, (cost.own.samples, cost.inclusive.samples));
        }
    }
    let rows = instructions.into_iter().map(|it| {
        let address = it.address.0;
        let range = address..address + u64::from(it.len.max(1));
        let (mut own, mut inclusive) = (0, 0);
        for (one, all) in costs.range(range).map(|(_, cost)| *cost) {
            own += one;
            inclusive += all;
        }
        InstructionRow { address, length: it.len, text: it.text, own, inclusive }
    });
    Ok(FunctionInstructions { instructions: rows.collect() })
}

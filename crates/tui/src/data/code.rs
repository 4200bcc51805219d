//! Costs of the instructions of a function.

use profile::StackId;
use profile::query::{Cost, FunctionCode, FunctionId, address_costs, annotate};

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
    let found = annotate(&data.profile, stacks, &data.functions, |id, _| id == function);
    found.first()?.code.first().map(|&(place, _)| place)
}

/// Returns instructions with the costs of their addresses.
pub(crate) fn code_lines(
    data: &Snapshot,
    stacks: &[(StackId, Cost)],
    code: FunctionCode,
    instructions: Vec<Instruction>,
) -> Vec<CodeLine> {
    let costs = address_costs(&data.profile, stacks, code);
    let line = |it: Instruction| {
        let end = it.address.saturating_add(u64::from(it.len));
        let from = costs.partition_point(|cost| cost.address < it.address);
        let inside = || costs.iter().skip(from).take_while(|cost| cost.address < end);
        CodeLine {
            address: it.address,
            text: it.text,
            own: inside().map(|cost| cost.own).sum(),
            inclusive: inside().map(|cost| cost.inclusive).sum(),
        }
    };
    instructions.into_iter().map(line).collect()
}

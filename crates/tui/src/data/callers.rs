//! Callers and callees of a function.

use std::cmp::Reverse;

use hashbrown::HashMap;
use profile::query::engine::TreeRow;
use profile::query::{Cost, FunctionId};

use super::results::function_of;

/// A caller or a callee of a function, with the cost of the stacks in which it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    /// `None` for the root of stacks.
    pub(crate) function: Option<FunctionId>,
    pub(crate) cost: Cost,
}

/// Returns the callers and the callees of a function, sorted by decreasing cost. `rows` are the nodes of a top-down
/// tree without a node for truncated stacks. A stack counts once for each of them, even if the function is recursive.
pub(crate) fn neighbours(
    rows: &[TreeRow],
    function: FunctionId,
) -> (Vec<Neighbour>, Vec<Neighbour>) {
    let label = |at: Option<usize>| at.and_then(|at| rows.get(at)).and_then(function_of);
    let mut callers: HashMap<Option<FunctionId>, Cost> = HashMap::new();
    let mut callees: HashMap<Option<FunctionId>, Cost> = HashMap::new();
    for row in rows {
        let (callee, caller) = (function_of(row), label(row.parent));
        // Whether an ancestor is the same callee of the same caller.
        let is_counted = || {
            let mut above = row.parent;
            while let Some(it) = above.and_then(|at| rows.get(at)) {
                if function_of(it) == callee && label(it.parent) == caller {
                    return true;
                }
                above = it.parent;
            }
            false
        };
        let (is_caller, is_callee) = (callee == Some(function), caller == Some(function));
        if (is_caller || is_callee) && !is_counted() {
            if is_caller {
                add(callers.entry(caller).or_default(), row.inclusive);
            }
            if is_callee {
                add(callees.entry(callee).or_default(), row.inclusive);
            }
        }
    }
    (sorted(callers), sorted(callees))
}

fn add(sum: &mut Cost, cost: Cost) {
    *sum = [*sum, cost].into_iter().sum();
}

fn sorted(costs: HashMap<Option<FunctionId>, Cost>) -> Vec<Neighbour> {
    let mut rows: Vec<Neighbour> =
        costs.into_iter().map(|(function, cost)| Neighbour { function, cost }).collect();
    rows.sort_unstable_by_key(|it| (Reverse(it.cost.weight), it.function));
    rows
}

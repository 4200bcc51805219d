//! Costs of times off the processor by kind of wait.

use address::ById as _;
use hashbrown::HashMap;
use options::GroupBy;

use super::selection::Selection;
use super::table::{RowKey, TableShape, code_key, own_keys, thread_keys};
use crate::reason::WaitKind;

/// Weights by kind of wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitCosts([u64; WaitKind::ALL.len()]);

impl WaitCosts {
    fn add(&mut self, kind: WaitKind, weight: u64) {
        if let Some(sum) = self.0.get_mut(kind as usize) {
            *sum = sum.saturating_add(weight);
        }
    }

    /// Returns the weight of a kind.
    #[must_use]
    pub fn of(&self, kind: WaitKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or(0)
    }

    /// Returns the kind with the highest weight; the first of several; `None` if there is none.
    #[must_use]
    pub fn most(&self) -> Option<WaitKind> {
        let kinds = WaitKind::ALL.iter().copied().filter(|&kind| self.of(kind) > 0);
        kinds.reduce(|most, kind| if self.of(kind) > self.of(most) { kind } else { most })
    }
}

/// Returns the weights of all matching samples that are times off the processor.
#[must_use]
pub fn all_waits(selection: &Selection<'_>) -> WaitCosts {
    let mut all = WaitCosts::default();
    for it in &selection.counted {
        if let Some(kind) = it.set.wait {
            all.add(kind, it.cost.weight);
        }
    }
    all
}

/// Returns the own weights of the rows of a table. Rows without times off the processor are absent.
#[must_use]
pub fn wait_costs(selection: &Selection<'_>, shape: TableShape<'_>) -> HashMap<RowKey, WaitCosts> {
    let mut rows: HashMap<RowKey, WaitCosts> = HashMap::new();
    let mut add = |key: Option<RowKey>, kind: Option<WaitKind>, weight| {
        if let (Some(key), Some(kind)) = (key, kind) {
            rows.entry(key).or_default().add(kind, weight);
        }
    };
    if let Some(name) = shape.value {
        for (value, wait, cost) in selection.values(name) {
            add(Some(RowKey::Value(value)), wait, cost.weight);
        }
        return rows;
    }
    match shape.group {
        GroupBy::Cpu => {
            for (_, sample, cost) in selection.samples() {
                add(Some(RowKey::Cpu(sample.cpu())), sample.wait(), cost.weight);
            }
        }
        GroupBy::Function | GroupBy::Line | GroupBy::Module => {
            let keys = selection.view.keys(shape.group);
            for (it, key) in selection.counted.iter().zip(own_keys(selection, &keys)) {
                let key = key.and_then(|at| code_key(selection.index, shape.group, at as usize));
                add(key, it.set.wait, it.cost.weight);
            }
        }
        GroupBy::Event | GroupBy::Wait => {
            for it in &selection.counted {
                let key = match shape.group {
                    GroupBy::Event => RowKey::Event(it.set.event),
                    _ => RowKey::Wait(it.set.wait),
                };
                add(Some(key), it.set.wait, it.cost.weight);
            }
        }
        GroupBy::Thread | GroupBy::Process | GroupBy::Comm | GroupBy::Cgroup => {
            let keys = thread_keys(selection, shape);
            for (_, sample, cost) in selection.samples() {
                add(keys.by_id(sample.thread).copied(), sample.wait(), cost.weight);
            }
        }
    }
    rows
}

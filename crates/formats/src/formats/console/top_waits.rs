//! The table of the highest times off the processor: waits and preemption apart, and the kind of wait.

use hashbrown::HashMap;
use profile::WaitKind;
use profile::query::engine::{RowKey, Selection, TableRow, WaitCosts, all_waits};
use profile::query::{Cost, WeightUnit};

use super::labels;
use super::look::ConsoleLook;
use super::top::{TopLine, TopTable};
use super::top_columns::CostColumn;

/// Columns that names have at least beside the shares of inclusive time.
const WIDE_NAME: usize = 60;

/// Returns the parts of the total of times off the processor, to follow it; empty for other samples.
pub(super) fn parts(selection: &Selection<'_>) -> String {
    let waits = all_waits(selection);
    if waits == WaitCosts::default() {
        return String::new();
    }
    let preempted = waits.of(WaitKind::Preempted);
    let blocked = selection.total().weight.saturating_sub(preempted);
    let of = |weight| labels::cost(WeightUnit::Nanoseconds, weight);
    format!(": {} blocked, {} preempted", of(blocked), of(preempted))
}

impl TopTable {
    /// Returns the columns of times off the processor: own time by the blocked and the preempted part, and the kind of
    /// most of it.
    pub(super) fn wait_columns(
        &self,
        lines: &[TopLine<'_>],
        waits: &HashMap<RowKey, WaitCosts>,
        total: Cost,
    ) -> Vec<CostColumn> {
        let of = |row: &TableRow| waits.get(&row.key).copied().unwrap_or_default();
        let preempted = |row: &TableRow| of(row).of(WaitKind::Preempted);
        let times = |heading, rank, time: &dyn Fn(&TableRow) -> u64| {
            let cells = lines.iter().map(|line| nonzero(time(line.row)));
            CostColumn::new(heading, 0, cells).omitted(rank, ConsoleLook::LEAST_NAME)
        };
        let kinds = lines.iter().map(|line| of(line.row).most().map_or("", WaitKind::as_str));
        let mut columns = vec![
            self.own(lines, total),
            times("blocked", 1, &|row| row.own.weight.saturating_sub(preempted(row))),
            times("preempted", 2, &preempted),
        ];
        if self.has_inclusive() {
            columns.push(self.inclusive(lines, total).omitted(3, WIDE_NAME));
        }
        columns.push(CostColumn::new("wait", 0, kinds.map(str::to_owned)).left());
        columns
    }
}

/// Formats a time; empty for 0.
fn nonzero(time: u64) -> String {
    if time == 0 { String::new() } else { labels::cost(WeightUnit::Nanoseconds, time) }
}

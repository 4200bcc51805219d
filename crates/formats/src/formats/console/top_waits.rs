//! The table of the highest times off the processor: waits and preemption apart, and the kind of wait.

use hashbrown::HashMap;
use options::GroupBy;
use profile::WaitKind;
use profile::query::engine::{RowKey, Selection, TableRow, WaitCosts, all_waits};
use profile::query::{Cost, WeightUnit};

use super::labels;
use super::top::{RowNames, TopLine, TopTable};
use super::width::{columns, cut_middle, padded};
use crate::render::numbers::share;

/// Columns for names below which the inclusive share is omitted, and below which modules are.
const NARROW: usize = 30;

/// Maximum width that names are padded to, if lines are not truncated.
const WIDE: usize = 60;

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

/// The table, with the own costs of its rows by kind of wait.
pub(super) struct WaitTable<'t> {
    pub(super) table: &'t TopTable,
    pub(super) lines: &'t [TopLine<'t>],
    pub(super) waits: &'t HashMap<RowKey, WaitCosts>,
    pub(super) total: Cost,
    /// Headings of a row's name and of its location.
    pub(super) headings: [&'static str; 2],
}

/// Widths of the columns.
struct Widths {
    blocked: usize,
    preempted: usize,
    kind: usize,
    inclusive: bool,
    name: usize,
    /// Maximum of a name; `None` if lines are not truncated.
    room: Option<usize>,
    /// 0 to omit locations.
    origin: usize,
}

impl WaitTable<'_> {
    /// Appends the heading and the rows.
    pub(super) fn append(&self, text: &mut String) {
        let widths = self.widths();
        let look = &self.table.look;
        let (heading, [name, location]) = (look.heading(), self.headings);
        let mut head = format!(
            "{:>7}  {:>blocked$}  {:>preempted$}",
            "own",
            "blocked",
            "preempted",
            blocked = widths.blocked,
            preempted = widths.preempted,
        );
        if widths.inclusive {
            head.push_str("  inclusive");
        }
        let location = if widths.origin > 0 { location } else { "" };
        head.push_str(&format!(
            "  {:<kind$}  {name:<width$}  {location}",
            "wait",
            kind = widths.kind,
            width = widths.name,
        ));
        text.push_str(&format!("{heading}{}{heading:#}\n", head.trim_end()));
        for line in self.lines {
            self.line(line, &widths, text);
        }
    }

    fn line(&self, line: &TopLine<'_>, widths: &Widths, text: &mut String) {
        let (look, total) = (&self.table.look, self.total.weight);
        let (own, inclusive) = (line.row.own.weight, line.row.inclusive.weight);
        let style = look.share(own, total);
        text.push_str(&format!("{style}{:>7}{style:#}", share(own, total)));
        for (width, cost) in
            [widths.blocked, widths.preempted].into_iter().zip(self.costs(line.row))
        {
            text.push_str(&format!("  {:>width$}", nonzero(cost)));
        }
        if widths.inclusive {
            let style = look.share(inclusive, total);
            text.push_str(&format!("  {style}{:>9}{style:#}", share(inclusive, total)));
        }
        let name = cut_middle(&line.names.name, widths.room);
        text.push_str(&format!("  {:<kind$}", self.kind(line.row), kind = widths.kind));
        if line.names.origin.is_empty() || widths.origin == 0 {
            text.push_str(&format!("  {name}\n"));
        } else {
            let faint = look.faint();
            let origin = widths.room.map(|_| widths.origin);
            let origin = cut_middle(&line.names.origin, origin);
            let name = padded(&name, widths.name);
            text.push_str(&format!("  {name}  {faint}{origin}{faint:#}\n"));
        }
    }

    fn widths(&self) -> Widths {
        let width_of = |at: usize, heading: &str| {
            let cost = |line: &TopLine<'_>| {
                self.costs(line.row).get(at).map_or(0, |&cost| nonzero(cost).chars().count())
            };
            self.lines.iter().map(cost).max().unwrap_or(0).max(heading.len())
        };
        let (blocked, preempted) = (width_of(0, "blocked"), width_of(1, "preempted"));
        let kind = self.lines.iter().map(|line| self.kind(line.row).len()).max();
        let kind = kind.unwrap_or(0).max("wait".len());
        let used = 7 + 2 + blocked + 2 + preempted + 2 + kind + 2;
        let look = &self.table.look;
        let has_inclusive =
            matches!(self.table.by, GroupBy::Function | GroupBy::Module | GroupBy::Line);
        let with = look.remaining(used + 11);
        let inclusive = has_inclusive && with.is_none_or(|room| room >= 2 * NARROW);
        let both = if inclusive { with } else { look.remaining(used) };
        let longest = |of: fn(&RowNames) -> &String| {
            self.lines.iter().map(|line| columns(of(&line.names))).max().unwrap_or(0)
        };
        let origin = longest(|names| &names.origin);
        // The location is shown if the width permits, in at most a third of it.
        let origin = match both {
            Some(..NARROW) => 0,
            Some(both) => origin.min(both / 3),
            None => origin,
        };
        let room = both.map(|both| if origin > 0 { both - origin - 2 } else { both });
        let name = longest(|names| &names.name).min(room.unwrap_or(WIDE)).max(8);
        Widths { blocked, preempted, kind, inclusive, name, room, origin }
    }

    /// Returns the blocked and the preempted time of a row itself.
    fn costs(&self, row: &TableRow) -> [u64; 2] {
        let waits = self.waits.get(&row.key);
        let preempted = waits.map_or(0, |it| it.of(WaitKind::Preempted));
        [row.own.weight.saturating_sub(preempted), preempted]
    }

    /// Returns the kind of most of a row's own time.
    fn kind(&self, row: &TableRow) -> &'static str {
        self.waits.get(&row.key).and_then(WaitCosts::most).map_or("", WaitKind::as_str)
    }
}

/// Formats a time; empty for 0.
fn nonzero(time: u64) -> String {
    if time == 0 { String::new() } else { labels::cost(WeightUnit::Nanoseconds, time) }
}

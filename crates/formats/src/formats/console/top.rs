//! The table of the highest costs.

use std::io;

use address::Tid;
use hashbrown::{HashMap, HashSet};
use options::{ChoiceOrValue, CostKind, GroupBy, TopFormat, Weight};

use profile::query::engine::{
    EventChoice, Filter, Index, RowKey, Selection, TableRow, TableShape, table, wait_costs,
};
use profile::query::{Cost, FunctionLine, WeightUnit, event_name};
use profile::{ProcessKey, Profile, StringId, ThreadId, ThreadRow};

use super::labels;
use super::look::ConsoleLook;
use super::row_keys::RowKeys;
use super::short_names::ShortNames;
use super::top_columns::{CostColumn, shown, width_of};
use super::top_rows::TopRows;
use super::top_waits::parts;
use crate::printer::Printer;
use crate::render::field_value::value_text;
use crate::render::numbers::share;
use crate::render::width::{columns, cut_middle, padded, wrapped_text};

/// Prints the highest costs, one line each, with own and inclusive cost.
#[derive(Debug)]
pub struct TopTable {
    /// Whether inlined functions are separate functions.
    pub inlines: bool,
    /// Weight of a sample.
    pub weight: Weight,
    /// Key that samples are grouped by.
    pub by: ChoiceOrValue<GroupBy>,
    /// Whether the threads of a pool share one row.
    pub pools: bool,
    /// The cost that rows are sorted by.
    pub sort: CostKind,
    /// Maximum number of rows; 0 for all.
    pub limit: usize,
    /// Output format, for people or for programs.
    pub format: TopFormat,
    /// Appearance of the table.
    pub look: ConsoleLook,
}

/// Minimum columns for names and locations; in fewer columns, locations are omitted.
const NARROW: usize = 30;

/// Maximum width that names are padded to, if lines are not truncated.
const WIDE: usize = 60;

pub(super) struct TopLine<'r> {
    pub(super) row: &'r TableRow,
    pub(super) names: RowNames,
}

/// Widths of names and locations.
struct NameWidths {
    name: usize,
    /// 0 if it is omitted.
    origin: usize,
    /// Columns for a name; `None` if it is not cut.
    room: Option<usize>,
}

/// The name of a row's key, and its location: a module, a function or a number.
pub(super) struct RowNames {
    pub(super) name: String,
    pub(super) origin: String,
}

impl Printer for TopTable {
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()> {
        let index = Index::new(profile, self.inlines);
        let event = EventChoice::of(self.by.choice().unwrap_or_default(), None);
        let selection = Selection::new(profile, &index, self.weight, &event, &Filter::default());
        let selection = selection.map_err(io::Error::other)?;
        let shape = TableShape { pools: self.pools, sort: self.sort, ..TableShape::of(&self.by) };
        let (rows, _) = table(&selection, shape);
        let limit = if self.limit == 0 { usize::MAX } else { self.limit };
        let keys = RowKeys::new(profile, &selection, &self.by, self.pools, &rows);
        let has_waits = self.weight == Weight::OffCpu && self.by != GroupBy::Wait.into();
        let waits = has_waits.then(|| wait_costs(&selection, shape));
        let is_off_cpu = self.weight == Weight::OffCpu;
        let table =
            TopRows { keys: &keys, rows: &rows, waits: waits.as_ref(), is_off_cpu, shown: limit };
        match self.format {
            TopFormat::Json => return table.json(out),
            TopFormat::Csv => return table.csv(out),
            TopFormat::Text => {}
        }
        let total = selection.total();
        let mut counted = labels::what_is_counted(profile, selection.weights(), total);
        counted.push_str(&parts(&selection));
        let mut text = wrapped_text(&counted, self.look.width, 2);
        text.push('\n');
        let short = self.short_names(&table, limit);
        let names = |row: &TableRow| names(&keys, &short, row.key);
        let lines: Vec<TopLine<'_>> =
            rows.iter().take(limit).map(|row| TopLine { row, names: names(row) }).collect();
        if !lines.is_empty() {
            let unit = selection.weights().unit();
            let costs = match &waits {
                Some(waits) => self.wait_columns(&lines, waits, total),
                None => self.cost_columns(&lines, total, unit),
            };
            self.table(&lines, &shown(costs, self.look.width), &mut text);
        }
        if let Some(rest) = rows.len().checked_sub(lines.len()).filter(|&rest| rest > 0) {
            let own = rows.iter().skip(lines.len()).map(|row| row.own.weight);
            let own = share(own.sum(), total.weight);
            text.push_str(&self.look.more(&format!("{own:>7}  "), rest, "more row"));
        }
        out.write_all(text.as_bytes())
    }
}

impl TopTable {
    /// Returns a table for people of all functions, sorted by own cost.
    #[must_use]
    pub fn new(inlines: bool, weight: Weight, look: ConsoleLook) -> Self {
        Self {
            inlines,
            weight,
            by: ChoiceOrValue::default(),
            pools: false,
            sort: CostKind::default(),
            limit: 0,
            format: TopFormat::default(),
            look,
        }
    }

    fn short_names(&self, table: &TopRows<'_>, limit: usize) -> ShortNames {
        if !self.look.short_names {
            return ShortNames::default();
        }
        let keys = table.keys;
        let name = |row: &TableRow| match row.key {
            RowKey::Function(id) | RowKey::Line(FunctionLine { function: id, .. }) => {
                keys.selection.function(id).name
            }
            _ => None,
        };
        let names = || table.rows.iter().map(name);
        ShortNames::new(keys.profile, names().take(limit), names())
    }

    /// Appends the heading and the rows; `costs` precede names.
    fn table(&self, lines: &[TopLine<'_>], costs: &[CostColumn], text: &mut String) {
        let NameWidths { name: name_width, origin: origin_width, room } =
            self.widths(lines, width_of(costs));
        let heading = self.look.heading();
        let [name, where_it_is] = self.headings();
        let where_it_is = if origin_width > 0 { where_it_is } else { "" };
        let mut head: String = costs.iter().map(|column| column.head() + "  ").collect();
        head.push_str(&format!("{name:<name_width$}  {where_it_is}"));
        text.push_str(&format!("{heading}{}{heading:#}\n", head.trim_end()));
        for (at, TopLine { names, .. }) in lines.iter().enumerate() {
            text.extend(costs.iter().map(|column| column.cell(at) + "  "));
            let name = cut_middle(&names.name, room);
            if names.origin.is_empty() || origin_width == 0 {
                text.push_str(&format!("{name}\n"));
            } else {
                let faint = self.look.faint();
                let origin = cut_middle(&names.origin, room.map(|_| origin_width));
                let name = padded(&name, name_width);
                text.push_str(&format!("{name}  {faint}{origin}{faint:#}\n"));
            }
        }
    }

    /// Returns the columns of own and inclusive costs. If names have too little room, costs are omitted, which their
    /// shares repeat.
    fn cost_columns(
        &self,
        lines: &[TopLine<'_>],
        total: Cost,
        unit: WeightUnit,
    ) -> Vec<CostColumn> {
        let cost = |of: fn(&TableRow) -> u64, rank| {
            let cells = lines.iter().map(|line| labels::cost(unit, of(line.row)));
            CostColumn::new(labels::unit(unit), 0, cells).omitted(rank, ConsoleLook::LEAST_NAME)
        };
        let mut columns = vec![self.own(lines, total), cost(|row| row.own.weight, 1)];
        if self.has_inclusive() {
            columns.extend([self.inclusive(lines, total), cost(|row| row.inclusive.weight, 2)]);
        }
        columns
    }

    /// Returns the shares of own costs.
    pub(super) fn own(&self, lines: &[TopLine<'_>], total: Cost) -> CostColumn {
        self.shares("own", 7, total, lines.iter().map(|line| line.row.own.weight))
    }

    /// Returns the shares of inclusive costs.
    pub(super) fn inclusive(&self, lines: &[TopLine<'_>], total: Cost) -> CostColumn {
        self.shares("inclusive", 9, total, lines.iter().map(|line| line.row.inclusive.weight))
    }

    fn shares(
        &self,
        heading: &'static str,
        width: usize,
        total: Cost,
        costs: impl Iterator<Item = u64> + Clone,
    ) -> CostColumn {
        let cells = costs.clone().map(|cost| share(cost, total.weight));
        let styles = costs.map(|cost| self.look.share(cost, total.weight)).collect();
        CostColumn::new(heading, width, cells).styled(styles)
    }

    /// Returns the widths of names and locations after the costs.
    fn widths(&self, lines: &[TopLine<'_>], used: usize) -> NameWidths {
        let both = self.look.remaining(used);
        let [name, origin] = self.headings().map(str::len);
        let longest = |of: fn(&RowNames) -> &str, heading: usize| {
            lines.iter().map(|it| columns(of(&it.names))).max().unwrap_or(0).max(heading)
        };
        // The location is shown if the width permits, in at most a third of it.
        let origin = match both {
            Some(..NARROW) => 0,
            _ if origin == 0 => 0,
            Some(both) => longest(|names| &names.origin, origin).min(both / 3),
            None => longest(|names| &names.origin, origin),
        };
        let room = both.map(|both| if origin > 0 { both - origin - 2 } else { both });
        // Without truncation, the longest names must not move all modules far to the right.
        let name = longest(|names| &names.name, name).min(room.unwrap_or(WIDE)).max(name.max(8));
        NameWidths { name, origin, room }
    }

    pub(super) fn has_inclusive(&self) -> bool {
        let group = self.by.choice();
        matches!(group, Some(GroupBy::Function | GroupBy::Module | GroupBy::Line))
    }

    fn headings(&self) -> [&str; 2] {
        let group = match &self.by {
            ChoiceOrValue::Choice(group) => group,
            ChoiceOrValue::Value(name) => return [name, ""],
        };
        match group {
            GroupBy::Function => ["function", "module"],
            GroupBy::Module => ["module", ""],
            GroupBy::Line => ["line", "function"],
            GroupBy::Thread => ["thread", "tid"],
            GroupBy::Process => ["process", "pid"],
            GroupBy::Comm => ["name of threads", ""],
            GroupBy::Cgroup => ["control group", ""],
            GroupBy::Event => ["event", ""],
            GroupBy::Cpu => ["processor", ""],
            GroupBy::Wait => ["wait", ""],
        }
    }
}

fn names(keys: &RowKeys<'_>, short: &ShortNames, key: RowKey) -> RowNames {
    let RowKeys { profile, selection, marks, pools, .. } = keys;
    let profile = *profile;
    let alone = |name: String| RowNames { name, origin: String::new() };
    match key {
        RowKey::Function(id) => {
            let it = selection.function(id);
            let origin = labels::module(profile, it.module);
            RowNames { name: labels::marked(profile, &it, marks, short), origin }
        }
        RowKey::Line(FunctionLine { function, file, line }) => {
            let it = selection.function(function);
            let file = file.map(|file| labels::text(profile.strings.get(file)));
            let function = labels::function(profile, &it, short);
            let module = labels::module(profile, it.module);
            match file.filter(|_| line > 0) {
                Some(file) => RowNames { name: format!("{file}:{line}"), origin: function },
                None => RowNames { name: format!("[no line] {module}"), origin: function },
            }
        }
        RowKey::Module(Some(path)) => alone(labels::text(profile.strings.get(path))),
        RowKey::Module(None) => alone("[no module]".to_owned()),
        RowKey::Thread(thread) => {
            let row = profile.threads.get(thread);
            let origin = match row.map_or(1, |row| pools.threads(row)) {
                1 => row.map_or(-1, |row| row.tid.0).to_string(),
                threads => format!("{threads} threads"),
            };
            RowNames { name: comm(profile, Some(thread)), origin }
        }
        RowKey::Process(ProcessKey { pid, name }) => {
            RowNames { name: labels::text(profile.strings.get(name)), origin: pid.to_string() }
        }
        RowKey::Comm(name) => alone(labels::text(profile.strings.get(name))),
        RowKey::Cgroup(Some(path)) => alone(labels::text(profile.strings.get(path))),
        RowKey::Cgroup(None) => alone("[not recorded]".to_owned()),
        RowKey::Event(event) => alone(labels::text(event_name(profile, event))),
        RowKey::Cpu(Some(cpu)) => alone(cpu.to_string()),
        RowKey::Cpu(None) => alone("[not recorded]".to_owned()),
        RowKey::Wait(Some(kind)) => alone(kind.to_string()),
        RowKey::Wait(None) => alone("[on the processor]".to_owned()),
        RowKey::Value(value) => alone(labels::text(&value_text(profile, value))),
    }
}

/// Number of threads in each pool. A pool is the threads of a process with the same name.
#[derive(Debug, Default)]
pub(super) struct Pools(HashMap<(ProcessKey, StringId), HashSet<Tid>>);

impl Pools {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut pools = Self::default();
        for row in &profile.threads {
            pools.0.entry((row.process_key(), row.comm)).or_default().insert(row.tid);
        }
        pools
    }

    /// Returns the number of threads that the row of a thread represents.
    pub(super) fn threads(&self, row: &ThreadRow) -> usize {
        self.0.get(&(row.process_key(), row.comm)).map_or(1, HashSet::len)
    }
}

fn comm(profile: &Profile, thread: Option<ThreadId>) -> String {
    let row = thread.and_then(|thread| profile.threads.get(thread));
    row.map_or_else(|| "[unknown]".to_owned(), |row| labels::text(profile.strings.get(row.comm)))
}

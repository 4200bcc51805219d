//! Columns of the page's tables: name, width, and the number for a row. All writers of tables use these lists, so a new
//! column is one more row here. `data/columns.js` has the same names.

use profile::query::Function;
use profile::{Profile, SampleRow};

use super::tree::{AddressId, Leaf, NodeId, PageNode};

/// Number that means "none" in columns. `data/columns.js` has the same.
pub(crate) const NONE: u32 = u32::MAX;

/// Size of a column's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    U8,
    U16,
    U32,
    F64,
}

impl Width {
    /// Returns the name used in the page.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::F64 => "f64",
        }
    }

    /// Returns the size of a number in bytes.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::F64 => 8,
        }
    }

    /// Returns the narrowest width for numbers below `limit`.
    pub(super) const fn of(limit: usize) -> Self {
        match limit {
            0..=0x100 => Self::U8,
            0x101..=0x1_0000 => Self::U16,
            _ => Self::U32,
        }
    }
}

/// A column of a table with rows of the type `R`.
pub(crate) struct RowColumn<R> {
    pub(crate) name: &'static str,
    pub(crate) width: Width,
    /// Returns the number for a row; for [`Width::F64`] the bits of a float.
    pub(crate) number: fn(&R) -> u64,
}

impl<R> RowColumn<R> {
    pub(crate) const fn new(name: &'static str, width: Width, number: fn(&R) -> u64) -> Self {
        Self { name, width, number }
    }
}

/// Columns of nodes. A node is a line of a function below its callers.
pub(super) const NODES: &[RowColumn<PageNode>] = &[
    RowColumn::new("parent", Width::U32, |row| node_number(row.parent)),
    RowColumn::new("func", Width::U32, |row| row.function.as_u32().into()),
    RowColumn::new("line", Width::U32, |row| row.line.into()),
    RowColumn::new("flags", Width::U8, |row| row.flags.into()),
];

/// Columns of leaves.
pub(super) const LEAVES: &[RowColumn<Leaf>] = &[
    RowColumn::new("leafNode", Width::U32, |row| node_number(row.node)),
    RowColumn::new("leafPlace", Width::U32, |row| {
        row.address.map_or(NONE, AddressId::as_u32).into()
    }),
    RowColumn::new("leafEnd", Width::U8, |row| row.end as u64),
];

/// Columns of leaves in tables with times off the processor.
pub(super) const WAITS: &[RowColumn<Leaf>] = &[RowColumn::new("leafWait", Width::U8, |row| {
    row.wait.map_or(u64::from(u8::MAX), |kind| kind as u64)
})];

/// Columns of code addresses, split into 32-bit halves.
pub(super) const ADDRESSES: &[RowColumn<u64>] = &[
    RowColumn::new("placeLow", Width::U32, |address| address & u64::from(NONE)),
    RowColumn::new("placeHigh", Width::U32, |address| address >> 32),
];

/// Columns of samples.
pub(super) const SAMPLES: &[SampleColumn] = &[
    SampleColumn::new("time", Width::U32, SampleNumber::Time),
    SampleColumn::new("thread", Width::U32, SampleNumber::Row(|row| row.thread.as_u32().into()))
        .of_rows(|profile| profile.threads.len()),
    SampleColumn::new("leaf", Width::U32, SampleNumber::Leaf),
    SampleColumn::new("event", Width::U8, SampleNumber::Row(|row| row.event.as_u32().into()))
        .of_rows(|profile| profile.events.len()),
    SampleColumn::new("period", Width::F64, SampleNumber::Row(period_bits))
        .only_with(|facts| facts.periods),
    SampleColumn::new("cpu", Width::U16, SampleNumber::Row(cpu_number))
        .of_rows(cpu_numbers)
        .only_with(|facts| facts.cpus),
];

/// Returns the number of a node, or [`NONE`].
pub(super) fn node_number(node: Option<NodeId>) -> u64 {
    node.map_or(NONE, NodeId::as_u32).into()
}

fn period_bits(row: &SampleRow) -> u64 {
    (row.period().unwrap_or(1) as f64).to_bits()
}

/// Returns the number of a sample's processor plus 1, or 0 if it was not recorded.
fn cpu_number(row: &SampleRow) -> u64 {
    row.cpu().map_or(0, |cpu| u64::from(cpu) + 1)
}

/// Returns the limit of [`cpu_number`].
fn cpu_numbers(profile: &Profile) -> usize {
    let cpus = profile.samples.iter().filter_map(SampleRow::cpu);
    cpus.max().map_or(1, |cpu| cpu as usize + 2)
}

/// Properties of the samples in a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SampleFacts {
    /// The periods of an event differ.
    pub(super) periods: bool,
    /// A sample has a processor.
    pub(super) cpus: bool,
}

/// A column of samples.
pub(super) struct SampleColumn {
    pub(super) name: &'static str,
    /// Width in growing tables, which must fit any later number.
    pub(super) width: Width,
    pub(super) number: SampleNumber,
    /// Returns the limit of the numbers, such as the number of rows of the table that the column refers to.
    rows: Option<fn(&Profile) -> usize>,
    /// Property of the samples on which the presence depends.
    only_with: Option<fn(SampleFacts) -> bool>,
}

/// Source of a sample's number in a column.
#[derive(Clone, Copy)]
pub(super) enum SampleNumber {
    /// Time since the origin, in units. It depends on earlier samples; complete tables store the difference from the
    /// previous one.
    Time,
    /// The leaf, by the writer's tree.
    Leaf,
    /// A function of the row; for [`Width::F64`] it returns the bits of a float.
    Row(fn(&SampleRow) -> u64),
}

impl SampleColumn {
    const fn new(name: &'static str, width: Width, number: SampleNumber) -> Self {
        Self { name, width, number, rows: None, only_with: None }
    }

    /// Returns a column of numbers below a limit. In a complete profile, its width depends on the limit.
    const fn of_rows(self, rows: fn(&Profile) -> usize) -> Self {
        Self { rows: Some(rows), ..self }
    }

    /// Returns a column that is present only if the samples have a property.
    const fn only_with(self, has: fn(SampleFacts) -> bool) -> Self {
        Self { only_with: Some(has), ..self }
    }

    /// Returns the width in the tables of a complete profile.
    pub(super) fn width_in(&self, profile: &Profile) -> Width {
        self.rows.map_or(self.width, |rows| Width::of(rows(profile)))
    }

    /// Returns true if the tables of samples with these properties contain the column.
    pub(super) fn is_present(&self, facts: SampleFacts) -> bool {
        self.only_with.is_none_or(|has| has(facts))
    }
}

/// A function with the indexes of its strings and its module, -1 for none.
pub(super) struct PageFunction<'a> {
    pub(super) function: &'a Function,
    pub(super) name: i64,
    pub(super) file: i64,
    pub(super) module: i64,
}

/// Numbers of a function in the head, in order: name, file, module, and the line of the declaration or, if negative,
/// the start address.
const FUNCTIONS: [fn(&PageFunction<'_>) -> i64; 4] =
    [|row| row.name, |row| row.file, |row| row.module, |row| position_number(row.function)];

/// Index of the file in a function's row.
pub(super) const FILE_OF_FUNCTION: usize = 1;

/// Row of a function in the head.
pub(super) type FunctionRow = [i64; FUNCTIONS.len()];

impl PageFunction<'_> {
    pub(super) fn row(&self) -> FunctionRow {
        FUNCTIONS.map(|number| number(self))
    }
}

/// Returns the negative of a function's start, or the line of its declaration; 0 if neither is known.
fn position_number(function: &Function) -> i64 {
    let start = function.start.map(|start| -i64::try_from(start).unwrap_or(0));
    start.unwrap_or_else(|| function.line.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let widths = [0, 256, 257, 65_536, 65_537].map(|limit| Width::of(limit).name());
        assert_eq!(widths, ["u8", "u8", "u16", "u16", "u32"]);
    }

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<&str> = NODES.iter().map(|column| column.name).collect();
        names.extend(LEAVES.iter().map(|column| column.name));
        names.extend(WAITS.iter().map(|column| column.name));
        names.extend(ADDRESSES.iter().map(|column| column.name));
        names.extend(SAMPLES.iter().map(|column| column.name));
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

//! Rows that readers of the live page have: texts and numbers.

use std::collections::VecDeque;

use profile::{SampleRow, ThreadRow};

use super::super::schema::{FunctionRow, SAMPLES, SampleColumn, SampleFacts, SampleNumber, Width};
use super::super::tree::{Leaf, LeafId, PageNode};

/// Tables of text. Rows of modules and threads can change.
#[derive(Default)]
pub(super) struct TextTables {
    pub(super) names: Vec<Vec<u8>>,
    pub(super) functions: Vec<FunctionRow>,
    /// Lines in another file than their function's: file and line.
    pub(super) elsewhere: Vec<[i64; 2]>,
    /// As JSON.
    pub(super) modules: Vec<Vec<u8>>,
    pub(super) threads: Vec<ThreadRow>,
    /// As JSON: process, thread, thread name, process name, and the control group if any is known.
    pub(super) thread_texts: Vec<Vec<u8>>,
    pub(super) has_cgroups: bool,
}

/// Rows of nodes, leaves, places and samples. Samples are removed from the front.
#[derive(Default)]
pub(super) struct NumberTables {
    pub(super) nodes: Vec<PageNode>,
    pub(super) leaves: Vec<Leaf>,
    /// Addresses.
    pub(super) addresses: Vec<u64>,
    pub(super) samples: SampleColumns,
}

/// Numbers of the samples, one column for each of [`SAMPLES`].
pub(super) struct SampleColumns {
    rows: usize,
    columns: Vec<ColumnNumbers>,
}

/// Numbers of a column, stored in the column's width.
enum ColumnNumbers {
    U8(VecDeque<u8>),
    U16(VecDeque<u16>),
    U32(VecDeque<u32>),
    /// Bits of floats.
    F64(VecDeque<u64>),
}

/// Numbers of a column from a row on.
pub(super) type FromRow<'a> = Box<dyn ExactSizeIterator<Item = u64> + 'a>;

/// Number of rows in each table; forgotten samples are not counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCounts {
    pub(super) names: usize,
    pub(super) functions: usize,
    pub(super) elsewhere: usize,
    pub(super) nodes: usize,
    pub(super) leaves: usize,
    pub(super) addresses: usize,
    pub(super) samples: usize,
}

/// Changes in a step apart from additions.
#[derive(Debug, Default)]
pub(super) struct StepChanges {
    /// Number of existing samples that were forgotten.
    pub(super) forgotten: usize,
    /// Rows of modules, and of threads, that are new or different.
    pub(super) modules: Vec<usize>,
    pub(super) threads: Vec<usize>,
    /// Leaves that moved to another node.
    pub(super) moved: Vec<usize>,
}

impl NumberTables {
    pub(super) fn sizes(&self, texts: &TextTables) -> RowCounts {
        RowCounts {
            names: texts.names.len(),
            functions: texts.functions.len(),
            elsewhere: texts.elsewhere.len(),
            nodes: self.nodes.len(),
            leaves: self.leaves.len(),
            addresses: self.addresses.len(),
            samples: self.samples.len(),
        }
    }
}

impl Default for SampleColumns {
    fn default() -> Self {
        Self { rows: 0, columns: SAMPLES.iter().map(|it| ColumnNumbers::of(it.width)).collect() }
    }
}

impl SampleColumns {
    pub(super) const fn len(&self) -> usize {
        self.rows
    }

    /// Adds a sample at `time`, in units since the origin. `facts`: those that the tables express.
    pub(super) fn push(&mut self, sample: &SampleRow, time: u32, leaf: LeafId, facts: SampleFacts) {
        self.rows += 1;
        for (column, numbers) in SAMPLES.iter().zip(&mut self.columns) {
            if column.is_present(facts) {
                numbers.push(match column.number {
                    SampleNumber::Time => time.into(),
                    SampleNumber::Leaf => leaf.as_u32().into(),
                    SampleNumber::Row(number) => number(sample),
                });
            }
        }
    }

    /// Removes the first samples.
    pub(super) fn forget(&mut self, samples: usize) {
        self.rows -= samples;
        self.columns.iter_mut().for_each(|numbers| numbers.forget(samples));
    }

    /// Iterates over the columns that the tables contain, each with its numbers from a row on.
    pub(super) fn columns(
        &self,
        from: usize,
        facts: SampleFacts,
    ) -> impl Iterator<Item = (&'static SampleColumn, FromRow<'_>)> {
        let columns = SAMPLES.iter().zip(&self.columns);
        let present = columns.filter(move |(column, _)| column.is_present(facts));
        present.map(move |(column, numbers)| (column, numbers.from(from)))
    }

    /// Iterates over the leaves of samples from a row on.
    pub(super) fn leaves(&self, from: usize) -> impl Iterator<Item = u64> {
        let mut columns = self.columns(from, SampleFacts::default());
        let leaves = columns.find(|(column, _)| matches!(column.number, SampleNumber::Leaf));
        leaves.into_iter().flat_map(|(_, numbers)| numbers)
    }
}

impl ColumnNumbers {
    const fn of(width: Width) -> Self {
        match width {
            Width::U8 => Self::U8(VecDeque::new()),
            Width::U16 => Self::U16(VecDeque::new()),
            Width::U32 => Self::U32(VecDeque::new()),
            Width::F64 => Self::F64(VecDeque::new()),
        }
    }

    /// Adds a number; one that is too large for the column becomes the column's maximum.
    fn push(&mut self, number: u64) {
        match self {
            Self::U8(rows) => rows.push_back(number.try_into().unwrap_or(u8::MAX)),
            Self::U16(rows) => rows.push_back(number.try_into().unwrap_or(u16::MAX)),
            Self::U32(rows) => rows.push_back(number.try_into().unwrap_or(u32::MAX)),
            Self::F64(rows) => rows.push_back(number),
        }
    }

    /// Removes the first numbers. A column that the tables do not contain is empty.
    fn forget(&mut self, samples: usize) {
        match self {
            Self::U8(rows) => drop(rows.drain(..samples.min(rows.len()))),
            Self::U16(rows) => drop(rows.drain(..samples.min(rows.len()))),
            Self::U32(rows) => drop(rows.drain(..samples.min(rows.len()))),
            Self::F64(rows) => drop(rows.drain(..samples.min(rows.len()))),
        }
    }

    fn from(&self, row: usize) -> FromRow<'_> {
        match self {
            Self::U8(rows) => Box::new(rows.iter().skip(row).map(|&number| number.into())),
            Self::U16(rows) => Box::new(rows.iter().skip(row).map(|&number| number.into())),
            Self::U32(rows) => Box::new(rows.iter().skip(row).map(|&number| number.into())),
            Self::F64(rows) => Box::new(rows.iter().skip(row).copied()),
        }
    }
}

//! Columns of the page of a complete profile: their shapes and their bytes.

use std::io;

use profile::{EventId, Profile, Table};

use super::schema::{
    ADDRESSES, LEAVES, NODES, RowColumn, SAMPLES, SampleColumn, SampleFacts, SampleNumber, WAITS,
    Width,
};
use super::tree::PageTree;
use super::values::PageValues;

/// Number of values that are split into bytes at a time.
const BLOCK: usize = 4096;

/// A column's name, width, and number of rows.
pub(super) type ColumnShape = (&'static str, Width, usize);

/// Encoding of the sample columns.
pub(super) struct PageColumns {
    /// All columns, in order.
    pub(super) shapes: Vec<ColumnShape>,
    /// Time of the first sample, in nanoseconds of the recording's clock.
    pub(super) origin: u64,
    /// Unit of time, in nanoseconds, such that times of the whole recording fit into 32 bits.
    pub(super) unit: u64,
    /// By event: the period of all its samples; `None` if the periods of any event differ, or if it has none.
    pub(super) fixed: Table<EventId, Option<u64>>,
    facts: SampleFacts,
    pub(super) values: PageValues,
}

impl PageColumns {
    pub(super) fn new(profile: &Profile, tree: &PageTree) -> Self {
        let times = || profile.samples.iter().filter_map(|sample| sample.time()).map(|time| time.0);
        let (origin, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        // The largest time stays below the number that means no end.
        let unit = ((last - origin) / (u64::from(u32::MAX) - 2)) + 1;
        let (fixed, periods) = fixed_periods(profile);
        let mut shapes = shapes_of(NODES, tree.nodes.len());
        shapes.extend(shapes_of(LEAVES, tree.leaves.len()));
        if profile.off_cpu.is_some() {
            shapes.extend(shapes_of(WAITS, tree.leaves.len()));
        }
        shapes.extend(shapes_of(ADDRESSES, tree.addresses.len()));
        let n = profile.samples.len();
        let cpus = profile.samples.iter().any(|sample| sample.cpu().is_some());
        let facts = SampleFacts { periods, cpus };
        let present = SAMPLES.iter().filter(|column| column.is_present(facts));
        shapes.extend(present.map(|column| (column.name, column.width_in(profile), n)));
        let values = PageValues::new(profile);
        shapes.extend(values.shapes());
        Self { shapes, origin, unit, fixed, facts, values }
    }

    /// Writes the columns in the order of the head, each padded to a multiple of 8 bytes.
    pub(super) fn write(
        &self,
        profile: &Profile,
        tree: &PageTree,
        sink: &mut dyn io::Write,
    ) -> io::Result<()> {
        write_rows(sink, NODES, tree.nodes.iter())?;
        write_rows(sink, LEAVES, tree.leaves.iter())?;
        if profile.off_cpu.is_some() {
            write_rows(sink, WAITS, tree.leaves.iter())?;
        }
        write_rows(sink, ADDRESSES, tree.addresses.iter())?;
        for column in SAMPLES.iter().filter(|column| column.is_present(self.facts)) {
            self.write_samples(column, profile, tree, sink)?;
        }
        self.values.write(sink)
    }

    fn write_samples(
        &self,
        shape: &SampleColumn,
        profile: &Profile,
        tree: &PageTree,
        sink: &mut dyn io::Write,
    ) -> io::Result<()> {
        let width = shape.width_in(profile);
        let samples = &profile.samples;
        match shape.number {
            SampleNumber::Time => {
                let mut before = 0;
                let deltas = samples.iter().map(|sample| {
                    let time = sample.time();
                    let now = time.map_or(before, |time| (time.0 - self.origin) / self.unit);
                    let now = now.max(before);
                    std::mem::replace(&mut before, now).abs_diff(now)
                });
                column(sink, width, deltas)
            }
            SampleNumber::Leaf => {
                column(sink, width, tree.of_sample.iter().map(|leaf| leaf.as_u32().into()))
            }
            SampleNumber::Row(number) => column(sink, width, samples.iter().map(number)),
        }
    }
}

/// Returns the shapes of the columns of a table with `rows` rows.
fn shapes_of<R>(columns: &[RowColumn<R>], rows: usize) -> Vec<ColumnShape> {
    columns.iter().map(|column| (column.name, column.width, rows)).collect()
}

/// Writes the columns of a table.
fn write_rows<'a, R: 'a>(
    sink: &mut dyn io::Write,
    columns: &[RowColumn<R>],
    rows: impl Iterator<Item = &'a R> + Clone,
) -> io::Result<()> {
    for shape in columns {
        column(sink, shape.width, rows.clone().map(shape.number))?;
    }
    Ok(())
}

/// Returns the period of each event's samples, and whether the periods of any event differ. A sample without a period
/// counts as 1.
fn fixed_periods(profile: &Profile) -> (Table<EventId, Option<u64>>, bool) {
    let mut fixed: Table<EventId, Option<u64>> = Table::from_vec(vec![None; profile.events.len()]);
    for sample in &profile.samples {
        if let (Some(period), Some(known @ None)) = (sample.period(), fixed.get_mut(sample.event)) {
            *known = Some(period);
        }
    }
    let differ = profile.samples.iter().any(|sample| {
        let known = fixed.get(sample.event).copied().flatten();
        known.is_some() && known != sample.period()
    });
    if differ {
        fixed.iter_mut().for_each(|known| *known = None);
    }
    (fixed, differ)
}

/// Writes a column of numbers of its width: the lowest bytes of all numbers, then their second bytes, and so on. The
/// higher bytes of neighbours are mostly equal; in this order, columns compress in half the time to three quarters of
/// the size.
pub(crate) fn column(
    sink: &mut dyn io::Write,
    width: Width,
    mut values: impl Iterator<Item = u64>,
) -> io::Result<()> {
    let mut planes = vec![Vec::new(); width.bytes()];
    let mut block = Vec::with_capacity(BLOCK);
    loop {
        block.clear();
        block.extend(values.by_ref().take(BLOCK));
        if block.is_empty() {
            break;
        }
        for (plane, shift) in planes.iter_mut().zip((0..).step_by(8)) {
            plane.extend(block.iter().map(|value| (value >> shift) as u8));
        }
    }
    let length: usize = planes.iter().map(Vec::len).sum();
    planes.iter().try_for_each(|plane| sink.write_all(plane))?;
    sink.write_all([0; 7].get(..length.next_multiple_of(8) - length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use profile::{EndReason, EventRow, LayoutId, SampleRow, ThreadId};

    use super::*;

    #[test]
    fn processors_have_a_column_if_they_are_recorded() {
        for (cpus, expected) in [
            ([None, None], None),
            ([Some(3), None], Some((Width::U8, vec![4, 0]))),
            ([Some(0), Some(299)], Some((Width::U16, vec![1, 300]))),
        ] {
            let rows = cpus.map(|cpu| {
                let (thread, event) = (ThreadId::new(0), EventId::new(0));
                SampleRow::new(thread, event, EndReason::Root, None, LayoutId::new(0)).with_cpu(cpu)
            });
            let mut profile = Profile { samples: rows.to_vec().into(), ..Profile::default() };
            let name = profile.strings.intern(b"cycles");
            let event = EventRow { name, kind: 0, config: 0, frequency: false, rate: 1 };
            profile.events = vec![event].into();
            let columns = PageColumns::new(&profile, &PageTree::new(&profile, true));
            let shape = columns.shapes.iter().find(|(name, ..)| *name == "cpu");
            let number = SAMPLES.iter().find(|column| column.name == "cpu").map(|it| it.number);
            let Some(SampleNumber::Row(number)) = number else { panic!("no column") };
            let found = shape.map(|&(_, width, n)| (width, n, profile.samples.iter().map(number)));
            let found = found.map(|(width, n, numbers)| {
                assert_eq!(n, 2);
                (width, numbers.collect())
            });
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn columns_are_split_into_bytes_and_filled_up() {
        let mut bytes = Vec::new();
        column(&mut bytes, Width::U16, [1, 0x203, 0x1_0004].into_iter()).unwrap();
        assert_eq!(bytes, [1, 3, 4, 0, 2, 0, 0, 0]);
        bytes.clear();
        column(&mut bytes, Width::F64, 0..5000).unwrap();
        assert_eq!(bytes.len(), 40_000);
        assert_eq!(bytes.get(4999), Some(&0x87), "the lowest byte of 4999");
        assert_eq!(bytes.get(9999), Some(&0x13), "its second byte");
    }
}

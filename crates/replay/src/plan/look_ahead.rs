//! Records decoded ahead of the plan, in parallel: applying them in time order costs less than decoding them.
//! Most are maps of files that were mapped before, and they come in rows of one process.

use module_map::{CachedMap, CachedNames};
use perf_data::{Batch, BatchReader, RecordEntry, TimedRecord};
use rayon::prelude::*;

use crate::plan::apply::known_map;

/// Records in the first look-ahead; it doubles up to [`MOST`].
/// Short at first, because names that are new in it are not known during its decoding.
const FIRST: usize = 1024;
const MOST: usize = 4096;
/// Records that one task decodes; a row ends at its boundary.
const PER_TASK: usize = 256;
/// Distance of the prefetch, in records.
const PREFETCH_DISTANCE: usize = 8;

/// The next records: a row of maps of one process, or one other record.
#[derive(Clone, Copy)]
pub(crate) struct RecordRun<'r, 'b> {
    /// Maps with known names.
    pub(crate) maps: &'r [DecodedRecord],
    /// The other record; `None` if it is decoded in its turn because the name of its map is not known yet.
    pub(crate) other: Option<&'r TimedRecord<'b>>,
}

/// A decoded record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodedRecord {
    /// Its map, if the name is known.
    pub(crate) map: Option<CachedMap>,
    /// True if the record's map is executable.
    pub(crate) executable: bool,
    /// For a map: number of maps of this process in a row from here.
    /// For another record: its index in the task's `others`.
    row: u16,
    /// Number of the row's maps before the first executable one.
    before_code: u16,
}

impl DecodedRecord {
    const OTHER: Self = Self { map: None, executable: false, row: u16::MAX, before_code: 0 };

    /// Index of the first executable map in the row that begins here.
    #[inline]
    pub(crate) fn first_code(&self) -> usize {
        usize::from(self.before_code)
    }
}

/// Records of a batch that are decoded and not planned yet.
pub(crate) struct LookAhead<'b> {
    records: Vec<DecodedRecord>,
    /// Records that are not maps, one list per task.
    others: Vec<Vec<TimedRecord<'b>>>,
    /// Number of planned records.
    done: usize,
    /// Size of the next look-ahead.
    size: usize,
}

impl<'b> LookAhead<'b> {
    pub(crate) const fn new() -> Self {
        Self { records: Vec::new(), others: Vec::new(), done: 0, size: FIRST }
    }

    /// Returns the next of the remaining records. Decodes more if none is ready.
    #[inline]
    pub(crate) fn row(
        &mut self,
        batch: &'b Batch,
        left: &[RecordEntry],
        names: CachedNames<'_>,
    ) -> RecordRun<'_, 'b> {
        if self.done == self.records.len() && !left.is_empty() {
            self.fill(batch, left, names);
        }
        let next = self.records.get(self.done..).unwrap_or_default();
        let Some(first) = next.first() else { return RecordRun { maps: &[], other: None } };
        let row = usize::from(first.row);
        if first.map.is_some() {
            return RecordRun { maps: next.get(..row).unwrap_or_default(), other: None };
        }
        let others = self.others.get(self.done / PER_TASK);
        RecordRun { maps: &[], other: others.and_then(|others| others.get(row)) }
    }

    /// Marks `n_records` as planned.
    #[inline]
    pub(crate) const fn skip(&mut self, n_records: usize) {
        self.done += n_records;
    }

    #[cold]
    fn fill(&mut self, batch: &'b Batch, left: &[RecordEntry], names: CachedNames<'_>) {
        let Self { records, others, done, size } = self;
        let left = left.get(..left.len().min(*size)).unwrap_or_default();
        (*done, *size) = (0, (2 * *size).min(MOST));
        records.resize(left.len(), DecodedRecord::OTHER);
        let parts = records.par_chunks_mut(PER_TASK).zip(left.par_chunks(PER_TASK));
        let read = parts.map(|(records, entries)| {
            let mut others = Vec::new();
            let mut reader = batch.reader();
            for (index, (record, entry)) in records.iter_mut().zip(entries).enumerate() {
                if let Some(soon) = entries.get(index + PREFETCH_DISTANCE) {
                    reader.prefetch_map(soon.position);
                }
                *record = read(batch, &mut reader, entry, names, &mut others);
            }
            find_rows(records);
            others
        });
        read.collect_into_vec(others);
    }
}

fn read<'b>(
    batch: &'b Batch,
    reader: &mut BatchReader<'b>,
    entry: &RecordEntry,
    names: CachedNames<'_>,
    others: &mut Vec<TimedRecord<'b>>,
) -> DecodedRecord {
    if let Some(named) = reader.named_map(entry.position) {
        let executable = named.is_executable();
        return DecodedRecord { map: known_map(&named, names), executable, ..DecodedRecord::OTHER };
    }
    let mut read = DecodedRecord::OTHER;
    if batch.map(entry.position).is_none()
        && let Some(record) = batch.record(entry.position)
    {
        // Fits: a task decodes at most `PER_TASK` records.
        read.row = others.len() as u16;
        others.push(record);
    }
    read
}

/// Fills in the lengths of rows of maps of one process.
fn find_rows(records: &mut [DecodedRecord]) {
    let mut after: Option<(CachedMap, u16, u16)> = None;
    for record in records.iter_mut().rev() {
        let Some(map) = record.map else {
            after = None;
            continue;
        };
        let (row, before_code) = match after {
            Some((next, row, before_code)) if next.pid() == map.pid() => (row, before_code),
            _ => (0, 0),
        };
        record.row = row + 1;
        record.before_code = if record.executable { 0 } else { before_code + 1 };
        after = Some((map, record.row, record.before_code));
    }
}

#[cfg(test)]
mod tests {
    use address::{Avma, FileOffset, Pid};
    use module_map::{FileIdentity, MapEvent, RecordedName, Timeline};

    use super::*;

    /// Makes maps of processes with their executable flag, or another record for `None`.
    fn records(of: &[Option<(i32, bool)>]) -> Vec<DecodedRecord> {
        let mut timeline = Timeline::new();
        let name =
            RecordedName { kind: false, identity: &[7; 24], path: b"/lib/x.so\0\0\0\0\0\0\0" };
        let event = |pid, executable| MapEvent {
            pid: Pid(pid),
            kernel: false,
            start: Avma(0x1000),
            len: 0x1000,
            offset: FileOffset(0),
            executable,
            writable: false,
            path: b"/lib/x.so",
            identity: FileIdentity::default(),
        };
        timeline.map(&event(1, true));
        timeline.cache_name(&event(1, true), &name);
        let names = timeline.cached_names();
        let read = |&(pid, executable): &(i32, bool)| {
            let map = names.find(&event(pid, executable), &name);
            assert!(map.is_some());
            DecodedRecord { map, executable, ..DecodedRecord::OTHER }
        };
        of.iter().map(|it| it.as_ref().map_or(DecodedRecord::OTHER, read)).collect()
    }

    #[test]
    fn rows_are_of_one_process_and_say_where_code_is() {
        let of = [
            Some((1, false)),
            Some((1, true)),
            Some((1, false)),
            Some((2, false)),
            Some((2, false)),
            None,
            Some((2, true)),
        ];
        let mut records = records(&of);
        find_rows(&mut records);
        let found: Vec<_> =
            records.iter().map(|record| (record.row, record.first_code())).collect();
        let other = (u16::MAX, 0);
        assert_eq!(found, [(3, 1), (2, 0), (1, 1), (2, 2), (1, 1), other, (1, 0)]);
    }
}

//! Position of the plan in a batch.

use module_map::CachedNames;
use perf_data::{Batch, RecordEntry, SampleEntry};

use crate::plan::look_ahead::{LookAhead, RecordRun};

/// Position of the plan in a batch.
pub(crate) struct PlanPosition<'b> {
    pub(crate) batch: &'b Batch,
    /// Remaining records.
    records: &'b [RecordEntry],
    /// The first of them, already decoded.
    read: LookAhead<'b>,
    pub(crate) samples: std::slice::Iter<'b, SampleEntry>,
}

impl<'b> PlanPosition<'b> {
    pub(crate) fn start(batch: &'b Batch) -> Self {
        let (records, samples) = (batch.record_entries(), batch.samples().iter());
        Self { batch, records, read: LookAhead::new(), samples }
    }

    /// Returns true if the whole batch is planned.
    pub(crate) fn is_at_end(&self) -> bool {
        self.records.is_empty() && self.samples.as_slice().is_empty()
    }

    /// Returns the next records before a sample: a row of maps of one process,
    /// or one other record; empty if there is none.
    /// Without a sample, returns the next ones. `names` are the known names.
    #[inline]
    pub(crate) fn row_before(
        &mut self,
        sample: Option<&SampleEntry>,
        names: CachedNames<'_>,
    ) -> (&'b [RecordEntry], RecordRun<'_, 'b>) {
        let row = self.read.row(self.batch, self.records, names);
        let entries = self.records.get(..row.maps.len().max(1)).unwrap_or_default();
        let is_before = |entry: &RecordEntry| {
            sample
                .is_none_or(|sample| (entry.time, entry.position) < (sample.time, sample.position))
        };
        let n_before = match entries.last() {
            Some(last) if !is_before(last) => entries.partition_point(is_before),
            _ => entries.len(),
        };
        let entries = entries.get(..n_before).unwrap_or_default();
        (entries, RecordRun { maps: row.maps.get(..n_before).unwrap_or_default(), ..row })
    }

    /// Advances by `n_records`.
    #[inline]
    pub(crate) fn skip(&mut self, n_records: usize) {
        self.read.skip(n_records);
        self.records = self.records.get(n_records..).unwrap_or_default();
    }
}

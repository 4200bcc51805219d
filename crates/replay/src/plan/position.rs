//! How far the plan has come in a batch.

use module_map::KnownNames;
use perf_data::{Batch, RecordEntry, SampleEntry};

use crate::plan::read_ahead::{ReadAhead, ReadRow};

/// How far the plan has come in a batch.
pub(crate) struct PlanPosition<'b> {
    pub(crate) batch: &'b Batch,
    /// The records that are left.
    records: &'b [RecordEntry],
    /// The first of them, read.
    read: ReadAhead<'b>,
    pub(crate) samples: std::slice::Iter<'b, SampleEntry>,
}

impl<'b> PlanPosition<'b> {
    pub(crate) fn start(batch: &'b Batch) -> Self {
        let (records, samples) = (batch.record_entries(), batch.samples().iter());
        Self { batch, records, read: ReadAhead::new(), samples }
    }

    /// Whether everything was planned.
    pub(crate) fn is_at_end(&self) -> bool {
        self.records.is_empty() && self.samples.as_slice().is_empty()
    }

    /// The next records that come before a sample: a row of maps of one process, or one other record; none where there is
    /// none. Without a sample, the next ones. `names` are those that are known.
    #[inline]
    pub(crate) fn row_before(
        &mut self,
        sample: Option<&SampleEntry>,
        names: KnownNames<'_>,
    ) -> (&'b [RecordEntry], ReadRow<'_, 'b>) {
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
        (entries, ReadRow { maps: row.maps.get(..n_before).unwrap_or_default(), ..row })
    }

    /// So many records are planned.
    #[inline]
    pub(crate) fn skip(&mut self, n_records: usize) {
        self.read.skip(n_records);
        self.records = self.records.get(n_records..).unwrap_or_default();
    }
}

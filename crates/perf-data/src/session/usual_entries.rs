//! Entries of consecutive usual records, in time order.

use address::Timestamp;

use super::entries::{RecordEntry, SampleEntry};
use super::index::usual_sample;
use super::sort::sort_by_time;
use crate::record::{RecordBytes, Schema};
use crate::record_header::RecordKind;
use crate::stream::RunEntries;

/// Entries of samples, maps and task records.
#[derive(Debug, Default)]
pub(crate) struct UsualEntries {
    pub(crate) samples: Vec<SampleEntry>,
    pub(crate) records: Vec<RecordEntry>,
}

impl RunEntries for UsualEntries {
    #[inline]
    fn add(&mut self, schema: &Schema, found: &RecordBytes<'_>) -> bool {
        if found.header.kind == RecordKind::SAMPLE {
            let sample = usual_sample(schema, found);
            sample.map(|sample| self.samples.push(sample)).is_some()
        } else {
            let position = found.position;
            let time = schema.usual_time(found);
            time.map(|time| self.records.push(RecordEntry { time, position })).is_some()
        }
    }

    fn close(&mut self) {
        sort_by_time(&mut self.samples, |sample| sample.time);
        sort_by_time(&mut self.records, |record| record.time);
    }

    fn clear(&mut self) {
        self.samples.clear();
        self.records.clear();
    }
}

impl UsualEntries {
    /// Returns the latest time.
    pub(crate) fn latest(&self) -> Timestamp {
        let sample = self.samples.last().map(|sample| sample.time);
        sample.max(self.records.last().map(|record| record.time)).unwrap_or_default()
    }

    /// Returns the earliest time; entries without time are ignored.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        let samples = self.samples.iter().map(|sample| sample.time);
        let records = self.records.iter().map(|record| record.time);
        let has_time = |time: &Timestamp| *time != Timestamp(0);
        samples.clone().find(has_time).into_iter().chain(records.clone().find(has_time)).min()
    }

    /// Returns true if a record other than a sample has no time; such a record may change maps.
    pub(crate) fn has_timeless_record(&self) -> bool {
        self.records.first().is_some_and(|record| record.time == Timestamp(0))
    }
}

//! What is kept of usual records that follow each other: their entries, in order of time.

use address::Timestamp;

use super::entries::{RecordEntry, SampleEntry};
use super::index::usual_sample;
use super::sort::sort_by_time;
use crate::record::{RecordBytes, Schema};
use crate::record_header::RecordKind;
use crate::stream::KeptRecords;

/// Entries of samples, and of maps and of what tells of tasks.
#[derive(Debug, Default)]
pub(crate) struct UsualEntries {
    pub(crate) samples: Vec<SampleEntry>,
    pub(crate) records: Vec<RecordEntry>,
}

impl KeptRecords for UsualEntries {
    #[inline]
    fn keep(&mut self, schema: &Schema, found: &RecordBytes<'_>) -> bool {
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
    /// The latest time.
    pub(crate) fn latest(&self) -> Timestamp {
        let sample = self.samples.last().map(|sample| sample.time);
        sample.max(self.records.last().map(|record| record.time)).unwrap_or_default()
    }

    /// The earliest time of those that have one.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        let samples = self.samples.iter().map(|sample| sample.time);
        let records = self.records.iter().map(|record| record.time);
        let has_time = |time: &Timestamp| *time != Timestamp(0);
        samples.clone().find(has_time).into_iter().chain(records.clone().find(has_time)).min()
    }

    /// Whether there is a record without time that is no sample; each of those may move maps.
    pub(crate) fn has_timeless_record(&self) -> bool {
        self.records.first().is_some_and(|record| record.time == Timestamp(0))
    }
}

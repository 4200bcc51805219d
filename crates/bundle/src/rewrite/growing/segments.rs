//! The last records of a recording, in memory: they become a file on request.
//!
//! ```text
//!   earlier records   dropped; the processes at their end stay known
//!   segments          | 4 s | 4 s | 4 s | ...      compressed, with their evidence
//!   file              records of the processes, segments
//! ```

use std::collections::VecDeque;
use std::io::{Seek, Write};

use address::Timestamp;
use perf_data::{Batch, Head};

use super::change::Change;
use super::data::GrowingData;
use super::file::RecordingFile;
use super::processes::Processes;
use super::waiting::{ReadyRecord, WaitingRecords};
use super::{FinishedChain, FinishedFile, GrowingOptions};
use crate::rewrite::RewriteError;

/// Number of segments of the kept time.
const SEGMENTS: u64 = 16;

/// The last records of a recording in progress, by the time of its samples.
#[derive(Debug)]
pub struct LastRecords {
    options: GrowingOptions,
    waiting: WaitingRecords,
    /// Kept time, in nanoseconds.
    kept: u64,
    /// Processes at the start of the first segment; `None` before the first record.
    processes: Option<Processes>,
    segments: VecDeque<Segment>,
}

/// Consecutive records.
#[derive(Debug)]
struct Segment {
    /// Time of its first sample.
    first: Timestamp,
    data: GrowingData<Vec<u8>>,
    changes: Vec<(Change, Vec<u8>)>,
    samples: u64,
}

impl LastRecords {
    /// Begins without records. Samples of the last `kept` nanoseconds are kept, and a sixteenth more.
    #[must_use]
    pub fn new(kept: u64, options: GrowingOptions) -> Self {
        let (waiting, segments) = Default::default();
        Self { options, waiting, kept, processes: None, segments }
    }

    /// Returns the number of kept samples, and of samples that could not be written.
    #[must_use]
    pub fn samples(&self) -> (u64, u64) {
        (self.segments.iter().map(|it| it.samples).sum(), self.waiting.omitted())
    }

    /// Returns the bytes of the kept records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.segments.iter().map(|it| it.data.len()).sum()
    }

    /// Returns true if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds the records of a batch, whose samples wait for their callchains.
    ///
    /// # Errors
    /// If the recording has a form that cannot be written.
    pub fn take_in(&mut self, batch: &Batch) -> Result<(), RewriteError> {
        self.waiting.take_in(batch)
    }

    /// Takes the callchain of the next sample, which was taken at `time`, and the records before it.
    ///
    /// # Errors
    /// If no such sample waits, or if the compression fails.
    pub fn sample(&mut self, time: Timestamp, chain: FinishedChain) -> Result<(), RewriteError> {
        let attr = self.waiting.events().and_then(|events| events.first()).map(|it| &it.attr);
        let processes = self.processes.get_or_insert_with(|| Processes::new(attr));
        let (segments, options) = (&mut self.segments, &self.options);
        let length = self.kept.div_ceil(SEGMENTS);
        let is_new = |it: &Segment| time.0.saturating_sub(it.first.0) >= length;
        if segments.back().is_none_or(is_new) {
            if let Some(last) = segments.back_mut() {
                last.data.end_frame()?;
            }
            segments.push_back(Segment::new(time, options)?);
            // The first segment is dropped once the second one begins before the kept time.
            while segments.get(1).is_some_and(|it| time.0.saturating_sub(it.first.0) >= self.kept) {
                let changes = segments.pop_front().into_iter().flat_map(|it| it.changes);
                changes.for_each(|(change, bytes)| processes.apply(change, &bytes));
            }
        }
        let Some(segment) = segments.back_mut() else { return Ok(()) };
        self.waiting.finish_sample(time, chain, |record| segment.add(record))
    }

    /// Writes the kept records to an empty file, with their evidence and features.
    ///
    /// # Errors
    /// If there are no records, or if the output fails.
    pub fn write<W: Write + Seek>(
        &mut self,
        out: W,
        head: &Head,
    ) -> Result<FinishedFile<W>, RewriteError> {
        let events = self.waiting.events().ok_or(RewriteError::NoEvents)?.to_vec();
        let mut file = RecordingFile::new(out, events, &self.options)?;
        for record in self.processes.iter().flat_map(Processes::records) {
            file.add(ReadyRecord::other(record))?;
        }
        for segment in &mut self.segments {
            segment.data.end_frame()?;
            file.append(&segment.data)?;
        }
        file.finish(head)
    }
}

impl Segment {
    fn new(first: Timestamp, options: &GrowingOptions) -> Result<Self, RewriteError> {
        let data = GrowingData::new(Vec::new(), options)?;
        Ok(Self { first, data, changes: Vec::new(), samples: 0 })
    }

    fn add(&mut self, record: ReadyRecord) -> Result<(), RewriteError> {
        let ReadyRecord { bytes, evidence, change } = record;
        self.samples += u64::from(evidence.is_some());
        self.data.add(&bytes, evidence)?;
        self.changes.extend(change.map(|change| (change, bytes)));
        Ok(())
    }
}

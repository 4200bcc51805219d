//! The file of a growing recording: header, events, records, and the features behind the records so far.
//!
//! ```text
//!   checkpoint        header | finished | provisional | features
//!   more provisional  header | finished | provisional | more | features
//!   more finished     header | finished | more | provisional | features
//! ```
//!
//! Provisional records have compressed frames of their own, so that finished ones can replace them.

use std::io::{Seek, SeekFrom, Write};

use perf_data::{Event, Feature, Head};

use super::data::GrowingData;
use super::waiting::{ReadyRecord, WaitingRecords};
use super::{FinishedFile, GrowingOptions};
use crate::rewrite::container::{beginning, data_start, feature_sections};
use crate::rewrite::{RewriteError, features};

/// A file that is being written.
#[derive(Debug)]
pub(super) struct RecordingFile<W> {
    data: GrowingData<W>,
    events: Vec<Event>,
    /// Command line of the header; `None` for that of the recording.
    command_line: Option<Vec<Vec<u8>>>,
    /// The provisional records behind the finished ones.
    provisional: Provisional,
    /// Whether finished records were added since the last checkpoint.
    has_grown: bool,
    /// Whether the header states all written records.
    is_complete: bool,
}

/// Provisional records in the file.
#[derive(Debug)]
struct Provisional {
    data: GrowingData<Vec<u8>>,
    /// Number of waiting records that are written.
    records: usize,
    /// Their bytes in the file.
    len: u64,
}

impl Provisional {
    fn new(options: &GrowingOptions) -> Result<Self, RewriteError> {
        let data = GrowingData::new(Vec::new(), options)?;
        Ok(Self { data, records: 0, len: 0 })
    }
}

impl<W: Write + Seek> RecordingFile<W> {
    /// Begins a file at the start of `out`.
    pub(super) fn new(
        mut out: W,
        events: Vec<Event>,
        options: &GrowingOptions,
    ) -> Result<Self, RewriteError> {
        out.write_all(&beginning(&events, 0, []))?;
        Ok(Self {
            data: GrowingData::new(out, options)?,
            events,
            command_line: options.command_line.clone(),
            provisional: Provisional::new(options)?,
            has_grown: false,
            is_complete: false,
        })
    }

    /// Returns the number of bytes up to the features.
    pub(super) fn len(&self) -> u64 {
        data_start(&self.events) + self.data.len() + self.provisional.len
    }

    /// Adds a finished record, after [`Self::begin_growth`].
    pub(super) fn add(&mut self, record: ReadyRecord) -> Result<(), RewriteError> {
        self.data.add(&record.bytes, record.evidence)
    }

    /// Appends finished records that were written elsewhere, after [`Self::begin_growth`].
    pub(super) fn append(&mut self, data: &GrowingData<Vec<u8>>) -> Result<(), RewriteError> {
        self.data.end_frame()?;
        self.data.append(data)
    }

    /// Prepares for finished records, which replace everything behind those before.
    pub(super) fn begin_growth(&mut self) -> Result<(), RewriteError> {
        self.has_grown = true;
        if std::mem::take(&mut self.is_complete) {
            self.header(0, &[])?;
            self.provisional.len = 0;
            let end = self.len();
            self.data.out().seek(SeekFrom::Start(end))?;
        }
        Ok(())
    }

    /// Completes the file with the records so far, and the provisional ones of `waiting`.
    pub(super) fn checkpoint(
        &mut self,
        head: &Head,
        waiting: &WaitingRecords,
        options: &GrowingOptions,
    ) -> Result<(), RewriteError> {
        let is_new = waiting.n_provisional() > self.provisional.records;
        if !self.has_grown && !is_new {
            return Ok(());
        }
        if std::mem::take(&mut self.has_grown) {
            self.data.end_frame()?;
            self.provisional = Provisional::new(options)?;
        }
        let Provisional { data, records, len } = &mut self.provisional;
        for record in waiting.provisional_records(*records) {
            data.add(&record, None)?;
        }
        data.end_frame()?;
        let bytes = std::mem::take(data.out());
        let end = data_start(&self.events) + self.data.len() + *len;
        (*records, *len) = (waiting.n_provisional(), *len + bytes.len() as u64);
        let out = self.data.out();
        out.seek(SeekFrom::Start(end))?;
        out.write_all(&bytes)?;
        self.is_complete = true;
        self.complete(head, None)?;
        Ok(())
    }

    /// Writes the features after the records, and then the header. Returns the length of the file.
    fn complete(&mut self, head: &Head, evidence: Option<Vec<u8>>) -> Result<u64, RewriteError> {
        let mut features = features::sections(head, &self.events, None);
        features.remove(&Feature::ChainEvidence.bit());
        let command_line = self.command_line.clone().map(features::command_line);
        let own = [
            (Feature::ChainEvidence, evidence),
            (Feature::Compressed, self.data.compression()),
            (Feature::CommandLine, command_line),
        ];
        features.extend(own.into_iter().filter_map(|(it, section)| Some((it.bit(), section?))));
        let end = self.len();
        let sections = feature_sections(end, &features);
        let out = self.data.out();
        out.seek(SeekFrom::Start(end))?;
        out.write_all(&sections)?;
        let bits: Vec<u16> = features.keys().copied().collect();
        self.header(end - data_start(&self.events), &bits)?;
        Ok(end + sections.len() as u64)
    }

    /// Writes the header.
    fn header(&mut self, data_len: u64, features: &[u16]) -> Result<(), RewriteError> {
        let header = beginning(&self.events, data_len, features.iter().copied());
        let out = self.data.out();
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&header)?;
        out.flush()?;
        Ok(())
    }

    /// Completes the file with the finished records, their evidence and the features.
    pub(super) fn finish(mut self, head: &Head) -> Result<FinishedFile<W>, RewriteError> {
        self.begin_growth()?;
        self.data.end_frame()?;
        let evidence = self.data.evidence(data_start(&self.events));
        let len = self.complete(head, Some(evidence))?;
        Ok(FinishedFile { out: self.data.into_out(), len })
    }
}

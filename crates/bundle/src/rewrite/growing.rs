//! A recording that is written while its stacks are unwound: records wait for the callchains of the samples among them.
//!
//! ```text
//!   batch        comm | sample | map | sample      in the order of time
//!   callchains          chain          chain       as the samples are finished
//!   file         comm | sample with chain | map | sample with chain
//! ```
//!
//! A checkpoint completes the file with the records so far, so that it is a recording even if this process is killed.
//! Evidence for the callchains follows at the end.

use std::collections::VecDeque;
use std::io::{Seek, SeekFrom, Write};

use address::Timestamp;
use perf_data::{
    Batch, ChainEvidenceWriter, Event, Feature, FrameRun, Head, RawBody, RecordContent,
};

use super::container::{beginning, data_start, feature_sections};
use super::data::{GrowingData, SampleEvidence};
use super::sample::SampleParts;
use super::{RewriteError, Stacks, features};

/// A recording that is being written.
#[derive(Debug)]
pub struct GrowingRecording<W> {
    data: GrowingData<W>,
    /// Events of the header; `None` before the first batch.
    events: Option<Vec<Event>>,
    pending: VecDeque<PendingRecord>,
    /// Command line of the header; `None` for that of the recording.
    command_line: Option<Vec<Vec<u8>>>,
    /// Number of written samples.
    samples: u64,
    /// Number of samples without a callchain, which were damaged.
    omitted: u64,
    /// Whether the header states all written records.
    is_complete: bool,
}

#[derive(Debug)]
enum PendingRecord {
    /// `None` if the sample is damaged.
    Sample(Timestamp, Option<SampleParts>),
    Other(Vec<u8>),
}

/// Callchain of a sample: looked-up addresses of its user frames, innermost first, and their evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FinishedChain {
    /// Addresses in the process.
    pub addresses: Vec<u64>,
    /// Index of the end reason among the keywords of the evidence.
    pub end: u32,
    /// Evidence for the frames.
    pub runs: Vec<FrameRun>,
}

impl<W: Write + Seek> GrowingRecording<W> {
    /// Begins an empty recording at the start of `out`.
    ///
    /// # Errors
    /// If the compression cannot begin.
    pub fn new(
        out: W,
        evidence: ChainEvidenceWriter,
        is_compressed: bool,
    ) -> Result<Self, RewriteError> {
        Ok(Self {
            data: GrowingData::new(out, evidence, is_compressed)?,
            events: None,
            pending: VecDeque::new(),
            command_line: None,
            samples: 0,
            omitted: 0,
            is_complete: false,
        })
    }

    /// States another command line than the one that wrote the stream.
    #[must_use]
    pub fn with_command_line(self, words: Vec<Vec<u8>>) -> Self {
        Self { command_line: Some(words), ..self }
    }

    /// Adds the records of a batch, whose samples wait for their callchains.
    ///
    /// # Errors
    /// If the recording has a form that cannot be written, or if the output fails.
    pub fn take_in(&mut self, batch: &Batch) -> Result<(), RewriteError> {
        let head = batch.head();
        if !head.events().is_empty() && self.events.is_none() {
            let events: Vec<Event> =
                head.events().iter().map(|it| Stacks::Removed.event(it)).collect();
            self.data.out().write_all(&beginning(&events, 0, []))?;
            self.events = Some(events);
        }
        let Some(events) = &self.events else { return Err(RewriteError::NoEvents) };
        for record in batch.raw_records() {
            match &record.body {
                RawBody::Sample(sample) => {
                    let at = usize::from(sample.event);
                    let written = events.get(at).ok_or(RewriteError::NewEvents)?;
                    let parts = SampleParts::of(sample, &written.attr, false);
                    self.pending.push_back(PendingRecord::Sample(sample.time, parts));
                }
                RawBody::Record(..) if record.header.kind.content() == RecordContent::Whole => {
                    self.pending.push_back(PendingRecord::Other(record.bytes.to_vec()));
                }
                RawBody::Record(..) | RawBody::Undecodable => {}
            }
        }
        Ok(())
    }

    /// Writes the next sample, which was taken at `time`, and the records before it.
    ///
    /// # Errors
    /// If no such sample waits, or if the output fails.
    pub fn sample(&mut self, time: Timestamp, chain: FinishedChain) -> Result<(), RewriteError> {
        while let Some(record) = self.pending.pop_front() {
            match record {
                PendingRecord::Other(bytes) => self.write(&bytes, None)?,
                PendingRecord::Sample(at, parts) if at == time => {
                    let FinishedChain { addresses, end, runs } = chain;
                    let Some(bytes) = parts.and_then(|it| it.with_chain(Some(&addresses))) else {
                        self.omitted += 1;
                        return Ok(());
                    };
                    self.samples += 1;
                    return self.write(&bytes, Some(SampleEvidence { end, runs }));
                }
                // The replay could not decode it, or a filter excluded it.
                PendingRecord::Sample(at, _) if at < time => self.omitted += 1,
                later @ PendingRecord::Sample(..) => {
                    self.pending.push_front(later);
                    break;
                }
            }
        }
        Err(RewriteError::UnknownSample)
    }

    fn write(
        &mut self,
        bytes: &[u8],
        evidence: Option<SampleEvidence>,
    ) -> Result<(), RewriteError> {
        if std::mem::take(&mut self.is_complete) {
            self.header(0, &[])?;
        }
        self.data.add(bytes, evidence)
    }

    /// Returns the number of written samples, and of samples that could not be written.
    #[must_use]
    pub const fn samples(&self) -> (u64, u64) {
        (self.samples, self.omitted)
    }

    /// Completes the file with the records so far. Later records replace what follows them now.
    ///
    /// # Errors
    /// If the output fails.
    pub fn checkpoint(&mut self, head: &Head) -> Result<(), RewriteError> {
        self.data.flush()?;
        if self.is_complete || self.data.len() == 0 {
            return Ok(());
        }
        self.complete(head, None)?;
        self.is_complete = true;
        Ok(())
    }

    /// Writes the features after the records, and then the header.
    fn complete(&mut self, head: &Head, evidence: Option<Vec<u8>>) -> Result<(), RewriteError> {
        let events = self.events.as_deref().ok_or(RewriteError::NoEvents)?;
        let mut features = features::sections(head, events, None);
        features.remove(&Feature::ChainEvidence.bit());
        let command_line = self.command_line.clone().map(features::command_line);
        let own = [
            (Feature::ChainEvidence, evidence),
            (Feature::Compressed, self.data.compression()),
            (Feature::CommandLine, command_line),
        ];
        features.extend(own.into_iter().filter_map(|(it, section)| Some((it.bit(), section?))));
        let end = data_start(events) + self.data.len();
        self.data.out().write_all(&feature_sections(end, &features))?;
        let bits: Vec<u16> = features.keys().copied().collect();
        self.header(self.data.len(), &bits)
    }

    /// Writes the header, and returns to the end of the records.
    fn header(&mut self, data_len: u64, features: &[u16]) -> Result<(), RewriteError> {
        let events = self.events.as_deref().ok_or(RewriteError::NoEvents)?;
        let end = data_start(events) + self.data.len();
        let out = self.data.out();
        out.seek(SeekFrom::Start(0))?;
        out.write_all(&beginning(events, data_len, features.iter().copied()))?;
        out.flush()?;
        out.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// Writes the waiting records without callchains and the features, and completes the header.
    ///
    /// # Errors
    /// If the recording has no events, or if the output fails.
    pub fn finish(mut self, head: &Head) -> Result<W, RewriteError> {
        for record in std::mem::take(&mut self.pending) {
            match record {
                PendingRecord::Other(bytes) => self.write(&bytes, None)?,
                PendingRecord::Sample(..) => self.omitted += 1,
            }
        }
        self.data.flush()?;
        let start = data_start(self.events.as_deref().ok_or(RewriteError::NoEvents)?);
        let evidence = self.data.evidence(start);
        self.complete(head, Some(evidence))?;
        Ok(self.data.into_out())
    }
}

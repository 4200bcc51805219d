//! A recording that is written while its stacks are unwound: records wait for the callchains of the samples among them.
//!
//! ```text
//!   batch        comm | sample | map | sample      in the order of time
//!   callchains          chain          chain       as the samples are finished
//!   file         comm | sample with chain | map | sample with chain
//! ```
//!
//! A checkpoint completes the file with the records so far, so that it is a recording even if this process is killed:
//! samples that still wait have the chains as they were walked. Evidence for the callchains follows at the end.

mod change;
mod data;
mod file;
mod processes;
mod segments;
mod waiting;

use std::io::{Seek, Write};

use address::Timestamp;
use perf_data::{Batch, ChainEvidenceWriter, FrameRun, Head};

use self::file::RecordingFile;
use self::processes::Processes;
pub use self::segments::LastRecords;
use self::waiting::{ReadyRecord, WaitingRecords};
use super::RewriteError;

/// Options of a recording that is written while its stacks are unwound.
#[derive(Clone, Debug)]
pub struct GrowingOptions {
    /// An empty section of evidence, with its keywords.
    pub evidence: ChainEvidenceWriter,
    /// Whether the records are compressed.
    pub is_compressed: bool,
    /// Command line of the header; `None` for that of the recording.
    pub command_line: Option<Vec<Vec<u8>>>,
    /// Whether further files follow the first one.
    pub has_further_files: bool,
}

/// A recording that is being written to a file, or to several in turn.
#[derive(Debug)]
pub struct GrowingRecording<W> {
    options: GrowingOptions,
    /// The output of the file, until its events are known.
    out: Option<W>,
    file: Option<RecordingFile<W>>,
    waiting: WaitingRecords,
    /// Processes at the end of the finished records, if further files follow.
    processes: Option<Processes>,
    /// Number of written samples.
    samples: u64,
}

/// A complete file.
#[derive(Debug)]
pub struct FinishedFile<W> {
    /// The output.
    pub out: W,
    /// Length of the file. Former contents may extend beyond it.
    pub len: u64,
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
    #[must_use]
    pub fn new(out: W, options: GrowingOptions) -> Self {
        Self {
            options,
            out: Some(out),
            file: None,
            waiting: WaitingRecords::default(),
            processes: None,
            samples: 0,
        }
    }

    /// Returns the number of written samples, and of samples that could not be written.
    #[must_use]
    pub const fn samples(&self) -> (u64, u64) {
        (self.samples, self.waiting.omitted())
    }

    /// Returns the number of bytes of the file up to the features.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.file.as_ref().map_or(0, RecordingFile::len)
    }

    /// Adds the records of a batch, whose samples wait for their callchains.
    ///
    /// # Errors
    /// If the recording has a form that cannot be written, or if the output fails.
    pub fn take_in(&mut self, batch: &Batch) -> Result<(), RewriteError> {
        self.waiting.take_in(batch)?;
        if let (Some(events), Some(out)) = (self.waiting.events(), self.out.take()) {
            let attr = events.first().map(|event| &event.attr);
            self.processes = self.options.has_further_files.then(|| Processes::new(attr));
            self.file = Some(RecordingFile::new(out, events.to_vec(), &self.options)?);
        }
        Ok(())
    }

    /// Gives the next sample without one a provisional callchain, which a checkpoint writes. The sample was taken at
    /// `time`.
    ///
    /// # Errors
    /// If no such sample waits.
    pub fn provisional(&mut self, time: Timestamp, chain: Vec<u64>) -> Result<(), RewriteError> {
        self.waiting.add_provisional(time, chain)
    }

    /// Writes the next sample, which was taken at `time`, and the records before it.
    ///
    /// # Errors
    /// If no such sample waits, or if the output fails.
    pub fn sample(&mut self, time: Timestamp, chain: FinishedChain) -> Result<(), RewriteError> {
        let Self { waiting, file, processes, samples, .. } = self;
        let file = file.as_mut().ok_or(RewriteError::NoEvents)?;
        file.begin_growth()?;
        waiting.finish_sample(time, chain, |record| {
            *samples += u64::from(record.evidence.is_some());
            write(file, processes, record)
        })
    }

    /// Completes the file with the records so far. Later records replace what follows the finished ones.
    ///
    /// # Errors
    /// If the output fails.
    pub fn checkpoint(&mut self, head: &Head) -> Result<(), RewriteError> {
        let Self { file, waiting, options, .. } = self;
        file.as_mut().map_or(Ok(()), |file| file.checkpoint(head, waiting, options))
    }

    /// Continues in an empty file, whose first records repeat the state of the processes. Returns the former file,
    /// which has all finished samples.
    ///
    /// # Errors
    /// If the recording has no events, if no further file was announced, or if the output fails.
    pub fn next_file(&mut self, out: W, head: &Head) -> Result<FinishedFile<W>, RewriteError> {
        let Some(processes) = &self.processes else { return Err(RewriteError::NoEvents) };
        let former = self.file.take().ok_or(RewriteError::NoEvents)?.finish(head)?;
        let events = self.waiting.events().unwrap_or_default().to_vec();
        let file = self.file.insert(RecordingFile::new(out, events, &self.options)?);
        for record in processes.records() {
            file.add(ReadyRecord::other(record))?;
        }
        Ok(former)
    }

    /// Writes the waiting records without samples and the features, and completes the header. Returns the file.
    ///
    /// # Errors
    /// If the recording has no events, or if the output fails.
    pub fn finish(&mut self, head: &Head) -> Result<FinishedFile<W>, RewriteError> {
        let Self { waiting, file, processes, .. } = self;
        let mut file = file.take().ok_or(RewriteError::NoEvents)?;
        waiting.finish(|record| write(&mut file, processes, record))?;
        file.finish(head)
    }
}

/// Writes a record, and applies its change to the processes.
fn write<W: Write + Seek>(
    file: &mut RecordingFile<W>,
    processes: &mut Option<Processes>,
    record: ReadyRecord,
) -> Result<(), RewriteError> {
    if let (Some(change), Some(processes)) = (record.change, processes) {
        processes.apply(change, &record.bytes);
    }
    file.add(record)
}

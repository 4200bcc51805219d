//! The output of a recording that is unwound while it arrives: one file, several in turn, or the last minute in memory.

use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use address::Timestamp;
use anyhow::Context as _;
use bundle::{FinishedChain, FinishedFile, GrowingRecording, LastRecords};
use perf_data::{Batch, Head};
use profile::{DUMP_SIZES, StackNeeds};

use super::messages::OutputKind;
use super::recording_files::{LocalFiles, RecordingFiles};

/// Number of samples whose needs decide on the size of the stack copies.
const ENOUGH: u64 = 1000;
/// Share of the stacks that stay complete with a smaller size, in percent.
const KEPT: u64 = 99;

/// The output of a recording.
#[derive(Debug)]
pub(in crate::commands) struct RecordingOutput {
    files: Box<dyn RecordingFiles>,
    recording: Recording,
    /// True if a file is to be completed at the next checkpoint.
    is_due: bool,
    /// True if files are not created any more: the recorder is gone.
    is_alone: bool,
    /// True if a smaller size of the stack copies is to be found.
    finds_stack_size: bool,
    /// True if stacks are dropped while samples arrive faster than they are unwound.
    pub(super) drops_stacks: bool,
}

#[derive(Debug)]
enum Recording {
    File(GrowingRecording<BufWriter<File>>),
    Rotated(GrowingRecording<BufWriter<File>>),
    Last(LastRecords, File),
}

impl RecordingOutput {
    /// Writes to the first file, and to those that follow.
    pub(super) fn new(kind: &OutputKind, first: File, files: Box<dyn RecordingFiles>) -> Self {
        let options = kind.growing();
        let recording = match kind.last {
            Some(kept) => Recording::Last(LastRecords::new(kept, options), first),
            None if kind.has_further_files => {
                Recording::Rotated(GrowingRecording::new(BufWriter::new(first), options))
            }
            None => Recording::File(GrowingRecording::new(BufWriter::new(first), options)),
        };
        let OutputKind { finds_stack_size, drops_stacks, .. } = *kind;
        let (is_due, is_alone) = (false, false);
        Self { files, recording, is_due, is_alone, finds_stack_size, drops_stacks }
    }

    /// Creates an uncompressed file for a converted stream, whose command line stays.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(in crate::commands) fn converted(path: &Path) -> std::io::Result<Self> {
        let (files, first) = LocalFiles::at(path)?;
        Ok(Self::new(&OutputKind::CONVERTED, first, Box::new(files)))
    }

    /// Returns the number of written samples, and of samples that could not be written.
    pub(super) fn samples(&self) -> (u64, u64) {
        match &self.recording {
            Recording::File(recording) | Recording::Rotated(recording) => recording.samples(),
            Recording::Last(records, _) => records.samples(),
        }
    }

    /// Adds the records of a batch, whose samples wait for their callchains.
    pub(super) fn take_in(&mut self, batch: &Batch) -> anyhow::Result<()> {
        match &mut self.recording {
            Recording::File(recording) | Recording::Rotated(recording) => {
                recording.take_in(batch)?;
            }
            Recording::Last(records, _) => records.take_in(batch)?,
        }
        Ok(())
    }

    /// Takes the callchain of a sample that still waits for evidence.
    pub(super) fn provisional(
        &mut self,
        time: Timestamp,
        chain: FinishedChain,
    ) -> anyhow::Result<()> {
        match &mut self.recording {
            Recording::File(recording) | Recording::Rotated(recording) => {
                recording.provisional(time, chain.addresses)?;
            }
            Recording::Last(..) => {}
        }
        Ok(())
    }

    /// Takes the final callchain of a sample.
    pub(super) fn sample(&mut self, time: Timestamp, chain: FinishedChain) -> anyhow::Result<()> {
        match &mut self.recording {
            Recording::File(recording) | Recording::Rotated(recording) => {
                recording.sample(time, chain)?;
            }
            Recording::Last(records, _) => records.sample(time, chain)?,
        }
        Ok(())
    }

    /// Returns true if the next checkpoint completes a file, before which no sample should wait.
    pub(super) fn becomes_due(&mut self) -> bool {
        match self.files.is_due() {
            Ok(is_due) => self.is_due |= is_due,
            Err(_) => self.is_alone = true,
        }
        self.is_due
    }

    /// Returns true if nobody waits for this recording any more, which ends here.
    pub(super) const fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Returns true if the needs of the stacks are of interest.
    pub(super) const fn finds_stack_size(&self) -> bool {
        self.finds_stack_size
    }

    /// Takes the needs of the stacks so far.
    pub(super) fn take_needs(&mut self, needs: &StackNeeds) {
        if needs.decided() < ENOUGH {
            return;
        }
        self.finds_stack_size = false;
        let smaller = needs.keeping(KEPT).filter(|bytes| !DUMP_SIZES.ends_with(&[*bytes]));
        let bytes = smaller.and_then(|bytes| u32::try_from(bytes).ok());
        if let Some(bytes) = bytes {
            self.is_alone |= self.files.stack_size(bytes).is_err();
        }
    }

    /// Returns true if files have samples that still wait for evidence.
    pub(super) const fn shows_waiting(&self) -> bool {
        !matches!(self.recording, Recording::Last(..))
    }

    /// Makes the files complete up to here; begins the next one, or writes the requested one, if it is due.
    pub(super) fn checkpoint(&mut self, head: &Head) -> anyhow::Result<()> {
        let is_due = std::mem::take(&mut self.is_due);
        let Self { files, recording, .. } = self;
        let len = match recording {
            Recording::File(recording) => {
                recording.checkpoint(head)?;
                recording.file_len()
            }
            Recording::Rotated(recording) => {
                if is_due {
                    let next = files.next(recording.file_len());
                    let next = BufWriter::new(next.context("the next file cannot be created")?);
                    let len = complete(recording.next_file(next, head)?)?;
                    files.completed(Ok(len))?;
                }
                recording.checkpoint(head)?;
                recording.file_len()
            }
            Recording::Last(records, _) => {
                if is_due && records.samples().0 == 0 {
                    files.omitted()?;
                } else if is_due {
                    let file = files.next(0).context("no file can be created")?;
                    // A file that cannot be written does not end the recording.
                    let written = records.write(BufWriter::new(file), head);
                    let written = written.map_err(anyhow::Error::from).and_then(complete);
                    files.completed(written.map_err(|error| format!("{error:#}")))?;
                }
                0
            }
        };
        // The file stays as it is if the recorder is gone.
        self.is_alone |= self.files.grown(len).is_err();
        Ok(())
    }

    /// Completes the last file.
    pub(super) fn finish(&mut self, head: &Head) -> anyhow::Result<()> {
        let file = match &mut self.recording {
            Recording::File(recording) | Recording::Rotated(recording) => recording.finish(head)?,
            Recording::Last(records, file) => {
                records.write(BufWriter::new(file.try_clone()?), head)?
            }
        };
        complete(file).map(drop)
    }
}

/// Ends a file at its length, which it returns.
fn complete(finished: FinishedFile<BufWriter<File>>) -> anyhow::Result<u64> {
    let FinishedFile { out, len } = finished;
    let mut file = out.into_inner().map_err(|error| error.into_error())?;
    file.flush()?;
    file.set_len(len)?;
    file.seek(SeekFrom::Start(len))?;
    Ok(len)
}

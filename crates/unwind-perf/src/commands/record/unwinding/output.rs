//! The output of a recording that is unwound while it arrives: one file, several in turn, or the last minute in memory.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use address::Timestamp;
use anyhow::Context as _;
use bundle::{FinishedChain, FinishedFile, GrowingOptions, GrowingRecording, LastRecords};
use perf_data::{Batch, Head};

use super::rotated::{RotatedFiles, RotationRules, new_file, new_file_at};
use crate::commands::callchains::evidence_writer;
use crate::terminal::{print_error, print_note, shown, size};

/// Free bytes of a file system below which the user is warned.
const NEARLY_FULL: u64 = 100 << 20;

/// Form of the output.
#[derive(Clone, Debug)]
pub(super) enum OutputForm {
    /// One file, which ends at a number of bytes; `None` for no limit.
    File(Option<u64>),
    /// Several files in turn.
    Rotated(RotationRules),
    /// The last records, which are written on request and at the end.
    Last(Duration),
}

/// Facts of the output apart from its form.
pub(super) struct OutputFacts {
    /// Path of the recording.
    pub(super) path: PathBuf,
    /// Whether the records are compressed.
    pub(super) is_compressed: bool,
    /// Command line of the recording; `None` for that of the stream.
    pub(super) command_line: Option<Vec<Vec<u8>>>,
    /// Set if the user requests a file.
    pub(super) request: Arc<AtomicBool>,
    /// Ends the recording.
    pub(super) stop: Box<dyn FnMut() + Send>,
    /// Called with each complete file, except the last one.
    pub(super) completed: Box<dyn FnMut(&Path) + Send>,
    /// True if messages are omitted.
    pub(super) is_quiet: bool,
}

/// The output of a recording.
#[derive(Debug)]
pub(in crate::commands) struct RecordingOutput {
    facts: OutputFacts,
    recording: Recording,
    /// True if a file is to be completed at the next checkpoint.
    is_due: bool,
    /// True if the user was warned that the file system is nearly full.
    is_warned: bool,
}

#[derive(Debug)]
enum Recording {
    File(GrowingRecording<BufWriter<File>>, Option<u64>),
    Rotated(GrowingRecording<BufWriter<File>>, RotatedFiles),
    Last(LastRecords, File),
}

impl RecordingOutput {
    /// Creates the file, or the first one.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(super) fn new(form: OutputForm, facts: OutputFacts) -> std::io::Result<Self> {
        let options = GrowingOptions {
            evidence: evidence_writer(),
            is_compressed: facts.is_compressed,
            command_line: facts.command_line.clone(),
            has_further_files: matches!(form, OutputForm::Rotated(_)),
        };
        let growing = |file| GrowingRecording::new(BufWriter::new(file), options.clone());
        let recording = match form {
            OutputForm::File(most) => Recording::File(growing(new_file(&facts.path)?), most),
            OutputForm::Rotated(rules) => {
                let (files, file) = RotatedFiles::new(&facts.path, rules)?;
                Recording::Rotated(growing(file), files)
            }
            OutputForm::Last(kept) => {
                let kept = u64::try_from(kept.as_nanos()).unwrap_or(u64::MAX);
                Recording::Last(LastRecords::new(kept, options), new_file(&facts.path)?)
            }
        };
        Ok(Self { facts, recording, is_due: false, is_warned: false })
    }

    /// Creates an uncompressed file for a converted stream, whose command line stays.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(in crate::commands) fn converted(path: PathBuf) -> std::io::Result<Self> {
        let facts = OutputFacts {
            path,
            is_compressed: false,
            command_line: None,
            request: Arc::default(),
            stop: Box::new(|| {}),
            completed: Box::new(|_| {}),
            is_quiet: true,
        };
        Self::new(OutputForm::File(None), facts)
    }

    /// Path of the last file.
    pub(super) fn path(&self) -> &Path {
        match &self.recording {
            Recording::Rotated(_, files) => files.current(),
            Recording::File(..) | Recording::Last(..) => &self.facts.path,
        }
    }

    /// Returns the number of written samples, and of samples that could not be written.
    pub(super) fn samples(&self) -> (u64, u64) {
        match &self.recording {
            Recording::File(recording, _) | Recording::Rotated(recording, _) => recording.samples(),
            Recording::Last(records, _) => records.samples(),
        }
    }

    /// Adds the records of a batch, whose samples wait for their callchains.
    pub(super) fn take_in(&mut self, batch: &Batch) -> anyhow::Result<()> {
        match &mut self.recording {
            Recording::File(recording, _) | Recording::Rotated(recording, _) => {
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
            Recording::File(recording, _) | Recording::Rotated(recording, _) => {
                recording.provisional(time, chain.addresses)?;
            }
            Recording::Last(..) => {}
        }
        Ok(())
    }

    /// Takes the final callchain of a sample.
    pub(super) fn sample(&mut self, time: Timestamp, chain: FinishedChain) -> anyhow::Result<()> {
        match &mut self.recording {
            Recording::File(recording, _) | Recording::Rotated(recording, _) => {
                recording.sample(time, chain)?;
            }
            Recording::Last(records, _) => records.sample(time, chain)?,
        }
        Ok(())
    }

    /// Returns true if the next checkpoint completes a file, before which no sample should wait. A request is taken
    /// here, so that one that follows is for the next file.
    pub(super) fn becomes_due(&mut self) -> bool {
        let is_requested = self.facts.request.swap(false, Ordering::Relaxed);
        self.is_due |= match &self.recording {
            Recording::File(..) => false,
            Recording::Rotated(_, files) => is_requested || files.is_due(),
            Recording::Last(..) => is_requested,
        };
        self.is_due
    }

    /// Returns true if files have samples that still wait for evidence.
    pub(super) const fn shows_waiting(&self) -> bool {
        !matches!(self.recording, Recording::Last(..))
    }

    /// Makes the files complete up to here; begins the next one, or writes the requested one, if it is due.
    pub(super) fn checkpoint(&mut self, head: &Head) -> anyhow::Result<()> {
        let is_due = std::mem::take(&mut self.is_due);
        let Self { facts, recording, .. } = self;
        match recording {
            Recording::File(recording, most) => {
                recording.checkpoint(head)?;
                if most.is_some_and(|most| recording.file_len() >= most) {
                    let reached = size(most.take().unwrap_or_default());
                    print_note(&format!("the recording has reached {reached} and ends"));
                    (facts.stop)();
                }
            }
            Recording::Rotated(recording, files) => {
                if is_due {
                    next_file(recording, files, head, facts)?;
                }
                recording.checkpoint(head)?;
                for removed in files.remove_oldest(recording.file_len()) {
                    facts.note(&format!("removed: {}", name(&removed)));
                }
            }
            Recording::Last(records, _) if is_due && records.samples().0 == 0 => {
                facts.note("there are no samples yet; no file is written");
            }
            Recording::Last(records, _) if is_due => {
                // A file that cannot be written does not end the recording.
                match write_requested(records, head, facts) {
                    Ok(path) => (facts.completed)(&path),
                    Err(error) => print_error(&format!("{error:#}")),
                }
            }
            Recording::Last(..) => {}
        }
        self.warn_if_nearly_full();
        Ok(())
    }

    /// Completes the last file.
    pub(super) fn finish(&mut self, head: &Head) -> anyhow::Result<()> {
        let file = match &mut self.recording {
            Recording::File(recording, _) | Recording::Rotated(recording, _) => {
                recording.finish(head)?
            }
            Recording::Last(records, file) => {
                records.write(BufWriter::new(file.try_clone()?), head)?
            }
        };
        complete(file).map(drop)
    }

    /// Removes files that are named by a time and have no samples. At the path of the recording, the former one returns.
    pub(super) fn discard(&mut self) {
        if let Recording::Rotated(_, files) = &mut self.recording {
            files.discard();
        }
    }

    /// Warns once if the file system of the output is nearly full.
    fn warn_if_nearly_full(&mut self) {
        let free = rustix::fs::statvfs(self.path()).map(|it| it.f_bavail * it.f_frsize);
        if let Ok(free) = free
            && free < NEARLY_FULL
            && !std::mem::replace(&mut self.is_warned, true)
        {
            let (name, free) = (name(self.path()), size(free));
            print_note(&format!(
                "{free} are free for {name}; the recording ends when the disk is full, or with --max-size earlier"
            ));
        }
    }
}

/// Completes a file and begins the next one.
fn next_file(
    recording: &mut GrowingRecording<BufWriter<File>>,
    files: &mut RotatedFiles,
    head: &Head,
    facts: &mut OutputFacts,
) -> anyhow::Result<()> {
    let path = files.current().to_owned();
    let out = files.next(recording.file_len()).context("the next file cannot be created")?;
    let len = complete(recording.next_file(BufWriter::new(out), head)?)?;
    facts.note(&format!("recorded: {}, {}", name(&path), size(len)));
    (facts.completed)(&path);
    Ok(())
}

/// Writes the last records to a new file, and returns its path.
fn write_requested(
    records: &mut LastRecords,
    head: &Head,
    facts: &OutputFacts,
) -> anyhow::Result<PathBuf> {
    let (path, out) = new_file_at(&facts.path, SystemTime::now())
        .with_context(|| format!("no file can be created beside {}", facts.path.display()))?;
    let written = records.write(BufWriter::new(out), head).map_err(anyhow::Error::from);
    let written = written.and_then(complete);
    let len = written.with_context(|| format!("{} is incomplete", path.display()))?;
    facts.note(&format!("recorded: {}, {}", name(&path), size(len)));
    Ok(path)
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

/// Returns a path as it is printed.
fn name(path: &Path) -> String {
    shown(&path.display().to_string())
}

impl OutputFacts {
    fn note(&self, text: &str) {
        if !self.is_quiet {
            eprintln!("{text}");
        }
    }
}

impl fmt::Debug for OutputFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputFacts").field("path", &self.path).finish_non_exhaustive()
    }
}

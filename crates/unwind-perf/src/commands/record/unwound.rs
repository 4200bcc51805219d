//! Recordings that are unwound while they arrive: the file has callchains with their evidence instead of stacks.

use std::fs::File;
use std::io::{self, BufWriter};
use std::sync::Arc;
use std::time::Duration;

use bundle::{GrowingRecording, RewriteError};
use perf_data::{Batch, Head};
use pipeline::{
    Grown, Observer, Options, RunAccount, Schedule, Sink, Source, StreamOptions, Ticks,
};
use profile::Profile;

use crate::args::{pipeline, with_argument};
use crate::commands::callchains::{evidence_writer, finished_chain};

/// Time between two outputs of the samples that need no further evidence.
const TICK: Duration = Duration::from_millis(500);
/// Age after which written samples are dropped from memory.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Maximum size of the tables of a recording. If they exceed it, later chains are repaired by later samples only.
const TABLE_BYTES: u64 = 256 << 20;

/// File for a recording.
#[derive(Debug)]
pub(super) struct UnwoundFile {
    /// The empty file.
    pub(super) file: File,
    /// Whether its records are compressed.
    pub(super) is_compressed: bool,
    /// Command line of the recording.
    pub(super) command_line: Vec<Vec<u8>>,
}

/// Account of a written recording.
#[derive(Debug, Default)]
pub(super) struct WrittenAccount {
    /// Number of samples.
    pub(super) samples: u64,
    /// Number of samples that were damaged, or whose callchain exceeds a record.
    pub(super) omitted: u64,
    /// Reason why the recording ends early; it has all records up to there.
    pub(super) failed: Option<anyhow::Error>,
}

/// Unwinds a stream while it arrives, and writes it to `output`.
pub(super) fn write_unwound(
    source: Source,
    output: UnwoundFile,
    options: &Options,
    observer: &Arc<dyn Observer>,
) -> WrittenAccount {
    let UnwoundFile { file, is_compressed, command_line } = output;
    let recording = GrowingRecording::new(BufWriter::new(file), evidence_writer(), is_compressed);
    let recording = match recording {
        Ok(recording) => recording.with_command_line(command_line),
        Err(error) => {
            return WrittenAccount { failed: Some(error.into()), ..WrittenAccount::default() };
        }
    };
    let mut sink = UnwoundSink { recording, head: None, failed: None };
    let ticks = Ticks {
        tick: TICK,
        max_age: Some(MAX_AGE),
        table_bytes: TABLE_BYTES,
        waits_for_evidence: true,
    };
    let by_ticks = StreamOptions::by(Schedule::Ticks(ticks));
    let stream = StreamOptions { all_records: true, ..by_ticks };
    let read = pipeline().analyze_in_steps(source, stream, options, observer, &mut sink);
    let UnwoundSink { recording, head, failed } = sink;
    let (samples, omitted) = recording.samples();
    let finished = match (failed, head) {
        (Some(error), _) => Err(error),
        (None, Some(head)) => recording.finish(&head).map(drop),
        (None, None) => Err(RewriteError::NoEvents),
    };
    let failed = read.map_err(with_argument).and(finished.map_err(Into::into)).err();
    WrittenAccount { samples, omitted, failed }
}

/// Writes records and finished samples.
struct UnwoundSink {
    recording: GrowingRecording<BufWriter<File>>,
    /// Head of the last batch.
    head: Option<Arc<Head>>,
    failed: Option<RewriteError>,
}

impl Sink for UnwoundSink {
    fn begin(&mut self, _: &Head, _: &mut Profile, _: &RunAccount) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &Batch, _: &mut Profile) {
        self.head = Some(Arc::clone(batch.head()));
        if self.failed.is_none() {
            self.failed = self.recording.take_in(batch).err();
        }
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let (_, rows) = grown.new_samples();
        let mut write = || -> Result<(), RewriteError> {
            for row in rows {
                let chain = finished_chain(grown.profile, row);
                self.recording.sample(row.time().unwrap_or_default(), chain)?;
            }
            match &self.head {
                Some(head) => self.recording.checkpoint(head),
                None => Ok(()),
            }
        };
        if self.failed.is_none() {
            self.failed = write().err();
        }
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.failed.is_some()
    }
}

//! The path of a run through a recording: the schedule of its output, and the way that the recording is read for it.

use std::time::Duration;

use address::Arch;
use perf_data::{EagerBatches, LiveBatches, SessionOptions};

use crate::limits::prefetch;
use crate::runs::run::Run;

/// The schedule of output while a profile grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// Each time the number of samples has grown several times, and when a stream pauses. The steps of a file depend
    /// only on the recording.
    #[default]
    BySamples,
    /// By the clock: a stream is output from time to time, in a small share of the run time. All samples have their
    /// names.
    ByTime,
    /// By a tick, for hours: names follow a little later, and old samples are dropped.
    Ticks(Ticks),
}

/// Parameters for following a recording live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// Least time between two outputs.
    pub tick: Duration,
    /// Age, by the recording's clock, after which samples are dropped; `None` retains all.
    pub max_age: Option<Duration>,
    /// Limit on the bytes of the tables and of the facts of threads. If they exceed it, the tables are cleared: all
    /// samples so far are dropped, with their stacks.
    pub table_bytes: u64,
    /// Time after which the tables are cleared, whatever their size; `None` for never. Opened files and unwind rules are
    /// dropped with them, so that memory stays bounded while programs come and go.
    pub renew_after: Option<Duration>,
    /// If true, stacks are not walked while samples arrive faster than they are processed, so that the writer of the
    /// stream does not wait and loses no samples.
    pub drops_stacks: bool,
    /// If true, samples wait for all later evidence, as in a whole run, and each is output before it is dropped;
    /// otherwise they wait for the evidence of the next batch.
    pub waits_for_evidence: bool,
}

impl Default for Ticks {
    /// Twice a second; ten minutes are retained; 64 MiB apart from their samples; evidence of the next batch.
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(500),
            max_age: Some(Duration::from_secs(600)),
            table_bytes: 64 << 20,
            renew_after: None,
            drops_stacks: false,
            waits_for_evidence: false,
        }
    }
}

/// Options for reading a recording with output while it grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// Schedule of the output.
    pub schedule: Schedule,
    /// The processor of a recording that does not state it.
    pub arch: Option<Arch>,
    /// If true, a recording with stacks that does not state its processor is an error.
    pub needs_arch: bool,
    /// Bytes of a stream that are sorted at a time; `None` for the default.
    pub batch_bytes: Option<u64>,
    /// Bytes of a stream that may wait for the end of their round; `None` for the default.
    pub pending_bytes: Option<u64>,
    /// If true, batches contain the records of context switches even if the run does not need them.
    pub all_records: bool,
}

impl StreamOptions {
    /// The default options with this schedule.
    #[must_use]
    pub fn by(schedule: Schedule) -> Self {
        Self { schedule, ..Self::default() }
    }
}

/// The path through a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadPath {
    /// The whole recording, then the names. If `fast`, batches are replayed while the file is read. This fails if the
    /// file's rounds are out of order, or if a file was replaced at its path.
    AtEnd { fast: bool },
    /// In steps. Output cannot be taken back, so this path never fails.
    InSteps(StreamOptions),
}

/// The outcome of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadOutcome {
    /// All samples are in the tables.
    Complete,
    /// The fast path failed.
    Failed,
}

/// The first batch of a stream ends with the first round after this many bytes.
const FIRST_BYTES: u64 = 256 << 10;
/// Bytes of a stream that are read at a time, since more may take long to arrive.
const READ_BYTES: usize = 256 << 10;
/// Largest batch of a run by ticks, in bytes. Small batches let many wait during a look-up of names, so that the writer
/// of the stream does not block.
const TICK_BYTES: u64 = 4 << 20;
/// Limit on these waiting batches.
pub(super) const TICK_BATCHES: usize = 32;
/// Bytes of a batch for each thread, enough to give every thread slices of samples.
const OF_THREAD: u64 = 16 << 20;

impl ReadPath {
    /// Returns the options for reading a recording on this path.
    pub(crate) fn reading(self, run: &Run<'_>) -> SessionOptions {
        let usual = run.usual_reading();
        let reading = match self {
            Self::AtEnd { fast } => SessionOptions { eager: fast.then(batches), ..usual },
            Self::InSteps(stream) => {
                let usual = SessionOptions {
                    read_bytes: READ_BYTES,
                    fallback_arch: stream.arch,
                    batch_bytes: stream.batch_bytes.unwrap_or(usual.batch_bytes),
                    pending_bytes: stream.pending_bytes.unwrap_or(usual.pending_bytes),
                    switches: usual.switches || stream.all_records,
                    ..usual
                };
                match stream.schedule {
                    Schedule::BySamples | Schedule::ByTime => SessionOptions {
                        first_bytes: FIRST_BYTES,
                        switches: true,
                        live: Some(LiveBatches::default()),
                        ..usual
                    },
                    Schedule::Ticks(_) => SessionOptions {
                        batch_bytes: stream.batch_bytes.unwrap_or(TICK_BYTES),
                        first_bytes: TICK_BYTES,
                        live: Some(LiveBatches { waiting: TICK_BATCHES, ..LiveBatches::default() }),
                        ..usual
                    },
                }
            }
        };
        prefetch(run.options.limits, reading)
    }

    /// Returns true if opened files and unwind rules are dropped from time to time.
    pub(crate) fn drops_files(self) -> bool {
        let Self::InSteps(stream) = self else { return false };
        matches!(stream.schedule, Schedule::Ticks(Ticks { renew_after: Some(_), .. }))
    }

    /// Returns true if the recording grows while it is read, so that its files may change until its end.
    pub(crate) const fn is_watched(self) -> bool {
        matches!(self, Self::InSteps(StreamOptions { schedule: Schedule::Ticks(_), .. }))
    }
}

/// Returns the batch size of a file. Three batches are in memory, and few threads need smaller ones than the default.
/// The profile is the same.
fn batches() -> EagerBatches {
    let usual = EagerBatches::default();
    let wanted = OF_THREAD * rayon::current_num_threads() as u64;
    EagerBatches { most_bytes: wanted.min(usual.most_bytes), ..usual }
}

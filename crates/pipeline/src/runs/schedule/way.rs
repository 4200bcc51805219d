//! The way that a run takes through a recording: when the profile is handed on, and how the recording is read for that.

use std::time::Duration;

use address::Arch;
use perf_data::{EagerBatches, LiveBatches, SessionOptions};

use crate::limits::prefetch;
use crate::runs::run::Run;

/// When a growing profile is handed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// Each time there are several times as many samples as were handed on, and when a stream pauses: the parts of a file
    /// follow from the recording.
    #[default]
    BySamples,
    /// By the clock: a stream is handed on from time to time, as long as that takes a small share of the time. All samples
    /// have their names.
    ByTime,
    /// By a tick, for hours: names follow a little later, and old samples are forgotten.
    Ticks(Ticks),
}

/// How a recording is watched while it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// New rows are handed on as often as this at most.
    pub tick: Duration,
    /// Samples that are older, by the times of the recording, are forgotten; `None` keeps all.
    pub keep: Option<Duration>,
    /// The tables and the facts of threads may take so many bytes. If they take more, they begin anew: all samples so far
    /// are forgotten, with their stacks.
    pub table_bytes: u64,
}

impl Default for Ticks {
    /// Twice a second; ten minutes are kept; 64 MiB beside the samples of these.
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(500),
            keep: Some(Duration::from_secs(600)),
            table_bytes: 64 << 20,
        }
    }
}

/// How a recording is read that is handed on while it grows.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamOptions {
    /// When it is handed on.
    pub schedule: Schedule,
    /// The processor of a recording that does not state it.
    pub arch: Option<Arch>,
    /// Whether a recording with stacks that does not state its processor is an error.
    pub needs_arch: bool,
    /// Bytes of a stream that are put in order at a time; `None` for as many as usual.
    pub batch_bytes: Option<u64>,
    /// Bytes of a stream that may wait for the end of their round; `None` for as many as usual.
    pub pending_bytes: Option<u64>,
}

impl StreamOptions {
    /// The usual ones with that schedule.
    #[must_use]
    pub fn by(schedule: Schedule) -> Self {
        Self { schedule, ..Self::default() }
    }
}

/// The way through a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// All of it, then the names. If it is quick, batches are replayed while the file is read. That is in vain if the
    /// rounds of the file do not keep their promise, or if a file was replaced under its path.
    AtEnd { quick: bool },
    /// Step by step. Nothing that was handed on can be taken back, so this way is never in vain.
    InSteps(StreamOptions),
}

/// How a schedule came through a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// All samples are in the tables.
    Complete,
    /// The quick way was in vain.
    InVain,
}

/// The first batch of a stream ends with the first round after so many bytes.
const FIRST_BYTES: u64 = 256 << 10;
/// Bytes of a stream that are read at a time: it may be long until more come.
const READ_BYTES: usize = 256 << 10;
/// Batches of a run by ticks are no larger, so that many can wait while names are looked up: the writer of the stream must
/// not wait.
const TICK_BYTES: u64 = 4 << 20;
/// So many of these wait.
const TICK_BATCHES: usize = 32;
/// Bytes of a batch for each thread: enough slices of samples for all of them.
const OF_THREAD: u64 = 16 << 20;

impl Way {
    /// How a recording is read for this way.
    pub(crate) fn reading(self, run: &Run<'_>) -> SessionOptions {
        let usual = run.usual_reading();
        let reading = match self {
            Self::AtEnd { quick } => SessionOptions { eager: quick.then(batches), ..usual },
            Self::InSteps(stream) => {
                let usual = SessionOptions {
                    read_bytes: READ_BYTES,
                    fallback_arch: stream.arch,
                    batch_bytes: stream.batch_bytes.unwrap_or(usual.batch_bytes),
                    pending_bytes: stream.pending_bytes.unwrap_or(usual.pending_bytes),
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

    /// Whether the recording goes on while it is read: its files may change until its end.
    pub(crate) const fn is_watched(self) -> bool {
        matches!(self, Self::InSteps(StreamOptions { schedule: Schedule::Ticks(_), .. }))
    }
}

/// How a file is cut into batches, three of which are in memory: few threads have enough with smaller ones than the usual.
/// The profile is the same.
fn batches() -> EagerBatches {
    let usual = EagerBatches::default();
    let wanted = OF_THREAD * rayon::current_num_threads() as u64;
    EagerBatches { most_bytes: wanted.min(usual.most_bytes), ..usual }
}

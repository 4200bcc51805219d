//! The driver of a run: the recording that is read, its replay, and the output so far. A schedule advances it and
//! decides when the profile goes to the sink.
//!
//! ```text
//!   at end      read | walk | read | walk ...                                         | names
//!   by samples  read | walk | names, hand on | walk  .  . | names, hand on | walk ... | names, hand on
//!   ticks       read | walk | hand on | walk | names | hand on | walk ...             | names, hand on
//! ```

use std::sync::Arc;
use std::time::Duration;

use perf_data::{Batch, Findings, NextBatch, Session};
use replay::{Replay, ReplayObserver as _, Replayer};
use symbolizer::KernelListPrefetch;

use super::output::Output;
use super::run::Run;
use super::sink::Sink;
use crate::files::Files;
use crate::names::NameReport;

/// A recording that is being read.
pub(super) struct Reading {
    pub(super) session: Session,
    pub(super) found: Findings,
    /// True if its bytes arrive over time, so that more may follow.
    pub(super) is_stream: bool,
}

/// A recording that is being read, replayed and sent to the sink.
pub(super) struct Driver<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) reading: Reading,
    pub(super) replayer: Replayer<'r>,
    pub(super) output: Output<'r>,
}

/// A recording with all samples in the tables.
pub(super) struct Walked {
    pub(super) session: Session,
    pub(super) found: Findings,
    pub(super) replay: Replay,
    /// The kernel's list, if it was prefetched and not used yet.
    pub(super) prefetched: Option<KernelListPrefetch>,
    /// The account of the names so far.
    pub(super) report: NameReport,
    /// The files of the samples.
    pub(super) files: Arc<Files>,
}

impl<'r> Driver<'r> {
    pub(super) fn new(
        run: &'r Run<'r>,
        reading: Reading,
        replayer: Replayer<'r>,
        files: Arc<Files>,
        sink: &'r mut dyn Sink,
    ) -> Self {
        let output = Output::new(run, reading.session.head(), files, sink);
        Self { run, reading, replayer, output }
    }

    /// Returns the next batch of the recording. On a stream, waits at most `wait`.
    pub(super) fn next(&mut self, wait: Duration) -> NextBatch {
        let Reading { session, found, is_stream } = &mut self.reading;
        session.next_batch_within(if *is_stream { wait } else { Duration::MAX }, found)
    }

    /// Returns the number of batches that wait.
    pub(super) fn waiting(&self) -> usize {
        self.reading.session.waiting()
    }

    /// Returns the number of samples and other records that the kernel lost up to the last batch.
    pub(super) fn lost(&self) -> u64 {
        let counts = self.reading.session.counts();
        counts.lost_samples.saturating_add(counts.lost_events)
    }

    /// Records the facts of a batch apart from its samples.
    pub(super) fn record_batch(&mut self, batch: &Batch) {
        self.output.record_batch(batch, &self.reading.session, self.replayer.partial().profile);
    }

    /// Starts unpacking the files for the symbol look-up.
    pub(super) fn prefetch(&mut self) {
        self.output.prefetch(&self.replayer.partial());
    }

    /// Finishes all samples, and unpacks the remaining files in parallel.
    pub(super) fn end(&mut self) {
        let Self { run, replayer, output, .. } = self;
        replayer.walk_pending(*run);
        let rest = output.unpack_remaining(&replayer.partial());
        replayer.end_beside(*run, || rest.unpack(|| run.is_cancelled()));
    }

    /// Returns the result, after [`Self::end`].
    pub(super) fn finish(self) -> Walked {
        let Self { run, reading, replayer, output } = self;
        let Reading { session, found, .. } = reading;
        let mut replay = replayer.finish(run);
        let (report, prefetched, files) = output.finish(&mut replay.profile);
        Walked { session, found, replay, prefetched, report, files }
    }
}

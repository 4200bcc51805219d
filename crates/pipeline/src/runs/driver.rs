//! The driver of a run: a recording that is read, its replay, and the output so far. A schedule moves it on and decides
//! when the profile is handed to the sink.
//!
//! ```text
//!   at end      read | walk | read | walk ...                                         | names
//!   by samples  read | walk | names, hand on | walk  .  . | names, hand on | walk ... | names, hand on
//!   ticks       read | walk | hand on | walk | names | hand on | walk ...             | names, hand on
//! ```

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
    /// Whether its bytes come one after another, and more may come at any time.
    pub(super) is_stream: bool,
}

/// A recording that is being read, replayed and handed on.
pub(super) struct Driver<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) reading: Reading,
    pub(super) replayer: Replayer<'r>,
    pub(super) output: Output<'r>,
}

/// A recording of which all samples are in the tables.
pub(super) struct Walked {
    pub(super) session: Session,
    pub(super) found: Findings,
    pub(super) replay: Replay,
    /// The kernel's list, if it was prefetched and nothing has asked for it yet.
    pub(super) prefetched: Option<KernelListPrefetch>,
    /// The account of the names so far.
    pub(super) report: NameReport,
}

impl<'r> Driver<'r> {
    pub(super) fn new(
        run: &'r Run<'r>,
        reading: Reading,
        replayer: Replayer<'r>,
        files: &'r Files,
        sink: &'r mut dyn Sink,
    ) -> Self {
        let output = Output::new(run, reading.session.head(), files, sink);
        Self { run, reading, replayer, output }
    }

    /// The next batch of the recording. For one of a stream it waits no longer than `wait`.
    pub(super) fn next(&mut self, wait: Duration) -> NextBatch {
        let Reading { session, found, is_stream } = &mut self.reading;
        session.next_batch_within(if *is_stream { wait } else { Duration::MAX }, found)
    }

    /// Takes in the facts of a batch apart from its samples.
    pub(super) fn take_in(&mut self, batch: &Batch) {
        self.output.take_in(batch, &self.reading.session, self.replayer.partial().profile);
    }

    /// Begins to unpack the files that symbols will be looked up in.
    pub(super) fn prefetch(&mut self) {
        self.output.prefetch(&self.replayer.partial());
    }

    /// Finishes all samples. The files that are not unpacked yet are unpacked beside it.
    pub(super) fn end(&mut self) {
        let Self { run, replayer, output, .. } = self;
        replayer.settle(*run);
        let rest = output.unpack_rest(&replayer.partial());
        rayon::join(|| replayer.end(*run), || rest.unpack(|| run.is_cancelled()));
    }

    /// The result, after [`Self::end`].
    pub(super) fn finish(self) -> Walked {
        let Self { run, reading, replayer, output } = self;
        let Reading { session, found, .. } = reading;
        let mut replay = replayer.finish(run);
        let (report, prefetched) = output.finish(&mut replay.profile);
        Walked { session, found, replay, prefetched, report }
    }
}

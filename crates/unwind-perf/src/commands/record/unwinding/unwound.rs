//! Recordings that are unwound while they arrive: the file has callchains with their evidence instead of stacks.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bundle::RewriteError;
use perf_data::{Batch, Head};
use pipeline::{
    Grown, Observer, Options, Pipeline, RunAccount, STACKS_DROPPED, Schedule, Sink, Source,
    StreamOptions, Ticks,
};
use profile::Profile;

use super::messages::UnwoundAccount;
use super::output::RecordingOutput;
use crate::args::with_argument;
use crate::commands::callchains::finished_chain;

/// Time between two outputs.
const TICK: Duration = Duration::from_millis(500);
/// Age after which written samples are dropped from memory.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Maximum size of the tables of a recording. If they exceed it, later chains are repaired by later samples only.
const TABLE_BYTES: u64 = 128 << 20;
/// Time after which tables, opened files and unwind rules are dropped, so that memory stays bounded.
const RENEW_AFTER: Duration = Duration::from_secs(300);
/// Longest time that samples wait for evidence. On an idle machine, a window of samples takes hours to fill.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// The same as long as the size of the stack copies is not decided.
const UNDECIDED_WAIT: Duration = Duration::from_secs(5);

/// Unwinds a stream while it arrives, and writes it to `output`.
pub(in crate::commands) fn write_unwound(
    pipeline: &Pipeline,
    source: Source,
    output: RecordingOutput,
    options: &Options,
    observer: &Arc<dyn Observer>,
) -> UnwoundAccount {
    let drops_stacks = output.drops_stacks;
    let mut sink =
        UnwoundSink { output, head: None, failed: None, released: Instant::now(), in_tables: 0 };
    let ticks = Ticks {
        tick: TICK,
        max_age: Some(MAX_AGE),
        table_bytes: TABLE_BYTES,
        renew_after: Some(RENEW_AFTER),
        drops_stacks,
        waits_for_evidence: true,
    };
    let by_ticks = StreamOptions::by(Schedule::Ticks(ticks));
    let stream = StreamOptions { all_records: true, ..by_ticks };
    let read = pipeline.analyze_in_steps(source, stream, options, observer, &mut sink);
    let UnwoundSink { mut output, head, failed, in_tables, .. } = sink;
    let finished = match (failed, head) {
        (Some(error), _) => Err(error),
        (None, Some(head)) => output.finish(&head),
        (None, None) => Err(RewriteError::NoEvents.into()),
    };
    let dropped = read.as_ref().map_or(0, |analysis| {
        let findings = analysis.profile.summary.findings.iter();
        findings.filter(|finding| finding.kind == STACKS_DROPPED).map(|finding| finding.count).sum()
    });
    let needs = read.as_ref().map(|analysis| analysis.profile.summary.stack_needs);
    let needs = (needs.unwrap_or_default(), in_tables);
    let failed = read.map(drop).map_err(with_argument).and(finished).err();
    let failed = failed.map(|error| format!("{error:#}"));
    let (samples, omitted) = output.samples();
    UnwoundAccount { samples, omitted, needs, overlap: 0, dropped, failed }
}

/// Writes records and finished samples.
struct UnwoundSink {
    output: RecordingOutput,
    /// Head of the last batch.
    head: Option<Arc<Head>>,
    failed: Option<anyhow::Error>,
    /// Last time at which samples stopped waiting.
    released: Instant,
    /// Number of samples since the tables were last cleared.
    in_tables: u64,
}

impl UnwoundSink {
    /// Returns the longest time that samples wait for evidence.
    fn longest_wait(&self) -> Duration {
        if self.output.finds_stack_size() { UNDECIDED_WAIT } else { LONGEST_WAIT }
    }

    /// Writes something, unless writing has failed before.
    fn write(&mut self, write: impl FnOnce(&mut RecordingOutput) -> anyhow::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.output).err();
        }
    }
}

impl Sink for UnwoundSink {
    fn begin(&mut self, _: &Head, _: &mut Profile, _: &RunAccount) -> io::Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &Batch, _: &mut Profile) {
        self.head = Some(Arc::clone(batch.head()));
        self.write(|output| output.take_in(batch));
    }

    fn waiting(&mut self, samples: &Profile) {
        self.write(|output| {
            for row in samples.samples.iter() {
                let chain = finished_chain(samples, row);
                output.provisional(row.time().unwrap_or_default(), chain)?;
            }
            Ok(())
        });
    }

    fn wants_all(&mut self) -> bool {
        self.output.becomes_due() || self.released.elapsed() >= self.longest_wait()
    }

    fn shows_waiting(&self) -> bool {
        self.output.shows_waiting()
    }

    fn grown(&mut self, grown: &Grown<'_>) -> io::Result<()> {
        let (first, rows) = grown.new_samples();
        self.in_tables = first + rows.len() as u64;
        let head = self.head.clone();
        if self.output.finds_stack_size() {
            self.output.take_needs(&grown.profile.summary.stack_needs);
        }
        if !rows.is_empty() || self.released.elapsed() >= self.longest_wait() {
            self.released = Instant::now();
        }
        self.write(|output| {
            for row in rows {
                let chain = finished_chain(grown.profile, row);
                output.sample(row.time().unwrap_or_default(), chain)?;
            }
            head.map_or(Ok(()), |head| output.checkpoint(&head))
        });
        Ok(())
    }

    fn is_enough(&self) -> bool {
        self.failed.is_some() || self.output.is_alone()
    }
}

//! Records into batches. In a stream the recorder says by `FINISHED_ROUND` up to when its records are complete: at
//! each round everything is that was seen before the round in front of it.
//!
//! ```text
//!   a c b | b d c | e d f | ...      times; | ends a round
//!         0       c       d          complete up to, when the round ends
//! ```
//!
//! Source: `tools/perf/util/session.c`, `process_finished_round`.

use std::sync::Arc;

use address::Timestamp;
use budget::Memory;

use super::index::{index_record, index_sample};
use super::messages::{Outbox, ReadMessage};
use super::options::{EagerBatches, SessionOptions};
use super::usual::UsualEntries;
use super::waiting::Waiting;
use crate::container::Head;
use crate::finding::{Finding, Findings};
use crate::record::RecordBytes;
use crate::record_types::SessionUse;
use crate::stream::{
    Flow, RecordChunk, RecordCounts, RecordPlace, RecordRun, RecordSink, SinkContext,
};

/// When batches are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// One batch, at the end: the files of a directory have no rounds in common.
    Whole,
    /// One batch, at the end, of which all bytes are there. Compressed records change to [`Mode::Rounds`], because
    /// what they expand to need not be held all at once.
    WholeUnlessCompressed,
    /// At the ends of rounds. A record that comes after its batch was sent is a finding.
    Rounds,
    /// At the ends of rounds, in the hope that no record comes after its batch was sent. One that does changes to
    /// [`Mode::TooLate`], compressed records to [`Mode::Rounds`].
    Eager {
        /// The next batch is made of at least so many bytes of records.
        next_bytes: u64,
        /// No batch waits for more bytes.
        most_bytes: u64,
    },
    /// A record came after its batch was sent, so all batches are void and reading stops.
    TooLate,
}

impl Mode {
    /// Eager, before the first batch.
    pub(crate) fn eager(EagerBatches { first_bytes, most_bytes }: EagerBatches) -> Self {
        Self::Eager { next_bytes: first_bytes.min(most_bytes), most_bytes }
    }

    /// The mode after a compressed record.
    const fn with_compressed(self) -> Self {
        match self {
            Self::WholeUnlessCompressed | Self::Eager { .. } => Self::Rounds,
            Self::Whole | Self::Rounds | Self::TooLate => self,
        }
    }
}

/// How far the records have come in time.
#[derive(Debug, Default)]
struct RoundTimes {
    /// The latest time seen.
    latest: Timestamp,
    /// The latest time seen when the last round ended.
    round: Timestamp,
    /// Everything up to here was sent.
    sent: Timestamp,
}

/// Collects records and sends batches of them.
pub(crate) struct Gather {
    out: Outbox,
    options: SessionOptions,
    mode: Mode,
    waiting: Waiting,
    memory: Arc<Memory>,
    times: RoundTimes,
    /// Bytes of compressed records since the last batch.
    packed: u64,
    /// Before so many bytes wait, samples whose chains are to come are not looked at again.
    chains_wait: u64,
}

/// So many bytes out of compressed records may wait in any case...
const UNPACKED_WAITING: u64 = 24 << 20;
/// ...and so many more for each byte of those.
const UNPACKED_RATIO: u64 = 8;

impl Gather {
    pub(crate) fn new(
        out: Outbox,
        options: SessionOptions,
        mode: Mode,
        memory: Arc<Memory>,
    ) -> Self {
        let (waiting, times) = (Waiting::new(&memory), RoundTimes::default());
        Self { out, options, mode, waiting, memory, times, packed: 0, chains_wait: 0 }
    }

    /// Whether reading stopped because a record came after its batch was sent.
    pub(crate) fn is_too_late(&self) -> bool {
        self.mode == Mode::TooLate
    }

    /// Whether records that are no samples are kept.
    const fn keeps(&self, session_use: Option<SessionUse>) -> bool {
        match session_use {
            Some(SessionUse::MovesMaps | SessionUse::Kept) => true,
            Some(SessionUse::Switch) => self.options.switches,
            Some(
                SessionUse::Sample
                | SessionUse::Compressed
                | SessionUse::EndsRound
                | SessionUse::Counted,
            )
            | None => false,
        }
    }

    /// Notes the time of a record that is kept.
    #[inline]
    fn note_time(&mut self, found: &RecordBytes<'_>, time: Timestamp, findings: &mut Findings) {
        self.times.latest = self.times.latest.max(time);
        if time < self.times.sent {
            self.late_record(found, time, findings);
        }
    }

    /// A record came whose batch may have been sent. One without time comes before everything.
    fn late_record(&mut self, found: &RecordBytes<'_>, time: Timestamp, findings: &mut Findings) {
        let has_time = time != Timestamp(0);
        if matches!(self.mode, Mode::Eager { .. }) {
            let session_use = found.header.kind.session_use();
            if has_time || session_use == Some(SessionUse::MovesMaps) {
                self.mode = Mode::TooLate;
            }
        } else if has_time {
            findings.push(Finding::OutOfOrder { offset: found.position });
        }
    }

    fn end_round(&mut self, context: SinkContext<'_>) -> Flow {
        let complete = std::mem::replace(&mut self.times.round, self.times.latest);
        let enough = match self.mode {
            Mode::Whole | Mode::WholeUnlessCompressed | Mode::TooLate => return Flow::Continue,
            Mode::Eager { next_bytes, .. } => next_bytes,
            Mode::Rounds if self.times.sent == Timestamp(0) => {
                self.options.first_bytes.min(self.options.batch_bytes)
            }
            Mode::Rounds => self.options.batch_bytes,
        };
        if !self.out.has_sent_head() || self.waiting.bytes() < enough && !self.is_due(complete) {
            return Flow::Continue;
        }
        // Up to half of what may wait, samples wait for chains that are to come.
        let may_wait = self.waiting.bytes() < self.options.pending_bytes / 2;
        if may_wait && self.waiting.bytes() < self.chains_wait {
            return Flow::Continue;
        }
        let limit = if may_wait { self.waiting.complete_until(complete) } else { complete };
        if limit < complete {
            // That looks at all that waits, so it is done as often as that has grown by a part.
            self.chains_wait = self.waiting.bytes() + self.waiting.bytes() / 8;
        }
        self.send(Some(limit), context)
    }

    /// Whether a watched stream is complete for long enough beyond the last batch.
    fn is_due(&self, complete: Timestamp) -> bool {
        let beyond = complete.0.saturating_sub(self.times.sent.0);
        self.mode == Mode::Rounds && self.options.live.is_some_and(|live| beyond >= live.every)
    }

    /// How many bytes may wait for the end of their round. Those that came out of few bytes may not be many.
    fn pending_bytes(&self) -> u64 {
        let pending = self.options.pending_bytes;
        if self.packed == 0 {
            return pending;
        }
        pending.min(UNPACKED_WAITING.saturating_add(self.packed.saturating_mul(UNPACKED_RATIO)))
    }

    /// More is waiting than may: sends the older half.
    fn give_up_order(&mut self, offset: u64, context: SinkContext<'_>) -> Flow {
        context.findings.push(Finding::RoundsMissing { offset });
        self.send(Some(self.waiting.middle()), context)
    }

    /// Sends everything up to a time, or all.
    fn send(&mut self, limit: Option<Timestamp>, mut context: SinkContext<'_>) -> Flow {
        let Some(batch) = self.waiting.take(limit, &mut context) else { return Flow::Continue };
        self.packed = self.packed.min(1);
        self.times.sent = limit.unwrap_or(self.times.latest).max(self.times.sent);
        if let Mode::Eager { next_bytes, most_bytes } = &mut self.mode {
            *next_bytes = next_bytes.saturating_mul(2).min(*most_bytes);
        }
        let SinkContext { head, counts, findings } = context;
        self.out.send_head(head);
        let (counts, findings) = (counts.clone(), std::mem::take(findings));
        match self.out.send(ReadMessage::Batch { batch, counts, findings }) {
            Ok(()) => Flow::Continue,
            Err(_gone) => Flow::Stop,
        }
    }

    /// Sends all that is left.
    pub(crate) fn finish(&mut self, context: SinkContext<'_>) -> Flow {
        self.send(None, context)
    }

    /// Sends that all batches so far are void.
    pub(crate) fn send_disordered(&self) {
        // A receiver that is gone does not want to know.
        let _ = self.out.send(ReadMessage::Disordered);
    }

    /// Sends the end.
    pub(crate) fn send_end(&self, head: Arc<Head>, counts: RecordCounts, findings: Findings) {
        // A receiver that is gone does not want to know.
        let _ = self.out.send(ReadMessage::End { head, counts, findings });
    }
}

impl RecordSink for Gather {
    type Kept = UsualEntries;

    /// Where there is something to be said of records that come late, or order can be given up between any two, each is
    /// looked at by itself.
    fn takes_runs(&self) -> bool {
        match self.mode {
            Mode::Whole | Mode::WholeUnlessCompressed | Mode::Eager { .. } => true,
            Mode::Rounds | Mode::TooLate => false,
        }
    }

    fn run(&mut self, run: &RecordRun<UsualEntries>, _context: SinkContext<'_>) -> Flow {
        let kept = &run.kept;
        let sent = self.times.sent;
        self.times.latest = self.times.latest.max(kept.latest());
        let is_late = kept.earliest().is_some_and(|time| time < sent)
            || kept.has_timeless_record() && Timestamp(0) < sent;
        if is_late {
            // Of those modes only an eager one has sent anything.
            self.mode = Mode::TooLate;
            return Flow::Stop;
        }
        self.waiting.usual(kept, run.bytes());
        if self.memory.is_exceeded() { Flow::Stop } else { Flow::Continue }
    }

    fn chunk(&mut self, chunk: RecordChunk) {
        self.waiting.chunk(chunk);
    }

    fn record(
        &mut self,
        found: &RecordBytes<'_>,
        _place: RecordPlace,
        context: SinkContext<'_>,
    ) -> Flow {
        let SinkContext { head, counts, findings } = context;
        let (schema, kind) = (&head.schema, found.header.kind);
        let session_use = kind.session_use();
        if session_use == Some(SessionUse::Sample) {
            if let Some(entry) = index_sample(schema, found, counts, findings) {
                self.note_time(found, entry.time, findings);
                self.waiting.sample(schema, found, entry);
            }
        } else if let Some(time) = schema.usual_time(found) {
            self.note_time(found, time, findings);
            self.waiting.record(found, time);
        } else if self.keeps(session_use) {
            if let Some(decoded) = index_record(schema, found, counts, findings) {
                self.note_time(found, decoded.time, findings);
                self.waiting.decoded(found, &decoded);
            }
        } else if session_use == Some(SessionUse::Compressed) {
            self.mode = self.mode.with_compressed();
            self.packed += found.bytes.len() as u64;
        } else if session_use == Some(SessionUse::EndsRound) {
            return self.end_round(SinkContext { head, counts, findings });
        } else if !kind.is_known(schema.simpleperf) {
            findings.push(Finding::UnknownRecord { offset: found.position, kind });
        }
        match self.mode {
            Mode::TooLate => Flow::Stop,
            _ if self.memory.is_exceeded() => Flow::Stop,
            Mode::Rounds if self.waiting.bytes() >= self.pending_bytes() => {
                self.give_up_order(found.position, SinkContext { head, counts, findings })
            }
            _ => Flow::Continue,
        }
    }

    fn ready(&mut self, head: &Arc<Head>) {
        self.out.send_head(head);
    }
}

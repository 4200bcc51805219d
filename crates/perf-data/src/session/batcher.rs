//! Collection of records into batches. In a stream the recorder marks progress by `FINISHED_ROUND`.
//! When a round ends, all records up to the latest time observed before that round are complete.
//!
//! ```text
//!   a c b | b d c | e d f | ...      times; | ends a round
//!         0       c       d          complete up to, when the round ends
//! ```
//!
//! Source: `tools/perf/util/session.c`, `process_finished_round`.

use std::sync::Arc;

use address::Timestamp;
use budget::MemoryBudget;

use super::index::{index_record, index_sample};
use super::messages::{Outbox, ReadMessage};
use super::options::{EagerBatches, SessionOptions};
use super::pending::PendingRecords;
use super::usual_entries::UsualEntries;
use crate::container::Head;
use crate::finding::{Finding, Findings};
use crate::record::RecordBytes;
use crate::record_types::SessionUse;
use crate::stream::{
    Flow, RecordChunk, RecordCounts, RecordLocation, RecordRun, RecordSink, SinkContext,
};

/// Schedule of batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BatchMode {
    /// One batch at the end: the files of a directory do not share rounds.
    Whole,
    /// One batch at the end, with all bytes in memory. Compressed records change the mode to [`BatchMode::Rounds`], because
    /// their expanded bytes need not be held all at once.
    WholeUnlessCompressed,
    /// At the ends of rounds. A record that belongs into a batch already sent is a finding.
    Rounds,
    /// At the ends of rounds, assuming that no record belongs into a batch already sent. If one does, the mode becomes
    /// [`BatchMode::TooLate`]; compressed records change it to [`BatchMode::Rounds`].
    Eager {
        /// Bytes of records required before the next batch.
        next_bytes: u64,
        /// Upper bound of `next_bytes`.
        most_bytes: u64,
    },
    /// A record belongs into a batch already sent: all batches are void and reading stops.
    TooLate,
}

impl BatchMode {
    /// Eager mode before the first batch.
    pub(crate) fn eager(EagerBatches { first_bytes, most_bytes }: EagerBatches) -> Self {
        Self::Eager { next_bytes: first_bytes.min(most_bytes), most_bytes }
    }

    /// Returns the mode after a compressed record.
    const fn with_compressed(self) -> Self {
        match self {
            Self::WholeUnlessCompressed | Self::Eager { .. } => Self::Rounds,
            Self::Whole | Self::Rounds | Self::TooLate => self,
        }
    }
}

/// Progress of the records in time.
#[derive(Debug, Default)]
struct RoundTimes {
    /// Latest time observed.
    latest: Timestamp,
    /// Latest time observed when the last round ended.
    round: Timestamp,
    /// All records up to this time were sent.
    sent: Timestamp,
}

/// Collects records and sends them in batches.
pub(crate) struct Batcher {
    out: Outbox,
    options: SessionOptions,
    mode: BatchMode,
    pending: PendingRecords,
    memory: Arc<MemoryBudget>,
    times: RoundTimes,
    /// Bytes of compressed records since the last batch.
    packed: u64,
    /// Waiting bytes required before samples with missing chains are checked again.
    chains_wait: u64,
}

/// Bytes from compressed records that may wait regardless of the compression ratio.
const UNPACKED_WAITING: u64 = 24 << 20;
/// Additional waiting bytes allowed per compressed byte.
const UNPACKED_RATIO: u64 = 8;

impl Batcher {
    pub(crate) fn new(
        out: Outbox,
        options: SessionOptions,
        mode: BatchMode,
        memory: Arc<MemoryBudget>,
    ) -> Self {
        let (pending, times) = (PendingRecords::new(&memory), RoundTimes::default());
        Self { out, options, mode, pending, memory, times, packed: 0, chains_wait: 0 }
    }

    /// Returns true if reading stopped at a record that belongs into a batch already sent.
    pub(crate) fn is_too_late(&self) -> bool {
        self.mode == BatchMode::TooLate
    }

    /// Returns true if records of this use, other than samples, are collected.
    const fn collects(&self, session_use: Option<SessionUse>) -> bool {
        match session_use {
            Some(SessionUse::MovesMaps | SessionUse::Collected) => true,
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

    /// Notes the time of a collected record.
    #[inline]
    fn note_time(&mut self, found: &RecordBytes<'_>, time: Timestamp, findings: &mut Findings) {
        self.times.latest = self.times.latest.max(time);
        if time < self.times.sent {
            self.late_record(found, time, findings);
        }
    }

    /// Handles a record that may belong into a batch already sent. A record without time precedes everything.
    fn late_record(&mut self, found: &RecordBytes<'_>, time: Timestamp, findings: &mut Findings) {
        let has_time = time != Timestamp(0);
        if matches!(self.mode, BatchMode::Eager { .. }) {
            let session_use = found.header.kind.session_use();
            if has_time || session_use == Some(SessionUse::MovesMaps) {
                self.mode = BatchMode::TooLate;
            }
        } else if has_time {
            findings.push(Finding::OutOfOrder { offset: found.position });
        }
    }

    fn end_round(&mut self, context: SinkContext<'_>) -> Flow {
        let complete = std::mem::replace(&mut self.times.round, self.times.latest);
        let enough = match self.mode {
            BatchMode::Whole | BatchMode::WholeUnlessCompressed | BatchMode::TooLate => {
                return Flow::Continue;
            }
            BatchMode::Eager { next_bytes, .. } => next_bytes,
            BatchMode::Rounds if self.times.sent == Timestamp(0) => {
                self.options.first_bytes.min(self.options.batch_bytes)
            }
            BatchMode::Rounds => self.options.batch_bytes,
        };
        if !self.out.has_sent_head() || self.pending.bytes() < enough && !self.is_due(complete) {
            return Flow::Continue;
        }
        // Samples wait for missing chains only while less than half of the limit waits.
        let may_wait = self.pending.bytes() < self.options.pending_bytes / 2;
        if may_wait && self.pending.bytes() < self.chains_wait {
            return Flow::Continue;
        }
        let limit = if may_wait { self.pending.complete_until(complete) } else { complete };
        if limit < complete {
            // The check scans all waiting samples, so it is repeated only after they grow by an eighth.
            self.chains_wait = self.pending.bytes() + self.pending.bytes() / 8;
        }
        self.send(Some(limit), context)
    }

    /// Returns true if a live stream is complete for at least the batch interval after the last batch.
    fn is_due(&self, complete: Timestamp) -> bool {
        let beyond = complete.0.saturating_sub(self.times.sent.0);
        self.mode == BatchMode::Rounds && self.options.live.is_some_and(|live| beyond >= live.every)
    }

    /// Returns the limit of bytes that may wait for the end of their round. It is lower for highly compressed data.
    fn pending_bytes(&self) -> u64 {
        let pending = self.options.pending_bytes;
        if self.packed == 0 {
            return pending;
        }
        pending.min(UNPACKED_WAITING.saturating_add(self.packed.saturating_mul(UNPACKED_RATIO)))
    }

    /// Sends the older half, because the limit of waiting bytes is reached.
    fn abandon_order(&mut self, offset: u64, context: SinkContext<'_>) -> Flow {
        context.findings.push(Finding::RoundsMissing { offset });
        self.send(Some(self.pending.middle()), context)
    }

    /// Sends all records up to a time, or all.
    fn send(&mut self, limit: Option<Timestamp>, mut context: SinkContext<'_>) -> Flow {
        let Some(batch) = self.pending.take(limit, &mut context) else { return Flow::Continue };
        self.packed = self.packed.min(1);
        self.times.sent = limit.unwrap_or(self.times.latest).max(self.times.sent);
        if let BatchMode::Eager { next_bytes, most_bytes } = &mut self.mode {
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

    /// Sends all remaining records.
    pub(crate) fn finish(&mut self, context: SinkContext<'_>) -> Flow {
        self.send(None, context)
    }

    /// Reports that all batches so far are void.
    pub(crate) fn send_disordered(&self) {
        // A dropped receiver does not need the message.
        let _ = self.out.send(ReadMessage::Disordered);
    }

    /// Sends the end.
    pub(crate) fn send_end(&self, head: Arc<Head>, counts: RecordCounts, findings: Findings) {
        // A dropped receiver does not need the message.
        let _ = self.out.send(ReadMessage::End { head, counts, findings });
    }
}

impl RecordSink for Batcher {
    type Entries = UsualEntries;

    /// Modes that report late records, or that may abandon the order between any two, take each record individually.
    fn takes_runs(&self) -> bool {
        match self.mode {
            BatchMode::Whole | BatchMode::WholeUnlessCompressed | BatchMode::Eager { .. } => true,
            BatchMode::Rounds | BatchMode::TooLate => false,
        }
    }

    fn run(&mut self, run: &RecordRun<UsualEntries>, _context: SinkContext<'_>) -> Flow {
        let entries = &run.entries;
        let sent = self.times.sent;
        self.times.latest = self.times.latest.max(entries.latest());
        let is_late = entries.earliest().is_some_and(|time| time < sent)
            || entries.has_timeless_record() && Timestamp(0) < sent;
        if is_late {
            // Of the modes that take runs, only the eager one has sent batches before.
            self.mode = BatchMode::TooLate;
            return Flow::Stop;
        }
        self.pending.run(entries, run.bytes());
        if self.memory.is_exceeded() { Flow::Stop } else { Flow::Continue }
    }

    fn chunk(&mut self, chunk: RecordChunk) {
        self.pending.chunk(chunk);
    }

    fn record(
        &mut self,
        found: &RecordBytes<'_>,
        _location: RecordLocation,
        context: SinkContext<'_>,
    ) -> Flow {
        let SinkContext { head, counts, findings } = context;
        let (schema, kind) = (&head.schema, found.header.kind);
        let session_use = kind.session_use();
        if session_use == Some(SessionUse::Sample) {
            if let Some(entry) = index_sample(schema, found, counts, findings) {
                self.note_time(found, entry.time, findings);
                self.pending.sample(schema, found, entry);
            }
        } else if let Some(time) = schema.usual_time(found) {
            self.note_time(found, time, findings);
            self.pending.record(found, time);
        } else if self.collects(session_use) {
            if let Some(decoded) = index_record(schema, found, counts, findings) {
                self.note_time(found, decoded.time, findings);
                self.pending.decoded(found, &decoded);
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
            BatchMode::TooLate => Flow::Stop,
            _ if self.memory.is_exceeded() => Flow::Stop,
            BatchMode::Rounds if self.pending.bytes() >= self.pending_bytes() => {
                self.abandon_order(found.position, SinkContext { head, counts, findings })
            }
            _ => Flow::Continue,
        }
    }

    fn ready(&mut self, head: &Arc<Head>) {
        self.out.send_head(head);
    }
}

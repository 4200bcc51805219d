//! Records into windows. In a stream the recorder tells by `FINISHED_ROUND` up to when its records are complete: at
//! each round everything is that was seen before the round in front of it.
//!
//! ```text
//!   a c b | b d c | e d f | ...      times; | ends a round
//!         0       c       d          complete up to, when the round ends
//! ```
//!
//! Source: `tools/perf/util/session.c`, `process_finished_round`.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use address::Timestamp;

use super::chains::Chains;
use super::scan::{SampleEntry, index_record, index_sample, is_kept};
use super::window::{RecordEntry, Window};
use crate::container::Head;
use crate::finding::{Finding, Findings};
use crate::record::RecordKind;
use crate::session::{Message, SessionOptions};
use crate::stream::{Context, Flow, Found, OwnedPiece, Place, RecordCounts, Sink};

/// Collects records and sends windows of them.
pub(crate) struct Gather {
    out: SyncSender<Message>,
    options: SessionOptions,
    /// Whether windows are made as rounds end. Without it there is one, at the end.
    windowed: bool,
    /// Whether bytes can be dropped when their window is.
    streaming: bool,
    /// Whether the head was sent, which comes before all windows.
    told_head: bool,
    /// Whether windows are made in the hope that rounds keep their promise; the reading starts over if they do not.
    eager: bool,
    /// They did not.
    in_vain: bool,
    pieces: Vec<OwnedPiece>,
    /// The piece of the records that come, not yet in the list.
    current: Option<OwnedPiece>,
    samples: Vec<SampleEntry>,
    records: Vec<RecordEntry>,
    chains: Chains,
    /// Bytes of the records that wait.
    bytes: u64,
    /// The latest time seen.
    latest: Timestamp,
    /// The latest time seen when the last round ended.
    round: Timestamp,
    /// Everything up to here was sent.
    sent: Timestamp,
    /// An eager window is made behind so many bytes.
    eager_bytes: u64,
}

impl Gather {
    pub(crate) fn new(out: SyncSender<Message>, options: SessionOptions, streaming: bool) -> Self {
        Self {
            out,
            options,
            windowed: false,
            streaming,
            told_head: false,
            eager: false,
            in_vain: false,
            pieces: Vec::new(),
            current: None,
            samples: Vec::new(),
            records: Vec::new(),
            chains: Chains::default(),
            bytes: 0,
            latest: Timestamp(0),
            round: Timestamp(0),
            sent: Timestamp(0),
            eager_bytes: options.eager_first_bytes.min(options.eager_bytes),
        }
    }

    /// Makes windows from the start on.
    pub(crate) fn windowed(self) -> Self {
        Self { windowed: self.streaming, ..self }
    }

    /// Makes windows, and gives up at the first record that would have belonged into one that was sent.
    pub(crate) fn eager(self) -> Self {
        Self { windowed: true, eager: true, ..self }
    }

    /// Whether it gave up.
    pub(crate) const fn is_in_vain(&self) -> bool {
        self.in_vain
    }

    /// A record is kept, so its piece is.
    fn keep(&mut self, found: &Found<'_>, time: Timestamp, findings: &mut Findings) {
        let timeless = time == Timestamp(0);
        self.pieces.extend(self.current.take());
        self.bytes += found.bytes.len() as u64;
        self.latest = self.latest.max(time);
        if self.eager {
            // A record without time comes before everything.
            self.in_vain |= time < self.sent && (!timeless || moves_maps(found.header.kind));
        } else if time < self.sent && !timeless {
            findings.push(Finding::OutOfOrder { offset: found.position });
        }
    }

    fn end_round(&mut self, context: Context<'_>) -> Flow {
        let complete = std::mem::replace(&mut self.round, self.latest);
        let enough = match (self.eager, self.sent) {
            (true, _) => self.eager_bytes,
            (false, Timestamp(0)) => self.options.first_bytes.min(self.options.window_bytes),
            (false, _) => self.options.window_bytes,
        };
        if self.windowed && self.told_head && self.bytes >= enough {
            // Up to half of what may wait, samples wait for chains that are to come.
            let may_wait = self.bytes < self.options.pending_bytes / 2;
            let limit = if may_wait { self.chains.complete_until(complete) } else { complete };
            return self.send(Some(limit), context);
        }
        Flow::Continue
    }

    /// More is waiting than may: sends the older half.
    fn give_up_order(&mut self, offset: u64, context: Context<'_>) -> Flow {
        context.findings.push(Finding::RoundsMissing { offset });
        let mut times: Vec<_> = self.samples.iter().map(|sample| sample.time).collect();
        times.extend(self.records.iter().map(|record| record.time));
        let middle = times.len() / 2;
        let limit = *times.select_nth_unstable(middle).1;
        self.send(Some(limit), context)
    }

    /// Sends everything up to a time, or all.
    fn send(&mut self, limit: Option<Timestamp>, context: Context<'_>) -> Flow {
        let n_waiting = self.samples.len() + self.records.len();
        let mut samples = take_until(&mut self.samples, limit, |sample| sample.time);
        let mut records = take_until(&mut self.records, limit, |record| record.time);
        if samples.is_empty() && records.is_empty() {
            return Flow::Continue;
        }
        // Positions ascend, so sorting by time alone, stably, sorts by (time, position).
        if !samples.is_sorted_by_key(|sample| sample.time) {
            samples.sort_by_key(|sample| sample.time);
        }
        if !records.is_sorted_by_key(|record| record.time) {
            records.sort_by_key(|record| record.time);
        }
        let Context { head, counts, findings } = context;
        let chains = self.chains.join(&samples, limit, counts, findings);
        let left = (self.samples.len() + self.records.len()) as u64;
        self.bytes = self.bytes / n_waiting.max(1) as u64 * left;
        self.sent = limit.unwrap_or(self.latest).max(self.sent);
        self.eager_bytes = self.eager_bytes.saturating_mul(2).min(self.options.eager_bytes);
        let window = Window {
            head: Arc::clone(head),
            samples,
            records,
            pieces: self.pieces.clone(),
            chains,
            starts_over: false,
        };
        self.drop_pieces();
        if !self.told_head {
            self.ready(head);
        }
        let message =
            Message::Window { window, counts: counts.clone(), findings: std::mem::take(findings) };
        if self.out.send(message).is_err() { Flow::Stop } else { Flow::Continue }
    }

    /// Drops the pieces that nothing waits in.
    fn drop_pieces(&mut self) {
        let samples = self.samples.iter().map(|sample| sample.position);
        let records = self.records.iter().map(|record| record.position);
        let first = samples.chain(records).chain(self.chains.first_position()).min();
        // What comes next may still be in the last piece.
        let last = self.pieces.len().saturating_sub(1);
        let used = first.map_or(last, |first| {
            self.pieces.partition_point(|piece| piece.start <= first).saturating_sub(1)
        });
        self.pieces.drain(..used.min(last));
    }

    /// Sends all that is left.
    pub(crate) fn finish(&mut self, context: Context<'_>) -> Flow {
        self.send(None, context)
    }
}

impl Sink for Gather {
    fn piece(&mut self, piece: OwnedPiece) {
        self.current = Some(piece);
    }

    fn record(&mut self, found: &Found<'_>, _place: Place, context: Context<'_>) -> Flow {
        let Context { head, counts, findings } = context;
        let (schema, kind) = (&head.schema, found.header.kind);
        if kind == RecordKind::SAMPLE {
            if let Some(entry) = index_sample(schema, found, counts, findings) {
                self.keep(found, entry.time, findings);
                self.chains.sample(schema, found, &entry);
                self.samples.push(entry);
            }
        } else if let Some(time) = schema.map_time(found) {
            self.keep(found, time, findings);
            self.records.push(RecordEntry { time, position: found.position });
        } else if is_kept(kind) || self.options.switches && is_switch(kind) {
            if let Some(decoded) = index_record(schema, found, counts, findings) {
                self.keep(found, decoded.time, findings);
                self.chains.record(&decoded);
                self.records.push(RecordEntry { time: decoded.time, position: found.position });
            }
        } else if matches!(kind, RecordKind::COMPRESSED | RecordKind::COMPRESSED2) {
            self.windowed |= self.streaming;
            self.eager = false;
        } else if kind == RecordKind::FINISHED_ROUND {
            return self.end_round(Context { head, counts, findings });
        } else if !kind.is_known(schema.simpleperf) {
            findings.push(Finding::UnknownRecord { offset: found.position, kind });
        }
        if self.in_vain {
            return Flow::Stop;
        }
        if self.windowed && !self.eager && self.bytes >= self.options.pending_bytes {
            return self.give_up_order(found.position, Context { head, counts, findings });
        }
        Flow::Continue
    }

    fn ready(&mut self, head: &Arc<Head>) {
        self.told_head = true;
        // A receiver that is gone is noticed at the next window.
        let _ = self.out.send(Message::Head(Arc::clone(head)));
    }
}

impl Gather {
    /// Tells the end.
    pub(crate) fn tell_end(&self, head: Arc<Head>, counts: RecordCounts, findings: Findings) {
        // A receiver that is gone does not want to know.
        let _ = self.out.send(Message::End { head, counts, findings });
    }
}

/// Takes out the entries up to a time, keeping both parts in order.
fn take_until<T: Copy>(
    entries: &mut Vec<T>,
    limit: Option<Timestamp>,
    time: impl Fn(&T) -> Timestamp,
) -> Vec<T> {
    let Some(limit) = limit else { return std::mem::take(entries) };
    let (taken, left) = entries.iter().partition(|entry| time(entry) <= limit);
    *entries = left;
    taken
}

/// Whether records of the type tell of context switches, which most replays do not need.
const fn is_switch(kind: RecordKind) -> bool {
    matches!(kind, RecordKind::SWITCH | RecordKind::SWITCH_CPU_WIDE)
}

/// Whether samples may look different for a record of that kind in front of them.
const fn moves_maps(kind: RecordKind) -> bool {
    use RecordKind as K;
    matches!(kind, K::MMAP | K::MMAP2 | K::COMM | K::FORK | K::EXIT | K::KSYMBOL)
}

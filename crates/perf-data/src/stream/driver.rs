//! Reader for the records of an opened recording in file order. It expands compressed records, joins split ones,
//! updates the head from records about the recording, and passes each record to a sink.
//!
//! Positions order records as they came and locate their bytes. In a file without compression they are file offsets.
//! Otherwise the expanded bytes of a record get a separate range after it, and all later positions
//! increase by its length.

use std::sync::Arc;

use budget::{Budget, HeldMemory};

use super::counts::RecordCounts;
use super::expander::{ExpandFault, Expander, PackedChunk, UnpackMeasure};
use super::feed::{Feed, FeedBlock};
use super::head_update::update_head;
use super::runs::{Runs, ScanOptions};
use super::sink::{Flow, RecordChunk, RecordLocation, RecordSink, SinkContext};
use super::splits::Splits;
use super::walker::{Following, RecordWalker};
use crate::bytes::FieldReader;
use crate::container::{Feature, Head, change};
use crate::finding::{Finding, Findings};
use crate::record::{HeaderRules, RecordBytes, UserRecord};
use crate::record_header::{HEADER_LEN, RecordKind};
use crate::shared_bytes::SharedBytes;

/// Bytes required after damage in a stream before it is examined.
const LOOKAHEAD: usize = 256 << 10;

/// State of reading one recording.
pub(crate) struct Driver<S> {
    pub(crate) head: Arc<Head>,
    pub(crate) counts: RecordCounts,
    pub(crate) findings: Findings,
    pub(crate) sink: S,
    expansion_limit: usize,
    scan: Option<ScanOptions>,
    /// Totals of the expanded records.
    measure: UnpackMeasure,
    /// Difference between positions and offsets in the current feed.
    shift: u64,
    is_ready: bool,
    /// Index of the current feed.
    file: u32,
    /// Memory count of the blocks of records.
    held: HeldMemory,
}

impl<S: RecordSink> Driver<S> {
    pub(crate) fn new(head: Arc<Head>, expansion_limit: usize, budget: Budget, sink: S) -> Self {
        Self {
            head,
            counts: RecordCounts::default(),
            findings: Findings::default(),
            sink,
            expansion_limit,
            scan: None,
            measure: UnpackMeasure::new(budget),
            shift: 0,
            is_ready: false,
            file: 0,
            held: HeldMemory::UNCOUNTED,
        }
    }

    /// Counts the memory of blocks in `held`.
    pub(crate) fn held_as(self, held: HeldMemory) -> Self {
        Self { held, ..self }
    }

    /// Sets the options of the parallel scan.
    pub(crate) fn scan(self, scan: Option<ScanOptions>) -> Self {
        Self { scan, ..self }
    }

    /// Reads all feeds, each of them a separate sequence of records.
    pub(crate) fn run(&mut self, feeds: Vec<Feed>) -> Flow {
        if !self.head.events().is_empty() && !self.head.is_pipe() {
            self.become_ready();
        }
        for mut feed in feeds {
            if self.run_feed(&mut feed) == Flow::Stop {
                return Flow::Stop;
            }
            self.file += 1;
        }
        self.become_ready();
        self.counts.losses.finish(&self.head.schema.identity);
        Flow::Continue
    }

    fn become_ready(&mut self) {
        if self.head.is_stale() {
            change(&mut self.head).refresh(&mut self.findings);
        }
        if !std::mem::replace(&mut self.is_ready, true) {
            self.sink.ready(&self.head);
        }
    }

    fn run_feed(&mut self, feed: &mut Feed) -> Flow {
        let rules = self.head.schema.header_rules();
        let mut walker = RecordWalker::new(rules);
        let mut inner = ExpandedStream {
            expander: Expander::new(self.expansion_limit),
            walker: RecordWalker::new(rules),
            splits: Splits::default(),
            runs: Runs::new(self.scan),
        };
        let mut carry: Option<SharedBytes> = None;
        let mut end = 0;
        while let Some(block) =
            feed.next_block(carry.as_deref().unwrap_or_default(), &mut self.findings)
        {
            let block = FeedBlock { bytes: block.bytes.held_as(&self.held), ..block };
            walker.offset = 0;
            end = block.offset + block.bytes.len() as u64;
            if self.walk_block(&block, &mut walker, &mut inner) == Flow::Stop {
                return Flow::Stop;
            }
            carry = Some(block.bytes.slice(walker.offset..usize::MAX));
        }
        if walker.owed() > 0 {
            self.findings
                .push(Finding::PayloadTruncated { offset: end + self.shift, size: walker.owed() });
        }
        let tail = inner.expander.waiting().len() as u64;
        if tail > 0 && !inner.expander.is_broken() {
            self.findings.push(Finding::PartialRecord { offset: end + self.shift, len: tail });
            self.counts.skipped_bytes += tail;
        }
        self.counts.skipped_bytes += walker.skipped + inner.walker.skipped;
        // Offsets of the next feed start at 0 again.
        self.shift += end;
        Flow::Continue
    }

    fn walk_block(
        &mut self,
        block: &FeedBlock,
        walker: &mut RecordWalker,
        inner: &mut ExpandedStream<S::Entries>,
    ) -> Flow {
        let following = if block.last { Following::End } else { Following::More(LOOKAHEAD) };
        let raw = |shift: u64, from: usize| RecordChunk {
            start: block.offset + shift + from as u64,
            bytes: block.bytes.slice(from..usize::MAX),
        };
        self.sink.chunk(raw(self.shift, 0));
        let bytes: &[u8] = &block.bytes;
        loop {
            if self.walk_usual(block, walker, inner) == Flow::Stop {
                return Flow::Stop;
            }
            let base = block.offset + self.shift;
            let Some(found) = walker.next(bytes, base, following, &mut self.findings) else {
                return Flow::Continue;
            };
            self.update_tracing(walker);
            let offset = found.position - self.shift;
            let location = RecordLocation { file: self.file, offset, inside: None };
            if self.deliver(&found, location) == Flow::Stop {
                return Flow::Stop;
            }
            let shift = self.shift;
            if matches!(found.header.kind, RecordKind::COMPRESSED | RecordKind::COMPRESSED2) {
                if self.expand(&found, offset, inner) == Flow::Stop {
                    return Flow::Stop;
                }
            } else if self.head.is_simpleperf()
                && let Some(joined) = inner.splits.take_in(&found)
            {
                let outer = OuterRecord { found: &found, offset, before: 0 };
                let walker = &mut RecordWalker::new(inner.rules());
                if self.walk_inner(&joined, outer, walker, None).1 == Flow::Stop {
                    return Flow::Stop;
                }
            }
            if shift != self.shift {
                self.sink.chunk(raw(self.shift, walker.offset));
            }
        }
    }

    /// Passes usual records to the sink, up to the next record that is of another kind or describes the recording.
    /// Nearly all records are usual.
    fn walk_usual(
        &mut self,
        block: &FeedBlock,
        walker: &mut RecordWalker,
        inner: &mut ExpandedStream<S::Entries>,
    ) -> Flow {
        if !self.is_ready || self.head.is_stale() {
            return Flow::Continue;
        }
        if self.sink.takes_runs() {
            return self.walk_runs(block, walker, inner);
        }
        let Self { head, counts, findings, sink, shift, file, .. } = self;
        let bytes: &[u8] = &block.bytes;
        while let Some(found) = walker.next_usual(bytes, block.offset + *shift) {
            counts.add(found.header.kind, found.bytes.len() as u64);
            let offset = found.position - *shift;
            let location = RecordLocation { file: *file, offset, inside: None };
            let context = SinkContext { head, counts, findings };
            if sink.record(&found, location, context) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Passes usual records to the sink run by run.
    fn walk_runs(
        &mut self,
        block: &FeedBlock,
        walker: &mut RecordWalker,
        inner: &mut ExpandedStream<S::Entries>,
    ) -> Flow {
        let mut is_stopped = !walker.is_between();
        while !is_stopped {
            let run = inner.runs.next(block, self.shift, walker.offset, &self.head);
            is_stopped = run.is_stopped || run.is_empty();
            walker.offset = run.end;
            let Self { head, counts, findings, sink, .. } = self;
            run.counts().for_each(|(kind, count)| counts.add_all(kind, count));
            if !run.is_empty()
                && sink.run(run, SinkContext { head, counts, findings }) == Flow::Stop
            {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }

    /// Expands a compressed record and passes on the records that are complete now.
    fn expand(
        &mut self,
        found: &RecordBytes<'_>,
        offset: u64,
        inner: &mut ExpandedStream<S::Entries>,
    ) -> Flow {
        let body = found.bytes.get(HEADER_LEN..).unwrap_or_default();
        let body = &mut FieldReader::new(body, self.head.endian());
        let Some(UserRecord::Compressed(chunk)) = UserRecord::decode(found.header, body) else {
            self.findings.push(Finding::ShortRecord { offset, kind: found.header.kind });
            return Flow::Continue;
        };
        if inner.expander.is_broken() {
            self.findings.push(Finding::CompressedRecord { offset });
            return Flow::Continue;
        }
        self.measure.packed(chunk.len());
        let mut chunk = PackedChunk::new(chunk);
        let mut before = 0;
        loop {
            let expanded = inner.expander.expand(&mut chunk, &mut self.measure);
            if let Err(fault) = expanded {
                self.note_fault(fault, offset);
            }
            if inner.has_record() {
                let bytes = SharedBytes::from(inner.expander.take()).held_as(&self.held);
                let location = OuterRecord { found, offset, before };
                let (tail, flow) = self.walk_expanded(&bytes, location, inner);
                before += (bytes.len() - tail.len()) as u64;
                inner.expander.keep(&tail);
                if flow == Flow::Stop {
                    return flow;
                }
            }
            if expanded.is_err() || chunk.is_done() || inner.expander.is_broken() {
                return Flow::Continue;
            }
        }
    }

    /// Reports that the stream of a compressed record cannot be read further.
    fn note_fault(&mut self, fault: ExpandFault, offset: u64) {
        self.findings.push(match fault {
            ExpandFault::Damaged => Finding::BadCompression { offset },
            ExpandFault::TooLarge => {
                let limit = self.expansion_limit as u64;
                Finding::ExpansionTooLarge { offset, limit }
            }
            ExpandFault::Exhausted(exhausted) => Finding::LimitReached { offset, exhausted },
        });
    }

    /// Passes on the records of the expanded bytes of a compressed record; returns the remaining bytes.
    fn walk_expanded(
        &mut self,
        bytes: &SharedBytes,
        outer: OuterRecord<'_, '_>,
        inner: &mut ExpandedStream<S::Entries>,
    ) -> (SharedBytes, Flow) {
        let ExpandedStream { walker, expander, .. } = inner;
        self.walk_inner(bytes, outer, walker, Some(expander))
    }

    /// Passes on the records of an expanded block; returns its remaining bytes.
    fn walk_inner(
        &mut self,
        bytes: &SharedBytes,
        outer: OuterRecord<'_, '_>,
        walker: &mut RecordWalker,
        mut expander: Option<&mut Expander>,
    ) -> (SharedBytes, Flow) {
        let OuterRecord { found, offset, before } = outer;
        let start = offset + self.shift + found.bytes.len() as u64 + found.payload;
        self.sink.chunk(RecordChunk { start, bytes: bytes.clone() });
        walker.offset = 0;
        let mut flow = Flow::Continue;
        while flow == Flow::Continue
            && let Some(found) = walker.next(bytes, start, Following::More(0), &mut self.findings)
        {
            if let Some(expander) = &mut expander
                && let Err(exhausted) = self.measure.record()
            {
                self.findings.push(Finding::LimitReached { offset, exhausted });
                expander.abort();
                walker.offset = bytes.len();
                break;
            }
            let inside = Some(before + (found.position - start));
            let location = RecordLocation { file: self.file, offset, inside };
            flow = self.deliver(&found, location);
        }
        self.shift += bytes.len() as u64;
        (bytes.slice(walker.offset..usize::MAX), flow)
    }

    fn deliver(&mut self, found: &RecordBytes<'_>, location: RecordLocation) -> Flow {
        let kind = found.header.kind;
        self.counts.add(kind, found.bytes.len() as u64 + found.payload);
        if kind.0 < RecordKind::FIRST_USER {
            if !self.is_ready || self.head.is_stale() {
                self.become_ready_unless_empty();
            }
        } else {
            update_head(&mut self.head, found, &mut self.findings);
            if matches!(
                kind,
                RecordKind::FINISHED_ROUND | RecordKind::COMPRESSED | RecordKind::COMPRESSED2
            ) {
                self.become_ready_unless_empty();
            }
        }
        let Self { head, counts, findings, sink, .. } = self;
        sink.record(found, location, SinkContext { head, counts, findings })
    }

    /// Adds the tracing data of a stream, which follow a record without being part of it.
    fn update_tracing(&mut self, walker: &mut RecordWalker) {
        if let Some(payload) = walker.take_tracing() {
            // Unparsable data is treated as absent.
            let bit = Feature::TracingData.bit();
            let _ = change(&mut self.head).add_feature(bit.into(), &payload);
        }
    }

    fn become_ready_unless_empty(&mut self) {
        if !self.head.events().is_empty() {
            self.become_ready();
        }
    }
}

/// A record that contains others.
#[derive(Clone, Copy)]
struct OuterRecord<'r, 'd> {
    found: &'r RecordBytes<'d>,
    /// Offset in its file.
    offset: u64,
    /// Length of the bytes expanded from it earlier.
    before: u64,
}

/// State for one feed: for records inside of records, and for runs of usual records.
struct ExpandedStream<K> {
    expander: Expander,
    walker: RecordWalker,
    splits: Splits,
    /// Runs of usual records.
    runs: Runs<K>,
}

impl<K> ExpandedStream<K> {
    fn rules(&self) -> HeaderRules {
        self.walker.rules()
    }

    /// Returns true if the expanded bytes start with a complete record, or one that is certainly damaged.
    fn has_record(&self) -> bool {
        let waiting = self.expander.waiting();
        let rules = self.rules();
        self.walker.owed() > 0
            || rules.read(waiting).is_some_and(|header| {
                header.size as usize <= waiting.len() || !rules.may_be_truncated(header)
            })
    }
}

//! Runs of records that other threads find ahead of the driver, chunk by chunk.
//!
//! Where a record starts can be known for sure only by going through all in front of it. So a thread begins a chunk at the
//! first place where many headers in a row are plausible, and the driver takes a run only where the records before it end
//! exactly where it starts. What was found from another place, for instance in the copy of a stack that looks like
//! records, is never taken, and the driver goes through those bytes itself.
//!
//! ```text
//!   chunk 0               | chunk 1               | chunk 2
//!   run . run . . run ----|---> run . run --------|-> ? run      taken where it starts where the last one ended
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::run::{KeptRecords, RecordRun, RunPlace};
use super::runs::ScanAhead;
use crate::container::Head;
use crate::record::HeaderRules;
use crate::record_header::HEADER_LEN;
use crate::shared_bytes::SharedBytes;

/// So many plausible headers in a row make a place to begin a chunk at.
const HEADERS: usize = 32;
/// So many headers are looked at to find one; the copy of a stack has up to 8,192 places.
const LOOKS: usize = 1 << 15;
/// So many runs of a chunk are found at most: what is found must not take much more than the chunk.
const MOST_RUNS: usize = 1 << 12;

/// The threads that find runs ahead, and what they found.
pub(crate) struct RunsAhead<K> {
    head: Arc<Head>,
    /// The position of the block's first byte.
    base: u64,
    chunks: Chunks,
    /// Of each thread what it finds, chunk by chunk; threads take turns.
    found: Vec<Receiver<Vec<RecordRun<K>>>>,
    /// The next chunk whose runs are to be taken.
    next_chunk: usize,
    /// Runs of the chunk before that.
    runs: VecDeque<RecordRun<K>>,
}

/// How a block is divided.
#[derive(Clone, Copy)]
struct Chunks {
    /// Where the first one starts.
    start: usize,
    len: usize,
    /// Bytes of the block.
    end: usize,
}

impl Chunks {
    /// Where a chunk starts; the end of the block where there is none.
    fn start(self, chunk: usize) -> usize {
        chunk.saturating_mul(self.len).saturating_add(self.start).min(self.end)
    }
}

/// What comes next.
pub(crate) enum NextRun<K> {
    /// A run that starts at the place that was asked for.
    Run(RecordRun<K>),
    /// None is there; the next one may start here.
    NoneBefore(usize),
}

impl<K: KeptRecords> RunsAhead<K> {
    /// Starts so many threads, for the records of a block from an offset on, at which a record starts. The first byte of
    /// the block has the position `base`.
    pub(crate) fn start(
        block: &SharedBytes,
        base: u64,
        start: usize,
        ScanAhead { threads, chunk_bytes }: ScanAhead,
        head: &Arc<Head>,
    ) -> Self {
        let chunks = Chunks { start, len: chunk_bytes.max(HEADER_LEN), end: block.len() };
        let spawn = |first: usize| {
            // One chunk waits, and one is finished.
            let (out, found) = sync_channel(1);
            let scanner = Scanner { block: block.clone(), base, chunks, head: Arc::clone(head) };
            std::thread::spawn(move || scanner.scan(first, threads, &out));
            found
        };
        let found = (0..threads).map(spawn).collect();
        Self { head: Arc::clone(head), base, chunks, found, next_chunk: 0, runs: VecDeque::new() }
    }

    /// Whether runs are found with what is known of the recording now, and their positions are those that records have
    /// now.
    pub(crate) fn is_of(&self, head: &Arc<Head>, base: u64) -> bool {
        Arc::ptr_eq(&self.head, head) && self.base == base
    }

    /// The run that starts at an offset of the block, which is never less than the one before.
    pub(crate) fn next(&mut self, offset: usize) -> NextRun<K> {
        loop {
            while self.runs.front().is_some_and(|run| run.start < offset) {
                self.runs.pop_front();
            }
            let next = self.runs.front().map(|run| run.start);
            if next == Some(offset)
                && let Some(run) = self.runs.pop_front()
            {
                return NextRun::Run(run);
            }
            let next = next.unwrap_or_else(|| self.chunks.start(self.next_chunk));
            if next > offset || next >= self.chunks.end {
                return NextRun::NoneBefore(next.max(offset + 1));
            }
            let thread = self.found.get(self.next_chunk % self.found.len().max(1));
            // A thread that is gone finds nothing.
            self.runs = thread.and_then(|it| it.recv().ok()).unwrap_or_default().into();
            self.next_chunk += 1;
        }
    }
}

/// What a thread finds runs in.
struct Scanner {
    block: SharedBytes,
    base: u64,
    chunks: Chunks,
    head: Arc<Head>,
}

impl Scanner {
    /// Finds the runs of each `step`th chunk, until nobody wants them any more.
    fn scan<K: KeptRecords>(&self, first: usize, step: usize, out: &SyncSender<Vec<RecordRun<K>>>) {
        let chunks = (first..).step_by(step);
        for chunk in chunks.take_while(|chunk| self.chunks.start(*chunk) < self.chunks.end) {
            if out.send(self.runs(chunk)).is_err() {
                return;
            }
        }
    }

    /// The runs of a chunk; none where it is not found where one of its records starts.
    fn runs<K: KeptRecords>(&self, chunk: usize) -> Vec<RecordRun<K>> {
        let (start, until) = (self.chunks.start(chunk), self.chunks.start(chunk + 1));
        let (block, schema) = (&*self.block, &self.head.schema);
        let rules = schema.header_rules();
        let start = if chunk == 0 { Some(start) } else { record_start(rules, block, start..until) };
        let mut runs = Vec::new();
        let mut next = start;
        while let Some(start) = next.filter(|start| *start < until && runs.len() < MOST_RUNS) {
            let place = RunPlace { block, base: self.base, start, until };
            let mut run = RecordRun::default();
            run.find(place, rules, schema);
            next = if run.is_stopped { after(rules, block, run.end) } else { None };
            if !run.is_empty() {
                runs.push(run);
            }
        }
        runs
    }
}

/// Where the record after the one at an offset starts, if it is plain where that is.
fn after(rules: HeaderRules, block: &[u8], offset: usize) -> Option<usize> {
    let rest = block.get(offset..)?;
    let len = rules.plausible_len(rest)?;
    Some(offset + len)
}

/// The first place in a part of a block from where on many plausible headers follow each other.
fn record_start(rules: HeaderRules, block: &[u8], part: std::ops::Range<usize>) -> Option<usize> {
    let mut looks = 0;
    // Records are padded to eight bytes, counted from the first one, but for few that stand at the begin.
    for start in part.step_by(HEADER_LEN) {
        let (mut next, mut headers) = (start, 0);
        while headers < HEADERS && next < block.len() {
            looks += 1;
            let Some(len) = after(rules, block, next) else { break };
            (next, headers) = (len, headers + 1);
        }
        if headers == HEADERS || headers > 0 && next == block.len() {
            return Some(start);
        }
        if looks > LOOKS {
            return None;
        }
    }
    None
}

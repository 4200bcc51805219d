//! Parallel scan of a block: other threads find runs of records chunk by chunk, in advance of the driver.
//!
//! The start of a record is certain only after all records before it were parsed. A thread therefore starts a chunk at
//! the first position with many plausible headers in sequence.
//! The driver uses a run only if the preceding record ends exactly at its start.
//! Runs from a wrong start, for instance in a stack copy that resembles records, are never
//! used; the driver then parses those bytes itself.
//!
//! ```text
//!   chunk 0               | chunk 1               | chunk 2
//!   run . run . . run ----|---> run . run --------|-> ? run      used if it starts at the end of the last one
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::run::{RecordRun, RunEntries, RunRange};
use super::runs::ScanOptions;
use crate::container::Head;
use crate::record::HeaderRules;
use crate::record_header::HEADER_LEN;
use crate::shared_bytes::SharedBytes;

/// Plausible headers in sequence that are required at the start of a chunk.
const HEADERS: usize = 32;
/// Headers inspected to find such a start; the copy of a stack has up to 8,192 candidate positions.
const MAX_PROBES: usize = 1 << 15;
/// Maximum number of runs per chunk, so that the result takes little more memory than the chunk.
const MOST_RUNS: usize = 1 << 12;

/// Threads that find runs in advance, and their results.
pub(crate) struct ParallelScan<K> {
    head: Arc<Head>,
    /// The position of the block's first byte.
    base: u64,
    chunks: Chunks,
    /// Results of each thread, chunk by chunk; chunks are assigned round-robin.
    found: Vec<Receiver<Vec<RecordRun<K>>>>,
    /// Next chunk of runs to take.
    next_chunk: usize,
    /// Remaining runs of the previous chunk.
    runs: VecDeque<RecordRun<K>>,
}

/// Division of a block into chunks.
#[derive(Clone, Copy)]
struct Chunks {
    /// Start of the first chunk.
    start: usize,
    len: usize,
    /// Length of the block, in bytes.
    end: usize,
}

impl Chunks {
    /// Returns the start of a chunk; the end of the block if there is no such chunk.
    fn start(self, chunk: usize) -> usize {
        chunk.saturating_mul(self.len).saturating_add(self.start).min(self.end)
    }
}

/// Result of [`ParallelScan::next`].
pub(crate) enum NextRun<K> {
    /// A run that starts at the requested offset.
    Run(RecordRun<K>),
    /// No run starts there; the next one may start at this offset.
    NoneBefore(usize),
}

impl<K: RunEntries> ParallelScan<K> {
    /// Starts the scanning threads for the records of a block from `start` on, which must be the start of a record.
    /// `base` is the position of the block's first byte.
    pub(crate) fn start(
        block: &SharedBytes,
        base: u64,
        start: usize,
        ScanOptions { threads, chunk_bytes }: ScanOptions,
        head: &Arc<Head>,
    ) -> Self {
        let chunks = Chunks { start, len: chunk_bytes.max(HEADER_LEN), end: block.len() };
        let spawn = |first: usize| {
            // Each thread has one chunk in the channel and one completed.
            let (out, found) = sync_channel(1);
            let scanner = Scanner { block: block.clone(), base, chunks, head: Arc::clone(head) };
            std::thread::spawn(move || scanner.scan(first, threads, &out));
            found
        };
        let found = (0..threads).map(spawn).collect();
        Self { head: Arc::clone(head), base, chunks, found, next_chunk: 0, runs: VecDeque::new() }
    }

    /// Returns true if the runs were found with the current head and have valid positions.
    pub(crate) fn is_of(&self, head: &Arc<Head>, base: u64) -> bool {
        Arc::ptr_eq(&self.head, head) && self.base == base
    }

    /// Returns the run that starts at an offset of the block. Offsets must not decrease from call to call.
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
            // A thread that ended has no more runs.
            self.runs = thread.and_then(|it| it.recv().ok()).unwrap_or_default().into();
            self.next_chunk += 1;
        }
    }
}

/// Input of a scanning thread.
struct Scanner {
    block: SharedBytes,
    base: u64,
    chunks: Chunks,
    head: Arc<Head>,
}

impl Scanner {
    /// Sends the runs of each `step`th chunk until the receiver is dropped.
    fn scan<K: RunEntries>(&self, first: usize, step: usize, out: &SyncSender<Vec<RecordRun<K>>>) {
        let chunks = (first..).step_by(step);
        for chunk in chunks.take_while(|chunk| self.chunks.start(*chunk) < self.chunks.end) {
            if out.send(self.runs(chunk)).is_err() {
                return;
            }
        }
    }

    /// Returns the runs of a chunk; empty if no start of a record was found in it.
    fn runs<K: RunEntries>(&self, chunk: usize) -> Vec<RecordRun<K>> {
        let (start, until) = (self.chunks.start(chunk), self.chunks.start(chunk + 1));
        let (block, schema) = (&*self.block, &self.head.schema);
        let rules = schema.header_rules();
        let start = if chunk == 0 { Some(start) } else { record_start(rules, block, start..until) };
        let mut runs = Vec::new();
        let mut next = start;
        while let Some(start) = next.filter(|start| *start < until && runs.len() < MOST_RUNS) {
            let range = RunRange { block, base: self.base, start, until };
            let mut run = RecordRun::default();
            run.find(range, rules, schema);
            next = if run.is_stopped { after(rules, block, run.end) } else { None };
            if !run.is_empty() {
                runs.push(run);
            }
        }
        runs
    }
}

/// Returns the start of the record after the one at an offset, if its header is plausible.
fn after(rules: HeaderRules, block: &[u8], offset: usize) -> Option<usize> {
    let rest = block.get(offset..)?;
    let len = rules.plausible_len(rest)?;
    Some(offset + len)
}

/// Returns the first offset in a part of a block that starts a sequence of plausible headers.
fn record_start(rules: HeaderRules, block: &[u8], part: std::ops::Range<usize>) -> Option<usize> {
    let mut probes = 0;
    // Records are padded to eight bytes, counted from the first one, except for a few at the start.
    for start in part.step_by(HEADER_LEN) {
        let (mut next, mut headers) = (start, 0);
        while headers < HEADERS && next < block.len() {
            probes += 1;
            let Some(len) = after(rules, block, next) else { break };
            (next, headers) = (len, headers + 1);
        }
        if headers == HEADERS || headers > 0 && next == block.len() {
            return Some(start);
        }
        if probes > MAX_PROBES {
            return None;
        }
    }
    None
}

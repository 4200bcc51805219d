//! Runs of usual records in a block, in order, found by this thread or in advance by others.

use std::sync::Arc;

use super::feed::FeedBlock;
use super::parallel_scan::{NextRun, ParallelScan};
use super::run::{RecordRun, RunEntries, RunRange};
use crate::container::Head;

/// Maximum bytes of a run, after which the sink can stop reading.
const RUN: usize = 1 << 20;
/// Minimum number of chunks for a parallel scan.
const LEAST_CHUNKS: usize = 4;

/// Parallel scan for the usual records of a plain file. The result of reading does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanOptions {
    /// Number of threads, in addition to the reading one.
    pub threads: usize,
    /// Bytes that a thread scans at a time; each is up to two such chunks in advance.
    pub chunk_bytes: usize,
}

/// Source of the runs of a feed.
pub(crate) struct Runs<K> {
    /// Scan that may be started, once.
    to_start: Option<ScanOptions>,
    scan: Option<ParallelScan<K>>,
    /// The last run returned.
    run: RecordRun<K>,
}

impl<K: RunEntries> Runs<K> {
    pub(crate) fn new(options: Option<ScanOptions>) -> Self {
        let to_start = options.filter(|options| options.threads > 0);
        Self { to_start, scan: None, run: RecordRun::default() }
    }

    /// Returns the run that starts at an offset of a block, with positions increased by `shift`. It may be empty.
    pub(crate) fn next(
        &mut self,
        block: &FeedBlock,
        shift: u64,
        offset: usize,
        head: &Arc<Head>,
    ) -> &RecordRun<K> {
        let base = block.offset + shift;
        self.start(block, base, offset, head);
        // Results found with an outdated head or other positions are void.
        self.scan.take_if(|scan| !scan.is_of(head, base));
        let until = match self.scan.as_mut().map(|scan| scan.next(offset)) {
            Some(NextRun::Run(found)) => {
                self.run = found;
                return &self.run;
            }
            Some(NextRun::NoneBefore(until)) => until,
            None => usize::MAX,
        };
        let until = until.min(offset.saturating_add(RUN));
        let range = RunRange { block: &block.bytes, base, start: offset, until };
        self.run.find(range, head.schema.header_rules(), &head.schema);
        &self.run
    }

    /// Starts the threads if all bytes of the feed are in memory and numerous.
    /// They start after its first chunk, because records about the recording are usually there.
    fn start(&mut self, block: &FeedBlock, base: u64, offset: usize, head: &Arc<Head>) {
        let left = block.bytes.len().saturating_sub(offset);
        let is_due = |options: &mut ScanOptions| {
            block.last
                && offset >= options.chunk_bytes
                && left / LEAST_CHUNKS >= options.chunk_bytes
        };
        if let Some(options) = self.to_start.take_if(is_due) {
            self.scan = Some(ParallelScan::start(&block.bytes, base, offset, options, head));
        }
    }
}

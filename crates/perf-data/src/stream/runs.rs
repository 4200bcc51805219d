//! Runs of usual records in a block, in order, found by this thread or in advance by others.

use std::sync::Arc;

use super::ahead::{NextRun, RunsAhead};
use super::feed::FeedBlock;
use super::run::{KeptRecords, RecordRun, RunPlace};
use crate::container::Head;

/// Maximum bytes of a run, after which the sink can stop reading.
const RUN: usize = 1 << 20;
/// Minimum number of chunks for a parallel scan.
const LEAST_CHUNKS: usize = 4;

/// Parallel scan for the usual records of a plain file. The result of reading does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanAhead {
    /// Number of threads, in addition to the reading one.
    pub threads: usize,
    /// Bytes that a thread scans at a time; each is up to two such chunks in advance.
    pub chunk_bytes: usize,
}

/// Source of the runs of a feed.
pub(crate) struct Runs<K> {
    /// Scan that may be started, once.
    to_start: Option<ScanAhead>,
    ahead: Option<RunsAhead<K>>,
    /// The last run returned.
    run: RecordRun<K>,
}

impl<K: KeptRecords> Runs<K> {
    pub(crate) fn new(ahead: Option<ScanAhead>) -> Self {
        let to_start = ahead.filter(|ahead| ahead.threads > 0);
        Self { to_start, ahead: None, run: RecordRun::default() }
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
        self.ahead.take_if(|ahead| !ahead.is_of(head, base));
        let until = match self.ahead.as_mut().map(|ahead| ahead.next(offset)) {
            Some(NextRun::Run(found)) => {
                self.run = found;
                return &self.run;
            }
            Some(NextRun::NoneBefore(until)) => until,
            None => usize::MAX,
        };
        let until = until.min(offset.saturating_add(RUN));
        let place = RunPlace { block: &block.bytes, base, start: offset, until };
        self.run.find(place, head.schema.header_rules(), &head.schema);
        &self.run
    }

    /// Starts the threads if all bytes of the feed are in memory and numerous.
    /// They start after its first chunk, because records about the recording are usually there.
    fn start(&mut self, block: &FeedBlock, base: u64, offset: usize, head: &Arc<Head>) {
        let left = block.bytes.len().saturating_sub(offset);
        let is_due = |ahead: &mut ScanAhead| {
            block.last && offset >= ahead.chunk_bytes && left / LEAST_CHUNKS >= ahead.chunk_bytes
        };
        if let Some(ahead) = self.to_start.take_if(is_due) {
            self.ahead = Some(RunsAhead::start(&block.bytes, base, offset, ahead, head));
        }
    }
}

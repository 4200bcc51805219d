//! The runs of usual records of a block, in order: found here, or by threads that are ahead.

use std::sync::Arc;

use super::ahead::{NextRun, RunsAhead};
use super::feed::FeedBlock;
use super::run::{KeptRecords, RecordRun, RunPlace};
use crate::container::Head;

/// So many bytes are gone through at most between two questions whether to go on.
const RUN: usize = 1 << 20;
/// Nothing is found ahead in fewer chunks.
const LEAST_CHUNKS: usize = 4;

/// How the usual records of a plain file are found ahead by other threads. What is read does not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanAhead {
    /// So many threads, beside the one that reads.
    pub threads: usize,
    /// Each of which goes through so many bytes at a time, and is up to twice as many ahead.
    pub chunk_bytes: usize,
}

/// Where the runs of a feed come from.
pub(crate) struct Runs<K> {
    /// Threads that may be started, once.
    to_start: Option<ScanAhead>,
    ahead: Option<RunsAhead<K>>,
    /// The run that was given out last.
    run: RecordRun<K>,
}

impl<K: KeptRecords> Runs<K> {
    pub(crate) fn new(ahead: Option<ScanAhead>) -> Self {
        let to_start = ahead.filter(|ahead| ahead.threads > 0);
        Self { to_start, ahead: None, run: RecordRun::default() }
    }

    /// The run that starts at an offset of a block, whose positions are moved up by `shift`. It may have no records.
    pub(crate) fn next(
        &mut self,
        block: &FeedBlock,
        shift: u64,
        offset: usize,
        head: &Arc<Head>,
    ) -> &RecordRun<K> {
        let base = block.offset + shift;
        self.start(block, base, offset, head);
        // What was found with what is not true any more is void.
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

    /// Starts the threads, where all bytes of the feed are there and are many: behind its first part, where records are
    /// that say something about the recording.
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

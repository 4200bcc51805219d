//! The trait of what takes in the records that a driver reads, and what is known of each.

use std::sync::Arc;

use super::counts::RecordCounts;
use super::run::{KeptRecords, RecordRun};
use crate::container::Head;
use crate::finding::Findings;
use crate::record::RecordBytes;
use crate::shared_bytes::SharedBytes;

/// Bytes of records, kept alive as long as the sink wants.
#[derive(Clone, Debug)]
pub(crate) struct RecordChunk {
    /// Position of the first byte.
    pub(crate) start: u64,
    pub(crate) bytes: SharedBytes,
}

/// Where a record is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordPlace {
    /// The file's index among those of a directory.
    pub(crate) file: u32,
    /// Offset of the record, or of the compressed record that it came out of.
    pub(crate) offset: u64,
    /// Where it is in what that one expands to.
    pub(crate) inside: Option<u64>,
}

/// What is known when a record is handed over.
pub(crate) struct SinkContext<'c> {
    pub(crate) head: &'c Arc<Head>,
    pub(crate) counts: &'c mut RecordCounts,
    pub(crate) findings: &'c mut Findings,
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Continue,
    Stop,
}

/// Takes records in.
pub(crate) trait RecordSink {
    /// What it keeps of usual records that follow each other.
    type Kept: KeptRecords;

    /// Whether it takes usual records run by run.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Usual records that follow each other, where it takes them so.
    fn run(&mut self, _run: &RecordRun<Self::Kept>, _context: SinkContext<'_>) -> Flow {
        Flow::Continue
    }

    /// The records that follow are in this chunk.
    fn chunk(&mut self, chunk: RecordChunk);
    /// A record of any type.
    fn record(
        &mut self,
        found: &RecordBytes<'_>,
        place: RecordPlace,
        context: SinkContext<'_>,
    ) -> Flow;
    /// What stands in front of the first record that is not the recorder's own is known.
    fn ready(&mut self, head: &Arc<Head>);
}

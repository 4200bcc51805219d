//! Trait for the consumer of the records that a driver reads, with the context of each record.

use std::sync::Arc;

use super::counts::RecordCounts;
use super::run::{RecordRun, RunEntries};
use crate::container::Head;
use crate::finding::Findings;
use crate::record::RecordBytes;
use crate::shared_bytes::SharedBytes;

/// Bytes of records, alive as long as the sink needs them.
#[derive(Clone, Debug)]
pub(crate) struct RecordChunk {
    /// Position of the first byte.
    pub(crate) start: u64,
    pub(crate) bytes: SharedBytes,
}

/// Location of a record in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordLocation {
    /// Index of the file in a directory recording.
    pub(crate) file: u32,
    /// Offset of the record, or of the compressed record that contains it.
    pub(crate) offset: u64,
    /// Offset in the expanded bytes of the compressed record.
    pub(crate) inside: Option<u64>,
}

/// Data available to a sink for each record.
pub(crate) struct SinkContext<'c> {
    pub(crate) head: &'c Arc<Head>,
    pub(crate) counts: &'c mut RecordCounts,
    pub(crate) findings: &'c mut Findings,
}

/// Decision whether to continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Continue,
    Stop,
}

/// Consumer of records.
pub(crate) trait RecordSink {
    /// Entries collected from runs of usual records.
    type Entries: RunEntries;

    /// Returns true if it takes usual records run by run.
    fn takes_runs(&self) -> bool {
        false
    }

    /// Takes a run of usual records. Called only if [`Self::takes_runs`].
    fn run(&mut self, _run: &RecordRun<Self::Entries>, _context: SinkContext<'_>) -> Flow {
        Flow::Continue
    }

    /// Announces the chunk that contains the following records.
    fn chunk(&mut self, chunk: RecordChunk);
    /// Takes a record of any type.
    fn record(
        &mut self,
        found: &RecordBytes<'_>,
        location: RecordLocation,
        context: SinkContext<'_>,
    ) -> Flow;
    /// Announces that the head is complete up to the first record that is not the recorder's own.
    fn ready(&mut self, head: &Arc<Head>);
}

//! Runs of usual records: consecutive samples, maps and task records, which make up nearly all of a recording.
//! A run starts at the start of a record and ends before the first record of another kind.
//!
//! A run depends only on the bytes, the events and the start, so any thread can find it.

use super::counts::KindCount;
use crate::prefetch::prefetch_line;
use crate::record::{HeaderRules, RecordBytes, Schema};
use crate::record_header::{HEADER_LEN, RecordKind};

/// Entries collected from the records of a run.
pub(crate) trait RunEntries: Default + Send + 'static {
    /// Adds a usual record. Returns false if it needs more processing, which [`super::RecordSink::record`] does.
    fn add(&mut self, schema: &Schema, found: &RecordBytes<'_>) -> bool;
    /// Completes the run after its last record.
    fn close(&mut self);
    /// Removes all entries but retains the capacity.
    fn clear(&mut self);
}

/// Size of records, in bytes, above which the processor's own prefetcher does not reach the next header.
const LARGE: usize = 1024;

/// Usual records have types below this number.
const KINDS: usize = RecordKind::MMAP2.0 as usize + 1;

/// Consecutive usual records.
#[derive(Debug, Default)]
pub(crate) struct RecordRun<K> {
    /// Offset of the first record in the block.
    pub(crate) start: usize,
    /// Offset after the last record.
    pub(crate) end: usize,
    /// Counts by type.
    counts: [KindCount; KINDS],
    pub(crate) entries: K,
    /// True if the run ends at a record that must be processed individually, or at the end of the block.
    pub(crate) is_stopped: bool,
}

/// Search range of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunRange<'b> {
    pub(crate) block: &'b [u8],
    /// The position of the block's first byte.
    pub(crate) base: u64,
    /// Offset of the first record in the block.
    pub(crate) start: usize,
    /// Every record of the run starts before this offset.
    pub(crate) until: usize,
}

impl<K: RunEntries> RecordRun<K> {
    /// Finds the records in a range, possibly none, and reuses the capacity of a finished run.
    pub(crate) fn find(&mut self, range: RunRange<'_>, rules: HeaderRules, schema: &Schema) {
        let RunRange { block, base, start, until } = range;
        self.entries.clear();
        self.counts = Default::default();
        let mut end = start;
        let mut sample_len = 0;
        while end < until {
            let rest = block.get(end..).unwrap_or_default();
            let Some(header) = rules.read(rest) else { break };
            let (size, position) = (header.size as usize, base + end as u64);
            if !is_usual(header.kind) || size < HEADER_LEN || !size.is_multiple_of(8) {
                break;
            }
            let Some(bytes) = rest.get(..size) else { break };
            if size >= LARGE {
                // Samples with stacks are about as large as their predecessor.
                prefetch_line(block, end + size + sample_len);
                sample_len = size;
            }
            let found = RecordBytes { position, header, bytes, payload: 0 };
            if !self.entries.add(schema, &found) {
                break;
            }
            if let Some(count) = self.counts.get_mut(header.kind.0 as usize) {
                count.records += 1;
                count.bytes += size as u64;
            }
            end += size;
        }
        (self.start, self.end, self.is_stopped) = (start, end, end < until);
        self.entries.close();
    }

    /// Returns the number of records by type.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (RecordKind, KindCount)> {
        (0..).map(RecordKind).zip(self.counts).filter(|(_, count)| count.records > 0)
    }

    /// Returns the total size of the records, in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        (self.end - self.start) as u64
    }

    /// Returns true if the run has no records.
    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Returns true if records of the type may be part of a run.
const fn is_usual(kind: RecordKind) -> bool {
    use RecordKind as K;
    matches!(kind, K::SAMPLE | K::MMAP2 | K::COMM | K::EXIT | K::FORK)
}

/// For sinks that process every record individually.
impl RunEntries for () {
    fn add(&mut self, _schema: &Schema, _found: &RecordBytes<'_>) -> bool {
        false
    }

    fn close(&mut self) {}

    fn clear(&mut self) {}
}

//! Records of the usual kinds that follow each other - samples, maps, what tells of tasks - of which nearly all recordings
//! are made: found in one go, from a place where a record starts up to one that is something else.
//!
//! What is found follows from the bytes, the events and that place alone, so that it does not matter who finds it.

use super::counts::KindCount;
use crate::fetch::read_soon;
use crate::record::{HeaderRules, RecordBytes, Schema};
use crate::record_header::{HEADER_LEN, RecordKind};

/// What a sink keeps of such records.
pub(crate) trait KeptRecords: Default + Send + 'static {
    /// Takes in a record of a usual kind; `false` where there is more to do or to say than to keep it, which
    /// [`super::RecordSink::record`] does.
    fn keep(&mut self, schema: &Schema, found: &RecordBytes<'_>) -> bool;
    /// No more records follow.
    fn close(&mut self);
    /// Forgets all, and keeps its room.
    fn clear(&mut self);
}

/// Records of so many bytes lie too far apart for a processor that fetches what comes next.
const LARGE: usize = 1024;

/// Usual records are of types below this number.
const KINDS: usize = RecordKind::MMAP2.0 as usize + 1;

/// Usual records that follow each other.
#[derive(Debug, Default)]
pub(crate) struct RecordRun<K> {
    /// Where in the block the first one starts.
    pub(crate) start: usize,
    /// Where the record after the last one starts.
    pub(crate) end: usize,
    /// By type.
    counts: [KindCount; KINDS],
    pub(crate) kept: K,
    /// Whether it ends at a record that is to be looked at by itself, or at the end of the block.
    pub(crate) is_stopped: bool,
}

/// Where a run is looked for.
#[derive(Clone, Copy)]
pub(crate) struct RunPlace<'b> {
    pub(crate) block: &'b [u8],
    /// The position of the block's first byte.
    pub(crate) base: u64,
    /// Where in the block the first record starts.
    pub(crate) start: usize,
    /// No record of the run starts there or after it.
    pub(crate) until: usize,
}

impl<K: KeptRecords> RecordRun<K> {
    /// Finds the records at a place, of which there may be none, in the room of a run that is done with.
    pub(crate) fn find(&mut self, place: RunPlace<'_>, rules: HeaderRules, schema: &Schema) {
        let RunPlace { block, base, start, until } = place;
        self.kept.clear();
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
                // Samples with stacks are about as large as the one before.
                read_soon(block, end + size + sample_len);
                sample_len = size;
            }
            let found = RecordBytes { position, header, bytes, payload: 0 };
            if !self.kept.keep(schema, &found) {
                break;
            }
            if let Some(count) = self.counts.get_mut(header.kind.0 as usize) {
                count.records += 1;
                count.bytes += size as u64;
            }
            end += size;
        }
        (self.start, self.end, self.is_stopped) = (start, end, end < until);
        self.kept.close();
    }

    /// How many records there are, by type.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (RecordKind, KindCount)> {
        (0..).map(RecordKind).zip(self.counts).filter(|(_, count)| count.records > 0)
    }

    /// Bytes of all of them.
    pub(crate) const fn bytes(&self) -> u64 {
        (self.end - self.start) as u64
    }

    /// Whether there is no record in it.
    pub(crate) const fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Whether records of the type may be part of a run.
const fn is_usual(kind: RecordKind) -> bool {
    use RecordKind as K;
    matches!(kind, K::SAMPLE | K::MMAP2 | K::COMM | K::EXIT | K::FORK)
}

/// Of sinks that look at each record by itself.
impl KeptRecords for () {
    fn keep(&mut self, _schema: &Schema, _found: &RecordBytes<'_>) -> bool {
        false
    }

    fn close(&mut self) {}

    fn clear(&mut self) {}
}

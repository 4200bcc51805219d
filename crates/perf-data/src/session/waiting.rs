//! The samples and records that wait for their batch, with the bytes that hold them.

use std::sync::Arc;

use address::Timestamp;
use budget::{Held, Memory, MemoryUse};

use super::batch::Batch;
use super::chains::UserChains;
use super::entries::{RecordEntry, SampleEntry};
use super::sort::sort_by_time;
use super::usual::UsualEntries;
use crate::record::{RecordBytes, Schema, TimedRecord};
use crate::stream::{RecordChunk, SinkContext};

/// What waits.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// The bytes of all that waits, ascending by position.
    chunks: Vec<RecordChunk>,
    /// The chunk of the records that come, which is not in the list before one of them waits.
    current: Option<RecordChunk>,
    samples: Vec<SampleEntry>,
    records: Vec<RecordEntry>,
    chains: UserChains,
    /// Bytes of the records; after a batch was taken out, in proportion to those that are left.
    bytes: u64,
    /// What is held, for room of so many entries.
    held: Held,
    room: usize,
}

impl Waiting {
    /// Nothing waits; what is going to is held in `memory`.
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { held: Held::new(memory, MemoryUse::Recording), ..Self::default() }
    }

    /// The records that follow are in this chunk.
    pub(crate) fn chunk(&mut self, chunk: RecordChunk) {
        self.current = Some(chunk);
    }

    /// Takes in a sample.
    #[inline]
    pub(crate) fn sample(&mut self, schema: &Schema, found: &RecordBytes<'_>, entry: SampleEntry) {
        self.keep(found);
        self.chains.sample(schema, found, &entry);
        self.samples.push(entry);
        self.count_room();
    }

    /// Takes in usual records of so many bytes.
    pub(crate) fn usual(&mut self, entries: &UsualEntries, bytes: u64) {
        self.chunks.extend(self.current.take());
        self.bytes += bytes;
        self.samples.extend_from_slice(&entries.samples);
        self.records.extend_from_slice(&entries.records);
        self.count_room();
    }

    /// Takes in a record of which only the time was read.
    #[inline]
    pub(crate) fn record(&mut self, found: &RecordBytes<'_>, time: Timestamp) {
        self.keep(found);
        self.records.push(RecordEntry { time, position: found.position });
        self.count_room();
    }

    /// Takes in a record that was decoded, which may be the callchain of a sample.
    pub(crate) fn decoded(&mut self, found: &RecordBytes<'_>, decoded: &TimedRecord<'_>) {
        self.record(found, decoded.time);
        self.chains.record(decoded);
    }

    #[inline]
    fn keep(&mut self, found: &RecordBytes<'_>) {
        self.chunks.extend(self.current.take());
        self.bytes += found.bytes.len() as u64;
    }

    /// Counts what is held where there is room for other numbers of entries.
    #[inline]
    fn count_room(&mut self) {
        let room = self.samples.capacity() + self.records.capacity();
        if room != self.room {
            self.count();
        }
    }

    /// Counts what is held.
    #[cold]
    fn count(&mut self) {
        self.room = self.samples.capacity() + self.records.capacity();
        self.held.set(bytes_of_entries(&self.samples, &self.records));
    }

    /// How many bytes of records wait, roughly.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The latest time up to `limit` at which all samples have the callchains that come after them.
    pub(crate) fn complete_until(&self, limit: Timestamp) -> Timestamp {
        self.chains.complete_until(limit)
    }

    /// The time that half of what waits is not after. There is something that waits.
    pub(crate) fn middle(&self) -> Timestamp {
        let mut times: Vec<_> = self.samples.iter().map(|sample| sample.time).collect();
        times.extend(self.records.iter().map(|record| record.time));
        let middle = times.len() / 2;
        *times.select_nth_unstable(middle).1
    }

    /// Takes out everything up to a time, or all, in time order; `None` where there is nothing.
    pub(crate) fn take(
        &mut self,
        limit: Option<Timestamp>,
        context: &mut SinkContext<'_>,
    ) -> Option<Batch> {
        let n_waiting = self.samples.len() + self.records.len();
        let samples = take_until(&mut self.samples, limit, |sample| sample.time);
        let records = take_until(&mut self.records, limit, |record| record.time);
        if samples.is_empty() && records.is_empty() {
            return None;
        }
        let chains = self.chains.join(&samples, limit, context.counts, context.findings);
        let left = (self.samples.len() + self.records.len()) as u64;
        self.bytes = self.bytes / n_waiting.max(1) as u64 * left;
        let head = Arc::clone(context.head);
        let chunks = self.chunks.clone();
        self.drop_chunks();
        self.count();
        let held = self.held.another(bytes_of_entries(&samples, &records));
        Some(Batch { head, samples, records, chunks, chains, held })
    }

    /// Drops the chunks that nothing waits in.
    fn drop_chunks(&mut self) {
        let samples = self.samples.iter().map(|sample| sample.position);
        let records = self.records.iter().map(|record| record.position);
        let first = samples.chain(records).chain(self.chains.first_position()).min();
        // What comes next may still be in the last chunk.
        let last = self.chunks.len().saturating_sub(1);
        let used = first.map_or(last, |first| {
            self.chunks.partition_point(|chunk| chunk.start <= first).saturating_sub(1)
        });
        self.chunks.drain(..used.min(last));
    }
}

/// Bytes that the entries take.
const fn bytes_of_entries(samples: &Vec<SampleEntry>, records: &Vec<RecordEntry>) -> u64 {
    let samples = samples.capacity() * size_of::<SampleEntry>();
    (samples + records.capacity() * size_of::<RecordEntry>()) as u64
}

/// Takes out the entries up to a time, in order. What is left is in order, too.
///
/// What comes later has a greater position, so that sorting by time alone, stably, sorts by (time, position).
fn take_until<T: Copy>(
    entries: &mut Vec<T>,
    limit: Option<Timestamp>,
    time: impl Fn(&T) -> Timestamp + Copy,
) -> Vec<T> {
    sort_by_time(entries, time);
    let is_due = |entry: &T| limit.is_none_or(|limit| time(entry) <= limit);
    let left = entries.split_off(entries.partition_point(is_due));
    std::mem::replace(entries, left)
}

//! Samples and records that wait for their batch, with the bytes that hold them.

use std::sync::Arc;

use address::Timestamp;
use budget::{HeldMemory, MemoryBudget, MemoryUse};

use super::batch::Batch;
use super::chains::UserChains;
use super::entries::{RecordEntry, SampleEntry};
use super::sort::sort_by_time;
use super::usual_entries::UsualEntries;
use crate::record::{RecordBytes, Schema, TimedRecord};
use crate::stream::{RecordChunk, SinkContext};

/// Entries and bytes not yet in a batch.
#[derive(Debug, Default)]
pub(crate) struct PendingRecords {
    /// Bytes of all waiting entries, ascending by position.
    chunks: Vec<RecordChunk>,
    /// Chunk of the current records; appended to `chunks` when the first of them is collected.
    current: Option<RecordChunk>,
    samples: Vec<SampleEntry>,
    records: Vec<RecordEntry>,
    chains: UserChains,
    /// Bytes of the waiting records. After a batch was taken, an estimate in proportion to the remaining entries.
    bytes: u64,
    /// Memory of the entries, for a capacity of `capacity` entries.
    held: HeldMemory,
    capacity: usize,
}

impl PendingRecords {
    /// Creates an empty collection that counts its memory in `memory`.
    pub(crate) fn new(memory: &Arc<MemoryBudget>) -> Self {
        Self { held: HeldMemory::new(memory, MemoryUse::Recording), ..Self::default() }
    }

    /// Sets the chunk that contains the following records.
    pub(crate) fn chunk(&mut self, chunk: RecordChunk) {
        self.current = Some(chunk);
    }

    /// Adds a sample.
    #[inline]
    pub(crate) fn sample(&mut self, schema: &Schema, found: &RecordBytes<'_>, entry: SampleEntry) {
        self.collect(found);
        self.chains.sample(schema, found, &entry);
        self.samples.push(entry);
        self.count_capacity();
    }

    /// Adds a run of usual records of `bytes` bytes.
    pub(crate) fn run(&mut self, entries: &UsualEntries, bytes: u64) {
        self.chunks.extend(self.current.take());
        self.bytes += bytes;
        self.samples.extend_from_slice(&entries.samples);
        self.records.extend_from_slice(&entries.records);
        self.count_capacity();
    }

    /// Adds a record with only its time decoded.
    #[inline]
    pub(crate) fn record(&mut self, found: &RecordBytes<'_>, time: Timestamp) {
        self.collect(found);
        self.records.push(RecordEntry { time, position: found.position });
        self.count_capacity();
    }

    /// Adds a decoded record, which may hold the callchain of a sample.
    pub(crate) fn decoded(&mut self, found: &RecordBytes<'_>, decoded: &TimedRecord<'_>) {
        self.record(found, decoded.time);
        self.chains.record(decoded);
    }

    #[inline]
    fn collect(&mut self, found: &RecordBytes<'_>) {
        self.chunks.extend(self.current.take());
        self.bytes += found.bytes.len() as u64;
    }

    /// Updates the memory count if a capacity changed.
    #[inline]
    fn count_capacity(&mut self) {
        let capacity = self.samples.capacity() + self.records.capacity();
        if capacity != self.capacity {
            self.count();
        }
    }

    /// Updates the memory count.
    #[cold]
    fn count(&mut self) {
        self.capacity = self.samples.capacity() + self.records.capacity();
        self.held.set(bytes_of_entries(&self.samples, &self.records));
    }

    /// Approximate bytes of the waiting records.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the latest time, at most `limit`, up to which all samples have their callchains.
    pub(crate) fn complete_until(&self, limit: Timestamp) -> Timestamp {
        self.chains.complete_until(limit)
    }

    /// Returns the median time of the waiting entries. There must be at least one.
    pub(crate) fn middle(&self) -> Timestamp {
        let mut times: Vec<_> = self.samples.iter().map(|sample| sample.time).collect();
        times.extend(self.records.iter().map(|record| record.time));
        let middle = times.len() / 2;
        *times.select_nth_unstable(middle).1
    }

    /// Removes all entries up to a time, or all, as a batch in time order; `None` if there are none.
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

    /// Drops the chunks without waiting entries.
    fn drop_chunks(&mut self) {
        let samples = self.samples.iter().map(|sample| sample.position);
        let records = self.records.iter().map(|record| record.position);
        let first = samples.chain(records).chain(self.chains.first_position()).min();
        // The next records can still be in the last chunk.
        let last = self.chunks.len().saturating_sub(1);
        let used = first.map_or(last, |first| {
            self.chunks.partition_point(|chunk| chunk.start <= first).saturating_sub(1)
        });
        self.chunks.drain(..used.min(last));
    }
}

/// Returns the memory of the entries, in bytes.
const fn bytes_of_entries(samples: &Vec<SampleEntry>, records: &Vec<RecordEntry>) -> u64 {
    let samples = samples.capacity() * size_of::<SampleEntry>();
    (samples + records.capacity() * size_of::<RecordEntry>()) as u64
}

/// Removes the entries up to a time, in time order. The remaining entries are in order, too.
///
/// Later entries have greater positions, so a stable sort by time alone sorts by (time, position).
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

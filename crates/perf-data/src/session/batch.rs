//! A part of a recording in time that is complete: nothing that is read later belongs before its end.

use std::sync::Arc;

use budget::Held;

use super::entries::{RecordEntry, SampleEntry};
use crate::container::Head;
use crate::fetch::{LINE, read_soon};
use crate::finding::Findings;
use crate::record::{
    Callchain, Mmap, NamedMap, Record, RecordBytes, Sample, SampleError, SimpleperfRecord,
    TimedRecord,
};
use crate::stream::RecordChunk;

/// A sample's fields before its stack, with a short callchain and the registers of x86-64.
const HEAD_LINES: usize = 6;

/// Samples and records in time order, with the bytes that hold them. It does not change and owns what it needs, so
/// it can be walked on many threads while the next one is made; its bytes are freed with it.
#[derive(Debug)]
pub struct Batch {
    pub(crate) head: Arc<Head>,
    pub(crate) samples: Vec<SampleEntry>,
    pub(crate) records: Vec<RecordEntry>,
    /// Ascending by position.
    pub(crate) chunks: Vec<RecordChunk>,
    /// Positions of samples with those of the records that hold their user callchains; ascending.
    pub(crate) chains: Vec<(u64, u64)>,
    pub(crate) starts_over: bool,
    /// What it takes; whoever drops it gives that back.
    #[expect(dead_code, reason = "counts for as long as the batch lives")]
    pub(crate) held: Held,
}

impl Batch {
    /// Events and features as far as they were known when the batch was made.
    #[must_use]
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// Whether this batch begins the recording again: all batches before it are void, since a record came that belongs
    /// before the end of one of them. It happens once at most, and only where the file is read eagerly.
    #[must_use]
    pub const fn starts_over(&self) -> bool {
        self.starts_over
    }

    /// The samples by (time, position); those without time first.
    #[must_use]
    pub fn samples(&self) -> &[SampleEntry] {
        &self.samples
    }

    /// Where the records are that replaying needs, in the same order.
    #[must_use]
    pub fn record_entries(&self) -> &[RecordEntry] {
        &self.records
    }

    /// The lowest position of its samples and records.
    #[must_use]
    pub fn first_position(&self) -> Option<u64> {
        let samples = self.samples.iter().map(|entry| entry.position);
        samples.chain(self.records.iter().map(|entry| entry.position)).min()
    }

    /// The records that replaying needs, decoded one by one, in the same order.
    pub fn records(&self) -> impl Iterator<Item = TimedRecord<'_>> {
        self.records.iter().filter_map(|entry| self.record(entry.position))
    }

    /// The map that the record at a position of [`Self::record_entries`] states, if it is an MMAP2, as most are.
    /// [`Self::record`] decodes any.
    #[must_use]
    #[inline]
    pub fn map(&self, position: u64) -> Option<Mmap<'_>> {
        self.head.schema.map(&self.found(position)?)
    }

    /// The same map, undecoded as far as it says what is mapped; `None`, too, where it is no usual map of a process.
    #[must_use]
    #[inline]
    pub fn named_map(&self, position: u64) -> Option<NamedMap<'_>> {
        self.head.schema.named_map(&self.found(position)?)
    }

    /// Decodes the record at a position of [`Self::record_entries`].
    #[must_use]
    pub fn record(&self, position: u64) -> Option<TimedRecord<'_>> {
        self.head.schema.record(&self.found(position)?, &mut Findings::default())
    }

    #[inline]
    fn found(&self, position: u64) -> Option<RecordBytes<'_>> {
        let bytes = self.at(position);
        let header = self.head.schema.header_rules().read(bytes)?;
        let bytes = bytes.get(..header.size as usize)?;
        Some(RecordBytes { position, header, bytes, payload: 0 })
    }

    /// Decodes one sample, without allocation. Damage inside costs the damaged field and those after it, see
    /// [`Sample::damage`]. Where the user callchain came in a record of its own, it is in [`Sample::user_callchain`].
    ///
    /// # Errors
    /// Where the entry is not of this batch.
    #[inline]
    pub fn sample(&self, entry: &SampleEntry) -> Result<Sample<'_>, SampleError> {
        let mut sample =
            self.head.schema.sample(self.at(entry.position), entry.position, entry.event)?;
        if !self.chains.is_empty() {
            sample.user_callchain = self.user_callchain(entry.position);
        }
        Ok(sample)
    }

    /// The first fields of a sample are read soon.
    #[inline]
    pub fn head_read_soon(&self, entry: &SampleEntry) {
        let bytes = self.at(entry.position);
        (0..HEAD_LINES).for_each(|line| read_soon(bytes, LINE * line));
    }

    /// What is behind the stack of a sample is read soon. Its header is read now.
    #[inline]
    pub fn end_read_soon(&self, entry: &SampleEntry) {
        let bytes = self.at(entry.position);
        if let Some(len) = self.head.schema.record_len(bytes) {
            read_soon(bytes, len.saturating_sub(8));
        }
    }

    fn user_callchain(&self, position: u64) -> Option<Callchain<'_>> {
        let at = self.chains.binary_search_by_key(&position, |chain| chain.0).ok()?;
        match self.record(self.chains.get(at)?.1)?.record {
            Record::CallchainDeferred(deferred) => Some(deferred.chain),
            Record::Simpleperf(SimpleperfRecord::Callchain(chain)) => Some(chain.chain),
            _ => None,
        }
    }

    /// The bytes from a position to the end of its chunk; empty where there is none.
    #[inline]
    fn at(&self, position: u64) -> &[u8] {
        let index = self.chunks.partition_point(|chunk| chunk.start <= position);
        let chunk = index.checked_sub(1).and_then(|index| self.chunks.get(index));
        let at = |chunk: &'_ RecordChunk| usize::try_from(position - chunk.start).ok();
        chunk.and_then(|chunk| chunk.bytes.get(at(chunk)?..)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;

    #[test]
    fn bytes_by_position() {
        let chunk = |start: u64, bytes: &[u8]| RecordChunk { start, bytes: bytes.to_vec().into() };
        let batch = |chunks: Vec<RecordChunk>| Batch {
            head: Arc::new(Head::of_stream(Endian::Little)),
            samples: Vec::new(),
            records: Vec::new(),
            chunks,
            chains: Vec::new(),
            starts_over: false,
            held: Held::NOWHERE,
        };
        let one = batch(vec![chunk(100, b"abc")]);
        let two = batch(vec![chunk(100, b"abc"), chunk(200, b"de")]);
        for batch in [&one, &two] {
            assert_eq!(batch.at(101), b"bc");
            assert_eq!(batch.at(99), b"");
            assert_eq!(batch.at(104), b"");
        }
        assert_eq!(two.at(201), b"e");
        assert_eq!(two.at(u64::MAX), b"");
        assert_eq!(batch(Vec::new()).at(0), b"");
    }
}

//! A part of a recording in time that is complete: nothing that is read later belongs before its end.

use std::ops::Range;
use std::sync::Arc;

use budget::Held;

use super::batch_reader::BatchReader;
use super::entries::{RecordEntry, SampleEntry};
use crate::container::Head;
use crate::finding::Findings;
use crate::record::{
    Callchain, Mmap, NamedMap, Record, RecordBytes, Sample, SampleError, SimpleperfRecord,
    TimedRecord,
};
use crate::stream::RecordChunk;

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
        self.named_map_in(self.at(position), position)
    }

    /// The same, of the bytes from that position on.
    #[inline]
    pub(super) fn named_map_in<'b>(&self, bytes: &'b [u8], position: u64) -> Option<NamedMap<'b>> {
        self.head.schema.named_map(&self.found_in(bytes, position)?)
    }

    /// Decodes the record at a position of [`Self::record_entries`].
    #[must_use]
    pub fn record(&self, position: u64) -> Option<TimedRecord<'_>> {
        self.head.schema.record(&self.found(position)?, &mut Findings::default())
    }

    #[inline]
    fn found(&self, position: u64) -> Option<RecordBytes<'_>> {
        self.found_in(self.at(position), position)
    }

    #[inline]
    fn found_in<'b>(&self, bytes: &'b [u8], position: u64) -> Option<RecordBytes<'b>> {
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
        self.sample_in(self.at(entry.position), entry)
    }

    /// The same, of the bytes from its position on.
    #[inline]
    pub(super) fn sample_in<'b>(
        &'b self,
        bytes: &'b [u8],
        entry: &SampleEntry,
    ) -> Result<Sample<'b>, SampleError> {
        let mut sample = self.head.schema.sample(bytes, entry.position, entry.event)?;
        if !self.chains.is_empty() {
            sample.user_callchain = self.user_callchain(entry.position);
        }
        Ok(sample)
    }

    /// What reads samples and records one after another.
    #[must_use]
    pub const fn reader(&self) -> BatchReader<'_> {
        BatchReader::new(self)
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
    pub(super) fn at(&self, position: u64) -> &[u8] {
        let (positions, bytes) = self.chunk(position).unwrap_or_default();
        let at = usize::try_from(position - positions.start).ok();
        at.and_then(|at| bytes.get(at..)).unwrap_or_default()
    }

    /// The chunk to read at a position: the positions that it is for, and its bytes. These may go on with what the next
    /// chunk has whole.
    #[inline]
    pub(super) fn chunk(&self, position: u64) -> Option<(Range<u64>, &[u8])> {
        let index = self.chunks.partition_point(|chunk| chunk.start <= position);
        let chunk = self.chunks.get(index.checked_sub(1)?)?;
        let until = self.chunks.get(index).map_or(u64::MAX, |next| next.start);
        Some((chunk.start..until, &chunk.bytes))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bytes::Endian;

    /// A batch without samples and records, with these bytes at these positions.
    pub(crate) fn batch_of(chunks: &[(u64, &[u8])]) -> Batch {
        let chunk =
            |&(start, bytes): &(u64, &[u8])| RecordChunk { start, bytes: bytes.to_vec().into() };
        Batch {
            head: Arc::new(Head::of_stream(Endian::Little)),
            samples: Vec::new(),
            records: Vec::new(),
            chunks: chunks.iter().map(chunk).collect(),
            chains: Vec::new(),
            held: Held::NOWHERE,
        }
    }

    #[test]
    fn bytes_by_position() {
        let one = batch_of(&[(100, b"abc")]);
        let two = batch_of(&[(100, b"abc"), (200, b"de")]);
        for batch in [&one, &two] {
            assert_eq!(batch.at(101), b"bc");
            assert_eq!(batch.at(99), b"");
            assert_eq!(batch.at(104), b"");
        }
        assert_eq!(two.at(201), b"e");
        assert_eq!(two.at(u64::MAX), b"");
        assert_eq!(batch_of(&[]).at(0), b"");
    }
}

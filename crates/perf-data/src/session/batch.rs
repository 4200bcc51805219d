//! Complete part of a recording in time: no later record belongs before its end.

use std::ops::Range;
use std::sync::Arc;

use budget::HeldMemory;

use super::batch_reader::BatchReader;
use super::entries::{RecordEntry, SampleEntry};
use super::raw_record::{RawRecord, raw_body};
use crate::container::Head;
use crate::finding::Findings;
use crate::record::{
    Callchain, Mmap, NamedMap, Record, RecordBytes, Sample, SampleError, SimpleperfRecord,
    TimedRecord,
};
use crate::stream::RecordChunk;

/// Samples and records in time order, with the bytes that hold them.
/// Immutable and self-contained: threads can walk one batch while the next is made. Dropping it frees its bytes.
#[derive(Debug)]
pub struct Batch {
    pub(crate) head: Arc<Head>,
    pub(crate) samples: Vec<SampleEntry>,
    pub(crate) records: Vec<RecordEntry>,
    /// Ascending by position.
    pub(crate) chunks: Vec<RecordChunk>,
    /// Pairs of a sample's position and the position of the record with its user callchain. Ascending.
    pub(crate) chains: Vec<(u64, u64)>,
    /// Memory of the entries, released on drop.
    #[expect(dead_code, reason = "counts for as long as the batch lives")]
    pub(crate) held: HeldMemory,
}

impl Batch {
    /// Events and features as of the creation of the batch.
    #[must_use]
    pub fn head(&self) -> &Arc<Head> {
        &self.head
    }

    /// Samples by (time, position); samples without time come first.
    #[must_use]
    pub fn samples(&self) -> &[SampleEntry] {
        &self.samples
    }

    /// Entries of the records needed for replay, by (time, position).
    #[must_use]
    pub fn record_entries(&self) -> &[RecordEntry] {
        &self.records
    }

    /// Returns the lowest position of all samples and records.
    #[must_use]
    pub fn first_position(&self) -> Option<u64> {
        let samples = self.samples.iter().map(|entry| entry.position);
        samples.chain(self.records.iter().map(|entry| entry.position)).min()
    }

    /// Decodes the records needed for replay one by one, by (time, position).
    pub fn records(&self) -> impl Iterator<Item = TimedRecord<'_>> {
        self.records.iter().filter_map(|entry| self.record(entry.position))
    }

    /// Returns the mapping if the record at a position of [`Self::record_entries`] is an MMAP2, as most are.
    /// [`Self::record`] decodes records of every type.
    #[must_use]
    #[inline]
    pub fn map(&self, position: u64) -> Option<Mmap<'_>> {
        self.head.schema.map(&self.record_bytes(position)?)
    }

    /// Returns the same mapping with its file name undecoded. `None` also
    /// if it is not an ordinary mapping of a process.
    #[must_use]
    #[inline]
    pub fn named_map(&self, position: u64) -> Option<NamedMap<'_>> {
        self.named_map_in(self.at(position), position)
    }

    /// Same as [`Self::named_map`], given the bytes from that position on.
    #[inline]
    pub(super) fn named_map_in<'b>(&self, bytes: &'b [u8], position: u64) -> Option<NamedMap<'b>> {
        self.head.schema.named_map(&self.record_bytes_in(bytes, position)?)
    }

    /// Decodes the record at a position of [`Self::record_entries`].
    #[must_use]
    pub fn record(&self, position: u64) -> Option<TimedRecord<'_>> {
        self.head.schema.record(&self.record_bytes(position)?, &mut Findings::default())
    }

    /// Returns all samples and records by (time, position), decoded and with their bytes: for writers of recordings.
    pub fn raw_records(&self) -> impl Iterator<Item = RawRecord<'_>> {
        let (mut samples, mut records) =
            (self.samples.iter().peekable(), self.records.iter().peekable());
        let next = move || {
            let sample = samples.peek().map(|it| (it.time, it.position));
            let record = records.peek().map(|it| (it.time, it.position));
            match (sample, record) {
                (Some(sample), Some(record)) if record < sample => {
                    records.next().map(|it| it.position)
                }
                (None, _) => records.next().map(|it| it.position),
                (Some(_), _) => samples.next().map(|it| it.position),
            }
        };
        std::iter::from_fn(next).filter_map(|position| {
            let found = self.record_bytes(position)?;
            let body = raw_body(&self.head.schema, &found, &mut Findings::default());
            let (header, bytes) = (found.header, found.bytes);
            Some(RawRecord {
                position,
                file: 0,
                offset: position,
                inside: None,
                header,
                bytes,
                body,
            })
        })
    }

    #[inline]
    fn record_bytes(&self, position: u64) -> Option<RecordBytes<'_>> {
        self.record_bytes_in(self.at(position), position)
    }

    #[inline]
    fn record_bytes_in<'b>(&self, bytes: &'b [u8], position: u64) -> Option<RecordBytes<'b>> {
        let header = self.head.schema.header_rules().read(bytes)?;
        let bytes = bytes.get(..header.size as usize)?;
        Some(RecordBytes { position, header, bytes, payload: 0 })
    }

    /// Decodes one sample, without allocation.
    /// Damage inside it costs the damaged field and the fields after it, see [`Sample::damage`].
    /// A user callchain from a separate record is in [`Sample::user_callchain`].
    ///
    /// # Errors
    /// If the entry does not belong to this batch.
    #[inline]
    pub fn sample(&self, entry: &SampleEntry) -> Result<Sample<'_>, SampleError> {
        self.sample_in(self.at(entry.position), entry)
    }

    /// Same as [`Self::sample`], given the bytes from the sample's position on.
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

    /// Returns a reader for samples and records in sequence.
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

    /// Returns the bytes from a position to the end of its chunk; empty if no chunk has it.
    #[inline]
    pub(super) fn at(&self, position: u64) -> &[u8] {
        let (positions, bytes) = self.chunk(position).unwrap_or_default();
        let at = usize::try_from(position - positions.start).ok();
        at.and_then(|at| bytes.get(at..)).unwrap_or_default()
    }

    /// Returns the range of positions to read from the chunk at a position, and the chunk's bytes.
    /// The bytes can extend past the range: the next chunk then holds the truncated record in full.
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

    /// A batch without samples and records, with the given bytes at the given positions.
    pub(crate) fn batch_of(chunks: &[(u64, &[u8])]) -> Batch {
        let chunk =
            |&(start, bytes): &(u64, &[u8])| RecordChunk { start, bytes: bytes.to_vec().into() };
        Batch {
            head: Arc::new(Head::of_stream(Endian::Little)),
            samples: Vec::new(),
            records: Vec::new(),
            chunks: chunks.iter().map(chunk).collect(),
            chains: Vec::new(),
            held: HeldMemory::UNCOUNTED,
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

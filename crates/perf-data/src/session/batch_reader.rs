//! Sequential access to a batch: most samples and records lie in the same chunk as the previous one.

use std::ops::Range;

use super::batch::Batch;
use super::entries::SampleEntry;
use crate::prefetch::{LINE, prefetch_line};
use crate::record::{NamedMap, Sample, SampleError};

/// Fields of a sample before its stack, with a short callchain and the registers of x86-64.
const HEAD_LINES: usize = 6;
/// A map up to the end of its path, in nearly all cases.
const MAP_LINES: usize = 3;

/// Same interface as [`Batch`], faster if successive positions are close together.
#[derive(Clone, Debug)]
pub struct BatchReader<'b> {
    batch: &'b Batch,
    /// Range of positions and bytes of the last chunk read.
    chunk: (Range<u64>, &'b [u8]),
}

impl<'b> BatchReader<'b> {
    pub(super) const fn new(batch: &'b Batch) -> Self {
        Self { batch, chunk: (0..0, &[]) }
    }

    /// Same as [`Batch::named_map`].
    #[must_use]
    #[inline]
    pub fn named_map(&mut self, position: u64) -> Option<NamedMap<'b>> {
        let bytes = self.at(position);
        self.batch.named_map_in(bytes, position)
    }

    /// Same as [`Batch::sample`].
    ///
    /// # Errors
    /// If the entry does not belong to the batch.
    #[inline]
    pub fn sample(&mut self, entry: &SampleEntry) -> Result<Sample<'b>, SampleError> {
        let bytes = self.at(entry.position);
        self.batch.sample_in(bytes, entry)
    }

    /// Prefetches the map at a position.
    #[inline]
    pub fn prefetch_map(&mut self, position: u64) {
        let bytes = self.at(position);
        (0..MAP_LINES).for_each(|line| prefetch_line(bytes, LINE * line));
    }

    /// Prefetches the first fields of a sample.
    #[inline]
    pub fn prefetch_head(&mut self, entry: &SampleEntry) {
        let bytes = self.at(entry.position);
        (0..HEAD_LINES).for_each(|line| prefetch_line(bytes, LINE * line));
    }

    /// Prefetches the data after the stack of a sample. Reads its header now.
    #[inline]
    pub fn prefetch_end(&mut self, entry: &SampleEntry) {
        let bytes = self.at(entry.position);
        if let Some(len) = self.batch.head().schema.record_len(bytes) {
            prefetch_line(bytes, len.saturating_sub(8));
        }
    }

    /// Returns the bytes from a position to the end of its chunk; empty if no chunk has it.
    #[inline]
    fn at(&mut self, position: u64) -> &'b [u8] {
        if !self.chunk.0.contains(&position) {
            let Some(chunk) = self.batch.chunk(position) else { return &[] };
            self.chunk = chunk;
        }
        let (positions, bytes) = &self.chunk;
        let offset = usize::try_from(position - positions.start).unwrap_or(usize::MAX);
        bytes.get(offset..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::batch_of;

    #[test]
    fn bytes_by_position_in_any_order() {
        // The first chunk ends with a truncated record, which the second chunk holds in full.
        let chunks: [(u64, &[u8]); 3] = [(100, b"abc"), (102, b"cd"), (200, b"de")];
        for n_chunks in 0..=3 {
            let batch = batch_of(&chunks[..n_chunks]);
            let mut reader = batch.reader();
            for position in [0, 101, 102, 103, 99, 100, u64::MAX, 201, 102, 200, 150, 202, 101, 201]
            {
                assert_eq!(reader.at(position), batch.at(position), "{position} of {n_chunks}");
            }
        }
    }
}

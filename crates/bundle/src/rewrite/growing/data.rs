//! The records of a recording that grows: chunks of whole records, compressed if wanted, each followed by a round.
//!
//! ```text
//!   records   comm | sample | map | sample ...        as they are added
//!   file      [compressed chunk] round [compressed chunk] round
//! ```
//!
//! The chunks form a zstd stream, in frames of one or several chunks. The records are in the order of time, so each
//! round lets a reader process those before it.
//!
//! Source: `tools/perf/util/session.c`, `perf_session__process_compressed_event`, `perf_event__process_finished_round`.

use std::fmt;
use std::io::{self, Write};

use perf_data::{ChainEvidenceWriter, FrameRun, RecordKind};
use zstd::stream::raw::{Encoder, InBuffer, Operation as _, OutBuffer};

use super::GrowingOptions;
use crate::rewrite::RewriteError;
use crate::rewrite::fields::Fields;

/// Compression level. Source: zstd(1): 1 to 19.
const LEVEL: i32 = 3;
/// Maximum size of a chunk of records, in bytes. Compressed, it fits into a record even if it becomes larger.
const CHUNK: usize = 60_000;
/// Size of the buffer that perf allocates for an expanded chunk, in bytes.
const EXPANDED: u32 = 1 << 16;

/// Records that are being written, with the evidence for their samples.
pub(super) struct GrowingData<W> {
    out: W,
    evidence: ChainEvidenceWriter,
    /// `None` if the records stay uncompressed.
    encoder: Option<Encoder<'static>>,
    /// Records that wait for the end of their chunk.
    chunk: Vec<u8>,
    /// Samples of the chunk: offset in it, and evidence.
    samples: Vec<(u64, SampleEvidence)>,
    /// Bytes in the file.
    len: u64,
    /// Bytes of all compressed chunks before their compression.
    expanded: u64,
}

/// Evidence for the callchain of a sample.
#[derive(Debug)]
pub(super) struct SampleEvidence {
    /// Index of the end reason among the keywords.
    pub(super) end: u32,
    /// User frames, innermost first.
    pub(super) runs: Vec<FrameRun>,
}

impl<W: Write> GrowingData<W> {
    /// Begins without records. `out` is the output at the start of the data.
    pub(super) fn new(out: W, options: &GrowingOptions) -> Result<Self, RewriteError> {
        let encoder = options.is_compressed.then(|| Encoder::new(LEVEL)).transpose()?;
        let (chunk, samples) = (Vec::with_capacity(CHUNK), Vec::new());
        let evidence = options.evidence.clone();
        Ok(Self { out, evidence, encoder, chunk, samples, len: 0, expanded: 0 })
    }

    /// Returns the output, after the written chunks.
    pub(super) const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the number of bytes in the file.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Adds a record, with evidence if it is a sample.
    pub(super) fn add(
        &mut self,
        record: &[u8],
        evidence: Option<SampleEvidence>,
    ) -> Result<(), RewriteError> {
        if self.chunk.len() + record.len() > CHUNK {
            // A larger record is not compressed, and does not end a frame.
            self.write_chunk(record.len() > CHUNK)?;
        }
        let at = self.chunk.len() as u64;
        self.samples.extend(evidence.map(|evidence| (at, evidence)));
        self.chunk.extend_from_slice(record);
        Ok(())
    }

    /// Writes the records so far, and ends their compressed frame: other frames may follow, from elsewhere.
    pub(super) fn end_frame(&mut self) -> Result<(), RewriteError> {
        self.write_chunk(true)
    }

    /// Writes the chunk, if it has records. perf refuses a compressed record without content, so the end of a frame must
    /// be in one with records.
    fn write_chunk(&mut self, ends_frame: bool) -> Result<(), RewriteError> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let size = self.chunk.len() as u64;
        // Positions of expanded records follow those of the compressed one, and move all later ones.
        let start = match &mut self.encoder {
            Some(encoder) if self.chunk.len() <= CHUNK => {
                let packed = compressed(encoder, &self.chunk, ends_frame)?;
                self.out.write_all(&packed)?;
                self.len += packed.len() as u64;
                self.expanded += size;
                self.len + self.expanded - size
            }
            _ => {
                self.out.write_all(&self.chunk)?;
                self.len += size;
                self.len + self.expanded - size
            }
        };
        for (inside, SampleEvidence { end, runs }) in self.samples.drain(..) {
            self.evidence.add(start + inside, end, &runs);
        }
        self.chunk.clear();
        let round = Fields::record(RecordKind::FINISHED_ROUND, 0).finish().unwrap_or_default();
        self.out.write_all(&round)?;
        self.len += round.len() as u64;
        Ok(())
    }

    /// Appends the data of records that were written elsewhere, with their evidence. Both are at the end of a frame.
    pub(super) fn append(&mut self, data: &GrowingData<Vec<u8>>) -> Result<(), RewriteError> {
        self.evidence.append(&data.evidence, self.len + self.expanded);
        self.out.write_all(&data.out)?;
        self.len += data.len;
        self.expanded += data.expanded;
        Ok(())
    }

    /// Returns the feature section of a compressed recording.
    ///
    /// Source: `tools/perf/util/header.c`, `write_compressed`: version, type 1 (zstd), level, ratio, buffer size.
    pub(super) fn compression(&self) -> Option<Vec<u8>> {
        self.encoder.as_ref()?;
        let ratio = self.expanded.checked_div(self.len).unwrap_or(1).max(1);
        let mut section = Fields::section();
        for word in [1, 1, LEVEL.cast_unsigned(), ratio as u32, EXPANDED] {
            section.u32(word);
        }
        Some(section.take())
    }

    /// Returns the section of evidence for all written samples; the data begins at the offset `start`.
    pub(super) fn evidence(&mut self, start: u64) -> Vec<u8> {
        std::mem::take(&mut self.evidence).finish(start)
    }

    /// Returns the output.
    pub(super) fn into_out(self) -> W {
        self.out
    }
}

impl<W> fmt::Debug for GrowingData<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrowingData").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Returns a record with the next chunk of a zstd stream.
fn compressed(
    encoder: &mut Encoder<'_>,
    chunk: &[u8],
    ends_frame: bool,
) -> Result<Vec<u8>, RewriteError> {
    let mut packed = vec![0; usize::from(u16::MAX)];
    let mut out = OutBuffer::around(packed.as_mut_slice());
    let mut input = InBuffer::around(chunk);
    let mut taken = usize::MAX;
    while input.pos() < chunk.len() && input.pos() != taken {
        taken = input.pos();
        encoder.run(&mut input, &mut out)?;
    }
    let rest =
        if ends_frame { encoder.finish(&mut out, true)? } else { encoder.flush(&mut out)? };
    let rest = chunk.len() - input.pos() + rest;
    if ends_frame {
        encoder.reinit()?;
    }
    let size = out.pos();
    let mut record = Fields::record(RecordKind::COMPRESSED, 0);
    record.bytes(packed.get(..size).unwrap_or_default());
    // zstd adds 3 bytes per block of 128 KiB at most.
    let record = record.unpadded().filter(|_| rest == 0);
    record.ok_or_else(|| io::Error::other("a compressed chunk exceeds a record").into())
}

#[cfg(test)]
mod tests {
    use perf_data::ChainEvidence;
    use zstd::stream::raw::Decoder;

    use super::*;

    /// Returns the records of the data with their positions: a reader's, by its rule.
    fn records(data: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut decoder = Decoder::new().unwrap();
        let (mut found, mut offset, mut shift) = (Vec::new(), 0, 0);
        while offset < data.len() {
            let size = usize::from(u16::from_le_bytes([data[offset + 6], data[offset + 7]]));
            let record = &data[offset..offset + size];
            let at = (offset + shift) as u64;
            offset += size;
            match u32::from_le_bytes(record[..4].try_into().unwrap()) {
                81 => {
                    let mut expanded = vec![0; EXPANDED as usize];
                    let mut out = OutBuffer::around(expanded.as_mut_slice());
                    decoder.run(&mut InBuffer::around(&record[8..]), &mut out).unwrap();
                    let size = out.pos();
                    let mut inside = 0;
                    while inside < size {
                        let len = u16::from_le_bytes([expanded[inside + 6], expanded[inside + 7]]);
                        let len = usize::from(len);
                        let bytes = expanded[inside..inside + len].to_vec();
                        found.push(((offset + shift + inside) as u64, bytes));
                        inside += len;
                    }
                    shift += size;
                }
                68 => assert_eq!(size, 8),
                _ => found.push((at, record.to_vec())),
            }
        }
        found
    }

    #[test]
    fn evidence_is_at_the_positions_of_the_samples() {
        let record = |n: u8, size: usize| {
            let mut fields = Fields::record(RecordKind::SAMPLE, 0);
            // Bytes that cannot be compressed much.
            let mut state = u64::from(n) + 1;
            for _ in 0..(size - 8) / 8 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                fields.u64(state ^ state >> 29);
            }
            fields.finish().unwrap()
        };
        let sizes = [24, 24_000, 32_000, 40_000, 65_528, 16, 59_984, 16, 24, 65_528];
        let all: Vec<Vec<u8>> = (0..).zip(sizes).map(|(n, size)| record(n, size)).collect();
        for is_compressed in [false, true] {
            let evidence = ChainEvidenceWriter::new(["root"], ["cfi"]);
            let options = GrowingOptions {
                evidence,
                is_compressed,
                command_line: None,
                has_further_files: false,
            };
            let mut data = GrowingData::new(Vec::new(), &options).unwrap();
            let mut other = GrowingData::new(Vec::new(), &options).unwrap();
            for (at, record) in all.iter().enumerate() {
                let run = FrameRun { found_by: 0, has_address: true, is_whole: false, frames: 1 };
                let data = if at < 4 { &mut data } else { &mut other };
                data.add(record, Some(SampleEvidence { end: 0, runs: vec![run] })).unwrap();
                // Frames may end anywhere.
                if at % 2 == 1 {
                    data.end_frame().unwrap();
                }
            }
            data.end_frame().unwrap();
            data.end_frame().unwrap();
            other.end_frame().unwrap();
            data.append(&other).unwrap();
            assert_eq!(data.compression().is_some(), is_compressed);
            let section = data.evidence(0);
            let evidence = ChainEvidence::decode(&section).unwrap();
            assert_eq!(data.len(), data.out().len() as u64);
            let read = records(&data.into_out());
            assert!(read.iter().map(|(_, bytes)| bytes).eq(&all), "{is_compressed}");
            for (position, _) in read {
                assert!(evidence.of_sample(position).is_some(), "{position} {is_compressed}");
            }
        }
    }
}

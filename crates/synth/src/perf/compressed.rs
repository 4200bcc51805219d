//! COMPRESSED (81) and COMPRESSED2 (83) records over one zstd stream without an end.
//!
//! The stream has only raw and run-length blocks. Two properties matter to a reader: its decoder keeps its state over
//! records, and records straddle the chunks.

use super::user_record::UserRecord;
use crate::bytes::Endian;

/// Maximum size of a block, in bytes.
///
/// Source: RFC 8878, 3.1.1.2.4 (`Block_Maximum_Size`).
const MAX_BLOCK: usize = 128 << 10;

/// An endless zstd frame.
#[derive(Clone, Debug, Default)]
pub struct ZstdStream {
    started: bool,
}

impl ZstdStream {
    /// Creates a stream. Its first chunk carries the frame header.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the next chunk, which holds `bytes` uncompressed.
    #[must_use]
    pub fn raw_chunk(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = self.begin();
        for block in bytes.chunks(MAX_BLOCK) {
            out.extend_from_slice(&block_header(0, block.len()));
            out.extend_from_slice(block);
        }
        out
    }

    /// Returns the next chunk, which expands to `n` times `byte`: four bytes for each 128 KiB.
    #[must_use]
    pub fn run_chunk(&mut self, byte: u8, n: usize) -> Vec<u8> {
        let mut out = self.begin();
        let mut left = n;
        while left > 0 {
            let run = left.min(MAX_BLOCK);
            out.extend_from_slice(&block_header(1, run));
            out.push(byte);
            left -= run;
        }
        out
    }

    /// Returns the start of the frame: magic number, a descriptor without size, checksum and dictionary, and a window
    /// of 1 MiB.
    ///
    /// Source: RFC 8878, 3.1.1.1.
    fn begin(&mut self) -> Vec<u8> {
        if std::mem::replace(&mut self.started, true) {
            return Vec::new();
        }
        vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 10 << 3]
    }
}

/// Source: RFC 8878, 3.1.1.2: last-block bit (never set), two bits of type, 21 bits of size.
fn block_header(kind: usize, size: usize) -> [u8; 3] {
    let word = (kind << 1 | size << 3).to_le_bytes();
    [word[0], word[1], word[2]]
}

/// Type of the records that carry the chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompressedKind {
    /// Type 81, not padded to 8 bytes.
    Compressed,
    /// Type 83, with its own length and padded to 8 bytes.
    Compressed2,
}

/// Packs record bytes into compressed records of one stream.
///
/// ```
/// use synth::{CompressedKind, Compressor, Endian};
/// let mut compressor = Compressor::new(Endian::Little, CompressedKind::Compressed);
/// let first = compressor.pack(&[1, 2, 3], 2);
/// // Record header, frame header, block header, two bytes; then a record without frame header.
/// assert_eq!(first.len(), (8 + 6 + 3 + 2) + (8 + 3 + 1));
/// assert_eq!(first[6], 19);
/// ```
#[derive(Clone, Debug)]
pub struct Compressor {
    endian: Endian,
    kind: CompressedKind,
    stream: ZstdStream,
}

impl Compressor {
    /// Creates a compressor at the start of its stream; use one for each data file.
    #[must_use]
    pub fn new(endian: Endian, kind: CompressedKind) -> Self {
        Self { endian, kind, stream: ZstdStream::new() }
    }

    /// Returns record bytes as compressed records, split after each `chunk` bytes even inside a record.
    ///
    /// # Panics
    /// If `chunk` is 0, or too large for a record (about 65,000 bytes).
    #[must_use]
    pub fn pack(&mut self, records: &[u8], chunk: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for part in records.chunks(chunk) {
            let data = self.stream.raw_chunk(part);
            out.extend(self.wrap(&data));
        }
        out
    }

    /// Returns one record that expands to `n` times `byte`, far more than its own size.
    #[must_use]
    pub fn pack_run(&mut self, byte: u8, n: usize) -> Vec<u8> {
        let data = self.stream.run_chunk(byte, n);
        self.wrap(&data)
    }

    fn wrap(&self, data: &[u8]) -> Vec<u8> {
        match self.kind {
            CompressedKind::Compressed => UserRecord::Compressed { data }.encode(self.endian),
            CompressedKind::Compressed2 => UserRecord::Compressed2 { data }.encode(self.endian),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn another_decoder_reads_the_stream() {
        let mut stream = ZstdStream::new();
        let mut all = stream.raw_chunk(b"abc");
        all.extend(stream.run_chunk(b'x', 200_000));
        all.extend(stream.raw_chunk(b"def"));
        // An empty last block, since this decoder retains a window until the frame ends.
        all.extend([1, 0, 0]);
        let mut decoder = ruzstd::decoding::StreamingDecoder::new(all.as_slice()).unwrap();
        let mut plain = vec![0; 200_006];
        decoder.read_exact(&mut plain).unwrap();
        assert_eq!(&plain[..4], b"abcx");
        assert_eq!(&plain[200_002..], b"xdef");
    }

    #[test]
    fn second_kind_states_its_length_and_is_aligned() {
        let mut compressor = Compressor::new(Endian::Big, CompressedKind::Compressed2);
        let bytes = compressor.pack(&[7, 8], 100);
        assert_eq!(
            bytes,
            [
                0, 0, 0, 83, 0, 0, 0, 32, // header
                0, 0, 0, 0, 0, 0, 0, 11, // length
                0x28, 0xb5, 0x2f, 0xfd, 0, 80, // frame header
                16, 0, 0, 7, 8, // block
                0, 0, 0, 0, 0, // padding
            ]
        );
    }
}

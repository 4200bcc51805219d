//! A gzip stream whose pieces are compressed on all threads.

use std::io::{self, Write};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};
use rayon::prelude::*;

/// Size of a piece, in bytes. Pieces are compressed by themselves, so that the stream does not depend on the threads.
const PIECE: usize = 256 << 10;
/// Size of the pieces that are compressed at once, in bytes.
const AT_ONCE: usize = 16 * PIECE;

/// A writer of a gzip stream with one member. It is incomplete until [`Self::finish`].
pub(crate) struct GzipWriter<'o> {
    out: &'o mut dyn Write,
    level: Compression,
    has_head: bool,
    waiting: Vec<u8>,
    sum: Crc,
}

impl<'o> GzipWriter<'o> {
    /// Returns a writer of a stream with this level of compression, from 1 to 9.
    pub(crate) fn new(out: &'o mut dyn Write, level: u32) -> Self {
        let level = Compression::new(level);
        Self { out, level, has_head: false, waiting: Vec::new(), sum: Crc::new() }
    }

    /// Compresses the bytes that wait, and writes them.
    fn write_waiting(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.has_head, true) {
            self.out.write_all(&HEAD)?;
        }
        let compress = || Compress::new(self.level, false);
        let pieces = self.waiting.par_chunks(PIECE);
        let pieces: Vec<_> = pieces.map_init(compress, compressed).collect();
        for piece in pieces {
            let (bytes, sum) = piece?;
            self.out.write_all(&bytes)?;
            self.sum.combine(&sum);
        }
        self.waiting.clear();
        Ok(())
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// Errors of the writer below.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.out.write_all(&LAST_BLOCK)?;
        self.out.write_all(&self.sum.sum().to_le_bytes())?;
        self.out.write_all(&self.sum.amount().to_le_bytes())
    }
}

impl Write for GzipWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.get(..AT_ONCE - self.waiting.len()).unwrap_or(bytes);
        self.waiting.extend_from_slice(taken);
        if self.waiting.len() == AT_ONCE {
            self.write_waiting()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        self.out.flush()
    }
}

/// Head of a member without a name and a time, from an unknown system.
///
/// Source: RFC 1952, section 2.3.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// An empty block that ends the compressed bytes.
///
/// Source: RFC 1951, section 3.2.3: last block, fixed codes, end of block.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Returns a piece as blocks that end at a byte, and its checksum.
fn compressed(compress: &mut Compress, piece: &[u8]) -> io::Result<(Vec<u8>, Crc)> {
    compress.reset();
    let mut bytes = Vec::with_capacity(piece.len() / 2 + 64);
    let mut sum = Crc::new();
    sum.update(piece);
    loop {
        let done = usize::try_from(compress.total_in()).unwrap_or(piece.len());
        let rest = piece.get(done..).unwrap_or_default();
        let status = compress.compress_vec(rest, &mut bytes, FlushCompress::Sync);
        let is_full = bytes.len() == bytes.capacity();
        match status.map_err(io::Error::other)? {
            Status::Ok | Status::BufError if is_full => bytes.reserve(bytes.len().max(64)),
            _ => return Ok((bytes, sum)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn streams_of_all_sizes_are_unpacked_again() {
        for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 7] {
            // Bytes that cannot be compressed need more room than they have.
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
                state.to_le_bytes()[3]
            };
            let hard: Vec<u8> = (0..size).map(|_| next()).collect();
            let easy = vec![7; size];
            for bytes in [hard, easy] {
                let mut stream = Vec::new();
                let mut gzip = GzipWriter::new(&mut stream, 5);
                bytes.chunks(1000).for_each(|part| gzip.write_all(part).expect("a vector"));
                gzip.finish().expect("a vector");
                let mut back = Vec::new();
                let mut decoder = GzDecoder::new(&*stream);
                decoder.read_to_end(&mut back).expect("a stream");
                assert!(back == bytes, "{size}");
                assert!(decoder.into_inner().is_empty(), "one member");
            }
        }
    }

    #[test]
    fn a_short_stream_has_known_bytes() {
        let mut stream = Vec::new();
        let mut gzip = GzipWriter::new(&mut stream, 5);
        gzip.write_all(b"a").expect("a vector");
        gzip.finish().expect("a vector");
        assert_eq!(stream[..10], HEAD);
        assert_eq!(
            stream[10..],
            [0x4a, 4, 0, 0, 0, 0xff, 0xff, 3, 0, 0x43, 0xbe, 0xb7, 0xe8, 1, 0, 0, 0]
        );
    }
}

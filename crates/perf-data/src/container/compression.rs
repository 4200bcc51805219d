//! Recordings that are compressed as a whole: `.zst`, `.gz`, `.xz`. Detected by content, not by name.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Expanded bytes allowed for any compressed file …
const FREE: u64 = 256 << 20;
/// … and additional ones per compressed byte. Recordings usually have a ratio of 6 to 1.
const RATIO: u64 = 24;

/// Memory limit for the window of xz, in KiB. Source: xz(1): `-9` takes 64 MiB.
const XZ_WINDOW: u32 = 128 << 10;

/// Compression of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    Zstd,
    Gzip,
    Xz,
}

impl Compression {
    /// Length of the longest magic, in bytes.
    pub(crate) const MAGIC_LEN: usize = 6;

    /// Detects the compression of data by its first bytes.
    ///
    /// Source: RFC 8878 3.1.1, RFC 1952 2.3.1, the .xz file format 2.1.1.1.
    pub(crate) fn detect(bytes: &[u8]) -> Option<Self> {
        const MAGICS: [(&[u8], Compression); 3] = [
            (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
            (&[0x1f, 0x8b, 8], Compression::Gzip),
            (&[0xfd, b'7', b'z', b'X', b'Z', 0], Compression::Xz),
        ];
        MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|magic| magic.1)
    }

    /// Returns a reader for the expanded data.
    pub(crate) fn expand(
        self,
        compressed: Box<dyn Read + Send>,
    ) -> io::Result<Box<dyn Read + Send>> {
        let compressed_bytes = Arc::new(AtomicU64::new(0));
        let compressed =
            CountingReader { inner: compressed, compressed_bytes: Arc::clone(&compressed_bytes) };
        let inner: Box<dyn Read + Send> = match self {
            Self::Zstd => Box::new(zstd::stream::read::Decoder::new(compressed)?),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(compressed)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(compressed, true, XZ_WINDOW)),
        };
        Ok(Box::new(LimitedReader { inner, compressed_bytes, expanded_bytes: 0 }))
    }
}

/// A reader that counts the bytes read.
struct CountingReader {
    inner: Box<dyn Read + Send>,
    compressed_bytes: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.compressed_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }
}

/// A reader that fails if the expanded data exceeds the limit for recordings.
struct LimitedReader {
    inner: Box<dyn Read + Send>,
    compressed_bytes: Arc<AtomicU64>,
    expanded_bytes: u64,
}

impl Read for LimitedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.expanded_bytes += len as u64;
        let allowed = FREE
            .saturating_add(self.compressed_bytes.load(Ordering::Relaxed).saturating_mul(RATIO));
        if self.expanded_bytes > allowed {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "expands without measure"));
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PERFILE2`, compressed by xz with a dictionary of 1 GiB: a few bytes that require much memory.
    #[test]
    fn the_window_of_xz_is_bounded() {
        const PACKED: [u8; 60] = [
            253, 55, 122, 88, 90, 0, 0, 1, 105, 34, 222, 54, 2, 0, 33, 1, 36, 0, 0, 0, 94, 31, 199,
            249, 1, 0, 7, 80, 69, 82, 70, 73, 76, 69, 50, 0, 183, 251, 135, 106, 0, 1, 28, 8, 68,
            96, 42, 200, 144, 66, 153, 13, 1, 0, 0, 0, 0, 1, 89, 90,
        ];
        assert_eq!(Compression::detect(&PACKED), Some(Compression::Xz));
        let mut text = Vec::new();
        let expanded = Compression::Xz.expand(Box::new(&PACKED[..]));
        let read = expanded.and_then(|mut expanded| expanded.read_to_end(&mut text));
        assert_eq!((read.is_err(), text), (true, Vec::new()));
    }
}

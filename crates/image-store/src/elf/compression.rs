//! Compressed files and sections: detected by their first bytes, not by their names, and unpacked with a limit.

use std::borrow::Cow;
use std::io::{self, Read};

use budget::try_reserve;

use super::FileAllowance;

/// Memory limit for the window of xz, in KiB. Source: xz(1): `-9` takes 64 MiB, and files with
/// larger windows do not occur.
const XZ_WINDOW: u32 = 128 << 10;

/// Compression of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileCompression {
    Gzip,
    Xz,
    Zstd,
    Bzip2,
}

impl FileCompression {
    /// Detects the compression by the magic number.
    ///
    /// Source: RFC 1952; the .xz file format, 2.1.1.1; RFC 8878; bzip2's `BZh`.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        [
            (&[0x1f, 0x8b][..], Self::Gzip),
            (&[0xfd, b'7', b'z', b'X', b'Z', 0], Self::Xz),
            (&[0x28, 0xb5, 0x2f, 0xfd], Self::Zstd),
            (b"BZh", Self::Bzip2),
        ]
        .into_iter()
        .find_map(|(magic, compression)| bytes.starts_with(magic).then_some(compression))
    }

    /// Returns a reader for the decompressed data.
    pub(crate) fn reader(self, bytes: &[u8]) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(bytes, true, XZ_WINDOW)),
            Self::Zstd => {
                Box::new(ruzstd::decoding::StreamingDecoder::new(bytes).map_err(io::Error::other)?)
            }
            Self::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(bytes)),
        })
    }
}

/// Returns the bytes of a file, decompressed if necessary.
///
/// # Errors
/// If they cannot be decompressed, or exceed the limit; then the error holds an [`budget::Exhausted`].
pub(crate) fn unpack<'b>(
    bytes: &'b [u8],
    allowance: &mut FileAllowance,
) -> io::Result<Cow<'b, [u8]>> {
    let Some(compression) = FileCompression::of(bytes) else { return Ok(Cow::Borrowed(bytes)) };
    let limit = allowance.unpacked_left();
    let mut unpacked = Vec::new();
    compression.reader(bytes)?.take(limit.saturating_add(1)).read_to_end(&mut unpacked)?;
    allowance.unpack(unpacked.len() as u64, || "the file".to_owned()).map_err(io::Error::other)?;
    Ok(Cow::Owned(unpacked))
}

/// Returns the decompressed bytes of an `SHF_COMPRESSED` section of a 64-bit little-endian
/// file, if they are sound and within the limit.
///
/// Source: gABI, "Section Compression": `Elf64_Chdr` is type (4 bytes), reserved (4), size (8), alignment (8).
pub(crate) fn inflate_section(section: &[u8], allowance: &mut FileAllowance) -> Option<Vec<u8>> {
    let (header, compressed) = section.split_first_chunk::<24>()?;
    let size = header.get(8..16)?.first_chunk().map(|size| u64::from_le_bytes(*size))?;
    // The stated size is charged regardless of the result: damage at the end costs as much as a sound section.
    allowance.unpack(size, || "a compressed section".to_owned()).ok()?;
    match header.first()? {
        1 => inflate(compressed, size).ok(),
        2 => unpack_zstd(compressed, size).ok(),
        _ => None,
    }
}

/// Returns the first `size` bytes of a zlib stream, or all of it if it is shorter.
///
/// # Errors
/// If it is damaged.
pub(crate) fn inflate(compressed: &[u8], size: u64) -> io::Result<Vec<u8>> {
    // Sections of debug information expand to four to eight times their size.
    const USUAL: u64 = 16;
    if size <= (compressed.len() as u64).saturating_mul(USUAL)
        && let Some(unpacked) =
            usize::try_from(size).ok().and_then(|size| at_once(compressed, size))
    {
        return Ok(unpacked);
    }
    // The stated size is only a limit: memory grows with the actual output.
    let mut unpacked = Vec::new();
    flate2::read::ZlibDecoder::new(compressed).take(size).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// Decompresses a sound zlib stream of exactly `size` bytes; other streams need the incremental decoder.
fn at_once(compressed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    try_reserve(&mut unpacked, size).ok()?;
    unpacked.resize(size, 0);
    let len = libdeflater::Decompressor::new().zlib_decompress(compressed, &mut unpacked).ok()?;
    (len == size).then_some(unpacked)
}

/// Returns the first `size` bytes of a zstd frame, or all of it if it is shorter.
///
/// # Errors
/// If it is damaged.
pub(crate) fn unpack_zstd(compressed: &[u8], size: u64) -> io::Result<Vec<u8>> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(compressed).map_err(io::Error::other)?;
    let mut unpacked = Vec::new();
    decoder.take(size).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use budget::Budget;

    use super::*;

    /// `printf 'module text\n' | xz --check=crc32`, and the same through gzip, zstd and bzip2.
    const XZ: &[u8] = &[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36];

    #[test]
    fn magic_numbers_decide() {
        assert_eq!(FileCompression::of(XZ), Some(FileCompression::Xz));
        assert_eq!(FileCompression::of(&[0x1f, 0x8b, 8]), Some(FileCompression::Gzip));
        assert_eq!(FileCompression::of(b"BZh91"), Some(FileCompression::Bzip2));
        assert_eq!(FileCompression::of(&[0x28, 0xb5, 0x2f, 0xfd]), Some(FileCompression::Zstd));
        assert_eq!(FileCompression::of(b"\x7fELF"), None);
        let mut allowance = FileAllowance::new(&Budget::default(), 5);
        assert!(unpack(XZ, &mut allowance).is_err());
        assert_eq!(unpack(b"plain", &mut allowance).expect("not compressed").as_ref(), b"plain");
    }

    /// `zlib.compress(b"module text, module text, module text")` of Python.
    const ZLIB: [u8; 24] = [
        0x78, 0x9c, 0xcb, 0xcd, 0x4f, 0x29, 0xcd, 0x49, 0x55, 0x28, 0x49, 0xad, 0x28, 0xd1, 0x51,
        0xc8, 0xc5, 0xc1, 0x01, 0x00, 0x07, 0x67, 0x0d, 0xda,
    ];

    #[test]
    fn the_stated_size_is_a_limit_and_no_promise() {
        let text = b"module text, module text, module text";
        for size in [0, 1, 36, 37, 38, 24 * 16, 24 * 16 + 1, u64::MAX] {
            let expected = text.get(..size as usize).unwrap_or(text);
            assert_eq!(inflate(&ZLIB, size).expect("sound"), expected, "{size}");
        }
        // The last four bytes are a checksum; the two before them are the rest of the last code and the end marker.
        for cut in 0..ZLIB.len() - 6 {
            assert!(inflate(&ZLIB[..cut], 37).is_err(), "{cut}");
        }
    }
}

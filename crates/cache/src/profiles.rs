//! Finished profiles of recordings. Their content is opaque here.

use std::hash::Hasher as _;
use std::io::{self, ErrorKind, Write};

use host::Content;
use twox_hash::XxHash64;

use crate::key::CacheKey;
use crate::layout::{PROFILE_MAGIC, PROFILE_VERSION, checksum, u32_at};

/// Size of the head, in bytes.
const HEAD: usize = PROFILE_MAGIC.len() + 2 * size_of::<u32>() + CacheKey::SIZE;
/// Size of the tail, in bytes.
const TAIL: usize = size_of::<u64>();

/// A finished profile in the cache.
#[derive(Debug)]
pub struct StoredProfile(Content);

impl StoredProfile {
    /// Checks the bytes of a file; `None` if they are damaged, of another version, or stored under another key.
    pub(crate) fn read(bytes: Content, key: &CacheKey) -> Option<Self> {
        content(&bytes, Some(key))?;
        Some(Self(bytes))
    }

    /// Its content.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        inner(&self.0).unwrap_or_default()
    }

    /// Returns true if all bytes that were read so far are those of the file, which was not truncated meanwhile.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.0.damage().happened()
    }
}

/// Returns the content of a file; `None` if it is damaged, of another version, or stored under another key than the one
/// given.
pub(crate) fn content<'b>(bytes: &'b [u8], key: Option<&CacheKey>) -> Option<&'b [u8]> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let is_wanted = match key {
        Some(key) => head == self::head(key),
        None => head.starts_with(&PROFILE_MAGIC) && u32_at(head, 8) == PROFILE_VERSION,
    };
    let end = bytes.len() - rest.len().min(TAIL);
    let (checked, tail) = bytes.split_at_checked(end)?;
    (is_wanted && tail == checksum(checked).to_le_bytes()).then(|| inner(bytes))?
}

/// Returns the bytes between the head and the tail of a file.
fn inner(bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(HEAD..bytes.len().checked_sub(TAIL)?)
}

/// Returns the head of a file.
fn head(key: &CacheKey) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD);
    bytes.extend_from_slice(&PROFILE_MAGIC);
    bytes.extend_from_slice(&PROFILE_VERSION.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&key.0);
    bytes
}

/// Writes a file of at most `most` bytes, whose content is written by `content`. The content has no stored form, or is
/// too large, if the result is false.
pub(crate) fn write(
    out: &mut dyn Write,
    key: &CacheKey,
    most: u64,
    content: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
) -> io::Result<bool> {
    let mut out = CheckedWriter { out, sum: XxHash64::with_seed(0), left: most };
    out.write_all(&head(key))?;
    match content(&mut out) {
        Ok(true) => {}
        Err(error) if error.kind() == ErrorKind::FileTooLarge => return Ok(false),
        other => return other,
    }
    let CheckedWriter { out, sum, left } = out;
    out.write_all(&sum.finish().to_le_bytes())?;
    Ok(left >= TAIL as u64)
}

/// A writer that sums what it writes, and refuses more bytes than a file may have.
struct CheckedWriter<'w> {
    out: &'w mut dyn Write,
    sum: XxHash64,
    left: u64,
}

impl Write for CheckedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(ErrorKind::FileTooLarge)?;
        self.out.write_all(bytes)?;
        self.sum.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file with this content.
    fn file(key: &CacheKey, text: &[u8], most: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = write(&mut bytes, key, most, |out| out.write_all(text).map(|()| true));
        written.expect("a vector can be written").then_some(bytes)
    }

    #[test]
    fn contents_are_checked() {
        let key = CacheKey([7; CacheKey::SIZE]);
        let bytes = file(&key, b"content", 1000).expect("small");
        assert_eq!(content(&bytes, Some(&key)), Some(&b"content"[..]));
        assert_eq!(content(&bytes, None), Some(&b"content"[..]));
        assert_eq!(content(&bytes, Some(&CacheKey([8; CacheKey::SIZE]))), None);
        for at in 0..bytes.len() {
            assert_eq!(content(&bytes[..at], None), None, "{at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(content(&flipped, None), None, "{at}");
        }
    }

    #[test]
    fn large_contents_are_refused() {
        let key = CacheKey([7; CacheKey::SIZE]);
        let size = file(&key, &[1; 100], 1000).expect("small").len() as u64;
        assert_eq!(size, 156);
        assert!(file(&key, &[1; 100], size).is_some());
        assert_eq!(file(&key, &[1; 100], size - 1), None);
        assert_eq!(file(&key, &[1; 100], 50), None);
    }
}

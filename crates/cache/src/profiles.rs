//! Finished profiles of recordings. Their content is opaque here.

use crate::key::CacheKey;
use crate::layout::{PROFILE_MAGIC, PROFILE_VERSION, UNCHECKED, checksum, u32_at, u64_at};

/// Size of the head, in bytes.
const HEAD: usize = UNCHECKED + CacheKey::SIZE;

/// A finished profile in the cache.
#[derive(Debug)]
pub struct StoredProfile(Vec<u8>);

impl StoredProfile {
    /// Checks the bytes of a file; `None` if they are damaged, of another version, or stored under another key.
    pub(crate) fn read(bytes: Vec<u8>, key: &CacheKey) -> Option<Self> {
        content(&bytes, Some(key))?;
        Some(Self(bytes))
    }

    /// Its content.
    #[must_use]
    pub fn content(&self) -> &[u8] {
        self.0.get(HEAD..).unwrap_or_default()
    }
}

/// Returns the content of a file; `None` if it is damaged, of another version, or stored under another key than the one
/// given.
pub(crate) fn content<'b>(bytes: &'b [u8], key: Option<&CacheKey>) -> Option<&'b [u8]> {
    let is_ours = bytes.starts_with(&PROFILE_MAGIC) && u32_at(bytes, 8) == PROFILE_VERSION;
    if !is_ours || checksum(bytes.get(UNCHECKED..)?) != u64_at(bytes, 16) {
        return None;
    }
    let stored = bytes.get(UNCHECKED..HEAD)?;
    if key.is_some_and(|key| key.0 != stored) {
        return None;
    }
    bytes.get(HEAD..)
}

/// Returns an empty file to which the content is appended; [`complete`] ends it.
pub(crate) fn begin(key: &CacheKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&PROFILE_MAGIC);
    bytes.extend_from_slice(&PROFILE_VERSION.to_le_bytes());
    bytes.resize(UNCHECKED, 0);
    bytes.extend_from_slice(&key.0);
    bytes
}

/// Completes a file.
pub(crate) fn complete(bytes: &mut [u8]) {
    let sum = checksum(bytes.get(UNCHECKED..).unwrap_or_default()).to_le_bytes();
    if let Some(place) = bytes.get_mut(UNCHECKED - sum.len()..UNCHECKED) {
        place.copy_from_slice(&sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_checked() {
        let key = CacheKey([7; CacheKey::SIZE]);
        let mut bytes = begin(&key);
        bytes.extend_from_slice(b"content");
        complete(&mut bytes);
        assert_eq!(content(&bytes, Some(&key)), Some(&b"content"[..]));
        assert_eq!(content(&bytes, None), Some(&b"content"[..]));
        assert_eq!(content(&bytes, Some(&CacheKey([8; CacheKey::SIZE]))), None);
        for at in 0..bytes.len() {
            assert_eq!(content(&bytes[..at], None), None, "{at}");
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            // The checksum does not cover four bytes of padding.
            assert_eq!(content(&flipped, None).is_some(), (12..16).contains(&at), "{at}");
        }
    }
}

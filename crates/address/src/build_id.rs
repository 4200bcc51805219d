//! The identity of a file's content.

use std::fmt;

/// The bytes of an ELF build-id note, 1 to 20 of them (longer ids are truncated to 20, as by recorders).
///
/// Source: `.note.gnu.build-id`, note type `NT_GNU_BUILD_ID` (3) of owner `GNU`; `PERF_RECORD_MMAP2` with
/// `PERF_RECORD_MISC_MMAP_BUILD_ID` (Linux 5.12).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BuildId {
    len: u8,
    bytes: [u8; Self::MAX_LEN],
}

impl BuildId {
    /// Maximum length of an id in recordings, in bytes.
    pub const MAX_LEN: usize = 20;

    /// Creates an id; `None` if all bytes are zero or there are none, which recorders write for "unknown".
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let bytes = &bytes[..bytes.len().min(Self::MAX_LEN)];
        if bytes.iter().all(|&byte| byte == 0) {
            return None;
        }
        let mut id = Self { len: bytes.len() as u8, bytes: [0; Self::MAX_LEN] };
        id.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(id)
    }

    /// Parses hexadecimal digits of either case; `None` if the text is invalid.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if !digits.len().is_multiple_of(2) || digits.len() > 2 * Self::MAX_LEN {
            return None;
        }
        let mut bytes = [0; Self::MAX_LEN];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16)?;
            let low = (pair[1] as char).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Self::new(&bytes[..digits.len() / 2])
    }

    /// The bytes of the id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns true if two ids can identify the same content.
    /// Old recorders pad short ids with zeros to 20 bytes and lose the length, so trailing zeros are ignored.
    #[must_use]
    pub fn matches(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trip() {
        let id = BuildId::from_hex("d587e5ae189c1789").expect("an lld id of eight bytes");
        assert_eq!(id.to_string(), "d587e5ae189c1789");
        assert_eq!(id.as_bytes().len(), 8);
        assert_eq!(BuildId::from_hex("D587E5AE189C1789"), Some(id));
        assert_eq!(BuildId::from_hex("d58"), None);
        assert_eq!(BuildId::from_hex("zz"), None);
    }

    #[test]
    fn zero_is_no_id_and_padding_is_no_difference() {
        assert_eq!(BuildId::new(&[0; 20]), None);
        assert_eq!(BuildId::new(&[]), None);
        let short = BuildId::new(&[1, 2, 3]).expect("three bytes");
        let mut padded = [0; 20];
        padded[..3].copy_from_slice(&[1, 2, 3]);
        let padded = BuildId::new(&padded).expect("twenty bytes");
        assert_ne!(short, padded);
        assert!(short.matches(&padded));
    }
}

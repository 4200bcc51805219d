//! The layouts of a file of answers and of one of unwind rules. All numbers are little-endian.
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), checksum of all that follows (u64)
//!               key (32 bytes)
//!               numbers of addresses, frames, strings, and of bytes of strings (u32 each)
//!   addresses   as the file states them, ascending (u64 each)
//!   starts      of the functions that are not inlined (u64 each)
//!   ends        where the frames of each address end (u32 each)
//!   replaced    the name that the symbol's took the place of (u32 each: number of the string + 1, or 0)
//!   marks       whether there is a start, and why there is no name (u8 each)
//!   frames      function, file (number of the string + 1, or 0), line, column, whether inlined (u32 each)
//!   strings     where each ends (u32 each), then their bytes
//! ```
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), checksum of all that follows (u64)
//!               key (32 bytes)
//!               first address (u64), numbers of addresses and of rules (u32 each)
//!   addresses   as distances from the first one, ascending (u32 each)
//!   numbers     of the rule of each address (u16 each)
//!   rules       distinct (22 bytes each, which the unwinder knows)
//! ```

/// What a file of answers begins with.
pub(crate) const MAGIC: [u8; 8] = *b"UPanswer";
/// The version of the layout.
pub(crate) const VERSION: u32 = 2;

/// What a file of rules begins with.
pub(crate) const RULES_MAGIC: [u8; 8] = *b"UP-rules";
/// The version of its layout.
pub(crate) const RULES_VERSION: u32 = 1;
/// Bytes of a rule.
pub(crate) const RULE: usize = 22;
/// The bytes of its head.
pub(crate) const RULES_HEAD: usize = UNCHECKED + 32 + 8 + 4 * 2;

/// The bytes of the head that the checksum does not cover.
pub(crate) const UNCHECKED: usize = 24;
/// The bytes of the head.
pub(crate) const HEAD: usize = UNCHECKED + 32 + 4 * 4;

/// A start is known.
pub(crate) const HAS_START: u8 = 0x80;

/// Words of a frame.
pub(crate) const FRAME_WORDS: usize = 7;

/// The checksum of bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash64::oneshot(0, bytes)
}

/// The `u32` at a place; 0 behind the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |it| u32::from_le_bytes(*it))
}

/// The `u64` at a place; 0 behind the end.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |it| u64::from_le_bytes(*it))
}

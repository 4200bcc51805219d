//! The layouts of answer files, of rule files, of indexes of kernel symbols and of finished profiles. All numbers are little-endian.
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), checksum of everything after it (u64)
//!               key (32 bytes)
//!               counts of addresses, frames, strings, and bytes of strings (u32 each)
//!   addresses   SVMA, ascending (u64 each)
//!   starts      of the functions that are not inlined (u64 each)
//!   ends        end of the frames of each address (u32 each)
//!   replaced    name that another one replaced (u32 each: number of the string + 1, or 0)
//!   marks       flag for a start, and reason for a missing name (u8 each)
//!   frames      function, file, line, column, inlined flag, declared file, declared line (u32 each)
//!               with strings as number + 1, or 0
//!   strings     end of each (u32 each), then their bytes
//! ```
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), checksum of everything after it (u64)
//!               key (32 bytes)
//!               first address (u64), counts of addresses and of rules (u32 each)
//!   addresses   as distances from the first one, ascending (u32 each)
//!   numbers     of the rule of each address (u16 each)
//!   rules       distinct (22 bytes each, in the unwinder's format)
//! ```
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), checksum of everything after it (u64)
//!               key (32 bytes)
//!               counts of kernel symbols and of bytes of their names (u32 each)
//!   starts      addresses of the symbols, ascending (u64 each)
//!   ends        end of each name, with a flag for functions that last as long as their module (u32 each)
//!   names       bytes
//! ```
//!
//! ```text
//!   head        magic (8 bytes), version (u32), 0 (u32), key (32 bytes)
//!   content     of a finished profile, in the format of its writer
//!   tail        checksum of everything before it (u64)
//! ```

/// Magic of an answer file.
pub(crate) const MAGIC: [u8; 8] = *b"UPanswer";
/// Version of the layout.
pub(crate) const VERSION: u32 = 2;

/// Magic of a rule file.
pub(crate) const RULES_MAGIC: [u8; 8] = *b"UP-rules";
/// Version of its layout.
pub(crate) const RULES_VERSION: u32 = 1;
/// Size of a rule, in bytes.
pub(crate) const RULE: usize = 22;
/// Size of its head, in bytes.
pub(crate) const RULES_HEAD: usize = UNCHECKED + 32 + 8 + 4 * 2;

/// Magic of an index of kernel symbols.
pub(crate) const KERNEL_MAGIC: [u8; 8] = *b"UPkernel";
/// Version of its layout.
pub(crate) const KERNEL_VERSION: u32 = 1;
/// Size of its head, in bytes.
pub(crate) const KERNEL_HEAD: usize = UNCHECKED + 32 + 4 * 2;

/// Magic of a finished profile.
pub(crate) const PROFILE_MAGIC: [u8; 8] = *b"UPprofil";
/// Version of its layout.
pub(crate) const PROFILE_VERSION: u32 = 2;

/// Size of the part of the head that the checksum does not cover, in bytes.
pub(crate) const UNCHECKED: usize = 24;
/// Size of the head, in bytes.
pub(crate) const HEAD: usize = UNCHECKED + 32 + 4 * 4;

/// Flag of a known start.
pub(crate) const HAS_START: u8 = 0x80;

/// Number of words of a frame.
pub(crate) const FRAME_WORDS: usize = 7;

/// Returns the checksum of bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    twox_hash::XxHash64::oneshot(0, bytes)
}

/// Returns the `u32` at an offset; 0 past the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |it| u32::from_le_bytes(*it))
}

/// Returns the `u64` at an offset; 0 past the end.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |it| u64::from_le_bytes(*it))
}

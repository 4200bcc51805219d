//! Numbers and strings of little-endian bytes.

/// A number of four bytes.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A number of eight bytes.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Longer strings are none: many can end with the same bytes, which are gone through for each of them.
const LONGEST: usize = 1 << 12;

/// The bytes up to a NUL.
pub(crate) fn string_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let near = rest.get(..LONGEST).unwrap_or(rest);
    near.get(..near.iter().position(|&byte| byte == 0)?)
}

//! Little-endian numbers, and strings.

/// Reads a number of four bytes.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a number of eight bytes.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Limit on the length of a string, in bytes. Many strings may share a tail, which is scanned for each of them.
const LONGEST: usize = 1 << 12;

/// Returns the bytes up to a NUL.
pub(crate) fn string_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let near = rest.get(..LONGEST).unwrap_or(rest);
    near.get(..near.iter().position(|&byte| byte == 0)?)
}

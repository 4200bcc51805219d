//! Numbers and strings in the encoding of DWARF.

use gimli::leb128::write::Leb128;

/// Appends a number as ULEB128. Most have one byte, and pushing these directly halves the time for line rows.
pub fn push_unsigned(out: &mut Vec<u8>, number: u64) {
    match number {
        0..0x80 => out.push(number as u8),
        _ => out.extend_from_slice(Leb128::unsigned(number).bytes()),
    }
}

/// Appends a number as SLEB128.
pub(crate) fn push_signed(out: &mut Vec<u8>, number: i64) {
    match number {
        -0x40..0x40 => out.push(number as u8 & 0x7f),
        _ => out.extend_from_slice(Leb128::signed(number).bytes()),
    }
}

/// Appends a string with a terminating NUL. NULs inside are dropped.
pub fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text.iter().filter(|&&byte| byte != 0));
    out.push(0);
}

/// Writes the length of the unit, without the length field, into its first four bytes.
pub(crate) fn with_length(mut unit: Vec<u8>) -> Vec<u8> {
    let length = unit.len().saturating_sub(4) as u32;
    if let Some(field) = unit.first_chunk_mut() {
        *field = length.to_le_bytes();
    }
    unit
}

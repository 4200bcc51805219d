//! Numbers and strings as DWARF has them.

use gimli::leb128::write::Leb128;

/// Appends a number as ULEB128. Most have one byte: rows of lines take half of the time if these are not copied.
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

/// Appends a string that ends with a NUL. NULs in it are left out.
pub fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text.iter().filter(|&&byte| byte != 0));
    out.push(0);
}

/// Puts the length of the unit into its first four bytes, which are left out of it.
pub(crate) fn with_length(mut unit: Vec<u8>) -> Vec<u8> {
    let length = unit.len().saturating_sub(4) as u32;
    if let Some(field) = unit.first_chunk_mut() {
        *field = length.to_le_bytes();
    }
    unit
}

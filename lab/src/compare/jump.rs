//! Jumps of x86-64, recognized byte by byte: only instructions that leave a function are decoded.
//!
//! Source: Intel SDM, JMP (`E9`, `EB`, `FF /4`) and Jcc (`0F 8x`, `7x`).

/// Returns the jump that may start at a byte. Instruction boundaries are unknown, so it finds too many jumps, which
/// only makes the answer more careful.
pub(super) fn jump(start: u64, code: &[u8], at: usize) -> Jump {
    let byte = |index: usize| code.get(index).copied().unwrap_or(0);
    let here = start.wrapping_add(at as u64);
    let far = |to: Option<u64>| to.map_or(Jump::No, Jump::To);
    // A call, a jump or a 32-bit operand starts four or five bytes earlier: this byte is the last of its number.
    let inside = || {
        let before = |back: usize| at.checked_sub(back).map_or(0, byte);
        matches!(before(4), 0xe8 | 0xe9)
            || before(5) == 0x0f && before(4) & 0xf0 == 0x80
            || before(4) & 0xc7 == 0x05
            || before(4) & 0xc0 == 0x80
    };
    match byte(at) {
        0xe9 => far(relative(here.wrapping_add(5), code, at + 1)),
        0x0f if byte(at + 1) & 0xf0 == 0x80 => far(relative(here.wrapping_add(6), code, at + 2)),
        0xeb | 0x70..=0x7f => {
            let by = i64::from(byte(at + 1) as i8);
            Jump::Near(here.wrapping_add(2).wrapping_add_signed(by))
        }
        // The prefix `notrack` marks the jumps of switches, which stay inside.
        0xff if byte(at + 1) & 0x38 == 0x20
            && (at == 0 || byte(at - 1) != 0x3e)
            && (byte(at + 1) & 0xc0 == 0xc0 || !inside()) =>
        {
            Jump::Indirect
        }
        _ => Jump::No,
    }
}

/// Possible jump at a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Jump {
    /// No jump.
    No,
    /// To this address.
    To(u64),
    /// A jump with a distance of one byte; not followed, since it is too likely not to be a jump.
    Near(u64),
    /// Through a register or memory.
    Indirect,
}

/// Returns `from` plus the signed 32-bit number at an index of the code.
pub(super) fn relative(from: u64, code: &[u8], at: usize) -> Option<u64> {
    let bytes = code.get(at..)?.first_chunk::<4>()?;
    Some(from.wrapping_add_signed(i64::from(i32::from_le_bytes(*bytes))))
}

//! Effects of 32-bit Arm instructions on the stack pointer, on saved registers, and on control flow.
//!
//! Source: Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition, chapters A5, A6 and A8.

pub(crate) const SP: u8 = 13;
pub(crate) const LR: u8 = 14;
pub(crate) const PC: u8 = 15;

/// The effect of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Stores registers, lowest first, below the stack pointer, and moves it there.
    Push(u16),
    /// Loads registers from the words at the stack pointer, and moves it past them.
    Pop(u16),
    /// Sets the first register to the second plus an offset in bytes. One of them is the stack pointer, or both are the
    /// same.
    Move(u8, u8, i64),
    /// A call that returns.
    Call,
    /// A jump to an offset in bytes from the instruction's start.
    Jump(i64),
    /// A return to the address in the link register.
    Return,
    /// An unknown jump, or an unknown change of the stack pointer or the link register.
    Unknown,
    /// None of these.
    Nothing,
}

/// An instruction: its size in bytes, its effect, and the number of following instructions that it makes conditional.
pub(crate) struct DecodedInstruction {
    pub(crate) len: usize,
    pub(crate) effect: Effect,
    pub(crate) conditional: u32,
}

/// Decodes the first instruction of code.
pub(crate) fn decode(code: &[u8], is_thumb: bool) -> Option<DecodedInstruction> {
    let of = |len, effect| Some(DecodedInstruction { len, effect, conditional: 0 });
    if !is_thumb {
        return of(4, arm(u32::from_le_bytes(*code.first_chunk()?)));
    }
    let first = u32::from(u16::from_le_bytes(*code.first_chunk()?));
    if first >> 11 >= 0b11101 {
        let second = u16::from_le_bytes(*code.get(2..)?.first_chunk()?);
        return of(4, wide(first, second.into()));
    }
    // IT: the lowest set bit ends the mask of up to four instructions.
    let conditional = match first {
        0xbf01..=0xbfff if first & 0xf != 0 => 4 - (first & 0xf).trailing_zeros(),
        _ => 0,
    };
    Some(DecodedInstruction { len: 2, effect: narrow(first), conditional })
}

/// Decodes a two-byte Thumb instruction.
fn narrow(op: u32) -> Effect {
    let list = op as u16 & 0xff;
    let small = i64::from(op & 0x7f) * 4;
    let hi_target = (op & 7 | op >> 4 & 8) as u8;
    let hi_source = (op >> 3 & 0xf) as u8;
    match op {
        0xb400..=0xb5ff => Effect::Push(list | (op as u16 >> 8 & 1) << LR),
        0xbc00..=0xbdff => Effect::Pop(list | (op as u16 >> 8 & 1) << PC),
        0xb000..=0xb07f => Effect::Move(SP, SP, small),
        0xb080..=0xb0ff => Effect::Move(SP, SP, -small),
        0xa800..=0xafff => Effect::Move((op >> 8 & 7) as u8, SP, i64::from(op & 0xff) * 4),
        0x3000..=0x37ff => own((op >> 8 & 7) as u8, i64::from(op & 0xff)),
        0x1c00..=0x1dff if op & 7 == op >> 3 & 7 => own((op & 7) as u8, i64::from(op >> 6 & 7)),
        0x4600..=0x46ff => moved(hi_target, hi_source),
        0x4400..=0x44ff => touched(hi_target),
        0x4770 => Effect::Return,
        0x4700..=0x477f => Effect::Unknown,
        0x4780..=0x47ff => Effect::Call,
        0xe000..=0xe7ff => Effect::Jump(signed(op & 0x7ff, 11) * 2 + 4),
        0xde00..=0xdeff => Effect::Unknown,
        _ => Effect::Nothing,
    }
}

/// Decodes a four-byte Thumb instruction.
fn wide(first: u32, second: u32) -> Effect {
    let (source, target) = ((first & 0xf) as u8, (second >> 8 & 0xf) as u8);
    let transferred = (second >> 12) as u8;
    let both = |a: u8, b: u8| 1 << a | 1 << b;
    let words = i64::from(second & 0xff) * 4;
    match (first, second) {
        (0xe92d, _) => Effect::Push(second as u16),
        (0xe8bd, _) => Effect::Pop(second as u16),
        (0xf84d, _) if second & 0xfff == 0xd04 => Effect::Push(1 << transferred),
        (0xf85d, _) if second & 0xfff == 0xb04 => Effect::Pop(1 << transferred),
        (0xe96d, _) if second & 0xff == 2 => Effect::Push(both(transferred, target)),
        (0xe8fd, _) if second & 0xff == 2 => Effect::Pop(both(transferred, target)),
        _ if first & 0xffbf == 0xed2d && second & 0xe00 == 0xa00 => Effect::Move(SP, SP, -words),
        _ if first & 0xffbf == 0xecbd && second & 0xe00 == 0xa00 => Effect::Move(SP, SP, words),
        _ if first & 0xf800 == 0xf000 && second & 0x8000 != 0 => wide_branch(first, second),
        // Comparisons and tests have this target.
        _ if first & 0xf800 == 0xf000 && target == PC => Effect::Nothing,
        _ if first & 0xfbe0 == 0xf100 => sum(target, source, expanded(first, second)),
        _ if first & 0xfbe0 == 0xf1a0 => sum(target, source, expanded(first, second).map(|n| -n)),
        _ if first & 0xfbf0 == 0xf200 => sum(target, source, Some(plain(first, second))),
        _ if first & 0xfbf0 == 0xf2a0 => sum(target, source, Some(-plain(first, second))),
        // A switch by a table.
        _ if first & 0xfff0 == 0xe8d0 && second & 0xffe0 == 0xf000 => Effect::Unknown,
        // Loads and stores of one register; those with short offsets can update the base register.
        _ if first & 0xfe00 == 0xf800 => {
            let is_changed = first & 0x80 == 0 && second & 0x900 == 0x900;
            transfer(first >> 4 & 1 != 0, 1 << transferred, source, is_changed)
        }
        // Of several registers, and of two.
        _ if first & 0xfe40 == 0xe800 => {
            transfer(first >> 4 & 1 != 0, second, source, first >> 5 & 1 != 0)
        }
        _ if first & 0xfe40 == 0xe840 => {
            let list = 1 << transferred | 1 << target;
            transfer(first >> 4 & 1 != 0, list, source, first >> 5 & 1 != 0)
        }
        // Vectors and coprocessors; tests of registers.
        _ if first & 0xec00 == 0xec00 || target == PC => Effect::Nothing,
        _ => touched(target),
    }
}

/// Decodes a four-byte branch or call of Thumb.
fn wide_branch(first: u32, second: u32) -> Effect {
    if second & 0x4000 != 0 {
        return Effect::Call;
    }
    if second & 0x1000 == 0 {
        // A conditional branch, or a barrier or hint.
        return Effect::Nothing;
    }
    let sign = first >> 10 & 1;
    let (j1, j2) = (second >> 13 & 1, second >> 11 & 1);
    let bits = sign << 23 | (1 ^ j1 ^ sign) << 22 | (1 ^ j2 ^ sign) << 21;
    let bits = bits | (first & 0x3ff) << 11 | second & 0x7ff;
    Effect::Jump(signed(bits, 24) * 2 + 4)
}

/// Decodes an ARM instruction.
fn arm(word: u32) -> Effect {
    const ALWAYS: u32 = 0xe;
    let effect = arm_always(word);
    match (word >> 28, effect) {
        (ALWAYS, effect) => effect,
        // Calls that change the instruction set, and hints.
        (0xf, _) if word & 0xfe00_0000 == 0xfa00_0000 => Effect::Call,
        (0xf, _) => Effect::Nothing,
        // Conditional: execution may continue after it.
        (_, Effect::Jump(_) | Effect::Call | Effect::Return | Effect::Nothing) => Effect::Nothing,
        _ => Effect::Unknown,
    }
}

fn arm_always(word: u32) -> Effect {
    let (source, target) = ((word >> 16 & 0xf) as u8, (word >> 12 & 0xf) as u8);
    let words = i64::from(word & 0xff) * 4;
    let immediate = i64::from((word & 0xff).rotate_right(word >> 7 & 0x1e));
    match word & 0x0fff_0000 {
        0x092d_0000 => return Effect::Push(word as u16),
        0x08bd_0000 => return Effect::Pop(word as u16),
        0x052d_0000 if word & 0xfff == 4 => return Effect::Push(1 << target),
        0x049d_0000 if word & 0xfff == 4 => return Effect::Pop(1 << target),
        _ => {}
    }
    match word & 0x0fff_ffff {
        0x012f_ff1e | 0x01a0_f00e => return Effect::Return,
        call if call & 0x0fff_fff0 == 0x012f_ff30 => return Effect::Call,
        _ => {}
    }
    match word & 0x0ff0_0000 {
        0x0280_0000 => sum(target, source, Some(immediate)),
        0x0240_0000 => sum(target, source, Some(-immediate)),
        0x01a0_0000 if word & 0xff0 == 0 => moved(target, (word & 0xf) as u8),
        _ if word & 0x0fbf_0e00 == 0x0d2d_0a00 => Effect::Move(SP, SP, -words),
        _ if word & 0x0fbf_0e00 == 0x0cbd_0a00 => Effect::Move(SP, SP, words),
        _ if word & 0x0f00_0000 == 0x0b00_0000 => Effect::Call,
        _ if word & 0x0f00_0000 == 0x0a00_0000 => {
            Effect::Jump(signed(word & 0xff_ffff, 24) * 4 + 8)
        }
        // Vectors and coprocessors.
        _ if word & 0x0c00_0000 == 0x0c00_0000 => Effect::Nothing,
        _ if word & 0x0e00_0000 == 0x0800_0000 => {
            transfer(word >> 20 & 1 != 0, word & 0xffff, source, word >> 21 & 1 != 0)
        }
        _ if word & 0x0c00_0000 == 0x0400_0000 || word & 0x0e00_0090 == 0x0000_0090 => {
            let is_changed = word >> 24 & 1 == 0 || word >> 21 & 1 != 0;
            transfer(word >> 20 & 1 != 0, 1 << target, source, is_changed)
        }
        // Comparisons have no target.
        _ if word & 0x0d90_0000 == 0x0110_0000 => Effect::Nothing,
        _ => touched(target),
    }
}

/// Returns the effect of setting a register to another one plus some bytes.
fn sum(target: u8, source: u8, bytes: Option<i64>) -> Effect {
    match bytes {
        Some(bytes) if target == SP || source == SP => Effect::Move(target, source, bytes),
        Some(bytes) if target == source => own(target, bytes),
        _ => touched(target),
    }
}

fn moved(target: u8, source: u8) -> Effect {
    if target == SP || source == SP { Effect::Move(target, source, 0) } else { touched(target) }
}

/// Returns the effect of adding bytes to a register.
fn own(register: u8, bytes: i64) -> Effect {
    if register == LR || register == PC {
        Effect::Unknown
    } else {
        Effect::Move(register, register, bytes)
    }
}

/// Returns the effect of setting a register to an arbitrary value.
const fn touched(register: u8) -> Effect {
    if register >= SP { Effect::Unknown } else { Effect::Nothing }
}

/// Returns the effect of a load or store of the registers in a list, which may update the base register.
fn transfer(is_load: bool, list: u32, address: u8, is_changed: bool) -> Effect {
    let is_lost = (is_load && list & 0xe000 != 0) || (is_changed && address >= SP);
    if is_lost { Effect::Unknown } else { Effect::Nothing }
}

const fn signed(value: u32, bits: u32) -> i64 {
    ((value << (32 - bits)).cast_signed() >> (32 - bits)) as i64
}

/// Returns the 12-bit constant of a Thumb instruction.
fn plain(first: u32, second: u32) -> i64 {
    i64::from((first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff)
}

/// Returns the 32-bit constant that those 12 bits encode.
fn expanded(first: u32, second: u32) -> Option<i64> {
    let plain = u32::try_from(plain(first, second)).ok()?;
    let byte = plain & 0xff;
    let value = match plain >> 8 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte << 24 | byte << 16 | byte << 8 | byte,
        _ => (0x80 | plain & 0x7f).rotate_right(plain >> 7),
    };
    Some(value.into())
}

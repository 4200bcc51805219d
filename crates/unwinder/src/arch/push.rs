//! The instructions by which functions move the stack pointer first, as compilers write them: pushes, and the room that
//! a frame is given.

use crate::arch::Arch;

/// Bytes of the longest of them.
const LONGEST: usize = 7;
/// The number in an instruction of each register of x86-64, by DWARF number.
const X86_64: [u8; 16] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

impl Arch {
    /// How many bytes before an address [`Self::moves_stack_pointer`] looks at.
    pub(crate) const fn longest_push(self) -> usize {
        match self {
            Self::X86_64 | Self::X86 => LONGEST,
            _ => 4,
        }
    }

    /// Whether the code, of [`Self::longest_push`] bytes, ends with an instruction that moves the stack pointer down by so
    /// many bytes; if a register is stated (by DWARF number), one that stores it there. `None` if that is not looked at.
    ///
    /// Source: Intel SDM, PUSH; Arm ARM, STP (pre-index) and SUB; RISC-V unprivileged ISA, ADDI, C.ADDI, C.ADDI16SP;
    /// Power ISA, STDU; `LoongArch` reference manual, ADDI.D.
    pub(crate) fn moves_stack_pointer(
        self,
        code: &[u8],
        bytes: i64,
        register: Option<u8>,
    ) -> Option<bool> {
        let word = || code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        match self {
            Self::X86_64 | Self::X86 => {
                let register = register.filter(|_| bytes == self.word().cast_signed())?;
                let number = match self {
                    Self::X86 => Some(register),
                    _ => X86_64.get(usize::from(register)).copied(),
                };
                Some(is_push(code, number?))
            }
            Self::Aarch64 => {
                // stp x29, x30, [sp, #-bytes]!
                let is_record = register == Some(29) && (16..=512).contains(&bytes);
                let expected = 0xa980_7bfd | ((-bytes / 8) as u32 & 0x7f) << 15;
                is_record.then_some(word()? == expected)
            }
            Self::Riscv64 => (1..=2048).contains(&bytes).then_some(adds(word()?) == Some(-bytes)),
            Self::Ppc64 => {
                let is_near = (32..=32768).contains(&bytes);
                is_near.then_some(word()? == 0xf821_0001 | (-bytes) as u32 & 0xfffc)
            }
            Self::Loongarch64 => {
                let is_near = (1..=2048).contains(&bytes);
                is_near.then_some(word()? == 0x02c0_0063 | ((-bytes) as u32 & 0xfff) << 10)
            }
            Self::Arm | Self::S390x => None,
        }
    }
}

/// Whether code ends with a push of a register: `50+r`, from r8 on with a prefix.
fn is_push(code: &[u8], number: u8) -> bool {
    let opcode = 0x50 + (number & 7);
    match code {
        [.., prefix, last] if number >= 8 => (*prefix, *last) == (0x41, opcode),
        [.., last] => *last == opcode,
        [] => false,
    }
}

/// What an instruction of RISC-V adds to the stack pointer.
fn adds(word: u32) -> Option<i64> {
    let half = word >> 16;
    if word & 0x000f_ffff == 0x0001_0113 {
        return Some(i64::from(word.cast_signed() >> 20));
    }
    let bit = |from: u32, to: u32| i64::from(half >> from & 1) << to;
    let sign = -(bit(12, 0));
    if half & 0xef83 == 0x6101 {
        let value = bit(6, 4) | bit(2, 5) | bit(5, 6) | bit(3, 7) | bit(4, 8);
        return Some(value + sign * (1 << 9));
    }
    let value = i64::from(half >> 2 & 0x1f) + sign * (1 << 5);
    (half & 0xef83 == 0x0101).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_move_the_stack_pointer() {
        let x86 = |code: &[u8], register| Arch::X86_64.moves_stack_pointer(code, 8, Some(register));
        assert_eq!(x86(&[0, 0, 0, 0xf3, 0x0f, 0x1e, 0x55], 6), Some(true)); // push %rbp
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x41, 0x57], 15), Some(true)); // push %r15
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x90, 0x57], 15), Some(false));
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x90, 0x53], 6), Some(false));
        assert_eq!(Arch::X86_64.moves_stack_pointer(&[0x90; 7], 0x20, Some(6)), None);
        let arm = |word: u32, bytes| {
            Arch::Aarch64.moves_stack_pointer(&word.to_le_bytes(), bytes, Some(29))
        };
        assert_eq!(arm(0xa9bf_7bfd, 16), Some(true)); // stp x29, x30, [sp, #-16]!
        assert_eq!(arm(0xa9bd_7bfd, 48), Some(true));
        assert_eq!(arm(0xa9bd_7bfd, 32), Some(false));
        let risc =
            |word: u32, bytes| Arch::Riscv64.moves_stack_pointer(&word.to_le_bytes(), bytes, None);
        assert_eq!(risc(0xfd01_0113, 48), Some(true)); // addi sp, sp, -48
        assert_eq!(risc(0x7179_0001, 48), Some(true)); // c.addi16sp -48
        assert_eq!(risc(0x1141_0001, 16), Some(true)); // c.addi sp, -16
        assert_eq!(risc(0x1141_0001, 32), Some(false));
        let power = |word: u32| Arch::Ppc64.moves_stack_pointer(&word.to_le_bytes(), 64, None);
        assert_eq!(power(0xf821_ffc1), Some(true)); // stdu r1, -64(r1)
        let loong =
            |word: u32| Arch::Loongarch64.moves_stack_pointer(&word.to_le_bytes(), 16, None);
        assert_eq!(loong(0x02ff_c063), Some(true)); // addi.d $sp, $sp, -16
    }
}

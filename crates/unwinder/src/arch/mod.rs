//! What differs between the processors that are unwound: the size of a word, register numbers, which registers a simple
//! rule can restore, how a recorder's register mask maps to DWARF numbers, what a signal trampoline and a call look like. A
//! file each, with the same names in all.

mod aarch64;
mod arm;
mod code;
mod flow;
mod loongarch64;
mod numbers;
mod ppc64;
mod push;
mod riscv64;
mod s390x;
mod x86;
mod x86_64;

use crate::arch::numbers::Numbers;

pub(crate) use flow::{Flow, FlowDecoder, Step};

/// A processor that is unwound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// x86-64.
    X86_64,
    /// aarch64, little-endian.
    Aarch64,
    /// 32-bit x86: a process of an x86-64 machine, or of one of its own.
    X86,
    /// 64-bit RISC-V.
    Riscv64,
    /// 32-bit Arm: a process of an aarch64 machine, or of one of its own.
    Arm,
    /// 64-bit IBM Z, big-endian.
    S390x,
    /// 64-bit POWER, little-endian.
    Ppc64,
    /// 64-bit `LoongArch`.
    Loongarch64,
}

/// What a call calls, by its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallTarget {
    /// The code at that address.
    Address(u64),
    /// What a register or memory says at that moment.
    Indirect,
}

/// Bytes of a word.
pub(crate) const WIDE: u64 = 8;
/// Bytes of a word of a processor of 32 bits.
pub(crate) const NARROW: u64 = 4;

/// The most registers that any of them has.
pub(crate) const N_REGISTERS: usize = 34;

/// The number of slots of a simple rule: the return address and callee-saved registers.
pub(crate) const N_SLOTS: usize = 16;

/// No register in this slot.
pub(crate) const UNUSED: u8 = u8::MAX;

/// A number of a processor, as one look-up in a table of constants: each step of a walk asks for some.
macro_rules! number {
    ($arch:expr, $field:ident) => {
        match $arch {
            Self::X86_64 => x86_64::NUMBERS.$field,
            Self::Aarch64 => aarch64::NUMBERS.$field,
            Self::X86 => x86::NUMBERS.$field,
            Self::Riscv64 => riscv64::NUMBERS.$field,
            Self::Arm => arm::NUMBERS.$field,
            Self::S390x => s390x::NUMBERS.$field,
            Self::Ppc64 => ppc64::NUMBERS.$field,
            Self::Loongarch64 => loongarch64::NUMBERS.$field,
        }
    };
}

impl Arch {
    /// How many there are.
    pub(crate) const COUNT: usize = 8;

    /// The processor, if it is one that is unwound.
    #[must_use]
    pub const fn of(arch: address::Arch) -> Option<Self> {
        match arch {
            address::Arch::X86_64 => Some(Self::X86_64),
            address::Arch::Aarch64 => Some(Self::Aarch64),
            address::Arch::X86 => Some(Self::X86),
            address::Arch::Riscv64 => Some(Self::Riscv64),
            address::Arch::Arm => Some(Self::Arm),
            address::Arch::S390x => Some(Self::S390x),
            address::Arch::Powerpc64 => Some(Self::Ppc64),
            address::Arch::Loongarch64 => Some(Self::Loongarch64),
            _ => None,
        }
    }

    /// Its registers and words.
    #[inline]
    const fn numbers(self) -> &'static Numbers {
        match self {
            Self::X86_64 => &x86_64::NUMBERS,
            Self::Aarch64 => &aarch64::NUMBERS,
            Self::X86 => &x86::NUMBERS,
            Self::Riscv64 => &riscv64::NUMBERS,
            Self::Arm => &arm::NUMBERS,
            Self::S390x => &s390x::NUMBERS,
            Self::Ppc64 => &ppc64::NUMBERS,
            Self::Loongarch64 => &loongarch64::NUMBERS,
        }
    }

    /// Bytes of a word: of a return address, of a saved register.
    #[inline]
    pub(crate) const fn word(self) -> u64 {
        number!(self, word)
    }

    /// Whether its words have 64 bits.
    pub(crate) const fn is_wide(self) -> bool {
        self.word() == WIDE
    }

    /// The bits that an address has.
    pub(crate) const fn addresses(self) -> u64 {
        if self.word() == NARROW { 0xffff_ffff } else { u64::MAX }
    }

    /// Whether it is one of the x86 family: calls push the return address, and code can be followed.
    #[inline]
    pub(crate) const fn is_x86(self) -> bool {
        matches!(self, Self::X86_64 | Self::X86)
    }

    /// Bits of an instruction's usual operands, as decoders of the x86 family want it.
    pub(crate) const fn bitness(self) -> u32 {
        8 * self.word() as u32
    }

    /// The registers that functions leave as they were, of the x86 family, by DWARF number; padded with [`UNUSED`].
    pub(crate) const fn callee_saved(self) -> [u8; 6] {
        match self {
            Self::X86 => x86::CALLEE_SAVED,
            _ => x86_64::CALLEE_SAVED,
        }
    }

    /// The registers that a function which is called may change, of the x86 family, by DWARF number.
    pub(crate) const fn caller_saved(self) -> &'static [u8] {
        match self {
            Self::X86 => &x86::CALLER_SAVED,
            _ => &x86_64::CALLER_SAVED,
        }
    }

    /// The address of the code that a target states: without the lowest bit, which stands for Thumb in 32-bit Arm.
    pub(crate) const fn code_address(self, target: u64) -> u64 {
        if matches!(self, Self::Arm) { target & !1 } else { target }
    }

    /// The registers that functions leave as they were, on processors with a link register, by DWARF number; padded with
    /// [`UNUSED`].
    pub(crate) const fn kept_registers(self) -> [u8; N_SLOTS] {
        match self {
            Self::S390x => s390x::KEPT,
            _ => self.numbers().slots,
        }
    }

    /// The register of the first argument of a function, by its number in instructions, on processors with a link register
    /// whose C library begins programs with one call that gets `main` as its first argument.
    pub(crate) const fn first_argument(self) -> Option<u32> {
        match self {
            Self::Aarch64 | Self::Arm => Some(0),
            Self::Riscv64 => Some(10),
            Self::Loongarch64 => Some(4),
            Self::S390x => Some(2),
            // POWER gives a table.
            Self::Ppc64 | Self::X86_64 | Self::X86 => None,
        }
    }

    /// How many bytes a call puts on the stack: its return address, or nothing.
    pub(crate) const fn pushed_by_call(self) -> u64 {
        if self.is_x86() { self.word() } else { 0 }
    }

    /// How many of the DWARF numbers, from 0 on, are numbers of registers here.
    #[inline]
    pub(crate) const fn columns(self) -> u8 {
        number!(self, columns)
    }

    /// The register that a DWARF number stands for. Others, as of vectors, tell nothing of any frame.
    #[inline]
    pub(crate) const fn register(self, dwarf: u16) -> Option<u8> {
        match self {
            Self::Ppc64 => ppc64::register(dwarf),
            _ if dwarf < self.columns() as u16 => Some(dwarf as u8),
            _ => None,
        }
    }

    /// Whether rows of its call frame information can be simple rules: those that save registers above the frame's address,
    /// as s390x does, cannot.
    pub(crate) const fn has_simple_rules(self) -> bool {
        !matches!(self, Self::S390x)
    }

    /// How far the frame's address (CFA) is above the stack pointer of the caller.
    pub(crate) const fn kept_room(self) -> u64 {
        match self {
            Self::S390x => s390x::KEPT_ROOM,
            _ => 0,
        }
    }

    /// The number of the stack pointer.
    #[inline]
    pub(crate) const fn sp(self) -> u8 {
        number!(self, sp)
    }

    /// The number of the frame pointer.
    #[inline]
    pub(crate) const fn fp(self) -> u8 {
        number!(self, fp)
    }

    /// The slot of a simple rule that restores the frame pointer.
    #[inline]
    pub(crate) const fn fp_slot(self) -> usize {
        match self {
            Self::X86_64 => const { x86_64::NUMBERS.fp_slot() },
            Self::Aarch64 => const { aarch64::NUMBERS.fp_slot() },
            Self::X86 => const { x86::NUMBERS.fp_slot() },
            Self::Riscv64 => const { riscv64::NUMBERS.fp_slot() },
            Self::Arm => const { arm::NUMBERS.fp_slot() },
            Self::S390x => const { s390x::NUMBERS.fp_slot() },
            Self::Ppc64 => const { ppc64::NUMBERS.fp_slot() },
            Self::Loongarch64 => const { loongarch64::NUMBERS.fp_slot() },
        }
    }

    /// Where the record is that a frame pointer leads to, the caller's frame pointer and then the return address, in bytes
    /// from what the frame pointer says. The caller's stack pointer is what comes behind it. `None` where nothing says so.
    pub(crate) const fn frame_record(self) -> Option<i64> {
        self.numbers().frame_record
    }

    /// The number of the return address column.
    #[inline]
    pub(crate) const fn return_address(self) -> u8 {
        number!(self, return_address)
    }

    /// The number under which the program counter itself can be restored, as signal frames do.
    pub(crate) const fn pc(self) -> u8 {
        self.numbers().pc
    }

    /// Which registers the slots of a simple rule restore; slot 0 is the return address.
    #[inline]
    pub(crate) const fn slots(self) -> &'static [u8; N_SLOTS] {
        &self.numbers().slots
    }

    /// The register of each bit of the recorder's register mask; [`UNUSED`] where it has none.
    pub(crate) const fn of_mask_bits(self) -> &'static [u8] {
        self.numbers().of_mask_bits
    }

    /// The bit of the recorder's register mask that stands for the program counter.
    pub(crate) const fn pc_bit(self) -> u32 {
        self.numbers().pc_bit
    }

    /// The bit of the recorder's register mask that stands for the stack pointer.
    pub(crate) fn sp_bit(self) -> Option<u32> {
        let bit = self.of_mask_bits().iter().position(|&register| register == self.sp());
        bit.map(|bit| bit as u32)
    }

    /// The registers that are -1 in samples of kernel mode where they are not known.
    pub(crate) const fn may_be_unknown(self) -> &'static [u8] {
        self.numbers().may_be_unknown
    }

    /// A return address without the bits that no address has, as pointer authentication puts them there.
    #[inline]
    pub(crate) const fn strip(self, pc: u64) -> u64 {
        pc & number!(self, return_addresses)
    }
}

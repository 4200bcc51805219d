//! What differs between the processors that are unwound: the size of a word, register numbers, which registers a simple
//! rule can restore, how a recorder's register mask maps to DWARF numbers, what a signal trampoline and a call look like. A
//! file each, with the same names in all.

mod aarch64;
mod x86;
mod x86_64;

use module_map::ElfMachine;

/// A processor that is unwound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// x86-64.
    X86_64,
    /// aarch64, little-endian.
    Aarch64,
    /// 32-bit x86: a process of an x86-64 machine, or of one of its own.
    X86,
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

/// The most registers that any of them has, by DWARF number.
pub(crate) const N_REGISTERS: usize = 34;

/// The number of slots of a simple rule: the return address and callee-saved registers.
pub(crate) const N_SLOTS: usize = 16;

/// No register in this slot.
pub(crate) const UNUSED: u8 = u8::MAX;

impl Arch {
    /// The processor of a file's machine, if it is one that is unwound.
    #[must_use]
    pub const fn of(machine: ElfMachine) -> Option<Self> {
        match machine {
            ElfMachine::X86_64 => Some(Self::X86_64),
            ElfMachine::Aarch64 => Some(Self::Aarch64),
            ElfMachine::X86 => Some(Self::X86),
            _ => None,
        }
    }

    /// Bytes of a word: of a return address, of a saved register.
    #[inline]
    pub(crate) const fn word(self) -> u64 {
        match self {
            Self::X86_64 | Self::Aarch64 => WIDE,
            Self::X86 => NARROW,
        }
    }

    /// The bits that an address has.
    pub(crate) const fn addresses(self) -> u64 {
        match self {
            Self::X86_64 | Self::Aarch64 => u64::MAX,
            Self::X86 => x86::ADDRESS,
        }
    }

    /// Whether it is one of the x86 family: calls push the return address, and code can be followed.
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
            Self::X86_64 | Self::Aarch64 => x86_64::CALLEE_SAVED,
            Self::X86 => x86::CALLEE_SAVED,
        }
    }

    /// The registers that a function which is called may change, of the x86 family, by DWARF number.
    pub(crate) const fn caller_saved(self) -> &'static [u8] {
        match self {
            Self::X86_64 | Self::Aarch64 => &x86_64::CALLER_SAVED,
            Self::X86 => &x86::CALLER_SAVED,
        }
    }

    /// The DWARF number of the stack pointer.
    pub(crate) const fn sp(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::SP,
            Self::Aarch64 => aarch64::SP,
            Self::X86 => x86::SP,
        }
    }

    /// The DWARF number of the frame pointer.
    pub(crate) const fn fp(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::FP,
            Self::Aarch64 => aarch64::FP,
            Self::X86 => x86::FP,
        }
    }

    /// The DWARF number of the return address column.
    pub(crate) const fn return_address(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::RETURN_ADDRESS,
            Self::Aarch64 => aarch64::RETURN_ADDRESS,
            Self::X86 => x86::RETURN_ADDRESS,
        }
    }

    /// The DWARF number under which the program counter itself can be restored, as signal frames do.
    pub(crate) const fn pc(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::PC,
            Self::Aarch64 => aarch64::PC,
            Self::X86 => x86::PC,
        }
    }

    /// Which registers the slots of a simple rule restore; slot 0 is the return address.
    pub(crate) const fn slots(self) -> &'static [u8; N_SLOTS] {
        match self {
            Self::X86_64 => &x86_64::SLOTS,
            Self::Aarch64 => &aarch64::SLOTS,
            Self::X86 => &x86::SLOTS,
        }
    }

    /// The DWARF number of each bit of the recorder's register mask; [`UNUSED`] where it has none.
    pub(crate) const fn of_mask_bits(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &x86_64::OF_MASK_BITS,
            Self::Aarch64 => &aarch64::OF_MASK_BITS,
            Self::X86 => &x86::OF_MASK_BITS,
        }
    }

    /// The bit of the recorder's register mask that stands for the program counter.
    pub(crate) const fn pc_bit(self) -> u32 {
        match self {
            Self::X86_64 | Self::X86 => 8,
            Self::Aarch64 => 32,
        }
    }

    /// The registers that are -1 in samples of kernel mode where they are not known.
    pub(crate) const fn may_be_unknown(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &x86_64::MAY_BE_UNKNOWN,
            Self::Aarch64 => &[],
            Self::X86 => &x86::MAY_BE_UNKNOWN,
        }
    }

    /// A return address without the bits that no address has, as pointer authentication puts them there.
    pub(crate) const fn strip(self, pc: u64) -> u64 {
        match self {
            Self::X86_64 => pc,
            Self::Aarch64 => pc & aarch64::ADDRESS,
            Self::X86 => pc & x86::ADDRESS,
        }
    }

    /// Whether the code is a signal trampoline.
    pub(crate) fn is_signal_trampoline(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 => code.starts_with(&x86_64::TRAMPOLINE),
            Self::Aarch64 => code.starts_with(&aarch64::TRAMPOLINE),
            Self::X86 => x86::is_signal_trampoline(code),
        }
    }

    /// Which of its signal frames is on the stack, where the address at an index of the code is in a signal trampoline: at
    /// its first instruction, at the system call, or one byte before the first (the return address of a handler, less one).
    pub(crate) fn signal_form(self, code: &[u8], at: usize) -> Option<usize> {
        let (trampoline, first) = match self {
            Self::X86_64 => (&x86_64::TRAMPOLINE[..], x86_64::TRAMPOLINE_FIRST),
            Self::Aarch64 => (&aarch64::TRAMPOLINE[..], aarch64::TRAMPOLINE_FIRST),
            Self::X86 => return x86::signal_form(code, at),
        };
        let starts = [at.checked_sub(first), Some(at), at.checked_add(1)];
        let is_there =
            |start: usize| code.get(start..).is_some_and(|code| code.starts_with(trampoline));
        starts.into_iter().flatten().any(is_there).then_some(0)
    }

    /// The offset from the stack pointer, at a signal trampoline, of each saved register, as (DWARF number, offset), by
    /// the form of the frame.
    pub(crate) fn signal_frame(self, form: usize) -> Vec<(u8, u64)> {
        match self {
            Self::X86_64 => x86_64::signal_frame(),
            Self::Aarch64 => aarch64::signal_frame(),
            Self::X86 => x86::signal_frame(form),
        }
    }

    /// Whether a signal frame of that form is on the stack above a stack pointer, by what only the kernel writes there; of
    /// i386. `read` gives the word at an offset from the stack pointer, `is_code` tells executable memory.
    pub(crate) fn is_signal_frame(
        self,
        form: usize,
        sp: u64,
        read: impl Fn(u64) -> Option<u64>,
        is_code: impl Fn(u64) -> bool,
    ) -> bool {
        self == Self::X86 && x86::is_signal_frame(form, sp, read, is_code).unwrap_or(false)
    }

    /// How many bytes before a return address [`Self::ends_with_call`] looks at.
    pub(crate) const fn longest_call(self) -> usize {
        match self {
            Self::X86_64 => x86_64::CALL,
            Self::Aarch64 => aarch64::CALL,
            Self::X86 => x86::CALL,
        }
    }

    /// What the call at the end of the code calls, where `return_address` is what comes after it; `None` where no call
    /// is there. The code is of [`Self::longest_call`] bytes.
    pub(crate) fn call_target(self, code: &[u8], return_address: u64) -> Option<CallTarget> {
        if !self.ends_with_call(code) {
            return None;
        }
        let direct = match self {
            Self::X86_64 => x86_64::direct_call_target(code, return_address),
            Self::Aarch64 => aarch64::direct_call_target(code, return_address),
            Self::X86 => {
                x86_64::direct_call_target(code, return_address).map(|target| target & x86::ADDRESS)
            }
        };
        Some(direct.map_or(CallTarget::Indirect, CallTarget::Address))
    }

    /// Where the word is that a call at the end of the code reads what it calls from, if the call states that; `next` is
    /// the address of what comes after it. Both are addresses that the file states.
    pub(crate) fn slot_of_call(self, code: &[u8], next: u64) -> Option<u64> {
        match self {
            Self::X86_64 => {
                x86_64::slot_of_call(code).map(|offset| next.wrapping_add_signed(offset.into()))
            }
            Self::Aarch64 => None,
            Self::X86 => x86::slot_of_call(code),
        }
    }

    /// Whether the code, of [`Self::longest_call`] bytes, can end with a call.
    pub(crate) fn ends_with_call(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 | Self::X86 => x86_64::ends_with_call(code),
            Self::Aarch64 => aarch64::ends_with_call(code),
        }
    }
}

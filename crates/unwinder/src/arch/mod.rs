//! What differs between the two processors that are unwound: register numbers, which registers a simple rule can
//! restore, how a recorder's register mask maps to DWARF numbers, what a signal trampoline and a call look like. A file
//! each, with the same names in both.

mod aarch64;
mod x86_64;

use module_map::ElfMachine;

/// A processor that is unwound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// x86-64.
    X86_64,
    /// aarch64, little-endian.
    Aarch64,
}

/// What a call calls, by its instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallTarget {
    /// The code at that address.
    Address(u64),
    /// What a register or memory says at that moment.
    Indirect,
}

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
            _ => None,
        }
    }

    /// The DWARF number of the stack pointer.
    pub(crate) const fn sp(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::SP,
            Self::Aarch64 => aarch64::SP,
        }
    }

    /// The DWARF number of the frame pointer.
    pub(crate) const fn fp(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::FP,
            Self::Aarch64 => aarch64::FP,
        }
    }

    /// The DWARF number of the return address column.
    pub(crate) const fn return_address(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::RETURN_ADDRESS,
            Self::Aarch64 => aarch64::RETURN_ADDRESS,
        }
    }

    /// The DWARF number under which the program counter itself can be restored, as signal frames do.
    pub(crate) const fn pc(self) -> u8 {
        match self {
            Self::X86_64 => x86_64::PC,
            Self::Aarch64 => aarch64::PC,
        }
    }

    /// Which registers the slots of a simple rule restore; slot 0 is the return address.
    pub(crate) const fn slots(self) -> &'static [u8; N_SLOTS] {
        match self {
            Self::X86_64 => &x86_64::SLOTS,
            Self::Aarch64 => &aarch64::SLOTS,
        }
    }

    /// The DWARF number of each bit of the recorder's register mask; [`UNUSED`] where it has none.
    pub(crate) const fn of_mask_bits(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &x86_64::OF_MASK_BITS,
            Self::Aarch64 => &aarch64::OF_MASK_BITS,
        }
    }

    /// The registers that are -1 in samples of kernel mode where they are not known.
    pub(crate) const fn may_be_unknown(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &x86_64::MAY_BE_UNKNOWN,
            Self::Aarch64 => &[],
        }
    }

    /// A return address without the bits that pointer authentication put into it.
    pub(crate) const fn strip(self, pc: u64) -> u64 {
        match self {
            Self::X86_64 => pc,
            Self::Aarch64 => pc & aarch64::ADDRESS,
        }
    }

    /// Whether the code is a signal trampoline.
    pub(crate) fn is_signal_trampoline(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 => code.starts_with(&x86_64::TRAMPOLINE),
            Self::Aarch64 => code.starts_with(&aarch64::TRAMPOLINE),
        }
    }

    /// How many bytes the first instruction of a signal trampoline has; the second is the system call.
    pub(crate) const fn trampoline_first_len(self) -> u64 {
        match self {
            Self::X86_64 => x86_64::TRAMPOLINE_FIRST,
            Self::Aarch64 => aarch64::TRAMPOLINE_FIRST,
        }
    }

    /// The offset from the stack pointer, at a signal trampoline, of each saved register, as (DWARF number, offset).
    pub(crate) fn signal_frame(self) -> Vec<(u8, u64)> {
        match self {
            Self::X86_64 => x86_64::signal_frame(),
            Self::Aarch64 => aarch64::signal_frame(),
        }
    }

    /// How many bytes before a return address [`Self::ends_with_call`] looks at.
    pub(crate) const fn longest_call(self) -> usize {
        match self {
            Self::X86_64 => x86_64::CALL,
            Self::Aarch64 => aarch64::CALL,
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
        };
        Some(direct.map_or(CallTarget::Indirect, CallTarget::Address))
    }

    /// Where the word is that an x86-64 call at the end of the code reads what it calls from, counted from the next
    /// instruction; `None` for all other calls.
    pub(crate) fn slot_of_call(code: &[u8]) -> Option<i32> {
        x86_64::slot_of_call(code)
    }

    /// Whether the code, of [`Self::longest_call`] bytes, can end with a call.
    pub(crate) fn ends_with_call(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 => x86_64::ends_with_call(code),
            Self::Aarch64 => aarch64::ends_with_call(code),
        }
    }
}

//! What differs between the two processors that are unwound: register numbers, which registers a packed rule can
//! restore, how a recorder's register mask maps to DWARF numbers, what a signal trampoline looks like.

use module_map::Machine;

/// A processor that is unwound.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// x86-64.
    X86_64,
    /// aarch64, little-endian.
    Aarch64,
}

/// The most registers that any of them has, by DWARF number.
pub(crate) const N_REGISTERS: usize = 34;

/// The number of slots of a packed rule: the return address and callee-saved registers.
pub(crate) const N_SLOTS: usize = 16;

/// No register in this slot.
pub(crate) const UNUSED: u8 = u8::MAX;

impl Arch {
    /// The processor of a file's machine, if it is one that is unwound.
    #[must_use]
    pub const fn of(machine: Machine) -> Option<Self> {
        match machine {
            Machine::X86_64 => Some(Self::X86_64),
            Machine::Aarch64 => Some(Self::Aarch64),
            _ => None,
        }
    }

    /// The DWARF number of the stack pointer.
    ///
    /// Source: System V psABI AMD64, table 3.36; DWARF for the Arm 64-bit Architecture, section 4.1.
    pub(crate) const fn sp(self) -> u8 {
        match self {
            Self::X86_64 => 7,
            Self::Aarch64 => 31,
        }
    }

    /// The DWARF number of the frame pointer.
    pub(crate) const fn fp(self) -> u8 {
        match self {
            Self::X86_64 => 6,
            Self::Aarch64 => 29,
        }
    }

    /// The DWARF number of the return address column: a column of its own on x86-64, the link register on aarch64.
    pub(crate) const fn return_address(self) -> u8 {
        match self {
            Self::X86_64 => 16,
            Self::Aarch64 => 30,
        }
    }

    /// The DWARF number under which the program counter itself can be restored, as signal frames do.
    pub(crate) const fn pc(self) -> u8 {
        match self {
            Self::X86_64 => 16,
            Self::Aarch64 => 32,
        }
    }

    /// Which registers the slots of a packed rule restore; slot 0 is the return address.
    pub(crate) const fn slots(self) -> &'static [u8; N_SLOTS] {
        match self {
            Self::X86_64 => &[
                16, 3, 6, 12, 13, 14, 15, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED,
                UNUSED, UNUSED,
            ],
            Self::Aarch64 => {
                &[30, 29, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, UNUSED, UNUSED, UNUSED, UNUSED]
            }
        }
    }

    /// The DWARF number of each bit of the recorder's register mask; [`UNUSED`] where it has none.
    ///
    /// Source: `enum perf_event_x86_regs` and `perf_event_arm_regs` in `arch/*/include/uapi/asm/perf_regs.h`.
    pub(crate) const fn of_mask_bits(self) -> &'static [u8] {
        match self {
            Self::X86_64 => &[
                0, 3, 2, 1, 4, 5, 6, 7, 16, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED,
                8, 9, 10, 11, 12, 13, 14, 15,
            ],
            Self::Aarch64 => &[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
            ],
        }
    }

    /// Where a signal trampoline at this code keeps the interrupted registers, if the code is one.
    ///
    /// Source: `mov $15, %rax; syscall` (`__restore_rt`) and `mov x8, #139; svc #0` (`__kernel_rt_sigreturn`).
    pub(crate) fn is_signal_trampoline(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 => {
                code.starts_with(&[0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05])
            }
            Self::Aarch64 => code.starts_with(&[0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4]),
        }
    }

    /// The offset from the stack pointer, at a signal trampoline, of each saved register, as (DWARF number, offset).
    ///
    /// Source: `struct rt_sigframe` and `struct sigcontext`. x86-64: `ucontext` at the stack pointer once the handler
    /// has returned, `uc_mcontext` 40 bytes into it. aarch64: `siginfo` of 128 bytes, then `ucontext` with
    /// `uc_mcontext` 176 bytes into it, its registers 8 bytes further.
    pub(crate) fn signal_frame(self) -> Vec<(u8, u64)> {
        match self {
            Self::X86_64 => {
                const GREGS: [u8; 17] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16];
                GREGS.iter().zip(0..).map(|(&register, index)| (register, 40 + 8 * index)).collect()
            }
            Self::Aarch64 => (0..=32)
                .map(|register| (register, 128 + 176 + 8 + 8 * u64::from(register)))
                .collect(),
        }
    }
}

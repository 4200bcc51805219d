//! What differs between the processors in code: what calls look like, and signal trampolines.

use crate::arch::{
    Arch, CallTarget, aarch64, arm, loongarch64, ppc64, riscv64, s390x, x86, x86_64,
};

impl Arch {
    /// Whether the code is a signal trampoline.
    pub(crate) fn is_signal_trampoline(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 => code.starts_with(&x86_64::TRAMPOLINE),
            Self::Aarch64 => code.starts_with(&aarch64::TRAMPOLINE),
            Self::Riscv64 => code.starts_with(&riscv64::TRAMPOLINE),
            Self::X86 => x86::is_signal_trampoline(code),
            Self::Arm => arm::is_signal_trampoline(code),
            Self::S390x => s390x::is_signal_trampoline(code),
            Self::Ppc64 => ppc64::is_signal_trampoline(code),
            Self::Loongarch64 => code.starts_with(&loongarch64::TRAMPOLINE),
        }
    }

    /// Which of its signal frames is on the stack, where the address at an index of the code is in a signal trampoline: at
    /// its first instruction, at the system call, or one byte before the first (the return address of a handler, less one).
    pub(crate) fn signal_form(self, code: &[u8], at: usize) -> Option<usize> {
        let (trampoline, first) = match self {
            Self::X86_64 => (&x86_64::TRAMPOLINE[..], x86_64::TRAMPOLINE_FIRST),
            Self::Aarch64 => (&aarch64::TRAMPOLINE[..], aarch64::TRAMPOLINE_FIRST),
            Self::Riscv64 => (&riscv64::TRAMPOLINE[..], riscv64::TRAMPOLINE_FIRST),
            Self::X86 => return x86::signal_form(code, at),
            Self::Arm => return arm::signal_form(code, at),
            Self::S390x => return s390x::signal_form(code, at),
            Self::Ppc64 => return ppc64::signal_form(code, at),
            Self::Loongarch64 => (&loongarch64::TRAMPOLINE[..], loongarch64::TRAMPOLINE_FIRST),
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
            Self::Riscv64 => riscv64::signal_frame(),
            Self::X86 => x86::signal_frame(form),
            Self::Arm => arm::signal_frame(form),
            Self::S390x => s390x::signal_frame(form),
            Self::Ppc64 => ppc64::signal_frame(form),
            Self::Loongarch64 => loongarch64::signal_frame(),
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

    /// The registers, by DWARF number, in which an exception handler gets its data: those that a function which goes on in
    /// one saves. Empty where other functions save them, too (s390x).
    ///
    /// Source: `EH_RETURN_DATA_REGNO` of GCC's processors.
    pub(crate) const fn handler_data(self) -> &'static [u8] {
        match self {
            Self::X86_64 | Self::Arm => &[0, 1],
            Self::X86 => &[0, 2],
            Self::Aarch64 => &[0, 1, 2, 3],
            Self::Riscv64 => &[10, 11, 12, 13],
            Self::S390x => &[],
            Self::Ppc64 => &[3, 4, 5, 6],
            Self::Loongarch64 => &[4, 5, 6, 7],
        }
    }

    /// Bytes of the instruction that calls the kernel.
    pub(crate) const fn system_call(self) -> usize {
        match self {
            Self::X86_64 | Self::X86 | Self::S390x => 2,
            Self::Aarch64 | Self::Riscv64 | Self::Arm | Self::Ppc64 | Self::Loongarch64 => 4,
        }
    }

    /// Whether code begins with what assemblers and linkers fill gaps with.
    pub(crate) fn is_padding(self, code: &[u8]) -> bool {
        let nops: &[&[u8]] = match self {
            Self::X86_64 | Self::X86 => &[&[0x90], &[0x0f, 0x1f], &[0x66], &[0xcc]],
            Self::Aarch64 => &[&[0x1f, 0x20, 0x03, 0xd5]],
            Self::Riscv64 => &[&[0x13, 0, 0, 0], &[1, 0]],
            Self::Arm => &[&[0, 0xf0, 0x20, 0xe3], &[0, 0xbf]],
            Self::S390x => &[&[7, 7]],
            Self::Ppc64 => &[&[0, 0, 0, 0x60]],
            Self::Loongarch64 => &[&[0, 0, 0x40, 3]],
        };
        code.starts_with(&[0, 0]) || nops.iter().any(|nop| code.starts_with(nop))
    }

    /// Instructions begin at multiples of so many bytes.
    pub(crate) const fn code_alignment(self) -> usize {
        match self {
            Self::X86_64 | Self::X86 => 1,
            Self::Riscv64 | Self::S390x | Self::Arm => 2,
            Self::Aarch64 | Self::Ppc64 | Self::Loongarch64 => 4,
        }
    }

    /// How many bytes before a return address [`Self::ends_with_call`] looks at.
    pub(crate) const fn longest_call(self) -> usize {
        match self {
            Self::X86_64 => x86_64::CALL,
            Self::Aarch64 => aarch64::CALL,
            Self::Riscv64 => riscv64::CALL,
            Self::X86 => x86::CALL,
            Self::Arm => arm::CALL,
            Self::S390x => s390x::CALL,
            Self::Ppc64 => ppc64::CALL,
            Self::Loongarch64 => loongarch64::CALL,
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
            Self::Riscv64 => riscv64::direct_call_target(code, return_address),
            // Whether it is code of ARM or Thumb is not known here.
            Self::Arm => None,
            Self::S390x => s390x::direct_call_target(code, return_address),
            Self::Ppc64 => ppc64::direct_call_target(code, return_address),
            Self::Loongarch64 => loongarch64::direct_call_target(code, return_address),
            Self::X86 => x86_64::direct_call_target(code, return_address)
                .map(|target| target & self.addresses()),
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
            Self::X86 => x86::slot_of_call(code),
            _ => None,
        }
    }

    /// Whether the code, of [`Self::longest_call`] bytes, can end with a call.
    pub(crate) fn ends_with_call(self, code: &[u8]) -> bool {
        match self {
            Self::X86_64 | Self::X86 => x86_64::ends_with_call(code),
            Self::Aarch64 => aarch64::ends_with_call(code),
            Self::Riscv64 => riscv64::ends_with_call(code),
            Self::Arm => arm::ends_with_call(code),
            Self::S390x => s390x::ends_with_call(code),
            Self::Ppc64 => ppc64::ends_with_call(code),
            Self::Loongarch64 => loongarch64::ends_with_call(code),
        }
    }
}

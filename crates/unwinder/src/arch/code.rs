//! What differs between the processors in code: what calls look like, and signal trampolines.

use crate::arch::descriptor::Trampoline;
use crate::arch::{ArchDescriptor, CallTarget};

impl ArchDescriptor {
    /// Whether the code is a signal trampoline.
    pub(crate) fn is_signal_trampoline(&self, code: &[u8]) -> bool {
        match self.code.trampoline {
            Trampoline::Plain { code: trampoline, .. } => code.starts_with(trampoline),
            Trampoline::Forms { begins, .. } => begins(code),
        }
    }

    /// Which of its signal frames is on the stack, where the address at an index of the code is in a signal trampoline: at
    /// its first instruction, at the system call, or one byte before the first (the return address of a handler, less one).
    pub(crate) fn signal_form(&self, code: &[u8], at: usize) -> Option<usize> {
        let (trampoline, first) = match self.code.trampoline {
            Trampoline::Plain { code: trampoline, first } => (trampoline, first),
            Trampoline::Forms { form, .. } => return form(code, at),
        };
        let starts = [at.checked_sub(first), Some(at), at.checked_add(1)];
        let is_there =
            |start: usize| code.get(start..).is_some_and(|code| code.starts_with(trampoline));
        starts.into_iter().flatten().any(is_there).then_some(0)
    }

    /// The offset from the stack pointer, at a signal trampoline, of each saved register, as (DWARF number, offset), by
    /// the form of the frame.
    pub(crate) fn signal_frame(&self, form: usize) -> Vec<(u8, u64)> {
        (self.code.signal_frame)(form)
    }

    /// Whether a signal frame of that form is on the stack above a stack pointer, by what only the kernel writes there; of
    /// i386. `read` gives the word at an offset from the stack pointer, `is_code` tells executable memory.
    pub(crate) fn is_signal_frame(
        &self,
        form: usize,
        sp: u64,
        read: impl Fn(u64) -> Option<u64>,
        is_code: impl Fn(u64) -> bool,
    ) -> bool {
        let test = self.code.is_signal_frame;
        test.and_then(|test| test(form, sp, &read, &is_code)).unwrap_or(false)
    }

    /// Bytes of the instruction that calls the kernel.
    pub(crate) const fn system_call(&self) -> usize {
        self.code.system_call
    }

    /// Whether code begins with what assemblers and linkers fill gaps with.
    pub(crate) fn is_padding(&self, code: &[u8]) -> bool {
        let mut nops = self.code.padding.iter();
        code.starts_with(&[0, 0]) || nops.any(|nop| code.starts_with(nop))
    }

    /// Whether code consists of instructions that do nothing, or of zeros.
    pub(crate) fn is_filler(&self, code: &[u8]) -> bool {
        let mut rest = code;
        while !rest.is_empty() {
            let next = self.code.fillers.iter().find_map(|nop| rest.strip_prefix(*nop));
            let Some(next) = next else { return false };
            rest = next;
        }
        true
    }

    /// Whether its code is of two instruction sets, of which an address states one by its lowest bit: ARM and Thumb.
    pub(crate) const fn has_thumb(&self) -> bool {
        self.code.mode_bit != 0
    }

    /// The address of the code that a target states: without the lowest bit, which stands for Thumb in 32-bit Arm.
    pub(crate) const fn code_address(&self, target: u64) -> u64 {
        target & !self.code.mode_bit
    }

    /// Instructions begin at multiples of so many bytes.
    pub(crate) const fn code_alignment(&self) -> usize {
        self.code.alignment
    }

    /// How many bytes before a return address [`Self::ends_with_call`] looks at.
    pub(crate) const fn longest_call(&self) -> usize {
        self.code.longest_call
    }

    /// What the call at the end of the code calls, where `return_address` is what comes after it; `None` where no call
    /// is there. The code is of [`Self::longest_call`] bytes.
    pub(crate) fn call_target(&self, code: &[u8], return_address: u64) -> Option<CallTarget> {
        if !self.ends_with_call(code) {
            return None;
        }
        let direct = (self.code.direct_call_target)(code, return_address);
        Some(direct.map_or(CallTarget::Indirect, CallTarget::Address))
    }

    /// Where the word is that a call at the end of the code reads what it calls from, if the call states that; `next` is
    /// the address of what comes after it. Both are addresses that the file states.
    pub(crate) fn slot_of_call(&self, code: &[u8], next: u64) -> Option<u64> {
        (self.code.slot_of_call)(code, next)
    }

    /// Whether the code, of [`Self::longest_call`] bytes, can end with a call.
    pub(crate) fn ends_with_call(&self, code: &[u8]) -> bool {
        (self.code.ends_with_call)(code)
    }

    /// How many bytes before an address [`Self::moves_stack_pointer`] looks at.
    pub(crate) const fn longest_push(&self) -> usize {
        self.code.longest_push
    }

    /// Whether the code, of [`Self::longest_push`] bytes, ends with an instruction that moves the stack pointer down by so
    /// many bytes; if a register is stated (by DWARF number), one that stores it there. `None` if that is not looked at.
    pub(crate) fn moves_stack_pointer(
        &self,
        code: &[u8],
        bytes: i64,
        register: Option<u8>,
    ) -> Option<bool> {
        (self.code.moves_stack_pointer)(code, bytes, register)
    }
}

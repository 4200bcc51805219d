//! Recognition of calls and signal trampolines in the code of each processor.

use crate::arch::descriptor::Trampoline;
use crate::arch::{ArchDescriptor, CallTarget};

impl ArchDescriptor {
    /// Returns true if the code is a signal trampoline.
    pub(crate) fn is_signal_trampoline(&self, code: &[u8]) -> bool {
        match self.code.trampoline {
            Trampoline::Plain { code: trampoline, .. } => code.starts_with(trampoline),
            Trampoline::Forms { begins, .. } => begins(code),
        }
    }

    /// Returns the form of the signal frame on the stack, if the address at an index of the code is in a signal
    /// trampoline. The address is its first instruction, the system call, or one byte before the first (the return
    /// address of a handler, minus one).
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

    /// Returns the offset of each saved register from the stack pointer at a signal trampoline, as (DWARF number,
    /// offset), by the form of the frame.
    pub(crate) fn signal_frame(&self, form: usize) -> Vec<(u8, u64)> {
        (self.code.signal_frame)(form)
    }

    /// Returns true if a signal frame of form `form` is above a stack pointer, by values that only the kernel writes
    /// there. Only for i386. `read` returns the word at an offset from the stack pointer; `is_code` tests for
    /// executable memory.
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

    /// Size of the system call instruction, in bytes.
    pub(crate) const fn system_call(&self) -> usize {
        self.code.system_call
    }

    /// Returns true if code begins with bytes that assemblers and linkers fill gaps with.
    pub(crate) fn is_padding(&self, code: &[u8]) -> bool {
        let mut nops = self.code.padding.iter();
        code.starts_with(&[0, 0]) || nops.any(|nop| code.starts_with(nop))
    }

    /// Returns true if code consists of instructions without effect, or of zeros.
    pub(crate) fn is_filler(&self, code: &[u8]) -> bool {
        let mut rest = code;
        while !rest.is_empty() {
            let next = self.code.fillers.iter().find_map(|nop| rest.strip_prefix(*nop));
            let Some(next) = next else { return false };
            rest = next;
        }
        true
    }

    /// Returns true if its code has two instruction sets, ARM and Thumb, which the lowest bit of an address
    /// distinguishes.
    pub(crate) const fn has_thumb(&self) -> bool {
        self.code.mode_bit != 0
    }

    /// Returns the code address of a target: without the lowest bit, which marks Thumb code on 32-bit Arm.
    pub(crate) const fn code_address(&self, target: u64) -> u64 {
        target & !self.code.mode_bit
    }

    /// Alignment of instructions, in bytes.
    pub(crate) const fn code_alignment(&self) -> usize {
        self.code.alignment
    }

    /// Number of bytes before a return address that [`Self::ends_with_call`] reads.
    pub(crate) const fn longest_call(&self) -> usize {
        self.code.longest_call
    }

    /// Returns the target of the call at the end of the code, which ends before `return_address`; `None` if no call is
    /// there. The code has [`Self::longest_call`] bytes.
    pub(crate) fn call_target(&self, code: &[u8], return_address: u64) -> Option<CallTarget> {
        if !self.ends_with_call(code) {
            return None;
        }
        let direct = (self.code.direct_call_target)(code, return_address);
        Some(direct.map_or(CallTarget::Indirect, CallTarget::Address))
    }

    /// Returns the address of the word that a call at the end of the code reads its target from, if the call states it.
    /// `next` is the address after the call. Both are addresses that the file states.
    pub(crate) fn slot_of_call(&self, code: &[u8], next: u64) -> Option<u64> {
        (self.code.slot_of_call)(code, next)
    }

    /// Returns true if the code, of [`Self::longest_call`] bytes, can end with a call.
    pub(crate) fn ends_with_call(&self, code: &[u8]) -> bool {
        (self.code.ends_with_call)(code)
    }

    /// Number of bytes before an address that [`Self::moves_stack_pointer`] reads.
    pub(crate) const fn longest_push(&self) -> usize {
        self.code.longest_push
    }

    /// Returns true if the code, of [`Self::longest_push`] bytes, ends with an instruction that moves the stack pointer
    /// down by `bytes`. If a register is given (by DWARF number), it must also store it there. `None` if the case is
    /// not covered.
    pub(crate) fn moves_stack_pointer(
        &self,
        code: &[u8],
        bytes: i64,
        register: Option<u8>,
    ) -> Option<bool> {
        (self.code.moves_stack_pointer)(code, bytes, register)
    }
}

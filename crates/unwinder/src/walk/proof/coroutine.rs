//! The hand-written code that a coroutine begins with. It moves its inputs into argument registers, calls the
//! coroutine's function through a register, and traps if that returns. Nothing calls it: the switch to the coroutine
//! returns or jumps there. Its stack has nothing above, or a word of 0.
//!
//! ```text
//!   entry: mov %r12,%rdi ; call *%r13 ; ud2
//! ```

use address::Avma;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::arch::{Arch, CallTarget, Processor};
use crate::state::{MemoryError, Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Maximum number of bytes of such code before the return address of its call.
const LONGEST: usize = 32;
/// Bytes that can precede a function: ends of other code, and padding.
const ENDS: [&[u8]; 8] =
    [&[0xc3], &[0x90], &[0xcc], &[0xf4], &[0x0f, 0x0b], &[0xff, 0xe0], &[0x00], &[0x66, 0x90]];
/// A trap: `ud2`, `hlt`.
const TRAPS: [&[u8]; 2] = [&[0x0f, 0x0b], &[0xf4]];
const PAGE: u64 = 0x1000;

impl Walker<'_> {
    /// Returns true if a frame without CFI, not a leaf, is in such code.
    #[cold]
    pub(in crate::walk) fn is_coroutine_entry(
        callee: &LookedUpFrame<'_>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> bool {
        let (memory, arch) = (&context.memory, context.arch);
        if !arch.is(Arch::X86_64) || callee.is_leaf || callee.mapping.file.is_none() {
            return false;
        }
        let next = callee.lookup.add(1);
        let traps = TRAPS.iter().any(|trap| memory.code(next, trap.len()) == Some(*trap));
        if !traps || !is_end_of_stack(registers.sp(arch), memory) {
            return false;
        }
        (1..=LONGEST).rev().any(|len| {
            let code = memory.code(Avma(next.0.wrapping_sub(len as u64)), len);
            let start = next.0.wrapping_sub(len as u64);
            code.is_some_and(|code| only_calls(code, start, next.0, arch))
                && ENDS.iter().any(|end| {
                    memory.code(Avma(start.wrapping_sub(end.len() as u64)), end.len()) == Some(*end)
                })
        })
    }
}

/// Returns true if nothing is above a stack pointer: a word of 0, or the end of the memory.
fn is_end_of_stack(sp: u64, memory: &SampleMemory<'_>) -> bool {
    match memory.read(sp) {
        Ok(word) => word == 0,
        Err(MemoryError::PastDump) => sp.is_multiple_of(PAGE),
        Err(MemoryError::NotRecorded) => false,
    }
}

/// Returns true if code only moves values into registers and then makes an indirect call.
fn only_calls(code: &[u8], start: u64, next: u64, arch: Processor) -> bool {
    let longest = code.len().min(arch.longest_call());
    let call = code.get(code.len() - longest..).unwrap_or_default();
    if arch.call_target(call, next) != Some(CallTarget::Indirect) {
        return false;
    }
    let mut decoder = Decoder::with_ip(arch.bitness(), code, start, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if instruction.next_ip() == next {
            let by_register = instruction.op0_kind() == OpKind::Register;
            return instruction.flow_control() == FlowControl::IndirectCall && by_register;
        }
        if !moves(&instruction) {
            return false;
        }
    }
    false
}

/// Returns true if an instruction only writes a register other than the stack pointer.
fn moves(instruction: &Instruction) -> bool {
    let to_register =
        instruction.op0_kind() == OpKind::Register && instruction.op0_register() != Register::RSP;
    match instruction.mnemonic() {
        Mnemonic::Endbr64 | Mnemonic::Nop => true,
        Mnemonic::Mov | Mnemonic::Lea | Mnemonic::Xor => to_register,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::X86_64;

    #[test]
    fn code_that_only_calls() {
        let is = |code: &[u8]| {
            let start = 0x1000;
            only_calls(code, start, start + code.len() as u64, X86_64)
        };
        // mov %r12,%rdi; call *%r13
        assert!(is(&[0x4c, 0x89, 0xe7, 0x41, 0xff, 0xd5]));
        // xor %ebp,%ebp; mov %r12,%rdi; call *%r13
        assert!(is(&[0x31, 0xed, 0x4c, 0x89, 0xe7, 0x41, 0xff, 0xd5]));
        // push %rbx; call *%r13
        assert!(!is(&[0x53, 0x41, 0xff, 0xd5]));
        // mov %r12,%rdi; call function
        assert!(!is(&[0x4c, 0x89, 0xe7, 0xe8, 0, 0, 0, 0]));
    }
}

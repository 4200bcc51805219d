//! x86-64: register numbers, slots of simple rules, recognized code.
//!
//! Source: System V psABI AMD64, table 3.36, for the DWARF numbers.

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, Trampoline, slot_of, word_of,
};
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_REGISTERS, N_SLOTS, UNUSED};

/// The processor.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::X86_64,
    word: word_of(Arch::X86_64),
    columns: N_REGISTERS as u8,
    further_column: None,
    sp: SP,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: Some(0),
    return_address: RETURN_ADDRESS,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 8,
    may_be_unknown: &MAY_BE_UNKNOWN,
    return_addresses: u64::MAX,
    flow: Some(FlowForm::X86),
    table_of_contents: None,
    effect: None,
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: CALLEE_SAVED,
        caller_saved: &CALLER_SAVED,
        first_argument: None,
        cfa_above_sp: 0,
        handler_data: &[0, 1],
    },
    code: CodeForms {
        alignment: 1,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call,
        system_call: 2,
        trampoline: Trampoline::Plain { code: &TRAMPOLINE, first: TRAMPOLINE_FIRST },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0x90], &[0x0f, 0x1f], &[0x66], &[0xcc]],
        fillers: &[&[0x90], &[0xcc]],
        longest_push: PUSH,
        moves_stack_pointer,
    },
};

const SP: u8 = 7;
const FP: u8 = 6;
/// A separate column, which no instruction names.
const RETURN_ADDRESS: u8 = 16;
const PC: u8 = 16;

/// The return address, then callee-saved registers.
const SLOTS: [u8; N_SLOTS] = [
    16, 3, 6, 12, 13, 14, 15, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED,
    UNUSED,
];

/// Registers that functions preserve: rbx, rbp, r12 to r15.
const CALLEE_SAVED: [u8; 6] = [3, 6, 12, 13, 14, 15];

/// Registers that a called function may change.
const CALLER_SAVED: [u8; 9] = [0, 1, 2, 4, 5, 8, 9, 10, 11];

/// Source: `enum perf_event_x86_regs` in `arch/x86/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 24] = [
    0, 3, 2, 1, 4, 5, 6, 7, 16, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, 8, 9, 10,
    11, 12, 13, 14, 15,
];

/// The registers that the kernel's entry code does not save on every path: rbx and r12 to r15.
const MAY_BE_UNKNOWN: [u8; 5] = [3, 12, 13, 14, 15];

/// `mov $15, %rax; syscall` (`__restore_rt`).
const TRAMPOLINE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05];
/// Size of its first instruction, in bytes.
const TRAMPOLINE_FIRST: usize = 7;

/// Size of the longest call instruction, in bytes.
const CALL: usize = 7;

/// Returns the offset of each saved register from the stack pointer at a signal trampoline: `ucontext` is there after
/// the handler has returned, with `uc_mcontext` at offset 40.
///
/// Source: `struct rt_sigframe` and `struct sigcontext`.
fn signal_frame(_form: usize) -> Vec<(u8, u64)> {
    const GREGS: [u8; 17] = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16];
    GREGS.iter().zip(0..).map(|(&register, index)| (register, 40 + 8 * index)).collect()
}

/// Returns true if the last instruction of the code can be a call.
///
/// Source: Intel SDM, CALL: `E8 rel32`, or `FF /2` with its addressing bytes.
pub(super) fn ends_with_call(code: &[u8]) -> bool {
    let at = |back: usize| {
        code.len().checked_sub(back).and_then(|index| code.get(index)).copied().unwrap_or(0)
    };
    at(5) == 0xe8
        || [2, 3, 4, 6, 7].into_iter().any(|len| at(len) == 0xff && at(len - 1) & 0x38 == 0x10)
}

/// Returns the target of a direct call at the end of the code.
///
/// Source: Intel SDM, CALL: the operand of `E8` is relative to the next instruction.
pub(super) fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let (opcode, offset) = code.last_chunk::<5>()?.split_first()?;
    let offset = i32::from_le_bytes(*offset.first_chunk()?);
    (*opcode == 0xe8).then_some(return_address.wrapping_add_signed(offset.into()))
}

/// Returns the address of the word that a call at the end of the code reads its target from.
///
/// Source: Intel SDM, CALL: `FF /2` with the addressing byte 15 is relative to the next instruction.
fn slot_of_call(code: &[u8], next: u64) -> Option<u64> {
    let (opcode, offset) = code.last_chunk::<6>()?.split_first_chunk::<2>()?;
    let offset = i32::from_le_bytes([offset[0], offset[1], offset[2], offset[3]]);
    (*opcode == [0xff, 0x15]).then(|| next.wrapping_add_signed(offset.into()))
}

/// Size of the longest push, in bytes.
pub(super) const PUSH: usize = 7;
/// Number of each register in instructions, by DWARF number.
const NUMBERS: [u8; 16] = [0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

/// Returns true if code ends with a push of a register.
fn moves_stack_pointer(code: &[u8], bytes: i64, register: Option<u8>) -> Option<bool> {
    let register = register.filter(|_| bytes == DESCRIPTOR.word.cast_signed())?;
    Some(is_push(code, *NUMBERS.get(usize::from(register))?))
}

/// Returns true if code ends with a push of a register by its number in instructions: `50+r`, from r8 on with a prefix.
///
/// Source: Intel SDM, PUSH.
pub(super) fn is_push(code: &[u8], number: u8) -> bool {
    let opcode = 0x50 + (number & 7);
    match code {
        [.., prefix, last] if number >= 8 => (*prefix, *last) == (0x41, opcode),
        [.., last] => *last == opcode,
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direct_call_says_where_it_goes() {
        assert_eq!(
            direct_call_target(&[0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff], 0x1000),
            Some(0xff0)
        );
        assert_eq!(direct_call_target(&[0x90, 0x90, 0xe8, 4, 3, 2, 1], 0x1000), Some(0x0102_1304));
        assert_eq!(direct_call_target(&[0, 0xff, 0x15, 1, 2, 3, 4], 0x1000), None);
        assert_eq!(direct_call_target(&[0xe8], 0x1000), None);
    }

    #[test]
    fn calls_are_distinguished_from_other_code() {
        assert!(ends_with_call(&[0x90, 0x90, 0xe8, 1, 2, 3, 4])); // call rel32
        assert!(ends_with_call(&[0, 0, 0, 0, 0x41, 0xff, 0xd3])); // call *%r11
        assert!(ends_with_call(&[0, 0xff, 0x15, 1, 2, 3, 4])); // call *rel(%rip)
        assert!(ends_with_call(&[0, 0, 0, 0xff, 0x54, 0x24, 8])); // call *8(%rsp)
        assert!(!ends_with_call(&[0x90; 7]));
        assert!(!ends_with_call(&[0, 0, 0, 0, 0x41, 0xff, 0xe3])); // jmp *%r11
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn pushes_are_recognized() {
        let x86 = |code: &[u8], register| moves_stack_pointer(code, 8, Some(register));
        assert_eq!(x86(&[0, 0, 0, 0xf3, 0x0f, 0x1e, 0x55], 6), Some(true)); // push %rbp
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x41, 0x57], 15), Some(true)); // push %r15
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x90, 0x57], 15), Some(false));
        assert_eq!(x86(&[0, 0, 0, 0, 0, 0x90, 0x53], 6), Some(false));
        assert_eq!(moves_stack_pointer(&[0x90; 7], 0x20, Some(6)), None);
    }
}

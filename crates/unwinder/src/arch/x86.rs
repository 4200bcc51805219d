//! 32-bit x86 (i386): register numbers, slots of simple rules, recognized code. Calls are encoded as on x86-64. A
//! register dump is also laid out as on x86-64: it has the lower halves of the same registers.
//!
//! Source: System V ABI, Intel386 supplement (psABI i386), table 2.14, for the DWARF numbers.

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, Trampoline, slot_of, word_of,
};
use crate::arch::flow::FlowForm;
use crate::arch::{Arch, N_REGISTERS, N_SLOTS, UNUSED, x86_64};

/// The processor.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::X86,
    word: word_of(Arch::X86),
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
    return_addresses: ADDRESS,
    flow: Some(FlowForm::X86),
    table_of_contents: None,
    effect: None,
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: CALLEE_SAVED,
        caller_saved: &CALLER_SAVED,
        first_argument: None,
        cfa_above_sp: 0,
        handler_data: &[0, 2],
    },
    code: CodeForms {
        alignment: 1,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call: x86_64::ends_with_call,
        direct_call_target,
        slot_of_call,
        system_call: 2,
        trampoline: Trampoline::Forms { begins: is_signal_trampoline, form: signal_form },
        signal_frame,
        is_signal_frame: Some(is_signal_frame),
        padding: &[&[0x90], &[0x0f, 0x1f], &[0x66], &[0xcc]],
        fillers: &[&[0x90], &[0xcc]],
        longest_push: x86_64::PUSH,
        moves_stack_pointer,
    },
};

const SP: u8 = 4;
const FP: u8 = 5;
/// A separate column, which no instruction names.
const RETURN_ADDRESS: u8 = 8;
const PC: u8 = 8;

/// The return address, then callee-saved registers, then those that the vdso saves.
const SLOTS: [u8; N_SLOTS] =
    [8, 3, 5, 6, 7, 1, 2, 0, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED];

/// Registers that functions preserve: ebx, ebp, esi, edi.
const CALLEE_SAVED: [u8; 6] = [3, 5, 6, 7, UNUSED, UNUSED];

/// Registers that a called function may change.
const CALLER_SAVED: [u8; 3] = [0, 1, 2];

/// Source: `enum perf_event_x86_regs` in `arch/x86/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 9] = [0, 3, 1, 2, 6, 7, 5, 4, 8];

/// The register that the kernel's entry code does not save on every path: ebx.
const MAY_BE_UNKNOWN: [u8; 1] = [3];

/// Mask of the bits of an address.
const ADDRESS: u64 = 0xffff_ffff;

/// `mov $173, %eax; int $0x80` (`__kernel_rt_sigreturn`, `__restore_rt`).
const RT_TRAMPOLINE: [u8; 7] = [0xb8, 0xad, 0, 0, 0, 0xcd, 0x80];
/// `pop %eax; mov $119, %eax; int $0x80` (`__kernel_sigreturn`, `__restore`).
const TRAMPOLINE: [u8; 8] = [0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80];
/// Size of the moves in them, and of those together with the system calls, in bytes.
const MOVE: usize = 5;
const CALL_OF_KERNEL: usize = MOVE + 2;

/// Size of the longest call instruction, in bytes.
const CALL: usize = 7;

/// Offset of the registers of a signal frame (`struct sigcontext_32`) from the stack pointer. The three are for a
/// trampoline of signals with information, for the other one, and for the other one after its `pop`.
///
/// Source: `struct rt_sigframe_ia32` and `struct sigframe_ia32` in `arch/x86/include/asm/sigframe.h`. The handler has
/// popped the return address: three words, 128 bytes `siginfo`, 20 bytes of `ucontext` are before the registers of the
/// one, a word before those of the other.
const CONTEXTS: [u64; 3] = [3 * 4 + 128 + 20, 4, 0];

/// Returns the offset of each saved register from the stack pointer at a signal trampoline, by the index of
/// [`CONTEXTS`].
///
/// Source: `struct sigcontext_32` in `arch/x86/include/uapi/asm/sigcontext.h`: segments, then edi, esi, ebp, esp, ebx,
/// edx, ecx, eax, two words of the trap, eip.
fn signal_frame(form: usize) -> Vec<(u8, u64)> {
    let context = CONTEXTS.get(form).copied().unwrap_or(0);
    let registers =
        [(7, 16), (6, 20), (5, 24), (4, 28), (3, 32), (2, 36), (1, 40), (0, 44), (8, 56)];
    registers.map(|(register, offset)| (register, context + offset)).to_vec()
}

/// Returns true if the kernel wrote a signal frame above a stack pointer. Its segments are those of user code and its
/// address is in code. Its pointers, or the second copy of its stack pointer, have the required values.
///
/// Source: as [`CONTEXTS`]; `arch/x86/include/asm/segment.h`: `__USER32_CS` and `__USER_DS` of 64-bit kernels,
/// `__USER_CS` and `__USER_DS` of others.
fn is_signal_frame(
    form: usize,
    sp: u64,
    read: &dyn Fn(u64) -> Option<u64>,
    is_code: &dyn Fn(u64) -> bool,
) -> Option<bool> {
    const SEGMENTS: [(u64, u64); 2] = [(0x23, 0x2b), (0x73, 0x7b)];
    const SEGMENT: u64 = 0xffff;
    let context = *CONTEXTS.get(form)?;
    let word = |offset: u64| read(context + offset);
    let segments = (word(60)? & SEGMENT, word(72)? & SEGMENT);
    let is_of_user = SEGMENTS.contains(&segments) && is_code(word(56)?);
    let information = (sp + 3 * 4, sp + 3 * 4 + 128);
    let leads = match form {
        0 => (read(4)?, read(8)?) == information,
        _ => word(28)? == word(68)?,
    };
    Some(is_of_user && leads)
}

/// Returns true if the code is the start of a signal trampoline.
fn is_signal_trampoline(code: &[u8]) -> bool {
    code.starts_with(&RT_TRAMPOLINE) || code.starts_with(&TRAMPOLINE)
}

/// Returns the index in [`CONTEXTS`] of the frame on the stack, if the address at an index of the code is in a signal
/// trampoline. It may also be one byte before it, or after it, while the kernel executes the call.
fn signal_form(code: &[u8], at: usize) -> Option<usize> {
    let starts = |back: usize, trampoline: &[u8]| {
        at.checked_sub(back)
            .and_then(|start| code.get(start..))
            .is_some_and(|code| code.starts_with(trampoline))
    };
    let next = |trampoline| code.get(at + 1..).is_some_and(|code| code.starts_with(trampoline));
    let is_in = |first: usize, trampoline: &[u8]| {
        [0, MOVE, CALL_OF_KERNEL].into_iter().any(|back| starts(first + back, trampoline))
    };
    if is_in(0, &RT_TRAMPOLINE) || next(&RT_TRAMPOLINE) {
        Some(0)
    } else if starts(0, &TRAMPOLINE) || next(&TRAMPOLINE) {
        Some(1)
    } else if is_in(1, &TRAMPOLINE) {
        Some(2)
    } else {
        None
    }
}

/// Returns the address of the word that a call at the end of the code reads its target from. A call relative to a
/// segment, such as that of the vdso, reads no word of a file.
///
/// Source: Intel SDM, CALL: `FF /2` with the addressing byte 15 states the address.
fn slot_of_call(code: &[u8], _next: u64) -> Option<u64> {
    const GS: u8 = 0x65;
    let (start, slot) = code.split_last_chunk::<4>()?;
    let is_slot = start.ends_with(&[0xff, 0x15]) && start.iter().rev().nth(2) != Some(&GS);
    is_slot.then(|| u64::from(u32::from_le_bytes(*slot)))
}

/// Returns the target of a direct call at the end of the code: encoded as on x86-64.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    x86_64::direct_call_target(code, return_address).map(|target| target & ADDRESS)
}

/// Returns true if code ends with a push of a register: instructions use the DWARF numbers.
fn moves_stack_pointer(code: &[u8], bytes: i64, register: Option<u8>) -> Option<bool> {
    let register = register.filter(|_| bytes == DESCRIPTOR.word.cast_signed())?;
    Some(x86_64::is_push(code, register))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_where_its_word_is() {
        let slot = |code: &[u8]| slot_of_call(code, 0x1000);
        assert_eq!(slot(&[0x90, 0xff, 0x15, 4, 3, 2, 1]), Some(0x0102_0304));
        assert_eq!(slot(&[0x65, 0xff, 0x15, 0x10, 0, 0, 0]), None); // call *%gs:0x10
        assert_eq!(slot(&[0x90, 0xff, 0x93, 4, 3, 2, 1]), None); // call *off(%ebx)
        assert_eq!(slot(&[0xff]), None);
    }

    #[test]
    fn places_in_trampolines_have_their_frames() {
        let rt = [&[0x90, 0x90][..], &RT_TRAMPOLINE].concat();
        let forms: Vec<_> = (0..10).map(|at| signal_form(&rt, at)).collect();
        let n = None;
        assert_eq!(forms, [n, Some(0), Some(0), n, n, n, n, Some(0), n, Some(0)]);
        let old = [&[0x90, 0x90][..], &TRAMPOLINE].concat();
        let forms: Vec<_> = (0..11).map(|at| signal_form(&old, at)).collect();
        assert_eq!(forms, [n, Some(1), Some(1), Some(2), n, n, n, n, Some(2), n, Some(2)]);
        assert_eq!(signal_form(&[], 7), None);
    }
}

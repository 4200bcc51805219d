//! 64-bit `LoongArch`: register numbers, slots of simple rules, recognized code.
//!
//! Source: `LoongArch` ELF psABI, "DWARF": 0 to 31 are r0 to r31. The program counter has no number; it follows them.

use crate::arch::descriptor::{
    ArchDescriptor, CodeForms, Conventions, NO_REGISTERS, Trampoline, no_slot, slot_of, word_of,
};
use crate::arch::effect::{self, EffectForm, EffectMachine};
use crate::arch::flow::{DecodedFlow, Flow, FlowForm, RegisterContents, first_word, signed};
use crate::arch::{Arch, N_SLOTS, UNUSED};

/// The processor. The frame pointer equals the CFA.
pub(super) static DESCRIPTOR: ArchDescriptor = ArchDescriptor {
    arch: Arch::Loongarch64,
    word: word_of(Arch::Loongarch64),
    columns: 32,
    further_column: None,
    sp: 3,
    fp: FP,
    fp_slot: slot_of(FP, &SLOTS),
    frame_record: Some(-16),
    return_address: 1,
    pc: PC,
    slots: SLOTS,
    has_simple_rules: true,
    of_mask_bits: &OF_MASK_BITS,
    pc_bit: 0,
    may_be_unknown: &[],
    return_addresses: u64::MAX,
    flow: Some(FlowForm::Words(step)),
    table_of_contents: None,
    effect: Some(EffectForm { run, returns_to: None }),
    conventions: Conventions {
        preserved: SLOTS,
        callee_saved: NO_REGISTERS,
        caller_saved: &CALLER_SAVED,
        first_argument: Some(4),
        cfa_above_sp: 0,
        handler_data: &[4, 5, 6, 7],
    },
    code: CodeForms {
        alignment: 4,
        mode_bit: 0,
        longest_call: CALL,
        ends_with_call,
        direct_call_target,
        slot_of_call: no_slot,
        system_call: 4,
        trampoline: Trampoline::Plain { code: &TRAMPOLINE, first: TRAMPOLINE_FIRST },
        signal_frame,
        is_signal_frame: None,
        padding: &[&[0, 0, 0x40, 3]],
        fillers: &[&[0, 0, 0x40, 3], &[0; 4]],
        longest_push: 4,
        moves_stack_pointer,
    },
};

const FP: u8 = 22;
const PC: u8 = 32;

/// ra, then fp and s0 to s8.
const SLOTS: [u8; N_SLOTS] =
    [1, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, UNUSED, UNUSED, UNUSED, UNUSED, UNUSED];

/// The program counter, then r1 to r31.
///
/// Source: `enum perf_event_loongarch_regs` in `arch/loongarch/include/uapi/asm/perf_regs.h`.
const OF_MASK_BITS: [u8; 32] = [
    PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31,
];

/// `ori $a7, $zero, 139; syscall 0` (`__vdso_rt_sigreturn`).
const TRAMPOLINE: [u8; 8] = [0x0b, 0x2c, 0x82, 0x03, 0x00, 0x00, 0x2b, 0x00];
/// Size of its first instruction, in bytes.
const TRAMPOLINE_FIRST: usize = 4;

/// Size of a call, in bytes.
const CALL: usize = 4;

/// Returns the offset of each saved register from the stack pointer at a signal trampoline. `siginfo` of 128 bytes
/// comes first, then `ucontext` with the program counter at offset 176, followed by the registers from r0 on.
///
/// Source: `struct rt_sigframe` in `arch/loongarch/kernel/signal.c`, `struct ucontext`, `struct sigcontext`.
fn signal_frame(_form: usize) -> Vec<(u8, u64)> {
    let registers = (1..32).map(|register| (register, 128 + 176 + 8 + 8 * u64::from(register)));
    registers.chain([(PC, 128 + 176)]).collect()
}

/// Returns true if the code is a call.
///
/// Source: `LoongArch` Reference Manual, volume 1, BL, and JIRL with r1 as its target.
fn ends_with_call(code: &[u8]) -> bool {
    let word = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    word >> 26 == 0b01_0101 || word & 0xfc00_001f == 0x4c00_0001
}

/// Returns the target of a direct call.
///
/// Source: `LoongArch` Reference Manual, volume 1, BL: 26 bits of words; the upper ten come last.
fn direct_call_target(code: &[u8], return_address: u64) -> Option<u64> {
    let word = u32::from_le_bytes(*code.last_chunk()?);
    let words = ((word & 0x3ff) << 16 | word >> 10 & 0xffff) << 6;
    let call = return_address.wrapping_sub(CALL as u64);
    let distance = i64::from(words.cast_signed() >> 6) * 4;
    (word >> 26 == 0b01_0101).then_some(call.wrapping_add_signed(distance))
}

/// Returns true if the code is `addi.d $sp, $sp, -bytes`.
///
/// Source: `LoongArch` Reference Manual, volume 1, ADDI.D.
fn moves_stack_pointer(code: &[u8], bytes: i64, _register: Option<u8>) -> Option<bool> {
    let is_near = (1..=2048).contains(&bytes);
    let word = code.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    is_near.then_some(word? == 0x02c0_0063 | ((-bytes) as u32 & 0xfff) << 10)
}

const RA: u32 = 1;
/// Size of an instruction, in bytes.
const LEN: u8 = 4;

/// Control flow: decodes the instruction at an address.
///
/// Source: `LoongArch` Reference Manual, volume 1, "Branch Instructions", PCADDI, PCALAU12I, PCADDU12I, PCADDU18I,
/// ADDI.D, LD.D; the ELF psABI for procedure linkage tables.
fn step(
    code: &[u8],
    at: u64,
    contents: &mut RegisterContents,
    _conditional: &mut u8,
) -> Option<DecodedFlow> {
    let word = first_word(code)?;
    let flow = flow(word, at, contents);
    if matches!(flow, Flow::Call(_) | Flow::CallSlot(_) | Flow::CallIndirect) {
        contents.forget_all();
    }
    Some(DecodedFlow { len: LEN, flow })
}

fn flow(word: u32, at: u64, contents: &mut RegisterContents) -> Flow {
    let (rd, rj) = (word & 0x1f, word >> 5 & 0x1f);
    let low = word >> 10 & 0xffff;
    let target = |field: u32, bits: u32| at.wrapping_add_signed(4 * signed(field, bits));
    match word >> 26 {
        0b01_0100 => return Flow::Jump(target((word & 0x3ff) << 16 | low, 26)),
        0b01_0101 => return Flow::Call(target((word & 0x3ff) << 16 | low, 26)),
        // BEQZ, BNEZ, BCEQZ, BCNEZ
        0b01_0000..=0b01_0010 => return Flow::Branch(target((word & 0x1f) << 16 | low, 21)),
        // BEQ, BNE, BLT, BGE, BLTU, BGEU
        0b01_0110..=0b01_1011 => return Flow::Branch(target(low, 16)),
        // JIRL
        0b01_0011 => {
            let offset = 4 * signed(low, 16);
            return match (rd, contents.jump(rj, offset)) {
                (0, Flow::JumpIndirect) if rj == RA && offset == 0 => Flow::Return,
                (0, flow) => flow,
                _ => contents.call(rj, offset),
            };
        }
        _ => {}
    }
    // BREAK; 0 is not an instruction
    if word == 0 || word >> 15 == 0x54 {
        return Flow::Stop;
    }
    let upper = |shift: u32| at.wrapping_add_signed(signed(word >> 5, 20) << shift);
    match word >> 25 {
        0b000_1100 => contents.set_address(rd, Some(upper(2))),
        0b000_1101 => contents.set_address(rd, Some(upper(12) & !0xfff)),
        0b000_1110 => contents.set_address(rd, Some(upper(12))),
        0b000_1111 => contents.set_address(rd, Some(upper(18))),
        _ => match word >> 22 {
            // ADDI.D, LD.D
            0x0b => contents.set_address(rd, contents.plus(rj, signed(word >> 10, 12))),
            0xa3 => contents.set_word_at(rd, contents.plus(rj, signed(word >> 10, 12))),
            _ => contents.set(rd, None),
        },
    }
    Flow::Next
}

/// Registers that functions may change: ra, a0 to a7, t0 to t8.
///
/// Source: ELF psABI, "Register Convention".
const CALLER_SAVED: [u8; 18] = [1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20];

/// Runs an instruction that is not a branch, for its effect on registers and stack slots.
///
/// Source: `LoongArch` Reference Manual, volume 1, "Table of Instruction Encoding".
fn run(bytes: &[u8], _at: u64, machine: &mut EffectMachine<'_>) {
    let word = effect::padded_word(bytes);
    let (to, base) = ((word & 0x1f) as u8, (word >> 5 & 0x1f) as u8);
    let number = signed(word >> 10, 12);
    let long = signed(word >> 10, 14) * 4;
    match word >> 22 {
        // ST.B, ST.H, ST.W
        size @ 0xa4..=0xa6 => machine.overwrite(base, number, 1 << (size - 0xa4)),
        // ST.D; STPTR.D
        0xa7 if to != 0 => machine.store(to, base, number),
        0xa7 => machine.overwrite(base, number, 8),
        0x9c..=0x9f if to != 0 => machine.store(to, base, long),
        0x94..=0x97 => machine.overwrite(base, long, 4),
        // FST.S, FST.D; loads of floating point registers, prefetches
        0xad => machine.overwrite(base, number, 4),
        0xaf => machine.overwrite(base, number, 8),
        0xab | 0xac | 0xae => {}
        _ if to == 0 => {}
        // ADDI.D, LD.D; LDPTR.D
        0x0b if base == 0 => machine.constant(to, number),
        0x0b => machine.set(to, base, number),
        0xa3 => machine.load(to, base, number),
        0x98..=0x9b => machine.load(to, base, long),
        // OR with zero, which is a move
        _ if word & 0xffff_fc00 == 0x0015_0000 => machine.set(to, base, 0),
        // ADD.D
        _ if word >> 15 == 0x21 => machine.add(to, base, (word >> 10 & 0x1f) as u8),
        // LU12I.W
        _ if word >> 25 == 0x0a => machine.constant(to, signed(word >> 5, 20) << 12),
        _ => machine.kill(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_distinguished_from_other_code() {
        let is_call = |word: u32| ends_with_call(&word.to_le_bytes());
        assert!(is_call(0x5400_1000)); // bl
        assert!(is_call(0x4c00_0181)); // jirl $ra, $t0, 0
        assert!(!is_call(0x4c00_0020)); // jirl $zero, $ra, 0: ret
        assert!(!is_call(0x5000_1000)); // b
        assert!(!ends_with_call(&[]));
    }

    #[test]
    fn a_direct_call_says_where_it_goes() {
        let target = |word: u32| direct_call_target(&word.to_le_bytes(), 0x1004);
        assert_eq!(target(0x5400_1000), Some(0x1010));
        assert_eq!(target(0x57ff_ffff), Some(0xffc));
        assert_eq!(target(0x4c00_0181), None);
    }

    #[test]
    fn steps_of_the_stack_pointer_are_recognized() {
        let loong = |word: u32| moves_stack_pointer(&word.to_le_bytes(), 16, None);
        assert_eq!(loong(0x02ff_c063), Some(true)); // addi.d $sp, $sp, -16
    }
}

//! Tests of the recovery of the caller's registers, on x86-64. `main` counts its frame from a register that only the
//! tested row can restore, so a wrong value loses the chain.

use synth::{CfiOps, DwarfExpr, Endian, StackBuilder, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{IN_MAIN, IN_ROOT, Program, SP, TEST, ops, stack, usual};

const RBX: u64 = 3;

fn le() -> DwarfExpr {
    DwarfExpr::new(Endian::Little)
}

/// A program: `test` has a frame of 0x20 bytes below its return address; `main`'s frame ends 16 bytes above its value
/// of rbx.
///
/// ```text
///   sp -> | w0 | w1 | w2 | return to main | 1 | 1 | wanted -> 2 | return to root |
/// ```
fn program(rows: CfiOps) -> Program {
    let main = ops().def_cfa(RBX, 16);
    Program::with_main(Arch::X86_64, main, rows)
}

fn picture(words: [u64; 3]) -> StackBuilder {
    let mut stack = stack();
    for word in words {
        stack.word(word);
    }
    stack.word(IN_MAIN).words(1, 2).label("wanted").word(2).word(IN_ROOT);
    stack
}

fn rows() -> CfiOps {
    ops().def_cfa_offset(0x20)
}

fn wanted() -> u64 {
    picture([0; 3]).address("wanted")
}

/// Checks that the row restores rbx, given these words on the stack and this register.
fn check(rows: CfiOps, words: [u64; 3], (bit, value): (u32, u64)) {
    let regs = UserRegs::x86_64(TEST, SP).set(bit, value);
    program(rows).check(&regs, &picture(words), &usual(TEST), EndReason::Root);
}

/// Checks that the row does not restore it.
fn check_lost(rows: CfiOps, words: [u64; 3], (bit, value): (u32, u64), end: EndReason) {
    let regs = UserRegs::x86_64(TEST, SP).set(bit, value);
    program(rows).check(&regs, &picture(words), &usual(TEST)[..2], end);
}

#[test]
fn not_touched() {
    check(rows(), [0; 3], (reg::BX, wanted()));
    check(rows().same_value(RBX), [0; 3], (reg::BX, wanted()));
}

#[test]
fn saved_below_the_frames_address() {
    check(rows().offset(RBX, 3), [0, wanted(), 0], (reg::BX, 1));
    check(rows().offset_sf(RBX, 4), [wanted(), 0, 0], (reg::BX, 1));
}

#[test]
fn saved_where_an_expression_says() {
    // DW_OP_breg7 16: sp + 16. The CFA below it on the stack is not used.
    check(rows().expression(RBX, &le().breg(7, 16)), [0, 0, wanted()], (reg::BX, 1));
    // The CFA, pushed before the expression runs, minus 24.
    let below_cfa = le().consts(-24).plus();
    check(rows().expression(RBX, &below_cfa), [0, wanted(), 0], (reg::BX, 1));
    // Through a pointer on the stack: *(sp) + 8.
    let through = le().breg(7, 0).deref().plus_uconst(8);
    check(rows().expression(RBX, &through), [SP + 8, 0, wanted()], (reg::BX, 1));
}

#[test]
fn computed_by_an_expression() {
    check(rows().val_expression(RBX, &le().consts(16).plus()), [0; 3], (reg::BX, 1));
    check(rows().val_expression(RBX, &le().breg(7, 8).deref()), [0, wanted(), 0], (reg::BX, 1));
    check(rows().val_expression(RBX, &le().constu(wanted())), [0; 3], (reg::BX, 1));
}

#[test]
fn the_frames_address_plus_a_number() {
    // DW_CFA_val_offset_sf, factored by the data alignment of -8: -2 is 16 bytes above.
    check(rows().raw(&[0x15, RBX as u8, 0x7e]), [0; 3], (reg::BX, 1));
}

#[test]
fn in_another_register() {
    check(rows().register(RBX, 12), [0; 3], (reg::R12, wanted()));
    // Swapped: both come from before the step.
    let swapped = rows().register(RBX, 12).register(12, RBX);
    check(swapped, [0; 3], (reg::R12, wanted()));
}

#[test]
fn the_old_value_counts_in_expressions() {
    // The CFA is already the caller's; rsp in the expression is still the callee's.
    let rows =
        ops().def_cfa_expression(&le().breg(7, 0x20)).val_expression(RBX, &le().breg(7, 0x30));
    check(rows, [0; 3], (reg::BX, 1));
}

#[test]
fn undefined_ends_the_chain_where_it_is_needed() {
    check_lost(rows().undefined(RBX), [0; 3], (reg::BX, wanted()), EndReason::RegisterUnknown);
    check_lost(rows().register(RBX, 17), [0; 3], (reg::BX, 1), EndReason::RegisterUnknown);
}

#[test]
fn a_failed_expression_loses_only_its_register() {
    // Division by zero for r12, which no frame needs.
    let bad = le().lit(1).lit(0).op(0x1b);
    check(rows().val_expression(12, &bad), [0; 3], (reg::BX, wanted()));
    check_lost(rows().val_expression(RBX, &bad), [0; 3], (reg::BX, 1), EndReason::RegisterUnknown);
    // For the return address itself, the chain ends.
    let regs = UserRegs::x86_64(TEST, SP);
    program(rows().val_expression(16, &bad)).check(
        &regs,
        &picture([0; 3]),
        &[(TEST, FoundBy::Sampled)],
        EndReason::BadUnwindInfo,
    );
}

#[test]
fn an_expression_that_never_ends_is_bad_information() {
    let forever = ops().def_cfa_expression(&le().skip(-3));
    let regs = UserRegs::x86_64(TEST, SP);
    let frames = [(TEST, FoundBy::Sampled)];
    program(forever).check(&regs, &picture([0; 3]), &frames, EndReason::BadUnwindInfo);
}

#[test]
fn registers_that_were_popped_have_their_value_again() {
    // At the `ret` of LLVM's and GCC's epilogues, the row updates the CFA only. It still states that rbx was saved at
    // CFA - 16, which is now below the stack pointer.
    let popped = [ops().offset(RBX, 2), ops().expression(12, &le().breg(7, 0)).offset(RBX, 2)];
    for rows in popped {
        let mut stack = stack();
        stack.word(IN_MAIN).words(1, 2).label("wanted").word(2).word(IN_ROOT);
        let regs = UserRegs::x86_64(TEST, SP).set(reg::BX, stack.address("wanted"));
        program(rows).check(&regs, &stack, &usual(TEST), EndReason::Root);
    }
}

#[test]
fn memory_below_the_stack_pointer_was_not_recorded() {
    // OpenSSL's loops for AVX2 state a CFA that is read below the stack pointer.
    let below = ops().def_cfa_expression(&le().breg(7, -8).deref().plus_uconst(8));
    let regs = UserRegs::x86_64(TEST, SP);
    let frames = [(TEST, FoundBy::Sampled)];
    program(below).check(&regs, &picture([0; 3]), &frames, EndReason::MemoryNotRecorded);
}

#[test]
fn memory_on_the_heap_was_not_recorded() {
    let heap = ops().def_cfa_expression(&le().breg(6, 0).deref());
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, 0x5555_0000);
    let frames = [(TEST, FoundBy::Sampled)];
    program(heap).check(&regs, &picture([0; 3]), &frames, EndReason::MemoryNotRecorded);
}

#[test]
fn read_only_memory_is_read_from_the_file() {
    // The distance to the caller's frame is a constant in .rodata at 0x8000: rsp + *(0x40_8000).
    let rows = ops().def_cfa_expression(&le().breg(7, 0).breg(6, 0).deref().plus());
    let mut program = program(rows);
    let mut constant = 0x20_u64.to_le_bytes().to_vec();
    constant.resize(64, 0);
    program.sections.push(synth::Section::loaded(".rodata", 0x8000, constant));
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, 0x40_8000).set(reg::BX, wanted());
    program.check(&regs, &picture([0; 3]), &usual(TEST), EndReason::Root);
}

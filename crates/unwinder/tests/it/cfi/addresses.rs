//! Tests of the CFA, counted from any register, on x86-64.

use synth::{DwarfExpr, Endian, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, Program, ROOT, SP, TEST, ops, outer, stack, usual};

#[test]
fn from_the_stack_pointer() {
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(0x18));
    // sp -> | local | local | return to main | main's frame …
    let mut stack = stack();
    outer(stack.words(1, 2).word(IN_MAIN));
    program.check(&UserRegs::x86_64(TEST + 4, SP), &stack, &usual(TEST + 4), EndReason::Root);
}

/// Checks a CFA 16 bytes above a register, which the function uses as its frame pointer.
fn from_register(dwarf: u64, bit: u32) {
    let program = Program::new(Arch::X86_64, ops().def_cfa(dwarf, 16));
    // sp -> | 5 locals | register -> saved | return to main | main's frame …
    let mut stack = stack();
    outer(stack.words(1, 5).label("register").word(9).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP).set(bit, stack.address("register"));
    program.check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn from_the_frame_pointer() {
    from_register(6, reg::BP);
}

#[test]
fn from_rbx() {
    from_register(3, reg::BX);
}

#[test]
fn from_r10_as_gcc_does_while_it_realigns() {
    from_register(10, reg::R10);
}

#[test]
fn from_a_register_that_was_not_sampled() {
    let program = Program::new(Arch::X86_64, ops().def_cfa(17, 16));
    let regs = UserRegs::x86_64(TEST, SP);
    let frames = [(TEST, FoundBy::Sampled)];
    program.check(&regs, stack().words(1, 4), &frames, EndReason::RegisterUnknown);
}

#[test]
fn the_row_of_the_very_instruction_counts() {
    // push %rbx at +0, sub $16 at +1, … , pop %rbx; ret.
    let rows = ops()
        .advance(1)
        .def_cfa_offset(16)
        .advance(4)
        .def_cfa_offset(32)
        .advance(0x40)
        .def_cfa_offset(16)
        .advance(1)
        .def_cfa_offset(8);
    let program = Program::new(Arch::X86_64, rows);
    for (at, words) in [(0, 0), (1, 1), (4, 1), (5, 3), (0x44, 3), (0x45, 1), (0x46, 0), (0xff, 0)]
    {
        let mut stack = stack();
        outer(stack.words(1, words).word(IN_MAIN));
        program.check(&UserRegs::x86_64(TEST + at, SP), &stack, &usual(TEST + at), EndReason::Root);
    }
}

#[test]
fn plt_stubs_have_one_word_more_after_their_push() {
    // DW_OP_breg7 8, DW_OP_breg16 0, and 15, ge 11, shl 3, plus: the expression that linkers write for .plt.
    let rows = ops().def_cfa_expression(&DwarfExpr::plt_x86_64(11));
    let program = Program::new(Arch::X86_64, rows);
    for (at, words) in [(0x10, 0), (0x1a, 0), (0x1b, 1), (0x1f, 1), (0x20, 0)] {
        let mut stack = stack();
        outer(stack.words(2, words).word(IN_MAIN));
        program.check(&UserRegs::x86_64(TEST + at, SP), &stack, &usual(TEST + at), EndReason::Root);
    }
}

#[test]
fn a_realigned_frame_keeps_its_address_in_memory() {
    // gcc: lea 8(%rsp),%r10; and $-64,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10:
    // CFA = *(rbp - 8), rbp saved at rbp + 0.
    let le = || DwarfExpr::new(Endian::Little);
    let rows = ops().def_cfa_expression(&le().breg(6, -8).deref()).expression(6, &le().breg(6, 0));
    let program = Program::with_main(Arch::X86_64, ops().def_cfa(6, 16).offset(6, 2), rows);
    // sp -> | 3 locals | the CFA | rbp -> main's rbp | copy of the return address | padding |
    //     | return to main | CFA -> main's frame | main's rbp -> 0 | return to root
    let mut stack = stack();
    stack.words(1, 3).word_of_label("cfa").label("rbp").word_of_label("main's rbp");
    stack.word(IN_MAIN).words(0xaa, 5).word(IN_MAIN).label("cfa").words(3, 2);
    stack.label("main's rbp").word(0).word(crate::world::IN_ROOT);
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, stack.address("rbp"));
    program.check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn an_undefined_return_address_is_the_root() {
    let program = Program::new(Arch::X86_64, ops());
    let regs = UserRegs::x86_64(ROOT + 3, SP);
    let frames = [(ROOT + 3, FoundBy::Sampled)];
    program.check(&regs, stack().words(0, 4), &frames, EndReason::Root);
}

#[test]
fn a_return_address_of_zero_is_the_root() {
    let program = Program::new(Arch::X86_64, ops());
    let frames = [(TEST, FoundBy::Sampled)];
    program.check(&UserRegs::x86_64(TEST, SP), stack().words(0, 4), &frames, EndReason::Root);
}

#[test]
fn the_return_address_can_be_in_a_register() {
    // vfork: pop %rdi: the CFA is the stack pointer, the return address is in rdi.
    let rows = ops().def_cfa_offset(0).register(16, 5);
    let program = Program::new(Arch::X86_64, rows);
    let mut stack = stack();
    outer(&mut stack);
    let regs = UserRegs::x86_64(TEST + 4, SP).set(reg::DI, IN_MAIN);
    program.check(&regs, &stack, &usual(TEST + 4), EndReason::Root);
}

#[test]
fn code_after_the_last_function_has_no_row() {
    let program = Program::new(Arch::X86_64, ops());
    let regs = UserRegs::x86_64(FREE + 0x100, SP);
    let frames = [(FREE + 0x100, FoundBy::Sampled)];
    program.check(&regs, stack().words(1, 4), &frames, EndReason::NoUnwindInfo);
}

//! Tests of walks on aarch64: the return address is initially in the link register.

use synth::{CfiOps, DwarfExpr, Endian, UserRegs, aarch64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    FREE, IN_MAIN, IN_ROOT, MAIN, Program, ROOT, SP, TEST, ops, outer_arm, stack, usual,
};

fn program(rows: CfiOps) -> Program {
    Program::new(Arch::Aarch64, rows)
}

/// Registers at `test`, with a link register.
fn regs(lr: u64) -> UserRegs {
    UserRegs::aarch64(TEST, SP).set(reg::LR, lr)
}

fn le() -> DwarfExpr {
    DwarfExpr::new(Endian::Little)
}

#[test]
fn a_leaf_returns_to_its_link_register() {
    let mut stack = stack();
    outer_arm(&mut stack);
    program(ops()).check(&regs(IN_MAIN), &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn from_the_stack_pointer() {
    // stp x29, x30, [sp, #-32]!
    let rows = ops().def_cfa_offset(32).offset(29, 4).offset(30, 3);
    let mut stack = stack();
    outer_arm(stack.word(0).word(IN_MAIN).words(1, 2));
    program(rows).check(&regs(1), &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn from_the_frame_pointer() {
    // alloca below the frame record: sp -> | 5 words | x29 -> saved x29 | saved x30 | …
    let rows = ops().def_cfa(29, 16).offset(29, 2).offset(30, 1);
    let mut stack = stack();
    outer_arm(stack.words(1, 5).label("x29").word(0).word(IN_MAIN));
    let regs = regs(1).set(reg::FP, stack.address("x29"));
    program(rows).check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn from_any_register_and_by_expressions() {
    let rows = [
        ops().def_cfa(19, 16).offset(30, 1),
        ops().def_cfa_expression(&le().breg(19, 16)).offset(30, 1),
        ops().def_cfa(19, 16).expression(30, &le().breg(19, 8)),
        ops().def_cfa(19, 16).val_expression(30, &le().breg(19, 8).deref()),
        ops().def_cfa(19, 16).register(30, 20),
    ];
    for rows in rows {
        let mut stack = stack();
        outer_arm(stack.words(1, 3).label("x19").word(1).word(IN_MAIN));
        let regs = regs(1).set(19, stack.address("x19")).set(20, IN_MAIN);
        program(rows).check(&regs, &stack, &usual(TEST), EndReason::Root);
    }
}

#[test]
fn signed_return_addresses_lose_their_signature() {
    // paciasp puts a code into the upper bits of x30; DW_CFA_AARCH64_negate_ra_state states that.
    let signed = |address: u64| address | 0x003b_0000_0000_0000;
    let rows = ops().negate_ra_state().def_cfa_offset(16).offset(29, 2).offset(30, 1);
    let mut stack = stack();
    stack.word(0).word(signed(IN_MAIN)).word(0).word(signed(IN_ROOT)).words(0, 2);
    program(rows).check(&regs(1), &stack, &usual(TEST), EndReason::Root);
    // In the link register of a leaf as well.
    let mut leaf = crate::world::stack();
    outer_arm(&mut leaf);
    program(ops()).check(&regs(signed(IN_MAIN)), &leaf, &usual(TEST), EndReason::Root);
}

#[test]
fn roots() {
    let at_root = UserRegs::aarch64(ROOT + 4, SP).set(reg::LR, 5);
    let one = [(ROOT + 4, FoundBy::Sampled)];
    program(ops()).check(&at_root, stack().words(0, 4), &one, EndReason::Root);
    let one = [(TEST, FoundBy::Sampled)];
    program(ops()).check(&regs(0), stack().words(0, 4), &one, EndReason::Root);
}

#[test]
fn only_a_leaf_may_keep_its_return_address_in_the_link_register() {
    // `main` states nothing about x30 or its frame: it would be its own caller forever.
    let program = Program::with_main(Arch::Aarch64, ops(), ops().def_cfa_offset(16).offset(30, 1));
    let mut stack = stack();
    stack.word(1).word(IN_MAIN).words(0, 4);
    program.check(&regs(1), &stack, &usual(TEST)[..2], EndReason::NoProgress);
}

#[test]
fn registers_that_were_popped_have_their_value_again() {
    // ldp x29, x30, [sp], #16; ret: the row still states that both were saved below the CFA.
    let main = ops().def_cfa(29, 0x20).offset(29, 4).offset(30, 3);
    let rows = ops().offset(29, 2).same_value(30);
    let mut stack = stack();
    outer_arm(&mut stack);
    let regs = regs(IN_MAIN).set(reg::FP, SP);
    Program::with_main(Arch::Aarch64, main, rows).check(
        &regs,
        &stack,
        &usual(TEST),
        EndReason::Root,
    );
}

#[test]
fn remembered_rows() {
    let rows = ops()
        .advance(1)
        .def_cfa_offset(16)
        .offset(29, 2)
        .offset(30, 1)
        .advance(4)
        .remember_state()
        .def_cfa_offset(0)
        .restore(29)
        .restore(30)
        .advance(1)
        .restore_state();
    for (at, saved) in [(0, false), (4, true), (16, true), (20, false), (24, true)] {
        let mut stack = stack();
        if saved {
            stack.word(0).word(IN_MAIN);
        }
        outer_arm(&mut stack);
        let regs = UserRegs::aarch64(TEST + at, SP).set(reg::LR, if saved { 1 } else { IN_MAIN });
        program(rows.clone()).check(&regs, &stack, &usual(TEST + at), EndReason::Root);
    }
}

#[test]
fn a_handler_on_an_interrupted_leaf() {
    // mov x8, #139; svc #0. At the trampoline: siginfo of 128 bytes, 176 bytes of ucontext, 8 bytes fault address,
    // then x0 … x30, sp, pc.
    let trampoline = FREE;
    let handler = FREE + 0x100;
    let program = program(ops())
        .function(handler, 0x20, ops().def_cfa_offset(16).offset(29, 2).offset(30, 1))
        .code(trampoline, &[0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4]);
    // The leaf was interrupted at its first instruction; its return address is in the saved x30.
    let mut stack = stack();
    stack.word(0).word(trampoline).words(0xcc, 16 + 22 + 1);
    stack.words(0xdd, 30).word(IN_MAIN).word_of_label("sp").word(TEST).words(0, 20).label("sp");
    outer_arm(&mut stack);
    let regs = UserRegs::aarch64(handler + 8, SP).set(reg::LR, 1);
    let cfi = FoundBy::Cfi;
    let expected = [
        (handler + 8, FoundBy::Sampled),
        (trampoline, cfi),
        (TEST, cfi),
        (IN_MAIN - 1, cfi),
        (IN_ROOT - 1, cfi),
    ];
    program.check(&regs, &stack, &expected, EndReason::Root);
}

#[test]
fn newer_instructions_about_signed_return_addresses_say_nothing_else() {
    let saved = |rows: CfiOps| rows.def_cfa_offset(16).offset(29, 2).offset(30, 1);
    let by_expression = |rows: CfiOps| {
        let rows = rows.def_cfa_offset(16).offset(29, 2);
        rows.expression(30, &le().breg(31, 8))
    };
    // With a simple rule, and with a full row.
    let all = [
        saved(ops().negate_ra_state_with_pc()),
        saved(ops().set_ra_state(2, 4)),
        by_expression(ops().negate_ra_state_with_pc()),
        by_expression(ops().set_ra_state(2, 4)),
    ];
    for rows in all {
        let mut stack = stack();
        outer_arm(stack.word(0).word(IN_MAIN));
        program(rows).check(&regs(1), &stack, &usual(TEST), EndReason::Root);
    }
}

#[test]
fn unknown_instructions_are_not_replaced_by_a_guess() {
    let rows = ops().def_cfa_offset(16).offset(29, 2).offset(30, 1).unknown();
    let mut stack = stack();
    outer_arm(stack.label("x29").word(0).word(IN_MAIN));
    let regs = regs(IN_MAIN).set(reg::FP, stack.address("x29"));
    let one = [(TEST, FoundBy::Sampled)];
    let program = program(rows).code(IN_MAIN - 4, &bl(IN_MAIN - 4, TEST));
    program.check(&regs, &stack, &one, EndReason::BadUnwindInfo);
    let mut world = program.load();
    world.walk(&regs, &stack.bytes());
    let unknown: Vec<_> = world.engine.unknown_instructions().into_iter().map(|it| it.1).collect();
    assert_eq!(unknown, [[0x3f]]);
}

/// A call at an address.
fn bl(at: u64, to: u64) -> [u8; 4] {
    let words = (to.wrapping_sub(at) / 4) as u32 & 0x03ff_ffff;
    (0x9400_0000 | words).to_le_bytes()
}

fn code(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn without_information_a_leaf_has_its_link_register() {
    let leaf = code(&[0x8b01_0000, 0xd65f_03c0]); // add x0, x0, x1; ret
    let program = program(ops()).code(FREE, &leaf);
    let call = program.code(IN_MAIN - 4, &bl(IN_MAIN - 4, FREE));
    let mut stack = stack();
    outer_arm(&mut stack);
    let regs = UserRegs::aarch64(FREE, SP).set(reg::LR, IN_MAIN);
    let mut expected = usual(FREE);
    expected[1].1 = FoundBy::LeafRule;
    call.check(&regs, &stack, &expected, EndReason::Root);
    let one = [(FREE, FoundBy::Sampled)];
    // Not if no call precedes it, or a call of another function.
    let elsewhere = UserRegs::aarch64(FREE, SP).set(reg::LR, MAIN + 0x40);
    call.check(&elsewhere, &stack, &one, EndReason::NoUnwindInfo);
    let other = call.code(IN_MAIN - 4, &bl(IN_MAIN - 4, TEST));
    other.code(TEST, &leaf).check(&regs, &stack, &one, EndReason::NoUnwindInfo);
}

#[test]
fn without_information_the_code_says_where_the_return_address_is() {
    let function = code(&[
        0xa9be_7bfd, // stp x29, x30, [sp, #-32]!
        0x9100_03fd, // mov x29, sp
        0xd503_201f, // nop
        0xa8c2_7bfd, // ldp x29, x30, [sp], #32
        0xd65f_03c0, // ret
    ]);
    let program = program(ops()).code(FREE, &function).code(IN_MAIN - 4, &bl(IN_MAIN - 4, FREE));
    for (at, how) in
        [(0, FoundBy::LeafRule), (4, FoundBy::Code), (8, FoundBy::Code), (16, FoundBy::LeafRule)]
    {
        let is_saved = how == FoundBy::Code;
        let mut stack = stack();
        if is_saved {
            stack.word(0).word(IN_MAIN).words(1, 2);
        }
        outer_arm(&mut stack);
        let lr = if is_saved { 1 } else { IN_MAIN };
        // The frame pointer is the caller's up to the second instruction.
        let regs = UserRegs::aarch64(FREE + at, SP).set(reg::LR, lr).set(reg::FP, SP + 0x40);
        let mut expected = usual(FREE + at);
        expected[1].1 = how;
        program.check(&regs, &stack, &expected, EndReason::Root);
    }
}

#[test]
fn a_frame_pointer_alone_proves_nothing() {
    // A recursive function that never returns: its record can be that of an outer activation.
    let function = code(&[0x9400_0000, 0x17ff_ffff]); // bl .; b .-4
    let program = program(ops()).code(FREE, &function).code(IN_MAIN - 4, &bl(IN_MAIN - 4, FREE));
    let mut stack = stack();
    outer_arm(stack.words(1, 2).label("x29").word(0).word(FREE + 4));
    let regs = UserRegs::aarch64(FREE, SP).set(reg::FP, stack.address("x29"));
    program.check(&regs, &stack, &[(FREE, FoundBy::Sampled)], EndReason::NoUnwindInfo);
}

#[test]
fn the_bytes_end() {
    let rows = ops().def_cfa_offset(32).offset(29, 4).offset(30, 3);
    let bytes = stack().word(0).word(IN_MAIN).bytes();
    let mut world = program(rows).load();
    let two = usual(TEST)[..2].to_vec();
    assert_eq!(world.walk(&regs(1), &bytes), (two, EndReason::StackExhausted));
    let one = usual(TEST)[..1].to_vec();
    assert_eq!(world.walk(&regs(1), &bytes[..8]), (one, EndReason::StackExhausted));
}

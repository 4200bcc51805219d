//! Tests of remembered and restored rows, on x86-64.

use synth::{CfiOps, UserRegs};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{IN_MAIN, Program, SP, TEST, ops, outer, stack, usual};

/// Checks each offset of `test` with a number of words between the stack pointer and the return address.
fn check(rows: CfiOps, expected: &[(u64, usize)]) {
    let program = Program::new(Arch::X86_64, rows);
    for &(at, words) in expected {
        let mut stack = stack();
        outer(stack.words(1, words).word(IN_MAIN));
        program.check(&UserRegs::x86_64(TEST + at, SP), &stack, &usual(TEST + at), EndReason::Root);
    }
}

#[test]
fn code_after_an_early_return() {
    // push at 1, early pop and ret at 0x10; the rest continues with the push in place.
    let rows = ops()
        .advance(1)
        .def_cfa_offset(16)
        .advance(0xf)
        .remember_state()
        .def_cfa_offset(8)
        .advance(1)
        .restore_state();
    check(rows, &[(0, 0), (1, 1), (0xf, 1), (0x10, 0), (0x11, 1), (0xff, 1)]);
}

#[test]
fn as_deep_as_hand_written_code_goes() {
    let mut rows = ops();
    for depth in 1..=12 {
        rows = rows.advance(1).remember_state().def_cfa_offset(8 + 8 * depth);
    }
    for _ in 0..12 {
        rows = rows.advance(1).restore_state();
    }
    check(rows, &[(0, 0), (1, 1), (6, 6), (12, 12), (13, 11), (20, 4), (24, 0), (30, 0)]);
}

#[test]
fn restoring_what_was_never_remembered_is_damage() {
    let rows = ops().advance(4).restore_state();
    check(rows.clone(), &[(0, 0), (3, 0)]);
    let program = Program::new(Arch::X86_64, rows);
    let regs = UserRegs::x86_64(TEST + 4, SP);
    let frames = [(TEST + 4, FoundBy::Sampled)];
    program.check(&regs, stack().words(1, 4), &frames, EndReason::BadUnwindInfo);
}

#[test]
fn a_register_back_to_the_rule_of_its_cie() {
    // The return address is elsewhere for a while, then at CFA - 8 again.
    let rows = ops().def_cfa_offset(16).advance(8).offset(16, 2).advance(8).restore(16);
    let program = Program::new(Arch::X86_64, rows);
    for (at, words) in [(7, [1, IN_MAIN]), (8, [IN_MAIN, 1]), (16, [1, IN_MAIN])] {
        let mut stack = stack();
        outer(stack.word(words[0]).word(words[1]));
        program.check(&UserRegs::x86_64(TEST + at, SP), &stack, &usual(TEST + at), EndReason::Root);
    }
}

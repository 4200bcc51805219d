//! Tests of whether a thread can begin at a chain's outermost frame, on x86-64.

use synth::UserRegs;
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, ops, outer, stack, usual};

/// A program with `test`, which has a frame of one word.
fn program() -> Program {
    Program::new(Arch::X86_64, ops().def_cfa_offset(16))
}

#[test]
fn a_return_address_of_zero_is_a_root_if_nothing_calls_the_function() {
    let regs = UserRegs::x86_64(TEST + 8, SP);
    let mut stack = stack();
    stack.word(1).word(IN_MAIN).words(0, 8);
    let chain = &usual(TEST + 8)[..2];
    program().check(&regs, &stack, chain, EndReason::Root);
    // `root` calls `main`, so `main` has a caller.
    program().call(IN_ROOT, MAIN).check(&regs, &stack, chain, EndReason::UnprovenRoot);
}

#[test]
fn a_stated_root_needs_no_proof() {
    // Another function calls `root` like any other.
    let program = program().call(FREE + 0x40, crate::world::ROOT);
    let mut stack = stack();
    outer(stack.word(1).word(IN_MAIN));
    program.check(&UserRegs::x86_64(TEST + 8, SP), &stack, &usual(TEST + 8), EndReason::Root);
}

#[test]
fn a_signal_at_address_zero_is_no_root() {
    const RESTORE_RT: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    let program = program().code(FREE, &RESTORE_RT);
    let mut stack = stack();
    stack.word(1).word(FREE).words(0xcc, 5).words(0xdd, 15).word(SP + 0x400).word(0).words(0, 40);
    let chain = [(TEST + 8, FoundBy::Sampled), (FREE, FoundBy::Cfi)];
    let regs = UserRegs::x86_64(TEST + 8, SP);
    program.check(&regs, &stack, &chain, EndReason::UnprovenRoot);
}

/// The code from the entry point on, as in musl: `_start` calls a C function directly after it, which calls others.
#[test]
fn the_first_function_of_c_is_not_the_entry() {
    let start = FREE;
    let first = FREE + 0x30;
    let mut program = program()
        .call(start + 0x10, first)
        // sub $8,%rsp; call test; hlt
        .code(first, &[0x48, 0x83, 0xec, 0x08])
        .call(first + 9, TEST)
        .code(first + 9, &[0xf4]);
    program.entry = start - crate::world::BASE;
    let mut stack = stack();
    stack.word(1).word(first + 9).word(2).word(start + 0x10).words(0, 8);
    let chain =
        [(TEST + 8, FoundBy::Sampled), (first + 8, FoundBy::Cfi), (start + 0xf, FoundBy::Code)];
    program.check(&UserRegs::x86_64(TEST + 8, SP), &stack, &chain, EndReason::Root);
}

//! Tests of precise samples: the address of an instruction, and the registers after it.

use synth::{CfiOps, StackBuilder, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, Sampled, TEST, ops, outer, stack, usual,
};

/// `test` saves rbp and has a frame: push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; call free; leave; ret
///
/// ```text
///   1200  rsp+8          1201  rsp+16         1204  rbp+16         120d  rbp+16        120e  rsp+8
/// ```
fn program() -> Program {
    let rows = ops().advance(1).def_cfa_offset(16).offset(6, 2).advance(3).def_cfa_register(6);
    let rows = rows.advance(10).def_cfa(7, 8);
    Program::new(Arch::X86_64, rows)
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .code(TEST, &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20])
        .call(TEST + 0xd, FREE)
        .code(TEST + 0xd, &[0xc9, 0xc3])
}

#[track_caller]
fn check(regs: &UserRegs, stack: &StackBuilder, frames: &[(u64, FoundBy)], end: EndReason) {
    let found = program().load().walk_as(regs, &stack.bytes(), Sampled::Executed);
    assert_eq!(found, (frames.to_vec(), end));
}

/// `main`'s value of rbp.
const OF_MAIN: u64 = 0x1234;

#[test]
fn a_push_has_moved_the_stack_pointer() {
    let mut stack = stack();
    outer(stack.word(OF_MAIN).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, OF_MAIN);
    check(&regs, &stack, &usual(TEST), EndReason::Root);
}

#[test]
fn a_frame_pointer_was_set() {
    let mut stack = stack();
    outer(stack.words(0, 4).label("rbp").word(OF_MAIN).word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST + 4, SP).set(reg::BP, stack.address("rbp"));
    check(&regs, &stack, &usual(TEST + 4), EndReason::Root);
}

#[test]
fn a_call_has_pushed_its_return_address() {
    let mut stack = stack();
    let call = TEST + 8;
    outer(stack.word(call + 5).words(0, 4).label("rbp").word(OF_MAIN).word(IN_MAIN));
    let regs = UserRegs::x86_64(call, SP).set(reg::BP, stack.address("rbp"));
    check(&regs, &stack, &usual(call), EndReason::Root);
}

/// The registers are from a later time: the called function has continued.
#[test]
fn a_call_whose_return_address_is_not_on_top() {
    let mut stack = stack();
    let call = TEST + 8;
    outer(stack.word(0).word(call + 5).words(0, 4).label("rbp").word(OF_MAIN).word(IN_MAIN));
    let regs = UserRegs::x86_64(call, SP).set(reg::BP, stack.address("rbp"));
    check(&regs, &stack, &[(call, FoundBy::Sampled)], EndReason::RegisterUnknown);
}

#[test]
fn leave_has_freed_the_frame() {
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST + 0xd, SP).set(reg::BP, OF_MAIN);
    check(&regs, &stack, &usual(TEST + 0xd), EndReason::Root);
}

/// The registers are the caller's, and the return address is below the stack pointer.
#[test]
fn a_return_has_lost_its_address() {
    let mut stack = stack();
    // A word of the caller that looks like a return address.
    stack.word(IN_ROOT).words(0, 8);
    let regs = UserRegs::x86_64(TEST + 0xe, SP).set(reg::BP, OF_MAIN);
    check(&regs, &stack, &[(TEST + 0xe, FoundBy::Sampled)], EndReason::MemoryNotRecorded);
}

/// `test`, with that CFA, is called by `main` and calls `free`, which has returned: its `ret` is at `FREE + 0x40`.
fn returning(cfa: CfiOps, calls: &[u64]) -> Program {
    let program = Program::new(Arch::X86_64, cfa)
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .code(TEST + 0x80, &[0xc3])
        .code(FREE + 0x40, &[0xc3]);
    calls.iter().fold(program, |program, &call| program.call(call, FREE))
}

/// Walks a sample at the `ret` of `free`. Its caller's frame has these words up to the return address into `main`.
fn behind_a_return(program: &Program, words: &[u64]) -> (Vec<(u64, FoundBy)>, EndReason) {
    let mut stack = stack();
    for &word in words {
        stack.word(word);
    }
    outer(stack.word(IN_MAIN));
    let regs = UserRegs::x86_64(FREE + 0x40, SP);
    program.load().walk_as(&regs, &stack.bytes(), Sampled::Executed)
}

fn two_callers(second: u64) -> Vec<(u64, FoundBy)> {
    vec![
        (FREE + 0x40, FoundBy::Sampled),
        (second, FoundBy::Scan),
        (IN_MAIN - 1, FoundBy::Cfi),
        (IN_ROOT - 1, FoundBy::Cfi),
    ]
}

#[test]
fn the_only_call_of_the_function_that_returned() {
    let program = returning(ops().def_cfa_offset(24), &[TEST + 0x20]);
    let expected = (two_callers(TEST + 0x1f), EndReason::Root);
    assert_eq!(behind_a_return(&program, &[1, 2]), expected);
    // A word that follows a call of another function without a matching row.
    assert_eq!(behind_a_return(&program, &[IN_ROOT, 2]), expected);
}

/// The function is known, the exact call is not.
#[test]
fn several_calls_of_the_function_that_returned() {
    let program = returning(ops().def_cfa_offset(24), &[TEST + 0x20, TEST + 0x30]);
    assert_eq!(behind_a_return(&program, &[1, 2]), (two_callers(TEST), EndReason::Root));
}

#[test]
fn no_function_whose_frame_ends_there() {
    let alone = (vec![(FREE + 0x40, FoundBy::Sampled)], EndReason::MemoryNotRecorded);
    // The frame of `test` has another size, or it does not call `free`.
    let program = returning(ops().def_cfa_offset(32), &[TEST + 0x20]);
    assert_eq!(behind_a_return(&program, &[1, 2]), alone);
    let program = returning(ops().def_cfa_offset(24), &[]);
    assert_eq!(behind_a_return(&program, &[1, 2]), alone);
}

/// A function that was called through a register may not have changed the frame pointer.
#[test]
fn a_frame_that_is_counted_from_the_frame_pointer() {
    let rows = ops().def_cfa(6, 16);
    let program = returning(rows, &[TEST + 0x20]).code(MAIN + 0x60, &[0xff, 0xd0]);
    let walk = |word: u64| {
        let mut stack = stack();
        outer(stack.word(word).label("rbp").word(2).word(IN_MAIN));
        let regs = UserRegs::x86_64(FREE + 0x40, SP).set(reg::BP, stack.address("rbp"));
        program.load().walk_as(&regs, &stack.bytes(), Sampled::Executed)
    };
    assert_eq!(walk(1), (two_callers(TEST + 0x1f), EndReason::Root));
    let alone = (vec![(FREE + 0x40, FoundBy::Sampled)], EndReason::MemoryNotRecorded);
    assert_eq!(walk(MAIN + 0x62), alone);
}

/// For other samples, the registers belong to the sampled address.
#[test]
fn an_address_that_is_not_precise() {
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, OF_MAIN);
    let found = program().load().walk(&regs, &stack.bytes());
    assert_eq!(found, (usual(TEST).to_vec(), EndReason::Root));
}

//! Tests of code that threads and coroutines begin with, and that signals return by, without call frame information, on
//! x86-64.

use synth::{UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, MAIN, Program, ROOT, SP, TEST, ops, outer, stack};

/// Start of the entry code, and the return address of its call.
const ENTRY: u64 = FREE + 0x20;
const IN_ENTRY: u64 = ENTRY + 6;

/// A coroutine's entry: mov %r12,%rdi; call *%r13; ud2
fn coroutine() -> Program {
    Program::new(Arch::X86_64, ops().def_cfa_offset(16))
        .code(ENTRY, &[0x4c, 0x89, 0xe7, 0x41, 0xff, 0xd5, 0x0f, 0x0b])
}

#[test]
fn a_coroutine_begins_with_its_entry() {
    let regs = UserRegs::x86_64(TEST + 8, SP);
    let chain = [(TEST + 8, FoundBy::Sampled), (IN_ENTRY - 1, FoundBy::Cfi)];
    let mut zero = stack();
    zero.word(1).word(IN_ENTRY).word(0);
    coroutine().check(&regs, &zero, &chain, EndReason::Root);
    // The entry has a caller.
    let called = coroutine().call(MAIN + 0x40, ENTRY);
    called.check(&regs, &zero, &chain, EndReason::UnprovenRoot);
    // There is something above it.
    let mut more = stack();
    more.word(1).word(IN_ENTRY).word(IN_MAIN);
    coroutine().check(&regs, &more, &chain, EndReason::NoUnwindInfo);
    // It does something else before it calls: push %rbx
    let other = coroutine().code(ENTRY - 2, &[0x90, 0x53]);
    let other = other.code(ENTRY - 0x20, &[0x53; 0x20]);
    other.check(&regs, &zero, &chain, EndReason::NoUnwindInfo);
}

#[test]
fn the_child_of_a_clone_has_no_caller() {
    // syscall; test %rax,%rax; jl error; je root; ret
    let distance = ROOT.wrapping_sub(FREE + 13) as u32;
    let [a, b, c, d] = distance.to_le_bytes();
    let code = [0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x20, 0x0f, 0x84, a, b, c, d, 0xc3];
    let program = Program::new(Arch::X86_64, ops()).code(FREE, &code);
    // The top word of the child's stack, a function, looks like a return address.
    let program = program.call(IN_MAIN, TEST);
    let mut stack = stack();
    stack.word(IN_MAIN).words(0, 8);
    let child = UserRegs::x86_64(FREE + 2, SP).set(reg::AX, 0);
    let chain = [(FREE + 2, FoundBy::Sampled)];
    program.check(&child, &stack, &chain, EndReason::Root);
}

/// The kernel was sampled in `rt_sigreturn`: the address is after the trampoline, at the start of another function.
#[test]
fn behind_the_system_call_of_a_trampoline() {
    const RESTORE_RT: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
    let program = |behind: &[u8]| {
        Program::new(Arch::X86_64, ops().def_cfa_offset(16))
            .code(FREE, &RESTORE_RT)
            .code(FREE + 9, behind)
    };
    let mut stack = stack();
    stack.words(0xcc, 5).words(0xdd, 15).word_of_label("interrupted").word(TEST + 0x20);
    stack.words(0xee, 60).label("interrupted");
    outer(stack.word(1).word(IN_MAIN));
    let chain = [
        (FREE + 8, FoundBy::Sampled),
        (TEST + 0x20, FoundBy::Cfi),
        (IN_MAIN - 1, FoundBy::Cfi),
        (crate::world::IN_ROOT - 1, FoundBy::Cfi),
    ];
    // A function: test %esi,%esi
    let function = program(&[0x85, 0xf6, 0xc3]);
    let returned = UserRegs::x86_64(FREE + 9, SP).set(reg::CX, FREE + 9);
    function.check(&returned, &stack, &chain, EndReason::Root);
    // Nothing begins there: nopl 0(%rax)
    let padded = program(&[0x0f, 0x1f, 0x40, 0x00]);
    padded.check(&UserRegs::x86_64(FREE + 9, SP), &stack, &chain, EndReason::Root);
    // The function itself, at its first instruction.
    let mut called = crate::world::stack();
    outer(called.word(IN_MAIN));
    let function = program(&[0x85, 0xf6, 0xc3]).call(IN_MAIN, FREE + 9);
    let chain = [
        (FREE + 9, FoundBy::Sampled),
        (IN_MAIN - 1, FoundBy::LeafRule),
        (crate::world::IN_ROOT - 1, FoundBy::Cfi),
    ];
    function.check(&UserRegs::x86_64(FREE + 9, SP), &called, &chain, EndReason::Root);
}

//! Code without call frame information, x86-64: each answer must look like a return address.

use synth::{UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, PROCESS, Program, SP, ops, outer, stack};

/// `root` calls `main`, which calls `free`, the code of which this is. Nothing runs into it from before.
fn program(code: &[u8]) -> Program {
    Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, FREE)
        .code(FREE - 1, &[0xc3])
        .code(FREE, code)
}

fn chain(pc: u64, found_by: FoundBy) -> [(u64, FoundBy); 3] {
    [(pc, FoundBy::Sampled), (IN_MAIN - 1, found_by), (IN_ROOT - 1, FoundBy::Cfi)]
}

#[test]
fn a_leaf_has_its_return_address_on_top() {
    let program = program(&[0x48, 0x8d, 0x04, 0x37, 0xc3]); // lea (%rdi,%rsi),%rax; ret
    let mut stack = stack();
    outer(stack.word(IN_MAIN));
    let expected = chain(FREE + 4, FoundBy::LeafRule);
    program.check(&UserRegs::x86_64(FREE + 4, SP), &stack, &expected, EndReason::Root);
}

#[test]
fn the_epilogue_tells_what_is_still_on_the_stack() {
    // pop %rbx; pop %rbp; ret: three places, three depths.
    let program = program(&[0x5b, 0x5d, 0xc3]);
    for (at, words) in [(0, 2), (1, 1), (2, 0)] {
        let mut stack = stack();
        outer(stack.words(1, words).word(IN_MAIN));
        let how = if words == 0 { FoundBy::LeafRule } else { FoundBy::Code };
        let expected = chain(FREE + at, how);
        program.check(&UserRegs::x86_64(FREE + at, SP), &stack, &expected, EndReason::Root);
    }
}

#[test]
fn the_frame_pointer_where_nothing_else_helps() {
    let program = program(&[0x90; 64]);
    // sp -> | 4 locals | rbp -> 0 | return to main | …
    let mut stack = stack();
    outer(stack.words(1, 4).label("rbp").word(0).word(IN_MAIN));
    let regs = UserRegs::x86_64(FREE + 0x20, SP).set(reg::BP, stack.address("rbp"));
    let expected = chain(FREE + 0x20, FoundBy::FramePointer);
    program.check(&regs, &stack, &expected, EndReason::Root);
}

#[test]
fn what_is_no_return_address_is_not_believed() {
    let none = EndReason::NoUnwindInfo;
    // After no call, in data, unmapped; on top of the stack and in the frame pointer's record.
    for word in [MAIN + 0x40, 0x40_6000, 0x10] {
        let mut stack = stack();
        stack.word(word).label("rbp").word(0).word(word).words(0, 4);
        let regs = UserRegs::x86_64(FREE + 0x20, SP).set(reg::BP, stack.address("rbp"));
        let one = [(FREE + 0x20, FoundBy::Sampled)];
        program(&[0x90; 64]).check(&regs, &stack, &one, none);
    }
}

#[test]
fn a_frame_pointer_that_is_none() {
    // Not aligned; below the stack pointer; on the heap.
    for rbp in [SP + 4, SP - 16, 0x5555_0000] {
        let mut stack = stack();
        stack.words(1, 8);
        let regs = UserRegs::x86_64(FREE + 0x20, SP).set(reg::BP, rbp);
        let one = [(FREE + 0x20, FoundBy::Sampled)];
        program(&[0x90; 64]).check(&regs, &stack, &one, EndReason::NoUnwindInfo);
    }
}

#[test]
fn a_frame_pointer_past_the_stack_bytes() {
    for rbp in [SP + 64, SP + 0x4000] {
        let mut stack = stack();
        stack.words(1, 8);
        let regs = UserRegs::x86_64(FREE + 0x20, SP).set(reg::BP, rbp);
        let one = [(FREE + 0x20, FoundBy::Sampled)];
        program(&[0x90; 64]).check(&regs, &stack, &one, EndReason::StackExhausted);
    }
}

#[test]
fn callers_without_information_need_a_frame_pointer() {
    // `free` pushes a word and calls `test`; the word on top there is not its return address.
    let program = program(&[0x50, 0xe8, 0, 0, 0, 0, 0x90]);
    let mut stack = stack();
    stack.word(FREE + 6).word(IN_MAIN).words(0, 8);
    let test = crate::world::TEST;
    let two = [(test, FoundBy::Sampled), (FREE + 5, FoundBy::Cfi)];
    program.check(&UserRegs::x86_64(test, SP), &stack, &two, EndReason::NoUnwindInfo);
}

#[test]
fn code_that_was_made_at_run_time_keeps_its_frame_pointer() {
    let mut stack = stack();
    outer(stack.words(1, 4).label("rbp").word(0).word(IN_MAIN));
    let regs = UserRegs::x86_64(0x60_0010, SP).set(reg::BP, stack.address("rbp"));
    let mut world = program(&[]).load();
    world.map(0x60_0000, 0x1000, 0, b"//anon", [true, false]);
    let (frames, end) = world.walk(&regs, &stack.bytes());
    assert_eq!(frames, chain(0x60_0010, FoundBy::FramePointer));
    assert_eq!(end, EndReason::Root);
}

/// Before its first push a compiled function has its return address on top, and the frame pointer is the caller's: the record
/// there would skip the caller. Only the map of the process tells that a function begins there.
#[test]
fn a_compiled_function_that_has_not_begun_has_its_return_address_on_top() {
    const FUNCTION: u64 = 0x60_0040;
    let mut stack = stack();
    stack.word(IN_MAIN).words(0, 2).label("rbp").word(0).word(IN_ROOT);
    let regs = |pc| UserRegs::x86_64(pc, SP).set(reg::BP, stack.address("rbp"));
    let chain = |pc, map: Option<&str>| {
        let call = [0xff, 0xd0]; // call *%rax
        let program = program(&[]).code(IN_MAIN - 2, &call).code(IN_ROOT - 2, &call);
        let mut world = program.load();
        world.map(0x60_0000, 0x1000, 0, b"//anon", [true, false]);
        if let Some(map) = map {
            world.host.insert(format!("/tmp/perf-{PROCESS}.map"), map.as_bytes());
        }
        let (frames, end) = world.walk(&regs(pc), &stack.bytes());
        assert_eq!(end, EndReason::Root);
        frames
    };
    let whole =
        chain_of(FUNCTION, &[(IN_MAIN - 1, FoundBy::LeafRule), (IN_ROOT - 1, FoundBy::Cfi)]);
    let skipping = |pc| chain_of(pc, &[(IN_ROOT - 1, FoundBy::FramePointer)]);
    assert_eq!(chain(FUNCTION, Some("600040 20 compiled")), whole);
    assert_eq!(chain(FUNCTION, Some("600000 80 compiled")), skipping(FUNCTION));
    assert_eq!(chain(FUNCTION, None), skipping(FUNCTION));
    assert_eq!(chain(FUNCTION + 1, Some("600040 20 compiled")), skipping(FUNCTION + 1));
}

fn chain_of(pc: u64, outside: &[(u64, FoundBy)]) -> Vec<(u64, FoundBy)> {
    [&[(pc, FoundBy::Sampled)], outside].concat()
}

#[test]
fn calls_through_registers_and_memory_count() {
    let calls: [&[u8]; 5] = [
        &[0xff, 0xd0],                      // call *%rax
        &[0x41, 0xff, 0xd3],                // call *%r11
        &[0xff, 0x50, 0x18],                // call *0x18(%rax)
        &[0xff, 0x15, 1, 2, 3, 4],          // call *0x4030201(%rip)
        &[0xff, 0x94, 0x24, 0x80, 0, 0, 0], // call *0x80(%rsp)
    ];
    for call in calls {
        let back = MAIN + 0x60;
        let program = program(&[0xc3]).code(back - call.len() as u64, call);
        let mut stack = stack();
        outer(stack.word(back));
        let expected =
            [(FREE, FoundBy::Sampled), (back - 1, FoundBy::LeafRule), (IN_ROOT - 1, FoundBy::Cfi)];
        program.check(&UserRegs::x86_64(FREE, SP), &stack, &expected, EndReason::Root);
    }
}

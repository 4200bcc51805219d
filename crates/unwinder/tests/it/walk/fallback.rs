//! Tests of code without call frame information, on x86-64: each result must look like a return address.

use synth::{Segment, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    FREE, IN_MAIN, IN_ROOT, MAIN, PROCESS, Program, ROOT, SP, TEST, World, ops, outer, stack,
};

/// `root` calls `main`, which calls `free`, which consists of `code`. A return precedes it.
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
    // `free` pushes a word and calls `test`; the top word there is not its return address.
    let program = program(&[0x50, 0xe8, 0, 0, 0, 0, 0x90]);
    let mut stack = stack();
    stack.word(FREE + 6).word(IN_MAIN).words(0, 8);
    let two = [(TEST, FoundBy::Sampled), (FREE + 5, FoundBy::Cfi)];
    program.check(&UserRegs::x86_64(TEST, SP), &stack, &two, EndReason::NoUnwindInfo);
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

/// `free` leaves the frame pointer of its caller `test` unchanged. `test` jumps to `free` at its end, so the call of
/// `test` in `main` can also be one of `free`. Two callers are then proven; the code from the start of `free` decides.
#[test]
fn a_frame_pointer_of_the_caller_does_not_skip_it() {
    const IN_TEST: u64 = TEST + 0x10;
    // mov (%rip),%rax; cmp $0,%rax; je 1f; jmp *%rax; 1: jmp to an address without code
    let code = [
        &[0x48, 0x8b, 0x05, 0, 0, 0, 0, 0x48, 0x3d, 0, 0, 0, 0][..],
        &[0x74, 0x09, 0xff, 0xe0, 0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0xe9, 0, 0x40, 0, 0],
    ];
    let program = || {
        Program::new(Arch::X86_64, ops().def_cfa_offset(0x28))
            .call(IN_ROOT, MAIN)
            .code(FREE, &code.concat())
            .call(IN_MAIN, TEST)
            .call(IN_TEST, FREE)
            .code(IN_TEST, &[0xe9, 0xeb, 0x01, 0, 0]) // jmp free
    };
    let mut stack = stack();
    outer(stack.word(IN_TEST).words(0, 3).label("rbp").word(SP + 0x80).word(IN_MAIN));
    let regs = UserRegs::x86_64(FREE + 13, SP).set(reg::BP, stack.address("rbp"));
    let expected = [
        (FREE + 13, FoundBy::Sampled),
        (IN_TEST - 1, FoundBy::LeafRule),
        (IN_MAIN - 1, FoundBy::Cfi),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    program().check(&regs, &stack, &expected, EndReason::Root);
    // Code of linkage tables has its own segment before the other.
    let mut elf = program().elf();
    elf.segments.insert(0, Segment::load_text(0xf00, 0xf00, 0x100));
    let found = World::new(Arch::X86_64, &elf.build()).walk(&regs, &stack.bytes());
    assert_eq!(found, (expected.to_vec(), EndReason::Root));
    // The first function of the segment keeps its frame pointer: push %rbp; mov %rsp,%rbp.
    let first = program().code(ROOT, &[0x55, 0x48, 0x89, 0xe5]);
    let (found, end) = first.load().walk(&regs, &stack.bytes());
    assert_eq!((found[1].0, end), (IN_TEST - 1, EndReason::Root));
}

/// Before its first push, a compiled function has its return address on top, and the frame pointer is the caller's. The
/// record there would skip the caller. Only the perf map of the process shows that a function begins there.
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

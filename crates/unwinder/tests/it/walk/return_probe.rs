//! Tests of functions with a return address that a return probe replaced by its trampoline's.

use synth::{CfiOps, StackBuilder, UserRegs};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, Program, ROOT, SP, TEST, ops, outer, stack};

/// The first byte of the page.
const TRAMPOLINE: u64 = 0x7fff_ffff_e000;
/// Return address of the call of `free` in `test`.
const IN_TEST: u64 = TEST + 0x20;
/// A frame of one word.
const FRAME: i64 = 16;

type Chain = (Vec<(u64, FoundBy)>, EndReason);

/// `root` calls `main`, which calls `test`, which calls `free`.
fn program(test: CfiOps) -> Program {
    Program::new(Arch::X86_64, test)
        .function(FREE, 0x40, ops().def_cfa_offset(FRAME as u64))
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .call(IN_TEST, FREE)
}

fn usual() -> Program {
    program(ops().def_cfa_offset(FRAME as u64))
}

#[track_caller]
fn check(
    program: &Program,
    pc: u64,
    stack: &StackBuilder,
    frames: &[(u64, FoundBy)],
    end: EndReason,
) {
    let mut world = program.load();
    world.map(TRAMPOLINE, 0x1000, 0, b"[uprobes]", [true, false]);
    let found: Chain = world.walk(&UserRegs::x86_64(pc, SP), &stack.bytes());
    assert_eq!(found, (frames.to_vec(), end));
}

#[test]
fn the_caller_is_the_function_whose_frame_ends_at_its_return_address() {
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE));
    let frames =
        [(TEST, FoundBy::Sampled), (IN_MAIN - 1, FoundBy::Scan), (IN_ROOT - 1, FoundBy::Cfi)];
    check(&usual(), TEST, &stack, &frames, EndReason::Root);
}

#[test]
fn frames_inside_of_the_probed_one_stay() {
    let mut stack = stack();
    outer(stack.word(1).word(IN_TEST).word(2).word(TRAMPOLINE));
    let frames = [
        (FREE, FoundBy::Sampled),
        (IN_TEST - 1, FoundBy::Cfi),
        (IN_MAIN - 1, FoundBy::Scan),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    check(&usual(), FREE, &stack, &frames, EndReason::Root);
}

/// The caller is itself probed: among the callers of the function, its frame size identifies it.
#[test]
fn two_probes_in_a_row() {
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE).word(2).word(TRAMPOLINE));
    let frames = [
        (FREE, FoundBy::Sampled),
        (IN_TEST - 1, FoundBy::Scan),
        (IN_MAIN - 1, FoundBy::Scan),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    check(&usual(), FREE, &stack, &frames, EndReason::Root);
}

#[test]
fn several_calls_of_the_probed_function() {
    let program = usual().call(MAIN + 0x40, TEST);
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE));
    let frames = [(TEST, FoundBy::Sampled), (MAIN, FoundBy::Scan), (IN_ROOT - 1, FoundBy::Cfi)];
    check(&program, TEST, &stack, &frames, EndReason::Root);
}

/// `root` calls `main` through a register, and takes its address: call *%rax; lea main(%rip),%rdi
#[test]
fn a_caller_that_was_called_through_a_pointer() {
    let lea = |program: Program| {
        let [a, b, c, d] = (MAIN.wrapping_sub(ROOT + 0x17) as u32).to_le_bytes();
        program.code(ROOT + 0x10, &[0x48, 0x8d, 0x3d, a, b, c, d])
    };
    let by_pointer = || usual().code(IN_ROOT - 5, &[0x90, 0x90, 0x90, 0xff, 0xd0]);
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE));
    let frames =
        [(TEST, FoundBy::Sampled), (IN_MAIN - 1, FoundBy::Scan), (IN_ROOT - 1, FoundBy::Cfi)];
    check(&lea(by_pointer()), TEST, &stack, &frames, EndReason::Root);
    // No code takes its address; then other code jumps to the probed function: jmp test
    check(&by_pointer(), TEST, &stack, &frames[..1], EndReason::ReturnProbe);
    let [a, b, c, d] = (TEST.wrapping_sub(MAIN + 0x85) as u32).to_le_bytes();
    let jumps = lea(by_pointer()).code(MAIN + 0x80, &[0xe9, a, b, c, d]);
    check(&jumps, TEST, &stack, &frames[..1], EndReason::ReturnProbe);
}

/// The exact caller is unknown, but the frames outside are not: lea main(%rip),%rdi; lea free(%rip),%rdi
#[test]
fn several_callers_with_equal_frames() {
    let lea = |program: Program, at: u64, to: u64| {
        let [a, b, c, d] = (to.wrapping_sub(at + 7) as u32).to_le_bytes();
        program.code(at, &[0x48, 0x8d, 0x3d, a, b, c, d])
    };
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(16))
        .function(FREE, 0x40, ops().def_cfa_offset(0x20))
        .call(IN_MAIN, TEST)
        .call(FREE + 0x20, TEST)
        .code(IN_ROOT - 2, &[0xff, 0xd0]);
    let program = lea(lea(program, ROOT + 0x10, MAIN), ROOT + 0x20, FREE);
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE));
    let frames = [(TEST, FoundBy::Sampled), (0, FoundBy::Gap), (IN_ROOT - 1, FoundBy::Scan)];
    check(&program, TEST, &stack, &frames, EndReason::RootAcrossGap);
}

/// A function without a caller has no frame that could prove it, but no other call of the function is possible.
#[test]
fn the_caller_is_the_root() {
    let program = usual().call(ROOT + 0x20, TEST);
    let mut stack = stack();
    stack.word(1).word(TRAMPOLINE).words(0, 8);
    let frames = [(TEST, FoundBy::Sampled), (ROOT + 0x1f, FoundBy::Scan)];
    check(&program, TEST, &stack, &frames, EndReason::Root);
    // The frame of `main` could be there as well.
    let mut both = crate::world::stack();
    outer(both.word(1).word(TRAMPOLINE));
    check(&program, TEST, &both, &frames[..1], EndReason::ReturnProbe);
}

#[test]
fn without_a_proof_the_chain_ends_there() {
    let alone = [(TEST, FoundBy::Sampled)];
    // The frame of `main` has another size, or was not recorded.
    let mut other = stack();
    other.word(1).word(TRAMPOLINE).words(0, 5).word(IN_ROOT);
    check(&usual(), TEST, &other, &alone, EndReason::ReturnProbe);
    let mut cut = stack();
    cut.word(1).word(TRAMPOLINE);
    check(&usual(), TEST, &cut, &alone, EndReason::ReturnProbe);
    // Two functions call it, and both are possible.
    let program = usual().call(FREE + 0x20, TEST).call(FREE + 0x30, FREE);
    let mut two = stack();
    two.word(1).word(TRAMPOLINE).word(2).word(TRAMPOLINE).words(0, 4);
    let frames = [(TEST, FoundBy::Sampled), (FREE + 0x1f, FoundBy::Scan)];
    check(&program, TEST, &two, &frames, EndReason::ReturnProbe);
}

/// Another address in the page is not a probe's return address.
#[test]
fn other_addresses_of_the_page() {
    let mut stack = stack();
    outer(stack.word(1).word(TRAMPOLINE + 0x80));
    let frames = [(TEST, FoundBy::Sampled), (TRAMPOLINE + 0x7f, FoundBy::Cfi)];
    check(&usual(), TEST, &stack, &frames, EndReason::AnonymousMemory);
}

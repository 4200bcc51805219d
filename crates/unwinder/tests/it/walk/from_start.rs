//! Tests of callers by the code from a function's start, past memory without a file, and from the thread's start
//! inwards.

use synth::{UserRegs, aarch64_reg, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, ops, outer, outer_arm, stack};

/// Executable memory without a file.
const MEMORY: u64 = 0x5000_0000;

fn shown(frames: &[(u64, FoundBy)]) -> Vec<String> {
    frames.iter().map(|(at, how)| format!("{at:#x} {how}")).collect()
}

#[test]
fn a_function_that_never_returns_has_its_return_address_where_its_start_says() {
    // push %rbx; sub $0x10,%rsp; call test: only an endless loop through a register follows the call.
    let free = [0x53, 0x48, 0x83, 0xec, 0x10];
    let program = Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, FREE)
        .code(FREE, &free)
        .call(FREE + 10, TEST)
        .code(FREE + 10, &[0xff, 0xe3]);
    let mut stack = stack();
    outer(stack.word(FREE + 10).words(0, 2).word(0xb).word(IN_MAIN));
    let expected = [
        (TEST, FoundBy::Sampled),
        (FREE + 9, FoundBy::Cfi),
        (IN_MAIN - 1, FoundBy::Code),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    program.check(&UserRegs::x86_64(TEST, SP), &stack, &expected, EndReason::Root);
}

#[test]
fn a_loop_that_moves_the_stack_pointer_has_a_known_frame_pointer() {
    // push %rbx; push %rbp; mov %rsp,%rbp; 1: sub $8,%rsp; dec %ecx; jne 1b; call test: then an endless loop through
    // a register. No return address follows the saved frame pointer.
    let free = [0x53, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x08, 0xff, 0xc9, 0x75, 0xf8];
    let program = Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, FREE)
        .code(FREE, &free)
        .call(FREE + 18, TEST)
        .code(FREE + 18, &[0xff, 0xe3]);
    let mut stack = stack();
    outer(stack.word(FREE + 18).words(0, 100).label("rbp").word(0).word(0xb).word(IN_MAIN));
    let expected = [
        (TEST, FoundBy::Sampled),
        (FREE + 17, FoundBy::Cfi),
        (IN_MAIN - 1, FoundBy::Code),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BP, stack.address("rbp"));
    program.check(&regs, &stack, &expected, EndReason::Root);
}

#[test]
fn the_start_says_where_a_function_saved_its_link_register() {
    // stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; bl test: then an endless loop through a register.
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|it| it.to_le_bytes()).collect() };
    let bl =
        |at: u64, to: u64| words(&[0x9400_0000 | (to.wrapping_sub(at) / 4) as u32 & 0x03ff_ffff]);
    let test = ops().def_cfa_offset(16).offset(29, 2).offset(30, 1);
    let program = Program::new(Arch::Aarch64, test)
        .code(IN_MAIN - 4, &bl(IN_MAIN - 4, FREE))
        .code(FREE, &words(&[0xa9be_7bfd, 0x9100_03fd, 0xf900_0bf3]))
        .code(FREE + 12, &bl(FREE + 12, TEST))
        .code(FREE + 16, &words(&[0xd61f_0020]));
    let mut stack = stack();
    stack.word_of_label("x29").word(FREE + 16).label("x29").word(0).word(IN_MAIN).words(0, 2);
    outer_arm(&mut stack);
    let expected = [
        (TEST, FoundBy::Sampled),
        (FREE + 15, FoundBy::Cfi),
        (IN_MAIN - 1, FoundBy::Code),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    let regs = UserRegs::aarch64(TEST, SP).set(aarch64_reg::LR, 1);
    program.check(&regs, &stack, &expected, EndReason::Root);
    // Not if the call is one of another function.
    let other = program.code(IN_MAIN - 4, &bl(IN_MAIN - 4, FREE + 0x200));
    other.check(&regs, &stack, &expected[..2], EndReason::NoUnwindInfo);
}

#[test]
fn the_code_decides_behind_the_first_exit_of_a_description_written_by_hand() {
    // The description states that rbx is still saved: nop; ret.
    let test = ops().def_cfa_offset(16);
    let program = Program::new(Arch::X86_64, test)
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .code(TEST, &[0x90, 0xc3]);
    let mut stack = stack();
    stack.word(IN_MAIN).word(0x1234).words(0, 2).word(IN_ROOT);
    let expected =
        [(TEST, FoundBy::Sampled), (IN_MAIN - 1, FoundBy::LeafRule), (IN_ROOT - 1, FoundBy::Cfi)];
    program.check(&UserRegs::x86_64(TEST, SP), &stack, &expected, EndReason::Root);
}

#[test]
fn a_frame_that_saved_the_frame_pointer_below_the_record_is_a_gap() {
    // A sampled frame in memory pushed rbp, which leads to a record that `main` returns from.
    let program =
        Program::new(Arch::X86_64, ops()).call(IN_ROOT, MAIN).code(IN_MAIN - 2, &[0xff, 0xd0]);
    let mut world = program.load();
    world.map(MEMORY, 0x1000, 0, b"//anon", [true, false]);
    let mut with = stack();
    with.label("sp").word(SP + 32).word(MEMORY + 0x80).words(0, 2).label("rbp");
    outer(with.word(0).word(IN_MAIN));
    let regs = UserRegs::x86_64(MEMORY + 0x10, SP).set(reg::BP, with.address("rbp"));
    let (frames, end) = world.walk(&regs, &with.bytes());
    let expected = [
        (MEMORY + 0x10, FoundBy::Sampled),
        (0, FoundBy::Gap),
        (IN_MAIN - 1, FoundBy::FramePointer),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    assert_eq!((shown(&frames), end), (shown(&expected), EndReason::RootAcrossGap));
    let mut without = stack();
    without.words(0, 4);
    outer(without.word(0).word(IN_MAIN));
    let (frames, end) = world.walk(&regs, &without.bytes());
    let expected = [expected[0], expected[2], expected[3]];
    assert_eq!((shown(&frames), end), (shown(&expected), EndReason::Root));
}

#[test]
fn a_lost_chain_goes_on_from_the_beginning_of_the_thread() {
    // `root` calls `main`, which calls `test`, which called code in memory without a file through a register.
    let program = Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .call(IN_MAIN, TEST)
        .code(TEST + 6, &[0xff, 0xd0]);
    let mut world = program.load();
    world.map(MEMORY, 0x1000, 0, b"//anon", [true, false]);
    let regs = UserRegs::x86_64(MEMORY + 0x10, SP).set(reg::BP, 7);
    let mut one = stack();
    outer(one.words(1, 3).word(TEST + 8).word(IN_MAIN));
    let (frames, end) = world.walk(&regs, &one.bytes());
    let expected = [
        (MEMORY + 0x10, FoundBy::Sampled),
        (0, FoundBy::Gap),
        (IN_MAIN - 1, FoundBy::Scan),
        (IN_ROOT - 1, FoundBy::Cfi),
    ];
    assert_eq!((shown(&frames), end), (shown(&expected), EndReason::RootAcrossGap));
    // Two starts of threads: the choice is unknown.
    let mut two = stack();
    outer(two.words(1, 3).word(IN_MAIN));
    outer(two.word(IN_MAIN));
    let (frames, end) = world.walk(&regs, &two.bytes());
    assert_eq!((shown(&frames), end), (shown(&expected[..1]), EndReason::AnonymousMemory));
}

//! Tests of signal frames: the interrupted function is looked up at its exact address, on x86-64.
//!
//! ```text
//!   handler's sp -> | return to the trampoline | ucontext: 40 bytes, then r8 … r15, rdi, rsi, rbp, rbx, rdx, rax,
//!                   | rcx, rsp, rip of the interrupted function | … | the interrupted function's stack
//! ```

use synth::{CfiOps, Cie, DwarfExpr, Endian, StackBuilder, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{FREE, IN_MAIN, MAIN, Program, SP, TEST, ops, outer, stack};

const RESTORE_RT: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
const TRAMPOLINE: u64 = FREE;
const HANDLER: u64 = FREE + 0x100;

/// The row of glibc's `__restore_rt`: the CFA is the saved rsp, registers are at expressions of the stack pointer.
fn glibcs_row() -> CfiOps {
    let le = || DwarfExpr::new(Endian::Little);
    let mut rows = ops().def_cfa_expression(&le().breg(7, 160).deref());
    for (index, register) in
        (0_i64..).zip([8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16])
    {
        rows = rows.expression(register, &le().breg(7, 40 + 8 * index));
    }
    rows
}

/// A handler above a function that was interrupted at `pc`; the interrupted function's stack has the return address
/// into `main`.
fn picture(pc: u64) -> StackBuilder {
    let mut stack = stack();
    stack.word(TRAMPOLINE).words(0xcc, 5);
    stack.words(0xdd, 11).word(0xbb).words(0xdd, 3).word_of_label("interrupted").word(pc);
    stack.words(0xee, 60).label("interrupted");
    outer(stack.word(1).word(IN_MAIN));
    stack
}

fn chain(pc: u64) -> Vec<(u64, FoundBy)> {
    let cfi = FoundBy::Cfi;
    let root = (crate::world::IN_ROOT - 1, cfi);
    vec![(HANDLER, FoundBy::Sampled), (TRAMPOLINE, cfi), (pc, cfi), (IN_MAIN - 1, cfi), root]
}

/// A program with `test`, which has a frame of one word, a handler without a frame, and no description of the
/// trampoline.
fn program() -> Program {
    Program::new(Arch::X86_64, ops().def_cfa_offset(16))
        .function(HANDLER, 0x10, ops())
        .code(TRAMPOLINE, &RESTORE_RT)
}

#[test]
fn a_trampoline_with_call_frame_information() {
    let cie = Cie { augmentation: "zRS".to_owned(), instructions: Vec::new(), ..Cie::x86_64() };
    // glibc's description begins one byte before the trampoline, for the look-up at the address minus one.
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(16))
        .function(HANDLER, 0x10, ops())
        .function_of(TRAMPOLINE - 1, 10, cie, glibcs_row());
    let pc = TEST + 0x20;
    program.check(&UserRegs::x86_64(HANDLER, SP), &picture(pc), &chain(pc), EndReason::Root);
}

#[test]
fn a_trampoline_known_by_its_code() {
    let pc = TEST + 0x20;
    program().check(&UserRegs::x86_64(HANDLER, SP), &picture(pc), &chain(pc), EndReason::Root);
}

#[test]
fn interrupted_at_the_first_instruction_of_a_function() {
    // The byte before belongs to a function with another row, which would mislead the chain.
    let before = ops().def_cfa_offset(0x110);
    let program = program().function(TEST - 0x40, 0x40, before);
    program.check(&UserRegs::x86_64(HANDLER, SP), &picture(TEST), &chain(TEST), EndReason::Root);
}

#[test]
fn the_saved_registers_come_back() {
    // `test` counts its frame from rbx, which the signal frame has.
    let program = Program::new(Arch::X86_64, ops().def_cfa(3, 16))
        .function(HANDLER, 0x10, ops())
        .code(TRAMPOLINE, &RESTORE_RT);
    let mut stack = stack();
    stack.word(TRAMPOLINE).words(0xcc, 5).words(0xdd, 11).word_of_label("rbx").words(0xdd, 3);
    stack.word_of_label("sp").word(TEST).words(0xee, 9).label("sp").words(2, 7).label("rbx");
    outer(stack.word(1).word(IN_MAIN));
    let regs = UserRegs::x86_64(HANDLER, SP).set(reg::BX, 77);
    program.check(&regs, &stack, &chain(TEST), EndReason::Root);
}

#[test]
fn sampled_in_the_trampoline_itself() {
    // At `mov $15, %rax` and at `syscall`: the handler has returned, ucontext is at the stack pointer.
    for at in [0, 7] {
        let mut whole = StackBuilder::new(SP - 8, Endian::Little, 8);
        whole.word(0).words(0xcc, 5).words(0xdd, 15).word_of_label("interrupted").word(TEST + 4);
        whole.words(0xee, 3).label("interrupted");
        outer(whole.word(1).word(IN_MAIN));
        let bytes = whole.bytes().split_off(8);
        let expected = [&[(TRAMPOLINE + at, FoundBy::Sampled)], &chain(TEST + 4)[2..]].concat();
        let (frames, end) = program().load().walk(&UserRegs::x86_64(TRAMPOLINE + at, SP), &bytes);
        assert_eq!((frames, end), (expected, EndReason::Root));
    }
}

#[test]
fn a_trampoline_at_the_first_byte_of_its_mapping() {
    // The memory before it is not code, or unmapped: it is looked up at its own address.
    let program = program();
    let mut world = program.load();
    let path = world.path().to_vec();
    let page = 0x70_0000;
    world.map(page, 0x1000, TRAMPOLINE - crate::world::BASE, &path, [true, false]);
    let mut bytes = picture(TEST + 4).bytes();
    bytes[..8].copy_from_slice(&u64::to_le_bytes(page));
    let mut expected = chain(TEST + 4);
    expected[1].0 = page;
    let found = world.walk(&UserRegs::x86_64(HANDLER, SP), &bytes);
    assert_eq!(found, (expected, EndReason::Root));
}

#[test]
fn a_signal_on_an_alternate_stack() {
    // The interrupted function's stack is below the handler's: not recorded, and not a loop.
    let mut stack = stack();
    stack.word(TRAMPOLINE).words(0, 5).words(0, 15).word(SP - 0x4000).word(TEST);
    let expected = &chain(TEST)[..3];
    let regs = UserRegs::x86_64(HANDLER, SP);
    program().check(&regs, &stack, expected, EndReason::OtherStack);
}

#[test]
fn code_like_a_trampoline_elsewhere_is_none() {
    // The bytes are two instructions further on.
    let program = program().code(MAIN + 0x80, &RESTORE_RT);
    let mut stack = stack();
    outer(stack.word(MAIN + 0x78));
    let frames = [(HANDLER, FoundBy::Sampled), (MAIN + 0x77, FoundBy::Cfi)];
    let frames = [&frames[..], &[(crate::world::IN_ROOT - 1, FoundBy::Cfi)]].concat();
    program.check(&UserRegs::x86_64(HANDLER, SP), &stack, &frames, EndReason::Root);
}

//! Tests of Go functions, with frames that their linker's table describes, on x86-64.

use synth::{GoFunctionSpec, GoTableBuilder, Section, StackBuilder, UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{BASE, FREE, Program, SP, stack};

const TABLE: u64 = 0x7000;
const TEXT: u64 = BASE + 0x1000;
/// A frame of 16 bytes; the upper half is the saved frame pointer.
const WORK: u64 = FREE;
/// A frame of 32 bytes.
const MAIN: u64 = FREE + 0x100;
/// The end of goroutines: they return to the address after its first instruction.
const GOEXIT: u64 = FREE + 0x200;
/// Continues on another stack.
const SWITCH: u64 = FREE + 0x300;
/// The first function of a thread: its frame is empty.
const THREAD: u64 = FREE + 0x400;
/// Stores its stack pointer for the scheduler: a frame of 32 bytes.
const NOTES: u64 = FREE + 0x500;
/// The first function of a process.
const PROCESS: u64 = FREE + 0x600;
/// Called by C: a frame of 32 bytes, which it stores.
const CALLED: u64 = FREE + 0x700;
/// Address after the last function.
const END: u64 = FREE + 0x800;

fn function(name: &str, at: u64, flags: u8, size: i32) -> GoFunctionSpec {
    let frame_sizes = if size == 0 { vec![(0x100, 0)] } else { vec![(4, 0), (0xfc, size)] };
    GoFunctionSpec {
        name: name.to_owned(),
        start: (at - TEXT) as u32,
        flags,
        frame_sizes,
        ..GoFunctionSpec::default()
    }
}

fn program() -> Program {
    let table = GoTableBuilder::new(TEXT - BASE, (END - TEXT) as u32)
        .function(function("main.work", WORK, 0, 16))
        .function(function("main.main", MAIN, 0, 32))
        .function(function("runtime.goexit", GOEXIT, 5, 0))
        .function(function("runtime.systemstack", SWITCH, 6, 0))
        .function(function("runtime.mstart", THREAD, 5, 0))
        .function(function("runtime.mstart0", NOTES, 0, 32))
        .function(function("runtime.rt0_go", PROCESS, 5, 0))
        .function(function("runtime.cgocallback", CALLED, 6, 32));
    let mut program = Program::empty(Arch::X86_64)
        .call(MAIN + 0x40, WORK)
        .call(MAIN + 0x80, SWITCH)
        .call(THREAD + 0x20, NOTES)
        .call(PROCESS + 0x20, THREAD)
        .call(MAIN + 0xc0, CALLED);
    let bytes = table.build(TABLE, 0).table;
    program.sections.push(Section::loaded(".gopclntab", TABLE, bytes));
    // A call through a register, and the end of the switch: the stack pointer comes from memory.
    program.code(SWITCH + 0x10, &[0xff, 0xd7]).code(SWITCH + 0x12, &[0x48, 0x8b, 0x22, 0xc3])
}

/// The frame of `main` and the words above it.
fn outer(stack: &mut StackBuilder) -> &mut StackBuilder {
    stack.words(2, 3).label("fp").word(0).word(GOEXIT + 1).words(3, 4)
}

const CFI: FoundBy = FoundBy::Cfi;

#[test]
fn frames_are_as_large_as_the_table_says() {
    let outermost = [(MAIN + 0x3f, CFI), (GOEXIT, CFI)];
    let chain = |pc| [&[(pc, FoundBy::Sampled)], &outermost[..]].concat();
    let mut inside = stack();
    outer(inside.word(1).word_of_label("fp").word(MAIN + 0x40));
    let pc = WORK + 0x20;
    program().check(&UserRegs::x86_64(pc, SP), &inside, &chain(pc), EndReason::Root);
    let mut first = stack();
    outer(first.word(MAIN + 0x40));
    program().check(&UserRegs::x86_64(WORK, SP), &first, &chain(WORK), EndReason::Root);
}

#[test]
fn a_switch_of_stacks_is_an_end() {
    let mut stack = stack();
    stack.words(1, 2).word(SWITCH + 0x12).words(MAIN + 0x40, 20);
    let chain = [(WORK + 0x20, FoundBy::Sampled), (SWITCH + 0x11, CFI)];
    let regs = UserRegs::x86_64(WORK + 0x20, SP).set(reg::BP, 0);
    program().check(&regs, &stack, &chain, EndReason::OtherStack);
}

#[test]
fn the_stack_that_was_left_is_found_by_the_frame_pointer() {
    let mut recorded = stack();
    recorded.word(1).word_of_label("fp").word(SWITCH + 0x12).words(MAIN + 0x40, 20);
    outer(recorded.word(MAIN + 0x80));
    let sampled = (WORK + 0x20, FoundBy::Sampled);
    let by_fp = (MAIN + 0x7f, FoundBy::FramePointer);
    let chain = [sampled, (SWITCH + 0x11, CFI), by_fp, (GOEXIT, CFI)];
    let regs = UserRegs::x86_64(WORK + 0x20, SP);
    program().check(&regs, &recorded, &chain, EndReason::Root);
    // A return address at a distance other than the frame size proves nothing.
    let mut moved = stack();
    moved.word(1).word_of_label("fp").word(SWITCH + 0x12).words(MAIN + 0x40, 20);
    outer(moved.word(MAIN + 0x80).word(5));
    program().check(&regs, &moved, &chain[..2], EndReason::OtherStack);
}

#[test]
fn a_function_that_called_nobody_is_returned_to_at_its_first_instruction() {
    let mut recorded = stack();
    recorded.word(1).word(0).word(MAIN).word(GOEXIT + 1).words(3, 4);
    let chain = [(WORK + 0x20, FoundBy::Sampled), (MAIN - 1, CFI), (GOEXIT, CFI)];
    let regs = UserRegs::x86_64(WORK + 0x20, SP);
    program().code(MAIN - 1, &[0xcc]).check(&regs, &recorded, &chain, EndReason::Root);
}

/// The start of the process after a switch, with `room` words between the switch and the stored stack pointer.
fn switched(room: usize) -> StackBuilder {
    let mut stack = stack();
    stack.words(1, 2).word(SWITCH + 0x12).words(0, room);
    stack.words(2, 4).word(THREAD + 0x20).word(PROCESS + 0x20).words(3, 8);
    stack
}

#[test]
fn below_a_switch_is_what_the_thread_began_with() {
    let switch = [(WORK + 0x20, FoundBy::Sampled), (SWITCH + 0x11, CFI)];
    let start = [(0, FoundBy::Gap), (THREAD + 0x1f, FoundBy::Scan), (PROCESS + 0x1f, CFI)];
    let whole = [&switch[..], &start].concat();
    let regs = UserRegs::x86_64(WORK + 0x20, SP).set(reg::BP, 0);
    for room in [0, 2, 3, 8, 9] {
        program().check(&regs, &switched(room), &whole, EndReason::RootAcrossGap);
    }
    // If no function stores it, or if the thread did not begin so, that proves nothing.
    program().check(&regs, &switched(1), &switch, EndReason::OtherStack);
    let mut other = stack();
    other.words(1, 2).word(SWITCH + 0x12).words(2, 4).word(MAIN + 0x40).words(3, 8);
    program().check(&regs, &other, &switch, EndReason::OtherStack);
}

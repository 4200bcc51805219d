//! Truncated chains of stacks that no sample shows to the root: the file shows the beginning.

use address::Timestamp;
use synth::{
    Endian, EventAttr, Feature, PerfDataBuilder, SampleBuilder, StackBuilder, UserRegs, x86_64_reg,
};
use unwinder::{Arch, EndReason, FoundBy};

use crate::replayed::{Seen, map, replay};
use crate::world::{BASE, IN_MAIN, MAIN, Program, TEST, ops};

/// The entry point, and the address after its call.
const ENTRY: u64 = BASE + 0x1c00;
const BEHIND: u64 = ENTRY + 9;

/// A program with entry code that calls `main`, and traps afterwards.
fn program() -> Program {
    let program = Program::new(Arch::X86_64, ops().def_cfa_offset(16));
    let program = program.call(BEHIND, MAIN).code(BEHIND, &[0xf4]);
    Program { entry: ENTRY - BASE, is_program: true, ..program }
}

/// Returns the chain of a sample in `test`, called by `main`, with a dump that ends there.
fn chain(program: &Program, sp: u64) -> (Vec<Seen>, EndReason) {
    let world = program.load();
    let mut data = PerfDataBuilder::new(Endian::Little);
    data.event("cpu-clock", EventAttr::dwarf(x86_64_reg::USUAL_MASK), &[]);
    data.feature(&Feature::Arch("x86_64"));
    map(&mut data, &world);
    let mut stack = StackBuilder::new(sp, Endian::Little, 8);
    stack.word(1).word(IN_MAIN);
    let regs = UserRegs::x86_64(TEST, sp);
    let sample = SampleBuilder { misc: 2, ..SampleBuilder::at(TEST, 7, 7, 10) };
    data.sample(&sample.with_regs(&regs.usual_values()).with_stack(&stack.bytes()));
    let mut found = replay(data.build(), world.files());
    let (time, frames, end) = found.pop().unwrap();
    assert_eq!((time, found.len()), (Timestamp(10), 0));
    (frames, end)
}

#[test]
fn the_first_stack_of_a_program_begins_at_its_entry() {
    const FIRST: u64 = 0x7ffd_1234_5670;
    let cut = [(TEST - BASE, FoundBy::Sampled, false), (IN_MAIN - 1 - BASE, FoundBy::Cfi, false)];
    let whole =
        [cut[0], cut[1], (0, FoundBy::Gap, false), (BEHIND - 1 - BASE, FoundBy::Joined, false)];
    assert_eq!(chain(&program(), FIRST), (whole.to_vec(), EndReason::RootAcrossGap));
    // Not a stack that the program mapped, such as that of a thread or a coroutine.
    let mapped = chain(&program(), 0x7f12_1234_5000);
    assert_eq!(mapped, (cut.to_vec(), EndReason::StackExhausted));
    // Nor if the file is a library, or if its entry code continues after the call.
    let library = Program { is_program: false, ..program() };
    assert_eq!(chain(&library, FIRST), (cut.to_vec(), EndReason::StackExhausted));
    let goes_on = program().code(BEHIND, &[0x90]);
    assert_eq!(chain(&goes_on, FIRST), (cut.to_vec(), EndReason::StackExhausted));
}

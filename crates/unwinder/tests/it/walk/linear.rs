//! Tests of the cost of a walk, counted in frames and in bytes read, not in time.

use synth::{UserRegs, x86_64_reg as reg};
use unwinder::{Arch, EndReason};

use crate::world::{IN_MAIN, Program, SP, TEST, World, ops, stack};

/// A recursion of this depth: `main` calls `main`.
fn recursion(depth: usize) -> Vec<u8> {
    let mut stack = stack();
    for _ in 0..depth {
        stack.word(IN_MAIN).words(0, 3);
    }
    stack.bytes()
}

fn frames_of(world: &mut World, depth: usize) -> usize {
    let (frames, end) = world.walk(&UserRegs::x86_64(TEST, SP), &recursion(depth));
    assert_eq!(end, EndReason::StackExhausted);
    frames.len()
}

#[test]
fn a_chain_has_a_frame_for_each_level_and_no_more() {
    let mut world = Program::new(Arch::X86_64, ops()).load();
    world.max_frames = usize::MAX;
    for depth in [1, 10, 100, 1000, 2000] {
        assert_eq!(frames_of(&mut world, depth), depth + 1);
    }
}

#[test]
fn a_file_is_opened_once_whatever_the_number_of_walks() {
    let mut world = Program::new(Arch::X86_64, ops()).load();
    for _ in 0..100 {
        frames_of(&mut world, 50);
    }
    assert_eq!(world.images.n_images(), 1);
}

#[test]
fn words_that_no_row_asks_for_are_not_read() {
    // 100 levels below missing bytes: only the words that the rows need must be there. `test` saved rbx in a slot past
    // the recorded bytes, but no frame needs it.
    let program = Program::new(Arch::X86_64, ops().expression(3, &far_away()));
    let mut world = program.load();
    let regs = UserRegs::x86_64(TEST, SP).set(reg::BX, 1);
    let (frames, end) = world.walk(&regs, &recursion(100));
    assert_eq!((frames.len(), end), (101, EndReason::StackExhausted));
}

fn far_away() -> synth::DwarfExpr {
    synth::DwarfExpr::new(synth::Endian::Little).breg(7, 0x10_0000)
}

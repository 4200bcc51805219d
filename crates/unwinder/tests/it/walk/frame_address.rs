//! Tests of a frame's address: its form depends on the known facts about the memory there.

use address::{Avma, FileOffset, Svma};
use synth::UserRegs;
use unwinder::{Arch, Frame, FrameAddress};

use crate::world::{BASE, Program, SP, TEST, World, ops};

/// Address at which the tests map things.
const AT: u64 = 0x90_0000;

/// Returns the frame of a sample at `pc`.
fn innermost(world: &mut World, pc: u64) -> Frame {
    let frames = world.frames(&UserRegs::x86_64(pc, SP), &[]);
    frames[0]
}

#[track_caller]
fn check(world: &mut World, pc: u64, expected: FrameAddress) {
    let frame = innermost(world, pc);
    assert_eq!((frame.address(), frame.in_process()), (expected, Avma(pc)));
}

fn world() -> World {
    Program::new(Arch::X86_64, ops()).load()
}

#[test]
fn in_a_file_that_was_opened() {
    check(&mut world(), TEST, FrameAddress::Svma(Svma(TEST - BASE)));
}

#[test]
fn in_a_file_that_is_not_there() {
    let mut world = world();
    world.map(AT, 0x1000, 0x3000, b"/no/such/file", [true, false]);
    check(&mut world, AT + 0x10, FrameAddress::FileOffset(FileOffset(0x3010)));
}

/// A part of the file outside all segments has no stated address, and does not belong to the opened image.
#[test]
fn beyond_the_segments_of_a_file() {
    let mut world = world();
    let path = world.path().to_vec();
    world.map(AT, 0x1000, 0x8_0000, &path, [true, false]);
    assert_eq!(innermost(&mut world, AT + 0x10).module, None);
    check(&mut world, AT + 0x10, FrameAddress::Avma(Avma(AT + 0x10)));
}

#[test]
fn in_memory_without_a_file() {
    let mut world = world();
    world.map(AT, 0x1000, 0, b"//anon", [true, true]);
    check(&mut world, AT + 0x10, FrameAddress::Avma(Avma(AT + 0x10)));
}

#[test]
fn where_nothing_is_mapped() {
    let mut world = world();
    assert_eq!(innermost(&mut world, AT).module, None);
    check(&mut world, AT, FrameAddress::Avma(Avma(AT)));
}

//! Tests of frames in memory that a program copied code of its files into: `CPython`'s trampolines.

use synth::{Symbol, UserRegs};
use unwinder::{Arch, EndReason, FoundBy};

use crate::world::{
    BASE, FREE, IN_MAIN, IN_ROOT, MAIN, Program, SP, TEST, World, ops, outer, stack,
};

/// Address of the copies.
const COPIES: u64 = 0x60_0000;
/// Offset after the call in the original.
const RETURNS_TO: u64 = 6;

/// `main` calls a copy of the code at `free` through a register, and the copy calls `test`.
fn world(code: &[u8]) -> World {
    let program = Program::new(Arch::X86_64, ops())
        .call(IN_ROOT, MAIN)
        .code(IN_MAIN - 2, &[0xff, 0xd0])
        .code(FREE, code);
    let mut elf = program.elf();
    let symbol = |name: &'static str, at: u64| Symbol::function(name, at - BASE, 0);
    let end = FREE + code.len() as u64;
    elf.dynamic_symbols =
        vec![symbol("_Py_trampoline_func_start", FREE), symbol("_Py_trampoline_func_end", end)];
    let mut world = World::new(Arch::X86_64, &elf.build());
    world.map(COPIES, 0x1_0000, 0, b"//anon", [true, false]);
    world
}

/// sub $8,%rsp; call *%rcx; add $8,%rsp; ret
const TRAMPOLINE: [u8; 11] = [0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3];

/// Walks a sample in `test`, which returns to that address.
fn walk(code: &[u8], returns_to: u64) -> (Vec<(u64, FoundBy)>, EndReason) {
    let mut stack = stack();
    outer(stack.word(returns_to).word(0).word(IN_MAIN));
    world(code).walk(&UserRegs::x86_64(TEST, SP), &stack.bytes())
}

#[test]
fn a_copy_is_left_as_its_original() {
    // The copies are adjacent, or begin at multiples of 16.
    for copy in [0, 1, 7, 4096] {
        for stride in [TRAMPOLINE.len() as u64, 16] {
            let returns_to = COPIES + copy * stride + RETURNS_TO;
            let expected = [
                (TEST, FoundBy::Sampled),
                (returns_to - 1, FoundBy::Cfi),
                (IN_MAIN - 1, FoundBy::Code),
                (IN_ROOT - 1, FoundBy::Cfi),
            ];
            let found = walk(&TRAMPOLINE, returns_to);
            if returns_to < COPIES + 0x1_0000 {
                assert_eq!(found, (expected.to_vec(), EndReason::Root), "{copy} of {stride}");
            }
        }
    }
}

#[test]
fn what_is_no_copy_ends_the_chain() {
    let ends = |code: &[u8], returns_to: u64| {
        let frames = vec![
            (TEST, FoundBy::Sampled),
            (returns_to - 1, FoundBy::Cfi),
            (0, FoundBy::Gap),
            (IN_ROOT - 1, FoundBy::Scan),
        ];
        assert_eq!(walk(code, returns_to), (frames, EndReason::RootAcrossGap));
    };
    // Another location than after the call of a copy.
    ends(&TRAMPOLINE, COPIES + RETURNS_TO + 1);
    // Two calls: the active one is unknown.
    ends(&[0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3], COPIES + 6);
    // No call at all.
    ends(&[0xc3], COPIES + 6);
}

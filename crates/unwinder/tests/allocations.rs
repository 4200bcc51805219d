//! Tests that a walk allocates nothing once its rules are compiled. The allocator of this test counts, so the test has
//! its own binary.
#![allow(unsafe_code, reason = "an allocator cannot be written without; argued for at the impl")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use unwinder::{Arch, EndReason, UserState, Walker};

#[path = "it/world.rs"]
#[allow(dead_code, reason = "the other tests use more of it")]
mod world;

use world::{IN_MAIN, Program, SP, TEST, ops, stack};

/// Counts the allocations of each thread separately: the thread that waits for the test can allocate at any time.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts an allocation of this thread.
fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged and returns what that returns, so its
// contract is kept wherever the caller keeps ours; counting adds to a cell of the thread, which needs neither memory nor
// a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `System` with this layout, through the methods of this impl.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as in `dealloc`; `size` is the caller's and not changed.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn nothing_is_allocated_once_the_rules_are_known() {
    for arch in [Arch::X86_64, Arch::Aarch64] {
        // Simple rules in `main`, a full row with expressions in `test`.
        let (fp, column) = match arch {
            Arch::X86_64 | Arch::X86 => (6, 16),
            _ => (29, 30),
        };
        let le = || synth::DwarfExpr::new(synth::Endian::Little);
        let rows =
            ops().def_cfa_expression(&le().breg(fp, 0)).expression(column, &le().breg(fp, -8));
        let program = Program::new(arch, rows);
        let mut stack = stack();
        stack.word(IN_MAIN);
        for _ in 0..500 {
            match arch {
                Arch::X86_64 | Arch::X86 => stack.words(0, 3).word(IN_MAIN),
                _ => stack.word(SP).word(IN_MAIN).words(0, 2),
            };
        }
        let bytes = stack.bytes();
        let regs = match arch {
            Arch::X86_64 | Arch::X86 => {
                synth::UserRegs::x86_64(TEST, SP).set(synth::x86_64_reg::BP, SP + 8)
            }
            _ => synth::UserRegs::aarch64(TEST, SP).set(29, SP + 8),
        };
        let sampled: Vec<(u32, u64)> = world::sampled(&regs).collect();

        let mut process = program.load();
        let space = process.space();
        let state = UserState {
            arch,
            stack: &bytes,
            big_endian: false,
            partial_registers: false,
            executed: false,
            space: &space,
            thread: 0,
        };
        let mut walker = Walker::new(&process.engine, &process.images, 1000);
        let mut frames = Vec::with_capacity(1000);
        let end = walker.walk(&state, sampled.iter().copied(), &mut frames);
        assert_eq!((frames.len(), end), (502, EndReason::StackExhausted));

        // From the second walk in a space on, the data of two walks is cached.
        for _ in 0..3 {
            frames.clear();
            walker.walk(&state, sampled.iter().copied(), &mut frames);
        }
        let before = ALLOCATIONS.get();
        for _ in 0..100 {
            frames.clear();
            walker.walk(&state, sampled.iter().copied(), &mut frames);
        }
        assert_eq!(ALLOCATIONS.get() - before, 0, "{arch:?}");
        assert_eq!(frames.len(), 502);
    }
}

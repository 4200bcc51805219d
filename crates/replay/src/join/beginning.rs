//! The outermost frame of a stack that no sample shows to its root:
//! for the first thread of a program, and for a goroutine.
//!
//! ```text
//!   program    a function of the program, on the stack that the kernel made    _start, the call that does not return
//!   goroutine  a function of a Go program that is none of Go's runtime         runtime.goexit
//! ```
//!
//! Constructors run below `_start` without `main`, and so do functions at exit: only the outermost frame is proven.

use address::{ById as _, Svma};
use unwinder::{Arch, CodeLocation};

use crate::join::functions::CodeContext;
use crate::join::observed::ObservedStack;

/// Number of frames to examine, from the outermost one inwards.
const MOST_FRAMES: usize = 64;

/// Returns the outermost frame of a truncated chain if the frames of the chain prove it.
pub(crate) fn beginning(
    observed: &ObservedStack<'_>,
    code: CodeContext<'_>,
) -> Option<CodeLocation> {
    let mut last = None;
    let is_first_stack = is_first_stack(observed);
    for frame in observed.frames.iter().rev().take(MOST_FRAMES) {
        // Consecutive frames are mostly in the same file.
        let module = frame.location.module?;
        if last.is_none_or(|(known, _)| known != module) {
            let file = code.images.outcome(code.modules.by_id(module)?)?.ok()?;
            last = Some((module, file));
        }
        let file = last?.1;
        if file.image().arch() != Some(Arch::X86_64) {
            return None;
        }
        let is_it = is_first_stack && on_first_stack(frame.sp);
        let begins = code.engine.stack_begins(file, Svma(frame.location.relative), is_it);
        if let Some(Svma(relative)) = begins {
            return Some(CodeLocation { relative, ..frame.location });
        }
    }
    None
}

/// Returns true if the outermost frame of a chain is on the stack that the kernel made for the program.
fn is_first_stack(observed: &ObservedStack<'_>) -> bool {
    observed.frames.last().is_some_and(|frame| on_first_stack(frame.sp))
}

/// Returns true if a stack pointer is on the stack that the kernel made for the program: above all later mappings.
/// Without random addresses, mappings begin below the last 128 MiB; with them, below the 16 GiB range of the stack.
///
/// Source: `mmap_base` in `arch/x86/mm/mmap.c` of Linux: `SIZE_128M`, `stack_maxrandom_size`.
const fn on_first_stack(sp: u64) -> bool {
    /// End of process addresses.
    const END: u64 = 0x7fff_ffff_f000;
    const RANDOM: u64 = 16 << 30;
    /// Start of the mappings without random addresses; they grow downwards.
    const MAPPED: u64 = END - (128 << 20);
    /// Size of their region.
    const SIZE: u64 = 4 << 30;
    sp < END && (sp >= MAPPED || sp >= END - RANDOM && sp < MAPPED - SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stack_is_above_all_that_is_mapped() {
        let at = on_first_stack;
        // The stack at a random address, and without randomization.
        assert!(at(0x7ffd_1234_5678) && at(0x7fff_ffff_e000));
        // Thread stacks, with and without randomization; the heap of a program.
        assert!(!at(0x7f12_3456_7890) && !at(0x7fff_f7d0_0000) && !at(0x5555_5576_0000));
    }
}

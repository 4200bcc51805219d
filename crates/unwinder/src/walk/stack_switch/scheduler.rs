//! The chain below a switch of stacks, on the stack that was switched to. The runtime of Go runs some functions of
//! goroutines on the stack of the thread's scheduler. Their callers are on the goroutine's stack, which the dump
//! usually lacks. The dump has the start of the thread instead, and the calls between C and Go that led to the
//! goroutine.
//!
//! ```text
//!   recorded:  [ ... function | systemstack ][ frame of mstart0 | return address ][ mstart ... clone ]
//!                                            ^ noted when the thread began, or when C called Go; the return address is
//!                                              one frame above it, and follows a call of that function
//! ```
//!
//! Source: `systemstack`, `morestack`, `asmcgocall`, `cgocallback` in `src/runtime/asm_amd64.s`, `mstart1` in
//! src/runtime/proc.go of Go.

use address::Avma;
use profile::{EndReason, FoundBy};

use crate::arch::{CallTarget, WIDE};
use crate::cache::StackCache;
use crate::code::{ImageAddress, locate};
use crate::frame::Frame;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::{LastFunction, WalkOutcome};
use crate::walk::start::WalkStart;

/// Possible distances from the noted stack pointer down to a function's own: those that call C reserve bytes and align
/// it.
const DISTANCES: [u64; 5] = [0, 16, 24, 64, 72];
/// Maximum number of switches in one chain: C code that was called can have called Go.
const MOST_SWITCHES: u32 = 32;

impl Walker<'_> {
    /// Continues with the chain below a switch of stacks if that leads to a root; the part between is a gap. Otherwise
    /// the chain, which begins at `own_first`, is unchanged.
    #[cold]
    pub(in crate::walk) fn walk_below_switch(
        &mut self,
        mut outcome: WalkOutcome,
        own_first: usize,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let own = frames.len();
        let most = own_first.saturating_add(self.max_frames);
        let mut previous = StackCache::default();
        let mut context = outcome.context_beyond(context);
        let mut left = outcome.end.last.take();
        for _ in 0..MOST_SWITCHES {
            let Some(last) = left else { break };
            let LastFunction { lookup, registers } = &*last;
            let Some(registers) = self.scheduler_start(*lookup, registers, &context) else { break };
            let Ok(pc) = registers.get(context.arch.return_address, &context.memory) else { break };
            if frames.len() + 2 > most {
                break;
            }
            frames.push(Frame::GAP);
            let first = frames.len();
            let start = WalkStart::caller(Avma(pc));
            let below = self.walk_from(start, &mut previous, registers, &context, frames);
            if let Some(frame) = frames.get_mut(first) {
                frame.found_by = FoundBy::Scan;
            }
            match below.end.reason {
                EndReason::Root if frames.len() <= most => {
                    return below.with_reason(EndReason::RootAcrossGap);
                }
                EndReason::OtherStack => {
                    context = below.context_beyond(&context);
                    left = below.end.last;
                }
                _ => break,
            }
        }
        frames.truncate(own);
        outcome
    }

    /// Returns the registers in the caller of the function at the top of the scheduler's stack, if the function at
    /// `lookup` was switched to with `registers`. `None` unless exactly one word of the dump can be its return address.
    fn scheduler_start(
        &self,
        lookup: Avma,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<Registers> {
        let (memory, arch) = (&context.memory, context.arch);
        let file = locate(lookup, memory)?.file;
        let info = self.engine.unwind_info(file);
        let frames = info.go.scheduler_frames(file.image()).iter();
        let mut found = None;
        for (&(svma, frame), distance) in
            frames.flat_map(|frame| DISTANCES.map(|distance| (frame, distance)))
        {
            let mut caller = registers.clone();
            arch.conventions.callee_saved.iter().for_each(|&register| caller.forget(register));
            caller.set(arch.sp, registers.sp(arch).wrapping_add(distance));
            let Ok(read) = frame.run::<WIDE>(&mut caller, context) else { continue };
            if calls(read.return_address, ImageAddress { file, svma }, context)
                && found.replace(caller).is_some_and(|other| other.sp(arch) != read.cfa)
            {
                return None;
            }
        }
        found
    }
}

/// Returns true if the call before a return address calls a function at its first byte.
fn calls(return_address: u64, function: ImageAddress<'_>, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let len = arch.longest_call();
    let code = memory.code(Avma(return_address).sub(len as u64), len);
    let target = code.and_then(|code| arch.call_target(code, return_address));
    let Some(CallTarget::Address(target)) = target else { return false };
    locate(Avma(target), memory).is_some_and(|called| {
        called.file.serial == function.file.serial && called.svma == function.svma
    })
}

//! The caller after a `ret` that has executed: the registers are already the caller's, but its address is not recorded.
//! The stack shows it: the first word that follows a call of a function G, if G's frame at a call of the returned
//! function F would end with that word.
//!
//! ```text
//!   sp'  | frame of G, which called F and continues           |
//!        | return address of G, after a call of G             |  <- from a row of G, at a call of F
//! ```

use address::{Avma, Svma};
use profile::FoundBy;

use crate::cache::StackCache;
use crate::code::{Called, ImageAddress, MappedFunction, locate};
use crate::frame::Frame;
use crate::rule::Rule;
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::outcome::WalkOutcome;
use crate::walk::start::WalkStart;

/// Calls that are examined for one sample; those of one more function may exceed it.
const MOST_CALLS: usize = 8192;

/// The location to which a function returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReturnLocation {
    /// Return address in the process. If several are possible, the first: their frames are equal.
    pub(super) pc: Avma,
    /// Start of its function; `None` if the exact call is proven.
    pub(super) function: Option<Avma>,
}

impl Walker<'_> {
    /// Walks from the location to which the function at `pc` returned, with the registers after its return. Returns
    /// `None` if that location is not known.
    pub(super) fn walk_after_return(
        &mut self,
        pc: Avma,
        previous: &mut StackCache,
        registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> Option<WalkOutcome> {
        let location = self.returned_to(pc, &registers, context)?;
        Some(self.walk_from_return(location, previous, registers, context, frames))
    }

    /// Walks from a location to which a function returned, with the registers after its return.
    pub(super) fn walk_from_return(
        &mut self,
        location: ReturnLocation,
        previous: &mut StackCache,
        registers: Registers,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let second = frames.len();
        let start = WalkStart::caller(location.pc);
        let outcome = self.walk_from(start, previous, registers, context, frames);
        if let Some(frame) = frames.get_mut(second) {
            let shown = location.function.unwrap_or(location.pc.sub(1));
            let shown = self.frame_at(shown, context.memory.space, FoundBy::Scan);
            *frame = Frame { sp: frame.sp, saved: frame.saved, ..shown };
        }
        outcome
    }

    fn returned_to(
        &mut self,
        pc: Avma,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<ReturnLocation> {
        let (memory, arch) = (&context.memory, context.arch);
        let returned = locate(pc, memory).filter(|_| !memory.is_big_endian())?;
        let bias = pc.0.wrapping_sub(returned.svma.0);
        let sp = registers.sp(arch);
        let word_size = arch.word;
        let first = sp.wrapping_add(sp.wrapping_neg() % word_size);
        let (mut looked_at, mut passed) = (0, false);
        for index in 0..memory.stack.len() as u64 / word_size {
            let slot = first.wrapping_add(word_size * index);
            let word = memory.recorded(slot)?;
            if !follows_call(word, context) {
                continue;
            }
            if looked_at >= MOST_CALLS {
                return None;
            }
            let functions = self.cache.fallback.functions();
            let Some(function) = functions.callee(word, returned, bias, context) else {
                passed = true;
                continue;
            };
            looked_at += 1 + self.cache.fallback.functions().calls_of(function.at).len();
            let end = slot.wrapping_add(word_size);
            if let Some(location) =
                self.location_in(function, returned, end, passed, registers, context)
            {
                return Some(location);
            }
            passed = true;
        }
        None
    }

    /// Returns the location in `function` that has a frame which ends at `end`: after a call of the function that
    /// returned. If return addresses were `passed`, frames that are counted from the frame pointer prove nothing: the
    /// functions that return there may not have changed it.
    fn location_in(
        &mut self,
        function: MappedFunction<'_>,
        returned: ImageAddress<'_>,
        end: u64,
        passed: bool,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<ReturnLocation> {
        let MappedFunction { at, bias } = function;
        let mut locations = Vec::new();
        for &svma in self.cache.fallback.functions().calls_of(at).iter() {
            let pc = svma.wrapping_add(bias);
            let call = Svma(svma.wrapping_sub(1));
            let rule = self.rule_of(at.file.serial, call, Avma(pc).sub(1), context);
            let Rule::Simple(rule) = rule else { continue };
            let is_shown =
                rule.cfa(registers, &context.memory) == Some(end) && rule.return_address() == -1;
            if !is_shown || (passed && rule.cfa_register != context.arch.sp) {
                continue;
            }
            let called = self.cache.fallback.functions().called(pc, returned, context);
            if called != Called::Never {
                locations.push((Avma(pc), called));
            }
        }
        let (&(pc, called), others) = locations.split_first()?;
        let is_proven = others.is_empty() && called == Called::Proven;
        let start = Avma(at.svma.0.wrapping_add(bias));
        Some(ReturnLocation { pc, function: (!is_proven).then_some(start) })
    }
}

/// Returns true if a call precedes an address, in readable code.
pub(super) fn follows_call(return_address: u64, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let before = Avma(return_address).sub(1);
    let len = arch.longest_call();
    memory.space.lookup(before).is_some_and(|mapping| mapping.executable)
        && memory
            .code(Avma(return_address).sub(len as u64), len)
            .is_some_and(|code| arch.ends_with_call(code))
}

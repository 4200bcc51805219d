//! The caller of a function whose return address a return probe replaced (uretprobe: `perf probe 'f%return'`, bpftrace).
//! The stack has the address of the kernel's trampoline, the first byte of the page `[uprobes]`, in its place; the kernel
//! alone knows the true one. The registers are the caller's nevertheless.
//!
//! If only direct calls of its own file lead to the function, one of them is the caller: the one whose frame, by its call
//! frame information, has a return address that can be its own. Of any other function the caller is found as behind a `ret`
//! (`after_return`).
//!
//! ```text
//!   sp'  | frame of G, which called F and goes on             |
//!        | return address of G, behind a call of G            |  <- what a row of G, at a call of F, says; the trampoline
//!                                                                   again, if G is probed, too
//! ```
//!
//! Source: `arch_uretprobe_hijack_return_addr` in `arch/*/kernel/uprobes.c`; `uprobe_get_trampoline_vaddr` and
//! `MAX_URETPROBE_DEPTH` in kernel/events/uprobes.c.

use address::{Avma, Svma};
use module_map::Space;
use profile::{EndReason, FoundBy};

use crate::arch::{NARROW, WIDE};
use crate::cache::{StackCache, WalkState};
use crate::code::{Called, InFile, locate};
use crate::frame::Frame;
use crate::rule::{Rule, SimpleRule};
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::after_return::{ReturnPlace, follows_call};
use crate::walk::outcome::{ChainEnd, LastFunction, WalkOutcome};
use crate::walk::start::WalkStart;

/// Return probes of one chain, as many as the kernel has of one thread.
const MOST_PROBES: usize = 64;

/// A call of the probed function that can be the one that it was called by.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Its return address.
    pc: Avma,
    /// Where its function begins.
    function: Avma,
    /// The rule there, and where the frame ends (CFA); `None` for a function without a caller.
    frame: Option<(SimpleRule, u64)>,
}

/// What is known of the caller of a probed function.
#[derive(Debug)]
enum Caller {
    /// Others than direct calls lead to the function, or not all of them can be judged.
    Open,
    /// No call can be it, or those that can be it differ in where their frames end.
    Unknown,
    /// One function has it.
    At(ReturnPlace),
    /// Several functions can have it, in frames that are alike: their caller goes on at that address.
    Outside(Avma, Box<Registers>),
}

/// Returns true if an address is that of the trampoline of return probes.
pub(super) fn is_trampoline(address: Avma, space: &Space) -> bool {
    let mapping = space.lookup(address).filter(|mapping| mapping.start == address);
    let module = mapping.and_then(|mapping| space.module(&mapping));
    module.is_some_and(|module| &*module.path == b"[uprobes]")
}

/// Ends a chain, whose frames begin at `first`, at an address where there is no code of the process. If it is the
/// trampoline of return probes, the last function and the registers in its caller are noted.
#[cold]
pub(super) fn end_nowhere<const WORD: u64>(
    lookup: Avma,
    found_by: FoundBy,
    first: usize,
    walk: WalkState<'_, '_>,
) -> ChainEnd {
    let WalkState { context, registers, frames, .. } = walk;
    let (memory, arch) = (&context.memory, context.arch);
    let Some(probed) = frames.get(first..).unwrap_or_default().last() else {
        frames.push(Frame::nowhere(lookup, found_by));
        return EndReason::NotMapped.into();
    };
    if !is_trampoline(lookup.add(1), memory.space) {
        return EndReason::NotMapped.into();
    }
    let (lookup, registers) = (probed.in_process(), registers.clone());
    ChainEnd {
        reason: EndReason::ReturnProbe,
        cut_at: Some(registers.sp(arch)),
        last: Some(Box::new(LastFunction { lookup, registers })),
    }
}

impl Walker<'_> {
    /// Goes on from the caller of each probed function, as far as the stack proves which it is. Otherwise the chain, whose
    /// frames begin at `first`, ends with that function.
    #[cold]
    pub(super) fn walk_past_probes(
        &mut self,
        mut outcome: WalkOutcome,
        first: usize,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> WalkOutcome {
        let most = first.saturating_add(self.max_frames);
        for _ in 0..MOST_PROBES {
            let Some(probed) = outcome.end.last.take() else { break };
            let own = frames.len();
            let context = outcome.context_beyond(context);
            let next = self.walk_past_probe(*probed, &context, frames);
            if frames.len() > most {
                frames.truncate(most);
                return outcome.with_reason(EndReason::MaxFrames);
            }
            // What is not the caller leads to nowhere.
            let is_nowhere =
                |end: &ChainEnd| matches!(end.reason, EndReason::NotMapped | EndReason::NoProgress);
            let Some(next) = next.filter(|next| !is_nowhere(&next.end)) else {
                frames.truncate(own);
                return outcome;
            };
            outcome = WalkOutcome { has_gap: outcome.has_gap || next.has_gap, ..next };
            if outcome.end.reason != EndReason::ReturnProbe {
                break;
            }
        }
        outcome
    }

    /// Goes on from the caller of a probed function, up to the next one; `None` if the caller is not known.
    fn walk_past_probe(
        &mut self,
        probed: LastFunction,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> Option<WalkOutcome> {
        let mut previous = StackCache::default();
        let LastFunction { lookup, registers } = probed;
        match self.caller_of_probed(lookup, &registers, context).unwrap_or(Caller::Open) {
            Caller::Unknown => None,
            Caller::Open => {
                self.walk_after_return(lookup, &mut previous, registers, context, frames)
            }
            Caller::At(place) => {
                Some(self.walk_from_return(place, &mut previous, registers, context, frames))
            }
            Caller::Outside(pc, registers) => {
                frames.push(Frame::GAP);
                let first = frames.len();
                let start = WalkStart::caller(pc);
                let outcome = self.walk_from(start, &mut previous, *registers, context, frames);
                if let Some(frame) = frames.get_mut(first) {
                    frame.found_by = FoundBy::Scan;
                }
                let is_root = outcome.end.reason == EndReason::Root;
                is_root.then(|| outcome.with_reason(EndReason::RootAcrossGap))
            }
        }
    }

    /// The caller of a probed function, which has these registers, by the calls of the function in its file; `None` if the
    /// function's code cannot be looked at.
    fn caller_of_probed(
        &mut self,
        lookup: Avma,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        let probed = locate(lookup, &context.memory).filter(|_| context.arch.is_x86())?;
        let start = self.engine.function_start(probed.file, probed.svma, context.memory.images)?;
        let function = InFile { svma: Svma(start), ..probed };
        let references = self.cache.fallback.functions().references(function)?;
        if references.has_others() {
            return None;
        }
        let bias = lookup.0.wrapping_sub(probed.svma.0);
        let mut found = Vec::new();
        for &svma in &references.calls {
            let call = InFile { svma: Svma(svma), ..probed };
            match self.candidate(call, bias, registers, context) {
                Err(open) => return Some(open),
                Ok(candidate) => found.extend(candidate),
            }
        }
        Some(caller_of_these(&found, registers, context))
    }

    /// The frame at a call that returns to an address of a file; `None` if its return address cannot be that of its
    /// function.
    ///
    /// # Errors
    /// If it cannot be judged.
    fn candidate(
        &mut self,
        call: InFile<'_>,
        bias: u64,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Result<Option<Candidate>, Caller> {
        let (memory, arch) = (&context.memory, context.arch);
        let pc = Avma(call.svma.0.wrapping_add(bias));
        let before = call.svma.sub(1);
        let start = self.engine.function_start(call.file, before, memory.images);
        let start = start.ok_or(Caller::Open)?;
        let function = Avma(start.wrapping_add(bias));
        let rule = match self.rule_of(call.file.serial, before, pc.sub(1), context) {
            Rule::Simple(rule) if rule.return_address() == -1 && !rule.signal => rule,
            Rule::Outermost => return Ok(Some(Candidate { pc, function, frame: None })),
            _ => return Err(Caller::Open),
        };
        let end = rule.cfa(registers, memory).ok_or(Caller::Open)?;
        if end <= registers.sp(arch) {
            return Ok(None);
        }
        // The frame of the true caller may be behind the end of what was recorded.
        let slot = end.wrapping_sub(arch.word);
        let return_address = memory.recorded(slot).ok_or(Caller::Unknown)?;
        let at = InFile { svma: Svma(start), ..call };
        let can_be = is_trampoline(Avma(return_address), memory.space)
            || self.can_have_called(return_address, at, context);
        Ok(can_be.then_some(Candidate { pc, function, frame: Some((rule, end)) }))
    }

    /// Whether the call before a return address can have called a function. If the call is through a pointer, the function's
    /// address must be taken.
    fn can_have_called(
        &mut self,
        return_address: u64,
        function: InFile<'_>,
        context: &WalkContext<'_>,
    ) -> bool {
        if !follows_call(return_address, context) {
            return false;
        }
        let functions = self.cache.fallback.functions();
        match functions.called(return_address, function, context) {
            Called::Never => false,
            Called::Proven => true,
            Called::Perhaps => {
                functions.references(function).is_some_and(|it| it.is_taken || it.is_exported)
            }
        }
    }
}

/// What follows from the calls that can be it.
fn caller_of_these(
    found: &[Candidate],
    registers: &Registers,
    context: &WalkContext<'_>,
) -> Caller {
    let Some((&first, others)) = found.split_first() else { return Caller::Unknown };
    let end = |candidate: &Candidate| candidate.frame.map(|(_, end)| end);
    if others.iter().any(|other| end(other) != end(&first)) {
        return Caller::Unknown;
    }
    if others.iter().all(|other| other.function == first.function) {
        let function = (!others.is_empty()).then_some(first.function);
        return Caller::At(ReturnPlace { pc: first.pc, function });
    }
    let saved = |candidate: &Candidate| candidate.frame.map(|(rule, _)| rule.saved);
    let alike = others.iter().all(|other| saved(other) == saved(&first));
    let Some((rule, _)) = first.frame.filter(|_| alike) else { return Caller::Unknown };
    let mut outside = registers.clone();
    let read = match context.arch.word {
        NARROW => rule.run::<NARROW>(&mut outside, context),
        _ => rule.run::<WIDE>(&mut outside, context),
    };
    match read.map(|read| Avma(read.return_address)) {
        // The caller is probed itself, and not known.
        Ok(pc) if !is_trampoline(pc, context.memory.space) => {
            Caller::Outside(pc, Box::new(outside))
        }
        _ => Caller::Unknown,
    }
}

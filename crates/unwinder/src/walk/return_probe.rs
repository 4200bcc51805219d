//! The caller of a function with a return address that a return probe replaced (uretprobe: `perf probe 'f%return'`,
//! bpftrace). The stack has the address of the kernel's trampoline instead, the first byte of the page `[uprobes]`;
//! only the kernel has the true one. The caller's registers can nevertheless be restored.
//!
//! If only direct calls of its own file lead to the function, one of them is the caller. It is the call at which the
//! calling function's frame, by its CFI, ends with a plausible return address. For any other function, the caller is
//! found as after a `ret` (`after_return`).
//!
//! ```text
//!   sp'  | frame of G, which called F and continues           |
//!        | return address of G, after a call of G             |  <- from a row of G, at a call of F; the trampoline
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
use crate::code::{Called, ImageAddress, locate};
use crate::frame::Frame;
use crate::rule::{Rule, SimpleRule};
use crate::state::{Registers, WalkContext};
use crate::walk::Walker;
use crate::walk::after_return::{ReturnLocation, follows_call};
use crate::walk::outcome::{ChainEnd, LastFunction, WalkOutcome};
use crate::walk::start::WalkStart;

/// Maximum number of return probes in one chain: the kernel's limit for a thread.
const MOST_PROBES: usize = 64;

/// A call of the probed function that may be its caller.
#[derive(Clone, Copy, Debug)]
struct CallerCandidate {
    /// Its return address.
    pc: Avma,
    /// Start of the function that contains the call.
    function: Avma,
    /// The rule there, and the end of the frame (CFA); `None` for a function without a caller.
    frame: Option<(SimpleRule, u64)>,
}

/// The result of the search for a probed function's caller.
#[derive(Debug)]
enum ProbedCaller {
    /// More than direct calls lead to the function, or some of them cannot be checked.
    Open,
    /// No call is possible, or the possible ones disagree on the ends of their frames.
    Unknown,
    /// One function is the caller.
    At(ReturnLocation),
    /// Several functions are possible, with equal frames: their caller continues at that address.
    Outside(Avma, Box<Registers>),
}

/// Returns true if an address is the trampoline of return probes.
pub(super) fn is_trampoline(address: Avma, space: &Space) -> bool {
    let mapping = space.lookup(address).filter(|mapping| mapping.start == address);
    let module = mapping.and_then(|mapping| space.module(&mapping));
    module.is_some_and(|module| &*module.path == b"[uprobes]")
}

/// Ends a chain, which begins at `first`, at an address without code of the process. At the trampoline of return
/// probes, it records the last function and the registers of its caller.
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
        truncated_at: Some(registers.sp(arch)),
        last: Some(Box::new(LastFunction { lookup, registers })),
    }
}

impl Walker<'_> {
    /// Continues from the caller of each probed function while the stack proves it. Otherwise the chain, which begins
    /// at `first`, ends with that function.
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
            // A wrong caller leads nowhere.
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

    /// Walks from the caller of a probed function to the next probed one. Returns `None` if the caller is not known.
    fn walk_past_probe(
        &mut self,
        probed: LastFunction,
        context: &WalkContext<'_>,
        frames: &mut Vec<Frame>,
    ) -> Option<WalkOutcome> {
        let mut previous = StackCache::default();
        let LastFunction { lookup, registers } = probed;
        match self.caller_of_probed(lookup, &registers, context).unwrap_or(ProbedCaller::Open) {
            ProbedCaller::Unknown => None,
            ProbedCaller::Open => {
                self.walk_after_return(lookup, &mut previous, registers, context, frames)
            }
            ProbedCaller::At(location) => {
                Some(self.walk_from_return(location, &mut previous, registers, context, frames))
            }
            ProbedCaller::Outside(pc, registers) => {
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

    /// Finds the caller of a probed function, which has these registers, among the calls of the function in its file.
    /// `None` if the function's code cannot be examined.
    fn caller_of_probed(
        &mut self,
        lookup: Avma,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<ProbedCaller> {
        let probed = locate(lookup, &context.memory).filter(|_| context.arch.is_x86())?;
        let start = self.engine.function_start(probed.file, probed.svma, context.memory.images)?;
        let function = ImageAddress { svma: Svma(start), ..probed };
        let references = self.cache.fallback.functions().references(function)?;
        if references.has_others() {
            return None;
        }
        let bias = lookup.0.wrapping_sub(probed.svma.0);
        let mut found = Vec::new();
        for &svma in &references.calls {
            let call = ImageAddress { svma: Svma(svma), ..probed };
            match self.candidate(call, bias, registers, context) {
                Err(open) => return Some(open),
                Ok(candidate) => found.extend(candidate),
            }
        }
        Some(caller_of_these(&found, registers, context))
    }

    /// Returns the frame at a call that returns to an address of a file; `None` if its return address cannot be that of
    /// its function.
    ///
    /// # Errors
    /// The result of the whole search, if the call cannot be checked.
    fn candidate(
        &mut self,
        call: ImageAddress<'_>,
        bias: u64,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Result<Option<CallerCandidate>, ProbedCaller> {
        let (memory, arch) = (&context.memory, context.arch);
        let pc = Avma(call.svma.0.wrapping_add(bias));
        let before = call.svma.sub(1);
        let start = self.engine.function_start(call.file, before, memory.images);
        let start = start.ok_or(ProbedCaller::Open)?;
        let function = Avma(start.wrapping_add(bias));
        let rule = match self.rule_of(call.file.serial, before, pc.sub(1), context) {
            Rule::Simple(rule) if rule.return_address() == -1 && !rule.signal => rule,
            Rule::Outermost => return Ok(Some(CallerCandidate { pc, function, frame: None })),
            _ => return Err(ProbedCaller::Open),
        };
        let end = rule.cfa(registers, memory).ok_or(ProbedCaller::Open)?;
        if end <= registers.sp(arch) {
            return Ok(None);
        }
        // The frame of the true caller may be past the end of the dump.
        let slot = end.wrapping_sub(arch.word);
        let return_address = memory.recorded(slot).ok_or(ProbedCaller::Unknown)?;
        let at = ImageAddress { svma: Svma(start), ..call };
        let can_be = is_trampoline(Avma(return_address), memory.space)
            || self.can_have_called(return_address, at, context);
        Ok(can_be.then_some(CallerCandidate { pc, function, frame: Some((rule, end)) }))
    }

    /// Returns true if the call before a return address can have called a function. If the call is through a pointer,
    /// the function's address must be taken.
    fn can_have_called(
        &mut self,
        return_address: u64,
        function: ImageAddress<'_>,
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

/// Derives the caller from the calls that are possible.
fn caller_of_these(
    found: &[CallerCandidate],
    registers: &Registers,
    context: &WalkContext<'_>,
) -> ProbedCaller {
    let Some((&first, others)) = found.split_first() else { return ProbedCaller::Unknown };
    let end = |candidate: &CallerCandidate| candidate.frame.map(|(_, end)| end);
    if others.iter().any(|other| end(other) != end(&first)) {
        return ProbedCaller::Unknown;
    }
    if others.iter().all(|other| other.function == first.function) {
        let function = (!others.is_empty()).then_some(first.function);
        return ProbedCaller::At(ReturnLocation { pc: first.pc, function });
    }
    let saved = |candidate: &CallerCandidate| candidate.frame.map(|(rule, _)| rule.saved);
    let are_equal = others.iter().all(|other| saved(other) == saved(&first));
    let Some((rule, _)) = first.frame.filter(|_| are_equal) else { return ProbedCaller::Unknown };
    let mut outside = registers.clone();
    let read = match context.arch.word {
        NARROW => rule.run::<NARROW>(&mut outside, context),
        _ => rule.run::<WIDE>(&mut outside, context),
    };
    match read.map(|read| Avma(read.return_address)) {
        // The caller is itself probed, and unknown.
        Ok(pc) if !is_trampoline(pc, context.memory.space) => {
            ProbedCaller::Outside(pc, Box::new(outside))
        }
        _ => ProbedCaller::Unknown,
    }
}

//! Steps from frames without a rule, or with a rule that cannot be run.

use address::{Avma, Svma};
use module_map::MappedKind;
use profile::{EndReason, FoundBy};

use crate::arch::Arch;
use crate::cache::{CachedMapping, StackCache};
use crate::code::{ImageAddress, locate};
use crate::fallback::{NoCaller, ReturnSlot, frame_record, is_record_truncated};
use crate::frame::{Caller, Step};
use crate::rule::Rule;
use crate::state::{Registers, SampleMemory, WalkContext, WalkMode};
use crate::walk::outcome::{ChainEnd, LastFunction};
use crate::walk::start::WalkStart;
use crate::walk::step::is_truncated;
use crate::walk::{Walker, file_at};

/// A frame and its mapping.
pub(super) struct LookedUpFrame<'w> {
    pub(super) mapping: &'w CachedMapping,
    /// The looked-up address.
    pub(super) lookup: Avma,
    /// The same address as the mapping's file states it.
    pub(super) svma: Svma,
    /// True if it is a leaf: no callee of it is active.
    pub(super) is_leaf: bool,
}

impl<'m> LookedUpFrame<'_> {
    /// Returns the location of its code in a file, if that can be read.
    pub(super) fn code(&self, memory: &SampleMemory<'m>) -> Option<ImageAddress<'m>> {
        let file = self.mapping.file.and_then(|_| file_at(self.lookup, memory))?;
        Some(ImageAddress { file, svma: self.svma })
    }
}

impl Walker<'_> {
    /// Steps from a frame that no rule covers.
    #[cold]
    pub(super) fn step_without_rule(
        &mut self,
        rule: Rule,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Step, ChainEnd> {
        if context.mode == WalkMode::Trial {
            return Err(EndReason::NoUnwindInfo.into());
        }
        let is_foreign = context.arch.is(Arch::X86) && callee.mapping.kind == MappedKind::Vdso;
        if is_foreign && callee.mapping.file.is_none() {
            return self.step_from_vdso(callee, registers, context).map_err(ChainEnd::from);
        }
        let code = callee.code(&context.memory).or_else(|| {
            let is_called = !callee.is_leaf && callee.mapping.kind == MappedKind::Anonymous;
            let mapping = Avma(callee.mapping.start);
            let fallback = &mut self.cache.fallback;
            is_called
                .then(|| fallback.original(callee.lookup, mapping, registers, context))
                .flatten()
        });
        if let Some(step) = self.step_out_of_sigreturn(callee, registers, context) {
            return Ok(step);
        }
        if self.is_clone_child(callee, registers, context) {
            return Ok(Step::outermost());
        }
        let step = |caller| Ok(Step::to(caller));
        let before = registers.clone();
        if Self::is_coroutine_entry(callee, registers, context) {
            return step(None);
        }
        if let Some(caller) = Self::step_from_compiled_entry(callee, registers, context) {
            return step(Some(caller));
        }
        match self.cache.fallback.step(code, callee.is_leaf, registers, context) {
            Ok(caller) => {
                return Ok(match code {
                    Some(_) => Step::to(Some(caller)),
                    None => self.step_in_memory(caller, callee, &before, registers, context),
                });
            }
            Err(NoCaller::Root) => return step(None),
            Err(NoCaller::Truncated(_)) if rule == Rule::OtherStack => {}
            Err(NoCaller::Truncated(end)) => return Err(ChainEnd::truncated_at(end)),
            Err(NoCaller::Unknown) => {}
        }
        if rule != Rule::OtherStack {
            registers.clone_from(&before);
        }
        self.search_caller(rule, code, callee, registers, context)
    }

    /// Steps by the words of the stack, if neither a rule nor the code up to the return leads to the caller.
    fn search_caller(
        &mut self,
        rule: Rule,
        code: Option<ImageAddress<'_>>,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Step, ChainEnd> {
        let step = |caller| Ok(Step::to(caller));
        // For a damaged description, only the code up to the return is a sufficient substitute.
        if let Some(at) = code.filter(|_| !matches!(rule, Rule::OtherStack | Rule::Damaged)) {
            match self.step_from_start(at, callee.lookup, callee.is_leaf, registers, context) {
                Err(NoCaller::Truncated(end)) => return Err(ChainEnd::truncated_at(end)),
                found => {
                    if let Ok(caller) = found {
                        return step(Some(caller));
                    }
                }
            }
        }
        let found = match code {
            // A word of this stack proves nothing if the caller's frame is on another.
            Some(at) if rule == Rule::OtherStack => self.step_to_left_stack(at, registers, context),
            code => self.scan(code, callee.is_leaf, registers, context),
        };
        if let Some(caller) = found {
            return step(Some(caller));
        }
        let last = (rule == Rule::OtherStack).then(|| {
            Box::new(LastFunction { lookup: callee.lookup, registers: registers.clone() })
        });
        let reason = reason_without_caller(rule, callee.mapping, registers, context);
        let record = frame_record(registers, context);
        let truncated_at = record
            .map(|at| at.wrapping_add(2 * context.arch.word))
            .filter(|_| is_truncated(reason, false));
        Err(ChainEnd { reason, truncated_at, last })
    }

    /// Steps from a frame with a rule that needs unavailable data. If no other method proves a caller, the chain ends
    /// with `end`.
    #[cold]
    pub(super) fn step_past_rule(
        &mut self,
        end: ChainEnd,
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Step, ChainEnd> {
        let is_lost = matches!(
            end.reason,
            EndReason::MemoryNotRecorded | EndReason::RegisterUnknown | EndReason::BadUnwindInfo
        );
        let is_tried = is_lost && context.arch.is_x86() && context.mode != WalkMode::Trial;
        let Some(code) = callee.code(&context.memory).filter(|_| is_tried) else {
            return Err(end);
        };
        let before = registers.clone();
        let by_code =
            self.cache.fallback.by_code(code, callee.is_leaf, true, registers, context).ok();
        let by_start = |walker: &mut Self, registers: &mut Registers| {
            registers.clone_from(&before);
            walker.step_from_start(code, callee.lookup, callee.is_leaf, registers, context).ok()
        };
        let caller = by_code.or_else(|| by_start(self, registers)).or_else(|| {
            registers.clone_from(&before);
            self.scan(Some(code), callee.is_leaf, registers, context)
        });
        caller.map(|caller| Step::to(Some(caller))).ok_or(end)
    }

    /// Returns the caller if exactly one word of the dump follows a call of this function and leads to a root.
    fn scan(
        &mut self,
        code: Option<ImageAddress<'_>>,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        let code = code?;
        let mut fallback = std::mem::take(&mut self.cache.fallback);
        let is_start = |pc: u64| self.is_in_entry_code(pc, &context.memory);
        let slots = fallback.slots(code, is_leaf, registers, context, is_start);
        let mut leading = slots.into_iter().filter(|slot| {
            fallback.is_thread_start(slot, &context.memory)
                || self.leads_to_root(slot, registers, context)
        });
        let found = leading.next().filter(|_| leading.next().is_none());
        self.cache.fallback = fallback;
        let slot = found?;
        *registers = slot.apply(registers, context.arch);
        Some(Caller { pc: slot.pc(), exact: false, found_by: FoundBy::Scan })
    }

    /// Returns true if call frame information alone leads from a slot to a root.
    fn leads_to_root(
        &mut self,
        slot: &ReturnSlot,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> bool {
        let registers = slot.apply(registers, context.arch);
        let (mut previous, mut frames) = (StackCache::default(), Vec::new());
        let (context, start) = (context.for_trial(), WalkStart::caller(slot.pc()));
        let outcome = self.walk_from(start, &mut previous, registers, &context, &mut frames);
        let left = context.trial_frames.get().saturating_sub(frames.len());
        context.trial_frames.set(left);
        outcome.end.reason == EndReason::Root
    }

    /// Returns true if a return address is in the code at which a process begins.
    fn is_in_entry_code(&self, return_address: u64, memory: &SampleMemory<'_>) -> bool {
        locate(Avma(return_address).sub(1), memory).is_some_and(|at| {
            let info = self.engine.unwind_info(at.file);
            self.engine.is_entry_code(&info, at.svma, memory.images)
        })
    }
}

/// Returns the reason for a chain that ends because there is no rule and no fallback succeeded.
fn reason_without_caller(
    rule: Rule,
    mapping: &CachedMapping,
    registers: &Registers,
    context: &WalkContext<'_>,
) -> EndReason {
    let is_of_file = mapping.file.is_some() || mapping.module.is_none();
    let reason = match (rule, is_of_file, mapping.kind) {
        (Rule::Damaged, ..) => return EndReason::BadUnwindInfo,
        (Rule::OtherStack, ..) => return EndReason::OtherStack,
        (_, true, _) => EndReason::NoUnwindInfo,
        (_, false, MappedKind::Anonymous | MappedKind::KernelPage | MappedKind::Unopened) => {
            EndReason::AnonymousMemory
        }
        (_, false, _) => return EndReason::NoModule,
    };
    if is_record_truncated(registers, context) { EndReason::StackExhausted } else { reason }
}

//! Steps from frames for which there is no rule, or one that cannot be run.

use address::{Avma, Svma};
use module_map::MappedKind;
use profile::{EndReason, FoundBy};

use crate::arch::Arch;
use crate::cache::CachedMapping;
use crate::code::InFile;
use crate::fallback::{NoCaller, Slot, is_cut_off};
use crate::frame::{Caller, Step};
use crate::rule::Rule;
use crate::state::{Memory, Registers};
use crate::walk::{Walker, file_at, is_cut};

/// A frame whose caller has to be found without a rule.
pub(super) struct Uncovered<'w> {
    pub(super) mapping: &'w CachedMapping,
    pub(super) lookup: Avma,
    pub(super) svma: Svma,
    pub(super) is_leaf: bool,
}

/// Frames of call frame information that a scanned word has to lead through to a root, at most.
const LONGEST_WAY: usize = 4096;

impl<'m> Uncovered<'_> {
    /// Where its code can be read.
    fn code(&self, memory: &Memory<'m>) -> Option<InFile<'m>> {
        let file = self.mapping.file.and_then(|_| file_at(self.lookup, memory))?;
        Some(InFile { file, svma: self.svma })
    }
}

impl Walker<'_> {
    /// The step from a frame that no rule covers.
    #[cold]
    pub(super) fn step_without_rule(
        &mut self,
        rule: Rule,
        place: &Uncovered<'_>,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<Step, EndReason> {
        let code = place.code(memory);
        let step = |caller| Ok(Step { caller, evidence: None });
        match self.cache.fallback.step(code, place.is_leaf, registers, memory, arch) {
            Ok(caller) => {
                self.is_guessed |= code.is_none() && caller.found_by == FoundBy::FramePointer;
                return step(Some(caller));
            }
            Err(NoCaller::Root) => return step(None),
            Err(NoCaller::Cut(end)) => {
                self.cut_at = Some(end);
                return Err(EndReason::StackExhausted);
            }
            Err(NoCaller::Unknown) => {}
        }
        if let Some(caller) = self.scan(code, place.is_leaf, registers, memory, arch) {
            return step(Some(caller));
        }
        let why = reason_without_caller(rule, place.mapping, registers, memory, arch);
        let record = registers.get(arch.fp(), memory).ok();
        self.cut_at = record.map(|fp| fp.wrapping_add(16)).filter(|_| is_cut(why, false));
        Err(why)
    }

    /// The step from a frame whose rule states what is not to be had; where nothing else is proven, it ends for that.
    #[cold]
    pub(super) fn step_beside_rule(
        &mut self,
        why: EndReason,
        place: &Uncovered<'_>,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<Step, EndReason> {
        let is_lost = matches!(
            why,
            EndReason::MemoryNotRecorded | EndReason::RegisterUnknown | EndReason::BadUnwindInfo
        );
        let code = place.code(memory).filter(|_| is_lost && arch == Arch::X86_64).ok_or(why)?;
        let before = registers.clone();
        let how = (place.is_leaf, true);
        let by_code = self.cache.fallback.by_code(code, how, registers, memory, arch).ok();
        let caller = by_code.or_else(|| {
            registers.clone_from(&before);
            self.scan(Some(code), place.is_leaf, registers, memory, arch)
        });
        Ok(Step { caller: Some(caller.ok_or(why)?), evidence: None })
    }

    /// The one word of the dump that follows a call of the function at hand and leads to a root.
    fn scan(
        &mut self,
        code: Option<InFile<'_>>,
        is_leaf: bool,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<Caller> {
        let code = code?;
        let mut fallback = std::mem::take(&mut self.cache.fallback);
        let is_start = |pc: u64| {
            let rule = self.rule_at(Avma(pc).sub(1), false, memory);
            rule.is_some_and(|(_, _, rule)| rule == Rule::Outermost)
        };
        let slots = fallback.slots(code, is_leaf, (registers, memory, arch), is_start);
        let mut leading = slots.into_iter().filter(|slot| {
            fallback.is_thread_start(slot, memory)
                || self.leads_to_root(slot, registers, memory, arch)
        });
        let found = leading.next().filter(|_| leading.next().is_none());
        drop(leading);
        self.cache.fallback = fallback;
        let slot = found?;
        *registers = slot.apply(registers, arch);
        Some(Caller { pc: slot.pc(), exact: false, found_by: FoundBy::Scan })
    }

    /// Whether call frame information alone leads from a slot to a root.
    fn leads_to_root(
        &mut self,
        slot: &Slot,
        registers: &Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> bool {
        let mut registers = slot.apply(registers, arch);
        let mut lookup = slot.pc().sub(1);
        let mut is_leaf = false;
        for _ in 0..LONGEST_WAY {
            match self.plain_step(lookup, is_leaf, &mut registers, memory, arch) {
                None => return false,
                Some(PlainStep::Outermost) => return true,
                Some(PlainStep::Caller { pc, signal }) => {
                    is_leaf = signal;
                    lookup = if signal { pc } else { pc.sub(1) };
                }
            }
        }
        false
    }

    /// Where an address is looked up, in the process and in its file, and its rule.
    fn rule_at(
        &mut self,
        lookup: Avma,
        is_leaf: bool,
        memory: &Memory<'_>,
    ) -> Option<(Avma, Svma, Rule)> {
        let (lookup, mapping) = self.caller_mapping(lookup, is_leaf, memory.space)?;
        let svma = Svma(lookup.0.wrapping_sub(mapping.bias));
        Some((lookup, svma, self.rule(mapping.file?, svma, lookup, memory)))
    }

    /// A step by call frame information alone.
    fn plain_step(
        &mut self,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<PlainStep> {
        let sp = registers.sp(arch);
        let (lookup, svma, rule) = self.rule_at(lookup, is_leaf, memory)?;
        let (pc, signal) = match rule {
            Rule::Simple(rule) => {
                (rule.run(registers, memory, arch).ok()?.return_address, rule.signal)
            }
            Rule::Full { row, signal } => {
                let row = self.full_row(row, svma, lookup, memory)?;
                (row.run(registers, memory, arch).ok()?, signal)
            }
            Rule::Outermost => return Some(PlainStep::Outermost),
            Rule::NoInfo | Rule::Damaged => return None,
        };
        if registers.sp(arch) <= sp {
            return None;
        }
        // Zeros are everywhere: a return address of 0 proves nothing here.
        let pc = Some(arch.strip(pc)).filter(|&pc| pc != 0)?;
        Some(PlainStep::Caller { pc: Avma(pc), signal })
    }
}

/// Where a step by call frame information leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PlainStep {
    Outermost,
    Caller { pc: Avma, signal: bool },
}

/// Why a chain ends where no rule is to be had and no fallback worked.
fn reason_without_caller(
    rule: Rule,
    mapping: &CachedMapping,
    registers: &Registers,
    memory: &Memory<'_>,
    arch: Arch,
) -> EndReason {
    let is_of_file = mapping.file.is_some() || mapping.module.is_none();
    let reason = match (rule, is_of_file, mapping.kind) {
        (Rule::Damaged, ..) => return EndReason::BadUnwindInfo,
        (_, true, _) => EndReason::NoUnwindInfo,
        (_, false, MappedKind::Anonymous | MappedKind::Unopened) => EndReason::AnonymousMemory,
        (_, false, _) => return EndReason::NoModule,
    };
    if is_cut_off(registers, memory, arch) { EndReason::StackExhausted } else { reason }
}

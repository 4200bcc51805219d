//! The step from a frame with a known function start: the code from there to the frame leads to the return address.
//!
//! A start is known from a symbol, the function's CFI, or the entry code that passes `main` to the C library. A direct
//! call on the stack, or a frame record that the frame pointer still refers to, also gives it.

use std::ops::Range;

use address::{Avma, Svma};
use profile::FoundBy;

use crate::arch::{Arch, CallTarget, Processor, UNUSED, processor};
use crate::code::{Called, Depth, FunctionStart, ImageAddress, RegisterLocation};
use crate::fallback::NoCaller;
use crate::frame::Caller;
use crate::rule::{Rule, SimpleRule};
use crate::state::{MemoryError, RegisterError, Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::lost::is_in_file;

/// Maximum distance from a function's start that a call on the stack names.
const LONGEST: u64 = 1 << 20;

impl Walker<'_> {
    /// Returns the caller of a frame by the depth of its stack, if the start of its function is known. Sets the
    /// registers to the caller's.
    ///
    /// # Errors
    /// `Cut` if the return address is past the recorded bytes, `Unknown` if nothing is proven.
    #[cold]
    pub(in crate::walk) fn step_from_start(
        &mut self,
        at: ImageAddress<'_>,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Caller, NoCaller> {
        let arch = context.arch;
        if arch.is(Arch::X86) {
            return Err(NoCaller::Unknown);
        }
        for start in self.starts_of(at, lookup, context).into_iter().flatten() {
            let depth = self.cache.fallback.functions().depth(start, at, is_leaf);
            let Some(depth) = depth else { continue };
            let Some(entry) = depth.entry(registers, context) else { continue };
            match depth.return_address(entry, registers, context) {
                Err(RegisterError::Memory(MemoryError::PastDump)) => {
                    return Err(NoCaller::Truncated(entry.wrapping_add(arch.pushed_by_call())));
                }
                Err(_) => {}
                Ok(word) if self.is_called(word, at, context) => {
                    return Ok(depth.apply(entry, word, is_leaf, registers, arch));
                }
                Ok(_) => {}
            }
        }
        let found = self.by_calls(at, lookup, is_leaf, registers, context);
        let found = found.or_else(|| {
            let depth = self.cache.fallback.functions().depth_by_record(at, is_leaf)?;
            depth.sp?;
            let entry = depth.entry(registers, context)?;
            let word = depth.return_address(entry, registers, context).ok()?;
            self.is_called(word, at, context).then_some((depth, entry, word))
        });
        let (depth, entry, word) = found.ok_or(NoCaller::Unknown)?;
        Ok(depth.apply(entry, word, is_leaf, registers, arch))
    }

    fn is_called(&mut self, word: u64, at: ImageAddress<'_>, context: &WalkContext<'_>) -> bool {
        self.cache.fallback.called(word, at, context) != Called::Never
    }

    /// Returns the starts that the file states.
    fn starts_of(
        &mut self,
        at: ImageAddress<'_>,
        lookup: Avma,
        context: &WalkContext<'_>,
    ) -> [Option<FunctionStart>; 3] {
        let images = context.memory.images;
        let info = self.engine.unwind_info(at.file);
        let symbol = info.functions.of(at.svma, at.file, images);
        let symbol = symbol.map(|range| FunctionStart { svma: range.start, end: Some(range.end) });
        let described = self.described_start(at, lookup, context);
        let main = self.cache.fallback.functions().main_of(at);
        let main = main.filter(|&main| at.svma.since(main) < LONGEST);
        [symbol, described, main.map(|svma| FunctionStart { svma, end: None })]
    }

    /// Returns the code range of the description that covers an address.
    pub(super) fn description_of(
        &mut self,
        at: ImageAddress<'_>,
        memory: &SampleMemory<'_>,
    ) -> Option<Range<Svma>> {
        let last = &mut self.cache.scratch.last_cie;
        self.engine.unwind_info(at.file).sections.described(at.svma, memory.images, last)
    }

    /// Returns the start of the function that CFI describes, if calls enter it there. Function parts that a compiler
    /// moved elsewhere are entered by jumps.
    pub(super) fn described_start(
        &mut self,
        at: ImageAddress<'_>,
        lookup: Avma,
        context: &WalkContext<'_>,
    ) -> Option<FunctionStart> {
        let Range { start, end } = self.description_of(at, &context.memory)?;
        let first = lookup.sub(at.svma.since(start));
        let arch = at.file.image().arch().and_then(processor)?;
        let rule = self.rule_of(at.file.serial, start, first, &WalkContext { arch, ..*context });
        let is_entry = matches!(rule, Rule::Simple(SimpleRule { cfa_register, cfa_offset, .. })
            if cfa_register == arch.sp && i64::from(cfa_offset) == arch.pushed_by_call().cast_signed());
        is_entry.then_some(FunctionStart { svma: start, end: Some(end) })
    }

    /// Returns the only return address of a direct call of this function in the dump, if the code from the call's
    /// target also locates it there. For a leaf, this can be the link register.
    fn by_calls(
        &mut self,
        at: ImageAddress<'_>,
        lookup: Avma,
        is_leaf: bool,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Option<(Depth, u64, u64)> {
        let (memory, arch) = (&context.memory, context.arch);
        let len = arch.longest_call();
        let (sp, word_size) = (registers.sp(arch), arch.word);
        let first = sp.wrapping_add(sp.wrapping_neg() % word_size);
        let slots =
            (0..memory.stack.len() as u64 / word_size).map(|at| first.wrapping_add(word_size * at));
        let is_linked = is_leaf && !arch.is_x86();
        let link = registers.get(arch.return_address, memory).ok().filter(|_| is_linked);
        let words = slots.map_while(|slot| Some((Some(slot), memory.recorded(slot)?)));
        let mut found: Option<(Depth, u64, u64)> = None;
        for (slot, word) in link.map(|word| (None, word)).into_iter().chain(words) {
            let word = arch.strip(word);
            if !is_in_file(Avma(word).sub(1), memory) {
                continue;
            }
            let code = memory.code(Avma(word).sub(len as u64), len);
            let target = code.and_then(|code| arch.call_target(code, word));
            let Some(CallTarget::Address(target)) = target else { continue };
            let distance = lookup.0.wrapping_sub(target);
            if distance >= LONGEST
                || self.cache.fallback.called(word, at, context) != Called::Proven
            {
                continue;
            }
            let start = FunctionStart { svma: Svma(at.svma.0.wrapping_sub(distance)), end: None };
            let depth = self.cache.fallback.functions().depth(start, at, is_leaf);
            let Some(depth) = depth else { continue };
            let entry = depth.entry(registers, context);
            let Some(entry) = entry.filter(|&entry| depth.returns_by(entry, slot)) else {
                continue;
            };
            if found.replace((depth, entry, word)).is_some_and(|(_, known, _)| known != entry) {
                return None;
            }
        }
        found
    }
}

impl Depth {
    /// Returns the stack pointer at entry; `None` if unknown, or if the stack pointer and the frame pointer contradict
    /// each other.
    fn entry(&self, registers: &Registers, context: &WalkContext<'_>) -> Option<u64> {
        let (memory, arch) = (&context.memory, context.arch);
        let sp = registers.sp(arch);
        let by_sp = self.sp.map(|depth| sp.wrapping_add_signed(depth.wrapping_neg()));
        let fp = self.fp.zip(registers.get(arch.fp, memory).ok());
        let by_fp = fp.map(|(depth, fp)| fp.wrapping_add_signed(depth.wrapping_neg()));
        let entry = match (by_sp, by_fp) {
            (Some(one), Some(other)) if one != other => None,
            (one, other) => one.or(other),
        };
        entry.filter(|&entry| entry >= sp && entry.is_multiple_of(arch.word))
    }

    /// Returns true if the return address is in stack slot `slot` or, without a slot, in the register of a leaf.
    fn returns_by(&self, entry: u64, slot: Option<u64>) -> bool {
        match (self.return_address, slot) {
            (RegisterLocation::Slot(offset), Some(slot)) => {
                entry.wrapping_add_signed(offset) == slot
            }
            (RegisterLocation::Same, None) => true,
            _ => false,
        }
    }

    /// Returns the return address of a frame with a known entry.
    fn return_address(
        &self,
        entry: u64,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> Result<u64, RegisterError> {
        let (memory, arch) = (&context.memory, context.arch);
        let word = match self.return_address {
            RegisterLocation::Slot(offset) => {
                memory.read(entry.wrapping_add_signed(offset)).map_err(RegisterError::Memory)?
            }
            RegisterLocation::Same => registers.get(arch.return_address, memory)?,
            RegisterLocation::Unknown => return Err(RegisterError::Unknown),
        };
        Ok(arch.strip(word))
    }

    /// Sets the registers to those of the caller.
    fn apply(
        &self,
        entry: u64,
        return_address: u64,
        is_leaf: bool,
        registers: &mut Registers,
        arch: Processor,
    ) -> Caller {
        let is_untouched = arch.is_x86() || self.return_address == RegisterLocation::Same;
        let is_top = entry == registers.sp(arch) && is_leaf && is_untouched;
        for (register, location) in arch.conventions.preserved.into_iter().zip(self.saved) {
            if register == UNUSED || register == arch.return_address {
                continue;
            }
            match location {
                RegisterLocation::Same => {}
                RegisterLocation::Slot(slot) => {
                    registers.set_saved(register, entry.wrapping_add_signed(slot));
                }
                RegisterLocation::Unknown => registers.forget(register),
            }
        }
        registers.set(arch.sp, entry.wrapping_add(arch.pushed_by_call()));
        registers.set(arch.return_address, return_address);
        let found_by = if is_top { FoundBy::LeafRule } else { FoundBy::Code };
        Caller { pc: Avma(return_address), exact: false, found_by }
    }
}

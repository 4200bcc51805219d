//! Frame pointers in memory without a file, used by just-in-time compilers. Such code need not maintain the frame
//! pointer: it can lead to a frame further out. Then the frames between the two are a gap.
//!
//! ```text
//!   rsp -> | ... | current rbp | return address in memory without a file | ... | <- rbp: a record further out
//! ```

use address::Avma;
use module_map::MappedKind;
use profile::FoundBy;

use crate::arch::CallTarget;
use crate::code::locate;
use crate::fallback::{by_leaf_rule, frame_record};
use crate::frame::{Caller, Remark, Step};
use crate::state::{Registers, SampleMemory, WalkContext};
use crate::walk::Walker;
use crate::walk::without_cfi::LookedUpFrame;

/// Words of a frame that are examined.
const MOST_WORDS: usize = 4096;

/// The caller of a frame in memory without a file.
enum MemoryCaller {
    /// The next frame.
    Next(Caller),
    /// A frame further out, with frames missing between.
    AcrossGap(Caller),
}

impl Walker<'_> {
    /// Returns the step from a frame with unreadable code, to a caller that the frame pointer or the leaf rule leads
    /// to.
    #[cold]
    pub(in crate::walk) fn step_in_memory(
        &mut self,
        caller: Caller,
        callee: &LookedUpFrame<'_>,
        before: &Registers,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Step {
        let is_guess = caller.found_by == FoundBy::FramePointer;
        let remark = if is_guess { Remark::Guess } else { Remark::Nothing };
        let is_memory = matches!(callee.mapping.kind, MappedKind::Anonymous | MappedKind::Unopened);
        if callee.mapping.file.is_some() || !is_memory {
            return Step { remark, ..Step::to(Some(caller)) };
        }
        let beyond = self.beyond_memory(caller, callee.is_leaf, before, registers, context);
        let (caller, remark) = match beyond {
            MemoryCaller::Next(caller) => (caller, remark),
            MemoryCaller::AcrossGap(caller) => (caller, Remark::GuessAcrossGap),
        };
        Step { remark, ..Step::to(Some(caller)) }
    }

    /// Returns the caller of a sampled frame at the first instruction of a compiled function, according to the perf map
    /// of its process. The function has pushed nothing, and the frame pointer is the caller's.
    pub(in crate::walk) fn step_from_compiled_entry(
        callee: &LookedUpFrame<'_>,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Option<Caller> {
        if !callee.is_leaf || callee.mapping.file.is_some() {
            return None;
        }
        let mapping = context.memory.space.lookup(callee.lookup)?;
        let module = context.memory.space.module(&mapping)?;
        let pid = match module.kind {
            MappedKind::Anonymous => module.owner?,
            MappedKind::Unopened => module.first_mapped?.0,
            _ => return None,
        };
        let map = context.memory.images.perf_map(pid)?;
        map.map().begins_at(callee.lookup).then(|| by_leaf_rule(registers, context))?
    }

    /// Decides whether the caller at the frame pointer is the next frame. `before` are the registers in the frame,
    /// `registers` those of the caller.
    fn beyond_memory(
        &mut self,
        caller: Caller,
        is_leaf: bool,
        before: &Registers,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> MemoryCaller {
        let (memory, arch) = (&context.memory, context.arch);
        if caller.found_by != FoundBy::FramePointer {
            return MemoryCaller::Next(caller);
        }
        if self.cannot_enter_memory(caller.pc, context) {
            let sp = before.sp(arch);
            let word = memory.recorded(sp).filter(|_| is_leaf && arch.is_x86());
            let Some(word) = word.filter(|&word| is_after_indirect_call(word, context)) else {
                return MemoryCaller::AcrossGap(caller);
            };
            // Nothing was pushed: the frame pointer is still the caller's.
            registers.clone_from(before);
            registers.set(arch.sp, sp.wrapping_add(arch.word));
            registers.set(arch.return_address, word);
            let found_by = FoundBy::LeafRule;
            return MemoryCaller::Next(Caller { pc: Avma(word), exact: false, found_by });
        }
        if has_frame_below_record(is_leaf, before, caller.pc, context) {
            return MemoryCaller::AcrossGap(caller);
        }
        MemoryCaller::Next(caller)
    }

    /// Returns true if the call before a return address is a call of a file's function that cannot reach code
    /// elsewhere.
    fn cannot_enter_memory(&mut self, pc: Avma, context: &WalkContext<'_>) -> bool {
        let (memory, arch) = (&context.memory, context.arch);
        let len = arch.longest_call();
        let code = memory.code(pc.sub(len as u64), len);
        let target = code.and_then(|code| arch.call_target(code, pc.0));
        let Some(CallTarget::Address(target)) = target else { return false };
        let target = locate(Avma(target), memory);
        target.is_some_and(|target| self.cache.fallback.functions().stays_in_file(target))
    }
}

/// Returns true if an indirect call precedes an address, in readable code.
fn is_after_indirect_call(word: u64, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let len = arch.longest_call();
    let is_code = memory.space.lookup(Avma(word).sub(1)).is_some_and(|it| it.executable);
    let code = memory.code(Avma(word).sub(len as u64), len).filter(|_| is_code);
    code.and_then(|code| arch.call_target(code, word)) == Some(CallTarget::Indirect)
}

/// Returns true if a frame without a frame record lies between the stack pointer and the record at the frame pointer.
/// Such a frame saved the current frame pointer next to its return address in memory without a file. Compiled code of
/// `HotSpot` does so: it leaves the frame pointer at the frame of the interpreter or stub that called it.
///
/// Such a pair of words can also be a remnant in a frame of code that maintains the frame pointer. It counts at the
/// stack pointer of a sampled frame that has pushed nothing else, and below a record of the interpreter or of C++.
fn has_frame_below_record(
    is_leaf: bool,
    registers: &Registers,
    caller: Avma,
    context: &WalkContext<'_>,
) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let (Some(record), Ok(fp)) = (frame_record(registers, context), registers.get(arch.fp, memory))
    else {
        return false;
    };
    let (sp, word_size) = (registers.sp(arch), arch.word);
    let first = sp.wrapping_add(sp.wrapping_neg() % word_size);
    let is_frame = |slot: u64| {
        memory.recorded(slot) == Some(fp)
            && memory
                .recorded(slot.wrapping_add(word_size))
                .is_some_and(|word| is_in_memory(arch.strip(word), memory))
    };
    if is_leaf {
        let top = memory.recorded(first).filter(|_| first < record);
        if top.is_some_and(|word| is_in_memory(arch.strip(word), memory)) || is_frame(first) {
            return true;
        }
    }
    let is_of_others = !is_in_memory(caller.0, memory) || is_interpreter(record, context);
    let slots = (first..record.saturating_sub(word_size)).step_by(word_size as usize);
    is_of_others && slots.take(MOST_WORDS).any(is_frame)
}

/// Returns true if a record can be that of a `HotSpot` interpreter frame: the caller's stack pointer is below it.
///
/// Source: `frame_x86.hpp` and `frame_aarch64.hpp` of `OpenJDK`: `interpreter_frame_sender_sp_offset` is -1.
fn is_interpreter(record: u64, context: &WalkContext<'_>) -> bool {
    /// Bytes of arguments that a caller has pushed.
    const ARGUMENTS: u64 = 4096;
    let end = record.wrapping_add(2 * context.arch.word);
    let sender = context.memory.recorded(record.wrapping_sub(context.arch.word));
    sender.is_some_and(|sp| sp >= end && sp - end < ARGUMENTS)
}

/// Returns true if an address is in executable memory without a file.
fn is_in_memory(address: u64, memory: &SampleMemory<'_>) -> bool {
    memory.space.lookup(Avma(address)).is_some_and(|mapping| {
        let kind = memory.space.module(&mapping).map(|module| module.kind);
        mapping.executable && matches!(kind, Some(MappedKind::Anonymous | MappedKind::Unopened))
    })
}

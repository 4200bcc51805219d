//! Fallbacks for code without call frame information.
//!
//! On x86, if the code can be read, the fallbacks run in this order:
//! 1. the instructions up to the function's return;
//! 2. on x86-64, the analysis of the prologue or epilogue around the sampled pc;
//! 3. the frame pointer;
//! 4. the return address that a leaf has not moved.
//!
//! A call must precede the return address, and it must be proven to be a call of this function. For two of them, a
//! possible call is enough: the instructions up to the return, and a frame pointer that leads to the frame's record
//! according to the code.
//!
//! Code that the program copied from a file, as `CPython` does, is analysed in that file.
//!
//! On other processors, if the code can be read, the instructions up to the function's return decide, and then those
//! from its start (`walk/lost`). Frame pointers and link registers of recursive functions lead to calls of the same
//! function that are not the frame's own.
//!
//! If the code cannot be read, the fallbacks are the frame pointer and the return address of leaves. The address must
//! be in executable memory, and follow a call if the code there can be read.

mod analysis;
mod copied;
mod follow;
mod link;
mod scan;

use std::sync::Arc;

use std::collections::BTreeMap;
use std::path::PathBuf;

use address::{Avma, Svma};
use budget::{Budget, Exhausted};
use hashbrown::HashMap;
use image_store::LoadedImage;
use profile::FoundBy;

use crate::arch::Arch;
use crate::code::{Called, FunctionAnalyses, ImageAddress};
use crate::fallback::analysis::Analyser;
use crate::fallback::copied::CopyOriginals;
use crate::fallback::follow::Follower;
use crate::frame::Caller;
use crate::state::{MemoryError, Registers, WalkContext};

pub(crate) use scan::ReturnSlot;

/// Scratch memory and caches of one thread's fallbacks.
#[derive(Default)]
pub(crate) struct Fallback {
    analysers: HashMap<(u32, Svma), Option<Analyser>>,
    follower: Follower,
    originals: CopyOriginals,
}

/// The reason why a frame without call frame information has no caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoCaller {
    /// It is the outermost: the code ends the thread or the fiber once the thread's function has returned.
    Root,
    /// Its return address is past the recorded bytes; the end of its frame.
    Truncated(u64),
    /// No caller is proven.
    Unknown,
}

impl std::fmt::Debug for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fallback").field("files", &self.analysers.len()).finish()
    }
}

impl Fallback {
    /// Sets the budget for following the code of files.
    pub(crate) fn within(&mut self, budget: &Budget) {
        self.follower.functions.allowance.within(budget);
    }

    /// Returns the files that exhausted their instruction budget.
    pub(crate) fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.follower.functions.allowance.into_exhausted()
    }

    /// Returns the original code in a file for a frame in a copy, in memory without a file. `lookup` is in the active
    /// call.
    pub(crate) fn original<'m>(
        &mut self,
        lookup: Avma,
        mapping: Avma,
        registers: &Registers,
        context: &WalkContext<'m>,
    ) -> Option<ImageAddress<'m>> {
        if !context.arch.is(Arch::X86_64) {
            return None;
        }
        self.originals.of(lookup, mapping, registers.sp(context.arch), &context.memory)
    }

    /// Returns the analyses of the files' functions.
    pub(crate) const fn functions(&mut self) -> &mut FunctionAnalyses {
        &mut self.follower.functions
    }

    /// Returns true if a return address is proven to belong to a call of the code at `at`.
    pub(crate) fn is_call_of(
        &mut self,
        return_address: u64,
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> bool {
        self.called(return_address, at, context) == Called::Proven
    }

    /// Decides whether a return address belongs to a call of the code at `at`.
    pub(crate) fn called(
        &mut self,
        return_address: u64,
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        self.follower.called(return_address, at, context)
    }

    /// Returns true if the code after a frame's call does not return; `at` is in that call.
    pub(crate) fn never_returns(&mut self, at: ImageAddress<'_>) -> bool {
        self.follower.never_returns(at, false)
    }

    /// Returns the caller of a frame without call frame information.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn step(
        &mut self,
        code: Option<ImageAddress<'_>>,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Caller, NoCaller> {
        match code {
            Some(at) if context.arch.is_x86() => {
                self.by_code(at, is_leaf, false, registers, context)
            }
            Some(at) => self.follower.step_by_link(at, is_leaf, registers, context),
            None => by_frame_pointer(registers, context)
                .or_else(|| is_leaf.then(|| by_leaf_rule(registers, context)).flatten())
                .ok_or(NoCaller::Unknown),
        }
    }

    /// Returns the caller of a frame with readable code. `is_covered` is true if call frame information states that the
    /// return address has moved.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn by_code(
        &mut self,
        at: ImageAddress<'_>,
        is_leaf: bool,
        is_covered: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Caller, NoCaller> {
        let why = match self.follower.step(at, is_leaf, registers, context) {
            Err(NoCaller::Unknown) => NoCaller::Unknown,
            found => return found,
        };
        let before = registers.clone();
        let is_maintained = self.follower.maintains_frame_pointer(at, is_leaf);
        let mut proven = |caller: Option<Caller>, registers: &mut Registers, is_shown: bool| {
            let caller = caller?;
            let called = self.follower.called(caller.pc.0, at, context);
            if called != Called::Proven && !(is_shown && called == Called::Perhaps) {
                registers.clone_from(&before);
                return None;
            }
            Some(caller)
        };
        let is_plain_leaf = is_leaf && !is_covered;
        // If the leaf left the frame pointer to its caller, the frame pointer leads past the caller. The call there can
        // look like one of the leaf because of the caller's tail jump.
        let leaf = is_plain_leaf.then(|| by_leaf_rule(registers, context)).flatten();
        let leaf = proven(leaf, registers, false).map(|leaf| (leaf, registers.clone()));
        registers.clone_from(&before);
        let mut found = None;
        if is_plain_leaf && context.arch.is(Arch::X86_64) {
            let analysers = &mut self.analysers;
            let caller = analyse(analysers, at.file, at.svma, registers, context);
            found = proven(caller, registers, false);
        }
        if found.is_none() {
            let caller = by_frame_pointer(registers, context);
            found = proven(caller, registers, is_maintained);
        }
        match (found, leaf) {
            (Some(found), Some((leaf, _))) if found.pc != leaf.pc => {
                registers.clone_from(&before);
                Err(why)
            }
            (Some(found), _) => Ok(found),
            (None, Some((leaf, of_caller))) => {
                *registers = of_caller;
                Ok(leaf)
            }
            (None, None) => Err(why),
        }
    }
}

/// Runs framehop's analysis of the instructions around the pc.
fn analyse(
    analysers: &mut HashMap<(u32, Svma), Option<Analyser>>,
    file: &Arc<LoadedImage>,
    svma: Svma,
    registers: &mut Registers,
    context: &WalkContext<'_>,
) -> Option<Caller> {
    let (memory, arch) = (&context.memory, context.arch);
    let segment = Analyser::segment(file, svma)?;
    let key = (file.serial, segment.svma);
    let analyser = analysers.entry(key).or_insert_with(|| Analyser::new(file, segment)).as_mut()?;
    let sp = registers.sp(arch);
    let fp = registers.get(arch.fp, memory).unwrap_or(0);
    let (pc, new_sp, new_fp) = analyser.step(svma, sp, fp, memory)?;
    if new_sp <= sp {
        return None;
    }
    registers.set(arch.sp, new_sp);
    if new_fp != fp {
        registers.set(arch.fp, new_fp);
    }
    // A result that only takes the word at the stack pointer equals the leaf rule.
    let found_by = match new_sp {
        top if top == sp.wrapping_add(8) => FoundBy::LeafRule,
        record if fp != 0 && record == fp.wrapping_add(16) => FoundBy::FramePointer,
        _ => FoundBy::Prologue,
    };
    Some(Caller { pc: Avma(pc), exact: false, found_by })
}

/// Returns true if the frame pointer's record is on the stack, but past the end of the dump.
pub(crate) fn is_record_truncated(registers: &Registers, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    frame_record(registers, context).is_some_and(|at| {
        let word = arch.word;
        let record = [memory.read(at), memory.read(at.wrapping_add(word))];
        at >= registers.sp(arch) && at % word == 0 && record.contains(&Err(MemoryError::PastDump))
    })
}

/// Returns the address of the record that the frame pointer leads to.
pub(crate) fn frame_record(registers: &Registers, context: &WalkContext<'_>) -> Option<u64> {
    let (memory, arch) = (&context.memory, context.arch);
    let distance = arch.frame_record?;
    let fp = registers.get(arch.fp, memory).ok()?;
    Some(memory.wrap(fp.wrapping_add_signed(distance)))
}

/// Steps by the frame pointer's record: the caller's frame pointer, then the return address.
fn by_frame_pointer(registers: &mut Registers, context: &WalkContext<'_>) -> Option<Caller> {
    let (memory, arch) = (&context.memory, context.arch);
    let sp = registers.sp(arch);
    let record = frame_record(registers, context)?;
    let word = arch.word;
    if record < sp || record % word != 0 {
        return None;
    }
    let caller_fp = memory.read(record).ok()?;
    let pc = arch.strip(memory.read(record.wrapping_add(word)).ok()?);
    if !is_return_address(pc, context) {
        return None;
    }
    registers.set(arch.fp, caller_fp);
    registers.set(arch.sp, record.wrapping_add(2 * word));
    registers.set(arch.return_address, pc);
    Some(Caller { pc: Avma(pc), exact: false, found_by: FoundBy::FramePointer })
}

/// Steps from a function that has not touched the stack: its return address is still in its initial location.
pub(crate) fn by_leaf_rule(registers: &mut Registers, context: &WalkContext<'_>) -> Option<Caller> {
    let (memory, arch) = (&context.memory, context.arch);
    let sp = registers.sp(arch);
    let pc = if arch.is_x86() {
        memory.read(sp).ok()?
    } else {
        arch.strip(registers.get(arch.return_address, memory).ok()?)
    };
    if !is_return_address(pc, context) {
        return None;
    }
    if arch.is_x86() {
        registers.set(arch.sp, sp.wrapping_add(arch.word));
    }
    Some(Caller { pc: Avma(pc), exact: false, found_by: FoundBy::LeafRule })
}

/// Returns true if a call can have left this address: it is in executable memory, and follows a call if the code can be
/// read.
pub(crate) fn is_return_address(pc: u64, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let before = Avma(pc).sub(1);
    if !memory.space.lookup(before).is_some_and(|mapping| mapping.executable) {
        return false;
    }
    let len = arch.longest_call();
    memory.code(Avma(pc).sub(len as u64), len).is_none_or(|code| arch.ends_with_call(code))
}

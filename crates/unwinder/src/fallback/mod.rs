//! What to do where no call frame information covers the code.
//!
//! On x86, where the code can be read, in this order: the instructions up to the function's return, on x86-64 the analysis
//! of the prologue or epilogue around the sampled pc, the frame pointer, the return address that a leaf has not moved. A call has
//! to stand before the return address. It has to be proven that it is a call of the function at hand, with two exceptions,
//! for which it is enough that it can be one: the instructions up to the return, and the frame pointer where the code says
//! that it leads to the frame's record.
//!
//! Code that the program copied out of a file, as `CPython` does, is looked at there.
//!
//! On other processors, if the code can be read, the instructions up to the function's return decide, and then those from
//! its start (`walk/lost`). Frame pointers and link registers of recursive functions lead to calls of the
//! same function that are not the frame's own.
//!
//! If the code cannot be read: the frame pointer, and the return address of leaves. It must be an address in executable
//! memory, and follow a call if the code there can be read.

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
use crate::code::{Called, Functions, InFile};
use crate::fallback::analysis::Analyser;
use crate::fallback::copied::Originals;
use crate::fallback::follow::Follower;
use crate::frame::Caller;
use crate::state::{MemoryError, Registers, WalkContext};

pub(crate) use scan::Slot;

/// The scratch of the fallbacks of one thread.
#[derive(Default)]
pub(crate) struct Fallback {
    analysers: HashMap<(u32, Svma), Option<Analyser>>,
    follower: Follower,
    originals: Originals,
}

/// Why a frame without call frame information has no caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoCaller {
    /// It is the outermost: the code ends the thread or the fiber once the thread's function has returned.
    Root,
    /// Its return address is past the recorded bytes; where its frame ends.
    Cut(u64),
    /// None is proven.
    Unknown,
}

impl std::fmt::Debug for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fallback").field("files", &self.analysers.len()).finish()
    }
}

impl Fallback {
    /// What following the code of files may cost.
    pub(crate) fn within(&mut self, budget: &Budget) {
        self.follower.functions.allowance.within(budget);
    }

    /// The files of which no more was looked at.
    pub(crate) fn into_exhausted(self) -> BTreeMap<PathBuf, Exhausted> {
        self.follower.functions.allowance.into_exhausted()
    }

    /// The code of a file that a frame in memory without a file is a copy of. `lookup` is in the call that it waits for.
    pub(crate) fn original<'m>(
        &mut self,
        lookup: Avma,
        mapping: Avma,
        registers: &Registers,
        context: &WalkContext<'m>,
    ) -> Option<InFile<'m>> {
        if !context.arch.is(Arch::X86_64) {
            return None;
        }
        self.originals.of(lookup, mapping, registers.sp(context.arch), &context.memory)
    }

    /// What is known of the files' functions.
    pub(crate) const fn functions(&mut self) -> &mut Functions {
        &mut self.follower.functions
    }

    /// Whether a return address is proven to be that of a call of the code at hand.
    pub(crate) fn is_call_of(
        &mut self,
        return_address: u64,
        at: InFile<'_>,
        context: &WalkContext<'_>,
    ) -> bool {
        self.called(return_address, at, context) == Called::Proven
    }

    /// What is known of a return address and the code at hand.
    pub(crate) fn called(
        &mut self,
        return_address: u64,
        at: InFile<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        self.follower.called(return_address, at, context)
    }

    /// Whether the code that a frame goes on in does not return; the address is in the call before it.
    pub(crate) fn never_returns(&mut self, at: InFile<'_>) -> bool {
        self.follower.never_returns(at, false)
    }

    /// The caller of a frame without call frame information.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn step(
        &mut self,
        code: Option<InFile<'_>>,
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

    /// The caller of a frame whose code can be read; `is_covered`: call frame information says something else of it than
    /// that the return address is where the call put it.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn by_code(
        &mut self,
        at: InFile<'_>,
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
        let is_kept = self.follower.keeps_frame_pointer(at, is_leaf);
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
        // A frame pointer that the leaf left to its caller leads past the caller, to a call that the caller's last jump
        // makes one of the leaf.
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
            found = proven(caller, registers, is_kept);
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

/// framehop's analysis of the instructions around the pc.
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
    // An answer that only takes the word at the stack pointer is what the leaf rule says.
    let found_by = match new_sp {
        top if top == sp.wrapping_add(8) => FoundBy::LeafRule,
        record if fp != 0 && record == fp.wrapping_add(16) => FoundBy::FramePointer,
        _ => FoundBy::Prologue,
    };
    Some(Caller { pc: Avma(pc), exact: false, found_by })
}

/// Whether the frame pointer's record lies on the stack, but past the end of what was recorded of it.
pub(crate) fn is_cut_off(registers: &Registers, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    frame_record(registers, context).is_some_and(|at| {
        let word = arch.word;
        let record = [memory.read(at), memory.read(at.wrapping_add(word))];
        at >= registers.sp(arch) && at % word == 0 && record.contains(&Err(MemoryError::PastDump))
    })
}

/// Where the record is that the frame pointer leads to.
pub(crate) fn frame_record(registers: &Registers, context: &WalkContext<'_>) -> Option<u64> {
    let (memory, arch) = (&context.memory, context.arch);
    let distance = arch.frame_record?;
    let fp = registers.get(arch.fp, memory).ok()?;
    Some(memory.wrap(fp.wrapping_add_signed(distance)))
}

/// The frame pointer's record: the caller's frame pointer, then the return address.
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

/// A function that has not touched the stack: its return address is where the call put it.
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

/// Whether a call can have left this address: it is in executable memory, and where the code can be read, a call stands
/// before it.
pub(crate) fn is_return_address(pc: u64, context: &WalkContext<'_>) -> bool {
    let (memory, arch) = (&context.memory, context.arch);
    let before = Avma(pc).sub(1);
    if !memory.space.lookup(before).is_some_and(|mapping| mapping.executable) {
        return false;
    }
    let len = arch.longest_call();
    memory.code(Avma(pc).sub(len as u64), len).is_none_or(|code| arch.ends_with_call(code))
}

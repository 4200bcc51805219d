//! The caller by the instructions from the frame's address to its function's return. Each return gives the location of
//! the return address; a call of this function must precede that address.

use std::cmp::Ordering;
use std::sync::Arc;

use address::{Avma, Svma};
use hashbrown::HashMap;
use profile::FoundBy;

use crate::arch::{Base, CallTarget, MemoryWords, Sum, processor};
use crate::code::{Called, Exit, FunctionAnalyses, ImageAddress, LinkPaths, Paths, locate};
use crate::fallback::NoCaller;
use crate::frame::Caller;
use crate::state::{MemoryError, RegisterError, Registers, SampleMemory, WalkContext};

/// Cached analyses of the code of all files.
#[derive(Default)]
pub(super) struct Follower {
    paths: HashMap<(u32, u64), Option<Arc<Paths>>>,
    /// By the file's serial, the address, and whether the frame is a leaf.
    pub(super) link_paths: HashMap<(u32, u64, bool), Option<Arc<LinkPaths>>>,
    pub(super) functions: FunctionAnalyses,
}

/// A function exit, evaluated for a sample.
struct ExitCandidate<'p> {
    exit: &'p Exit,
    /// Stack address of the return address.
    slot: u64,
    return_address: u64,
    called: Called,
}

/// Maximum number of cached addresses; beyond it, the cache is cleared.
pub(super) const MAX_CACHED: usize = 1 << 15;
/// Maximum depth of stored words that lead to the return address.
const DEEPEST: u32 = 4;

impl Follower {
    /// Returns the caller of a frame.
    ///
    /// # Errors
    /// The reason why no caller is proven.
    pub(super) fn step(
        &mut self,
        at: ImageAddress<'_>,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Caller, NoCaller> {
        let paths = self.paths_of(at, is_leaf).ok_or(NoCaller::Unknown)?;
        if !is_leaf && is_first_on_stack(&paths, at) {
            return Err(NoCaller::Root);
        }
        let (best, cut) = self.best(&paths, at, registers, context);
        match best {
            Some(one) if one.called == Called::Proven || !(cut.is_some() || paths.is_doubtful) => {
                let is_top =
                    one.exit.sp == Sum { base: Base::Register(context.arch.sp), offset: 0 };
                one.apply(registers, &paths.words, context);
                let found_by = if is_top && is_leaf { FoundBy::LeafRule } else { FoundBy::Code };
                Ok(Caller { pc: Avma(one.return_address), exact: false, found_by })
            }
            None if cut.is_some_and(|_| !paths.is_doubtful) => {
                Err(cut.map_or(NoCaller::Unknown, NoCaller::Truncated))
            }
            _ => Err(NoCaller::Unknown),
        }
    }

    /// Returns the exit with the best evidence for its return address, if it is unique. Also returns the end of the
    /// frame for an exit with a return address past the recorded bytes.
    fn best<'p>(
        &mut self,
        paths: &'p Paths,
        at: ImageAddress<'_>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> (Option<ExitCandidate<'p>>, Option<u64>) {
        let (memory, arch) = (&context.memory, context.arch);
        let mut best: Option<ExitCandidate<'p>> = None;
        let mut is_one = true;
        let mut cut = None;
        for exit in &paths.exits {
            let slot = value(exit.sp, registers, &paths.words, memory, 0);
            let Some(slot) = slot.ok().filter(|&slot| slot >= registers.sp(arch)) else { continue };
            let return_address = match memory.read(slot) {
                Ok(return_address) => return_address,
                Err(error) => {
                    let end = Some(slot.wrapping_add(arch.word));
                    cut = end.filter(|_| error == MemoryError::PastDump).or(cut);
                    continue;
                }
            };
            let called = self.functions.called(return_address, at, context);
            if called == Called::Never {
                continue;
            }
            match best.as_ref().map(|best| (best.called.cmp(&called), best.slot == slot)) {
                Some((Ordering::Greater, _) | (_, true)) => {}
                Some((Ordering::Equal, false)) => is_one = false,
                Some((Ordering::Less, _)) | None => {
                    is_one = true;
                    best = Some(ExitCandidate { exit, slot, return_address, called });
                }
            }
        }
        (best.filter(|_| is_one), cut)
    }

    /// Decides whether the call before a return address can have called the code at `at`.
    pub(super) fn called(
        &mut self,
        return_address: u64,
        at: ImageAddress<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        self.functions.called(return_address, at, context)
    }

    /// Returns true if the code shows that the frame pointer leads to the frame's record.
    pub(super) fn maintains_frame_pointer(&mut self, at: ImageAddress<'_>, is_leaf: bool) -> bool {
        self.paths_of(at, is_leaf).is_some_and(|paths| paths.maintains_frame_pointer)
    }

    /// Returns true if no visible path of the function returns.
    pub(super) fn never_returns(&mut self, at: ImageAddress<'_>, is_leaf: bool) -> bool {
        self.paths_of(at, is_leaf).is_some_and(|paths| paths.never_returns())
    }

    /// Returns true if a return address is in the first code of a thread, which ends the thread once its function
    /// returns.
    pub(super) fn is_thread_start(
        &mut self,
        return_address: u64,
        memory: &SampleMemory<'_>,
    ) -> bool {
        let Some(at) = locate(Avma(return_address).sub(1), memory) else { return false };
        call_before(at) == Some(Some(CallTarget::Indirect))
            && self.paths_of(at, false).is_some_and(|paths| paths.only_ends)
    }

    /// Returns the paths from the next instruction of a frame.
    fn paths_of(&mut self, at: ImageAddress<'_>, is_leaf: bool) -> Option<Arc<Paths>> {
        let start = if is_leaf { at.svma } else { at.svma.add(1) };
        if self.paths.len() >= MAX_CACHED {
            self.paths.clear();
        }
        let key = (at.file.serial, start.0);
        if let Some(known) = self.paths.get(&key) {
            return known.clone();
        }
        if !self.functions.allowance.has_left(at.file) {
            return None;
        }
        let paths = Paths::from(at.file.image(), start).map(Arc::new);
        let cost = paths.as_ref().map_or(1, |paths| paths.cost);
        self.functions.allowance.used(at.file, cost);
        self.paths.insert(key, paths.clone());
        paths
    }
}

/// Returns the target of the call before a return address that is one byte after `at`. `Some(None)` if no call is
/// there, `None` if the code cannot be read.
fn call_before(at: ImageAddress<'_>) -> Option<Option<CallTarget>> {
    let arch = at.file.image().arch().and_then(processor)?;
    let len = arch.longest_call();
    let return_address = at.svma.add(1);
    let start = Svma(return_address.0.wrapping_sub(len as u64));
    let code = at.file.image().read_only_bytes(start, len)?;
    Some(arch.call_target(code, return_address.0))
}

/// Returns true if a stack begins with a frame's code, because the code does not return. It is the code of a thread,
/// which calls a function through a pointer and ends the thread. Or it is the code that ends a fiber: the fiber's
/// function returns to it without having been called from there.
fn is_first_on_stack(paths: &Paths, at: ImageAddress<'_>) -> bool {
    match call_before(at) {
        Some(Some(CallTarget::Indirect)) => paths.only_ends,
        Some(None) => paths.never_returns() && paths.exits.is_empty(),
        _ => false,
    }
}

impl ExitCandidate<'_> {
    /// Sets the registers to those of the caller.
    fn apply(&self, registers: &mut Registers, words: &MemoryWords, context: &WalkContext<'_>) {
        let (memory, arch) = (&context.memory, context.arch);
        let before = registers.clone();
        for (register, saved) in arch.conventions.callee_saved.into_iter().zip(self.exit.saved) {
            let Some(saved) = saved else {
                registers.forget(register);
                continue;
            };
            match saved {
                Sum { base: Base::Register(same), offset: 0 } if same == register => {}
                Sum { base: Base::Word(index), offset: 0 } => {
                    let slot = words
                        .address(index)
                        .and_then(|address| value(address, &before, words, memory, 0).ok());
                    match slot {
                        Some(slot) => registers.set_saved(register, slot),
                        None => registers.forget(register),
                    }
                }
                other => match value(other, &before, words, memory, 0) {
                    Ok(value) => registers.set(register, value),
                    Err(_) => registers.forget(register),
                },
            }
        }
        registers.set(arch.sp, self.slot.wrapping_add(arch.word));
        registers.set(arch.return_address, self.return_address);
    }
}

/// Returns the value of a sum in a frame.
pub(super) fn value(
    sum: Sum,
    registers: &Registers,
    words: &MemoryWords,
    memory: &SampleMemory<'_>,
    depth: u32,
) -> Result<u64, RegisterError> {
    let base = match sum.base {
        Base::Zero => return Err(RegisterError::Unknown),
        Base::Register(register) => registers.get(register, memory)?,
        Base::Word(index) => {
            let address = words.address(index).filter(|_| depth < DEEPEST);
            let address = address.ok_or(RegisterError::Unknown)?;
            let address = value(address, registers, words, memory, depth + 1)?;
            memory.read(address).map_err(RegisterError::Memory)?
        }
    };
    Ok(memory.wrap(base.wrapping_add_signed(sum.offset)))
}

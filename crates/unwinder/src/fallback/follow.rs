//! The caller by the instructions from the frame's address to its function's return. Each way out says where the return
//! address is; a call of this function must stand before it.

use std::cmp::Ordering;
use std::sync::Arc;

use address::{Avma, Svma};
use hashbrown::HashMap;
use profile::FoundBy;

use crate::arch::{Base, CallTarget, Sum, Words, processor};
use crate::code::{Called, Exit, Functions, InFile, LinkPaths, Paths, locate};
use crate::fallback::NoCaller;
use crate::frame::Caller;
use crate::state::{Memory, MemoryError, RegisterError, Registers, WalkContext};

/// What is known of the code of all files.
#[derive(Default)]
pub(super) struct Follower {
    paths: HashMap<(u32, u64), Option<Arc<Paths>>>,
    /// By the file's serial, the address, and whether the frame has called nobody.
    pub(super) link_paths: HashMap<(u32, u64, bool), Option<Arc<LinkPaths>>>,
    pub(super) functions: Functions,
}

/// A way out, with what it says of a sample.
struct Candidate<'p> {
    exit: &'p Exit,
    /// Where the return address is.
    slot: u64,
    return_address: u64,
    called: Called,
}

/// So many addresses are kept; beyond, all are forgotten.
pub(super) const MOST_KEPT: usize = 1 << 15;
/// Words that lead to words that lead to the return address.
const DEEPEST: u32 = 4;

impl Follower {
    /// The caller of a frame.
    ///
    /// # Errors
    /// Why none is proven.
    pub(super) fn step(
        &mut self,
        at: InFile<'_>,
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
                Err(cut.map_or(NoCaller::Unknown, NoCaller::Cut))
            }
            _ => Err(NoCaller::Unknown),
        }
    }

    /// The one way out for whose return address the most speaks, if there is one; and where the frame ends by a way out
    /// whose return address is past the recorded bytes.
    fn best<'p>(
        &mut self,
        paths: &'p Paths,
        at: InFile<'_>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> (Option<Candidate<'p>>, Option<u64>) {
        let (memory, arch) = (&context.memory, context.arch);
        let mut best: Option<Candidate<'p>> = None;
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
                    best = Some(Candidate { exit, slot, return_address, called });
                }
            }
        }
        (best.filter(|_| is_one), cut)
    }

    /// Whether the call before a return address can have called the code at hand.
    pub(super) fn called(
        &mut self,
        return_address: u64,
        at: InFile<'_>,
        context: &WalkContext<'_>,
    ) -> Called {
        self.functions.called(return_address, at, context)
    }

    /// Whether the code says that the frame pointer leads to the frame's record.
    pub(super) fn keeps_frame_pointer(&mut self, at: InFile<'_>, is_leaf: bool) -> bool {
        self.paths_of(at, is_leaf).is_some_and(|paths| paths.keeps_frame_pointer)
    }

    /// Whether the function at hand does not return, as far as can be seen.
    pub(super) fn never_returns(&mut self, at: InFile<'_>, is_leaf: bool) -> bool {
        self.paths_of(at, is_leaf).is_some_and(|paths| paths.never_returns())
    }

    /// Whether a return address is that of the code that a thread begins with, which ends it once its function returns.
    pub(super) fn is_thread_start(&mut self, return_address: u64, memory: &Memory<'_>) -> bool {
        let Some(at) = locate(Avma(return_address).sub(1), memory) else { return false };
        call_before(at) == Some(Some(CallTarget::Indirect))
            && self.paths_of(at, false).is_some_and(|paths| paths.only_ends)
    }

    /// The paths from the instruction that runs next in a frame.
    fn paths_of(&mut self, at: InFile<'_>, is_leaf: bool) -> Option<Arc<Paths>> {
        let start = if is_leaf { at.svma } else { at.svma.add(1) };
        if self.paths.len() >= MOST_KEPT {
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

/// What the call before a return address calls, whose look-up is one byte before; `Some(None)` where no call is there, `None`
/// where the code cannot be read.
fn call_before(at: InFile<'_>) -> Option<Option<CallTarget>> {
    let arch = at.file.image().arch().and_then(processor)?;
    let len = arch.longest_call();
    let return_address = at.svma.add(1);
    let start = Svma(return_address.0.wrapping_sub(len as u64));
    let code = at.file.image().read_only_bytes(start, len)?;
    Some(arch.call_target(code, return_address.0))
}

/// Whether a stack begins with the code that a frame goes on in, for it does not return: the code of a thread, which calls
/// the function that it is given as a pointer, and ends the thread; or of a fiber, to which the fiber's function returns
/// without having been called from there, and which ends the fiber.
fn is_first_on_stack(paths: &Paths, at: InFile<'_>) -> bool {
    match call_before(at) {
        Some(Some(CallTarget::Indirect)) => paths.only_ends,
        Some(None) => paths.never_returns() && paths.exits.is_empty(),
        _ => false,
    }
}

impl Candidate<'_> {
    /// The registers become those of the caller.
    fn apply(&self, registers: &mut Registers, words: &Words, context: &WalkContext<'_>) {
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

/// The value of a sum in a frame.
pub(super) fn value(
    sum: Sum,
    registers: &Registers,
    words: &Words,
    memory: &Memory<'_>,
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

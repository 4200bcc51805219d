//! The caller on processors with a link register, by the instructions from the frame's address to its function's
//! return. Each return gives the location of the return address; a call that can be one of this function must precede
//! that address.

use std::cmp::Ordering;
use std::sync::Arc;

use address::{Avma, Svma};
use profile::FoundBy;

use crate::arch::{Base, MemoryWords, Processor, Sum, UNUSED};
use crate::code::{Called, ImageAddress, LinkExit, LinkPaths};
use crate::fallback::NoCaller;
use crate::fallback::follow::{Follower, MAX_CACHED, value};
use crate::frame::Caller;
use crate::state::{MemoryError, RegisterError, Registers, WalkContext};

/// A return, evaluated for a sample.
struct LinkExitCandidate<'p> {
    exit: &'p LinkExit,
    /// The caller's stack pointer.
    sp: u64,
    return_address: u64,
    called: Called,
}

impl Follower {
    /// Returns the caller of a frame.
    ///
    /// # Errors
    /// The reason why no caller is proven.
    pub(super) fn step_by_link(
        &mut self,
        at: ImageAddress<'_>,
        is_leaf: bool,
        registers: &mut Registers,
        context: &WalkContext<'_>,
    ) -> Result<Caller, NoCaller> {
        let paths = self.link_paths_of(at, is_leaf, context.arch).ok_or(NoCaller::Unknown)?;
        let (best, cut) = self.best_exit(&paths, at, registers, context);
        match best {
            Some(one) if one.called == Called::Proven || !(cut.is_some() || paths.is_doubtful) => {
                let found_by = one.found_by(context.arch);
                one.apply(registers, &paths.words, context);
                Ok(Caller { pc: Avma(one.return_address), exact: false, found_by })
            }
            None if !paths.is_doubtful => Err(cut.map_or(NoCaller::Unknown, NoCaller::Truncated)),
            _ => Err(NoCaller::Unknown),
        }
    }

    /// Returns the return with the best evidence for its address, if it is unique. Also returns the end of the frame
    /// for a return with an address past the recorded bytes.
    fn best_exit<'p>(
        &mut self,
        paths: &'p LinkPaths,
        at: ImageAddress<'_>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> (Option<LinkExitCandidate<'p>>, Option<u64>) {
        let mut best: Option<LinkExitCandidate<'p>> = None;
        let mut is_one = true;
        let mut cut = None;
        for exit in &paths.exits {
            let read = |sum: Sum| value(sum, registers, &paths.words, &context.memory, 0);
            let sp = read(exit.sp);
            let return_address = read(exit.return_address);
            let (sp, return_address) = match (sp, return_address) {
                (Ok(sp), Ok(return_address)) if sp >= registers.sp(context.arch) => {
                    (sp, context.arch.strip(return_address))
                }
                (Ok(sp), Err(RegisterError::Memory(MemoryError::PastDump))) => {
                    cut = Some(sp);
                    continue;
                }
                _ => continue,
            };
            let called = self.functions.called(return_address, at, context);
            if called == Called::Never {
                continue;
            }
            let is_same = |best: &LinkExitCandidate<'p>| {
                (best.sp, best.return_address) == (sp, return_address)
            };
            match best.as_ref().map(|best| (best.called.cmp(&called), is_same(best))) {
                Some((Ordering::Greater, _) | (_, true)) => {}
                Some((Ordering::Equal, false)) => is_one = false,
                Some((Ordering::Less, _)) | None => {
                    is_one = true;
                    best = Some(LinkExitCandidate { exit, sp, return_address, called });
                }
            }
        }
        (best.filter(|_| is_one), cut)
    }

    /// Returns the paths from the next instruction of a frame.
    fn link_paths_of(
        &mut self,
        at: ImageAddress<'_>,
        is_leaf: bool,
        arch: Processor,
    ) -> Option<Arc<LinkPaths>> {
        let start = if is_leaf { at.svma } else { at.svma.add(1) };
        if self.link_paths.len() >= MAX_CACHED {
            self.link_paths.clear();
        }
        let key = (at.file.serial, start.0, is_leaf);
        if let Some(known) = self.link_paths.get(&key) {
            return known.clone();
        }
        if !self.functions.allowance.has_left(at.file) {
            return None;
        }
        let is_thumb = arch.has_thumb() && self.functions.is_thumb(at.file, start);
        let first = if is_thumb { Svma(start.0 | 1) } else { start };
        let paths = LinkPaths::from(at.file.image(), first, is_leaf).map(Arc::new);
        let cost = paths.as_ref().map_or(1, |paths| paths.cost);
        self.functions.allowance.used(at.file, cost);
        self.link_paths.insert(key, paths.clone());
        paths
    }
}

impl LinkExitCandidate<'_> {
    fn found_by(&self, arch: Processor) -> FoundBy {
        let is_untouched =
            |sum: Sum, register: u8| sum == Sum { base: Base::Register(register), offset: 0 };
        let is_leaf = is_untouched(self.exit.return_address, arch.return_address)
            && is_untouched(self.exit.sp, arch.sp);
        if is_leaf { FoundBy::LeafRule } else { FoundBy::Code }
    }

    /// Sets the registers to those of the caller.
    fn apply(&self, registers: &mut Registers, words: &MemoryWords, context: &WalkContext<'_>) {
        let (memory, arch) = (&context.memory, context.arch);
        let before = registers.clone();
        for (register, saved) in arch.conventions.preserved.into_iter().zip(self.exit.saved) {
            if register == UNUSED || register == arch.return_address {
                continue;
            }
            let slot = |index: u16| {
                let address = words.address(index)?;
                value(address, &before, words, memory, 0).ok()
            };
            match saved {
                None => registers.forget(register),
                Some(Sum { base: Base::Register(same), offset: 0 }) if same == register => {}
                Some(Sum { base: Base::Word(index), offset: 0 }) => match slot(index) {
                    Some(slot) => registers.set_saved(register, slot),
                    None => registers.forget(register),
                },
                Some(other) => match value(other, &before, words, memory, 0) {
                    Ok(value) => registers.set(register, value),
                    Err(_) => registers.forget(register),
                },
            }
        }
        registers.set(arch.sp, self.sp);
        registers.set(arch.return_address, self.return_address);
    }
}

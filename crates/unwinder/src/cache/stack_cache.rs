//! The outer frames of the sample before: samples of a thread follow each other closely, and most of the functions that
//! one of them was called from are still running at the next.
//!
//! A step is a function of the looked-up address, of the stack pointer and of the few words that it reads. So where a
//! walk comes to a frame that the walk before came through, and finds the same words in the same slots, its next frame
//! is known without the rule. Nothing is taken on trust: what is followed is what the rules would give.

use address::{Avma, ModuleId};
use profile::{EndReason, FoundBy};

use crate::arch::{NARROW, Processor};
use crate::frame::{AddressKind, Evidence, Frame};
use crate::rule::{FrameExtent, SimpleRule, SlotsRead, slot_at};
use crate::state::{Registers, Saved, WalkContext};

/// A step that was made: from where, with which rule, what it read. Small, for a cache is read for every sample.
#[derive(Clone, Copy, Debug)]
struct CachedStep {
    relative: u64,
    bias: u64,
    sp: u64,
    /// `None` where the frame is the outermost.
    rule: Option<SimpleRule>,
    return_address: u64,
    module: ModuleId,
    /// The frame's address is so far from the stack pointer.
    size: u32,
}

const _: () = assert!(size_of::<CachedStep>() == 64);

/// The previous stack of a thread: the steps of its last walk, as far as they can be followed.
#[derive(Default, Debug)]
pub(crate) struct StackCache {
    /// The version of the space that they were made in, with the size of their words in the lowest bit.
    version: u64,
    /// Outermost first.
    known: Vec<CachedStep>,
    /// So many of them the walk has not yet come past.
    left: usize,
    /// The steps of this walk, innermost first, as far as they can be followed.
    made: Vec<CachedStep>,
    /// The steps of this walk are among the known ones.
    ended: bool,
    /// The steps of this walk are remembered: those of the first one in a space may well be of no use.
    is_kept: bool,
}

/// Where the previous stack led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Followed {
    /// To a frame, not yet among the frames, that has to be looked up.
    To(Avma),
    /// To the end of the chain.
    End(EndReason),
}

/// What following needs of a walk.
pub(crate) struct WalkState<'w, 'm> {
    pub(crate) context: &'w WalkContext<'m>,
    pub(crate) registers: &'w mut Registers,
    pub(crate) frames: &'w mut Vec<Frame>,
    /// How many frames may be added.
    pub(crate) room: usize,
}

impl StackCache {
    /// Begins a walk in a version of a space. Steps of processors with other words are of no use.
    pub(crate) fn begin(&mut self, version: u64, arch: Processor) {
        let version = version << 1 | u64::from(arch.word == NARROW);
        self.is_kept = self.version == version;
        if !self.is_kept {
            self.version = version;
            self.known.clear();
        }
        self.left = self.known.len();
        self.made.clear();
        self.ended = false;
    }

    /// The offsets of the return addresses that the known steps read, in a stack that begins at `sp`; innermost first.
    #[inline]
    pub(crate) fn return_addresses(&self, sp: u64) -> impl Iterator<Item = usize> {
        self.known.iter().rev().map(move |step| {
            // The return address is the last word of the frame.
            let offset = step.cfa().wrapping_sub(sp.wrapping_add(8));
            usize::try_from(offset).unwrap_or(usize::MAX)
        })
    }

    /// Ends the walk: what was made comes in front of so many outer steps that were known.
    fn end_on(&mut self, n_outer: usize) {
        self.ended = true;
        if n_outer == 0 {
            self.made.reverse();
            std::mem::swap(&mut self.known, &mut self.made);
        } else {
            self.known.truncate(n_outer);
            self.known.extend(self.made.iter().rev());
        }
    }

    /// Whether the outermost of the steps that are known is that of a frame without a caller.
    pub(crate) fn ends_outermost(&self) -> bool {
        self.known.first().is_some_and(|step| step.rule.is_none())
    }

    /// Ends the walk.
    pub(crate) fn end(&mut self) {
        if !self.ended && self.is_kept {
            self.end_on(0);
        }
    }

    /// Remembers a step from a frame that had called somebody, unless it is too far for it. The registers are the caller's.
    #[inline]
    pub(crate) fn remember(&mut self, frame: &Frame, evidence: &Evidence) {
        match evidence {
            Evidence::Simple(rule, read) => {
                self.remember_simple(frame, rule, read);
            }
            Evidence::Outermost => {
                self.made.extend(frame.module.map(|module| CachedStep::outermost(frame, module)));
            }
        }
    }

    /// The same for a step by a simple rule, before its registers are restored.
    #[inline(always)]
    pub(crate) fn remember_simple(&mut self, frame: &Frame, rule: &SimpleRule, read: &SlotsRead) {
        let size = u32::try_from(read.cfa.wrapping_sub(frame.sp));
        let (Some(module), Ok(size)) = (frame.module, size) else { return };
        let (rule, return_address) = (Some(*rule), read.return_address);
        let outermost = CachedStep::outermost(frame, module);
        self.made.push(CachedStep { rule, return_address, size, ..outermost });
    }

    /// Goes on from a frame that has called somebody as the walk before did, as far as it holds. Adds the frames that
    /// were come through; `None` where there were none.
    #[inline]
    pub(crate) fn follow<const WORD: u64>(
        &mut self,
        lookup: Avma,
        found_by: FoundBy,
        walk: &mut WalkState<'_, '_>,
    ) -> Option<Followed> {
        let sp = walk.registers.sp(walk.context.arch);
        loop {
            let next = self.known.get(self.left.checked_sub(1)?)?;
            if next.sp >= sp {
                let is_there = next.sp == sp && next.lookup() == lookup;
                return if is_there { self.follow_on::<WORD>(found_by, walk) } else { None };
            }
            self.left -= 1;
        }
    }

    fn follow_on<const WORD: u64>(
        &mut self,
        mut found_by: FoundBy,
        walk: &mut WalkState<'_, '_>,
    ) -> Option<Followed> {
        let context = walk.context;
        let (memory, arch) = (&context.memory, context.arch);
        let known = self.known.get(..self.left)?;
        let (mut lookup, mut sp) = (known.last()?.lookup(), known.last()?.sp);
        // Where the last of these steps that saved the frame pointer saved it.
        let mut fp_slot = None;
        let mut left = known.len();
        for step in known.iter().rev() {
            let is_next = step.lookup() == lookup && step.sp == sp;
            if !is_next || !step.holds::<WORD>(fp_slot, walk.registers, context) {
                break;
            }
            if known.len() - left == walk.room {
                return Some(Followed::End(EndReason::MaxFrames));
            }
            let mut frame = step.frame(found_by);
            if let Some(rule) = &step.rule {
                frame.saved = rule.values::<WORD>(memory, step.place());
                fp_slot = rule.slot_of::<WORD>(arch.fp_slot, step.place()).or(fp_slot);
            }
            walk.frames.push(frame);
            left -= 1;
            found_by = FoundBy::Cfi;
            let pc = arch.strip(step.return_address);
            if pc == 0 {
                let n_outer = known.len();
                self.end_on(n_outer);
                return Some(Followed::End(EndReason::Root));
            }
            (lookup, sp) = (Avma(pc).sub(1), step.cfa());
        }
        let followed = known.get(left..)?;
        let last = followed.first()?;
        for step in followed.iter().rev() {
            if let Some(rule) = &step.rule {
                rule.restore_saved::<WORD>(walk.registers, arch, step.place());
            }
        }
        walk.registers.go_to(arch, last.cfa(), last.return_address);
        self.made.extend(followed.iter().rev());
        self.left = left;
        Some(Followed::To(lookup))
    }
}

impl CachedStep {
    /// The step of a frame without a caller.
    #[inline(always)]
    const fn outermost(frame: &Frame, module: ModuleId) -> Self {
        let Frame { relative, bias, sp, .. } = *frame;
        Self { relative, bias, sp, rule: None, return_address: 0, module, size: 0 }
    }

    #[inline]
    const fn lookup(&self) -> Avma {
        Avma(self.relative.wrapping_add(self.bias))
    }

    #[inline]
    const fn cfa(&self) -> u64 {
        self.sp.wrapping_add(self.size as u64)
    }

    /// Where on the stack the frame is.
    #[inline]
    const fn place(&self) -> FrameExtent {
        FrameExtent { sp: self.sp, cfa: self.cfa() }
    }

    /// The frame. Rules are of files that were opened, so its address is the one that the file states.
    #[inline]
    const fn frame(&self, found_by: FoundBy) -> Frame {
        let Self { relative, bias, module, sp, .. } = *self;
        let kind = AddressKind::Svma;
        Frame {
            module: Some(module),
            relative,
            kind,
            bias,
            sp,
            saved: Saved::NONE,
            found_by,
            kernel: false,
        }
    }

    /// Whether the step would be made again, as far as that shows at once. The frame pointer was saved in `fp_slot` by steps
    /// before this one that were followed; otherwise it is that of the walk.
    #[inline]
    fn holds<const WORD: u64>(
        &self,
        fp_slot: Option<u64>,
        registers: &Registers,
        context: &WalkContext<'_>,
    ) -> bool {
        let (memory, arch) = (&context.memory, context.arch);
        let Some(rule) = &self.rule else { return true };
        if rule.cfa_register != arch.sp {
            let base = self.cfa().wrapping_sub(i64::from(rule.cfa_offset) as u64);
            let fp = match fp_slot {
                Some(slot) => memory.recorded(slot),
                None => registers.get(arch.fp, memory).ok(),
            };
            // Other registers are seldom restored.
            if rule.cfa_register != arch.fp || fp != Some(base) {
                return false;
            }
        }
        let slot = slot_at::<WORD>(self.cfa(), rule.return_address());
        memory.recorded(slot) == Some(self.return_address)
    }
}

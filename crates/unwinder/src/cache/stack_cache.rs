//! The outer frames of the previous sample: samples of a thread follow each other closely, and most calling functions
//! are still active at the next one.
//!
//! A step is a function of the looked-up address, the stack pointer and the few words that it reads. If a walk reaches
//! a frame of the previous walk, and the same slots have the same words, its next frame is known without the rule.
//! Nothing is assumed: the followed frames equal the result of the rules.

use address::{Avma, ModuleId};
use profile::{EndReason, FoundBy};

use crate::arch::{NARROW, Processor};
use crate::frame::{AddressKind, Frame, StepEvidence};
use crate::rule::{FrameExtent, SimpleRule, SlotsRead, slot_at};
use crate::state::{Registers, Saved, WalkContext};

/// A completed step: its origin, its rule, and the words that it read. Small, because the cache is read for every
/// sample.
#[derive(Clone, Copy, Debug)]
struct CachedStep {
    relative: u64,
    bias: u64,
    sp: u64,
    /// `None` if the frame is the outermost.
    rule: Option<SimpleRule>,
    return_address: u64,
    module: ModuleId,
    /// Distance from the stack pointer to the CFA, in bytes.
    size: u32,
}

const _: () = assert!(size_of::<CachedStep>() == 64);

/// The previous stack of a thread: the steps of its last walk that can be followed.
#[derive(Default, Debug)]
pub(crate) struct StackCache {
    /// Version of the space that the steps belong to, with the word size in the lowest bit.
    version: u64,
    /// Steps of the previous walk, outermost first.
    previous: Vec<CachedStep>,
    /// Number of `previous` steps that the walk has not passed yet.
    left: usize,
    /// Steps of this walk that can be followed, innermost first.
    current: Vec<CachedStep>,
    /// True if the steps of this walk have been moved to `previous`.
    ended: bool,
    /// True if the steps of this walk are stored; those of the first walk in a space may be useless.
    is_stored: bool,
}

/// The result of following the previous stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Followed {
    /// A looked-up address of a frame that is not yet among the frames.
    To(Avma),
    /// The end of the chain.
    End(EndReason),
}

/// The state of a walk that following needs.
pub(crate) struct WalkState<'w, 'm> {
    pub(crate) context: &'w WalkContext<'m>,
    pub(crate) registers: &'w mut Registers,
    pub(crate) frames: &'w mut Vec<Frame>,
    /// Maximum number of frames to add.
    pub(crate) capacity: usize,
}

impl StackCache {
    /// Begins a walk in a version of a space. Steps with another word size are discarded.
    pub(crate) fn begin(&mut self, version: u64, arch: Processor) {
        let version = version << 1 | u64::from(arch.word == NARROW);
        self.is_stored = self.version == version;
        if !self.is_stored {
            self.version = version;
            self.previous.clear();
        }
        self.left = self.previous.len();
        self.current.clear();
        self.ended = false;
    }

    /// Returns the offsets of the return addresses that the known steps read, in a stack that begins at `sp`; innermost
    /// first.
    #[inline]
    pub(crate) fn return_addresses(&self, sp: u64) -> impl Iterator<Item = usize> {
        self.previous.iter().rev().map(move |step| {
            // The return address is the last word of the frame.
            let offset = step.cfa().wrapping_sub(sp.wrapping_add(8));
            usize::try_from(offset).unwrap_or(usize::MAX)
        })
    }

    /// Ends the walk: the new steps replace all known ones but the `n_outer` outermost.
    fn end_on(&mut self, n_outer: usize) {
        self.ended = true;
        if n_outer == 0 {
            self.current.reverse();
            std::mem::swap(&mut self.previous, &mut self.current);
        } else {
            self.previous.truncate(n_outer);
            self.previous.extend(self.current.iter().rev());
        }
    }

    /// Returns true if the outermost known step is that of a frame without a caller.
    pub(crate) fn ends_outermost(&self) -> bool {
        self.previous.first().is_some_and(|step| step.rule.is_none())
    }

    /// Ends the walk.
    pub(crate) fn end(&mut self) {
        if !self.ended && self.is_stored {
            self.end_on(0);
        }
    }

    /// Stores a step from a frame that is not a leaf, unless its frame is too large. The registers are the caller's.
    #[inline]
    pub(crate) fn remember(&mut self, frame: &Frame, evidence: &StepEvidence) {
        match evidence {
            StepEvidence::Simple(rule, read) => {
                self.remember_simple(frame, rule, read);
            }
            StepEvidence::Outermost => {
                self.current
                    .extend(frame.module.map(|module| CachedStep::outermost(frame, module)));
            }
        }
    }

    /// Stores a step by a simple rule, before its registers are restored.
    #[inline(always)]
    pub(crate) fn remember_simple(&mut self, frame: &Frame, rule: &SimpleRule, read: &SlotsRead) {
        let size = u32::try_from(read.cfa.wrapping_sub(frame.sp));
        let (Some(module), Ok(size)) = (frame.module, size) else { return };
        let (rule, return_address) = (Some(*rule), read.return_address);
        let outermost = CachedStep::outermost(frame, module);
        self.current.push(CachedStep { rule, return_address, size, ..outermost });
    }

    /// Follows the previous walk from a frame that is not a leaf, while its steps hold, and adds the passed frames.
    /// Returns `None` if there are none.
    #[inline]
    pub(crate) fn follow<const WORD: u64>(
        &mut self,
        lookup: Avma,
        found_by: FoundBy,
        walk: &mut WalkState<'_, '_>,
    ) -> Option<Followed> {
        let sp = walk.registers.sp(walk.context.arch);
        loop {
            let next = self.previous.get(self.left.checked_sub(1)?)?;
            if next.sp >= sp {
                let is_there = next.sp == sp && next.lookup() == lookup;
                return if is_there { self.follow_steps::<WORD>(found_by, walk) } else { None };
            }
            self.left -= 1;
        }
    }

    fn follow_steps<const WORD: u64>(
        &mut self,
        mut found_by: FoundBy,
        walk: &mut WalkState<'_, '_>,
    ) -> Option<Followed> {
        let context = walk.context;
        let (memory, arch) = (&context.memory, context.arch);
        let previous = self.previous.get(..self.left)?;
        let (mut lookup, mut sp) = (previous.last()?.lookup(), previous.last()?.sp);
        // Slot that the last of these steps wrote the frame pointer to.
        let mut fp_slot = None;
        let mut left = previous.len();
        for step in previous.iter().rev() {
            let is_next = step.lookup() == lookup && step.sp == sp;
            if !is_next || !step.holds::<WORD>(fp_slot, walk.registers, context) {
                break;
            }
            if previous.len() - left == walk.capacity {
                return Some(Followed::End(EndReason::MaxFrames));
            }
            let mut frame = step.frame(found_by);
            if let Some(rule) = &step.rule {
                frame.saved = rule.values::<WORD>(memory, step.extent());
                fp_slot = rule.slot_of::<WORD>(arch.fp_slot, step.extent()).or(fp_slot);
            }
            walk.frames.push(frame);
            left -= 1;
            found_by = FoundBy::Cfi;
            let pc = arch.strip(step.return_address);
            if pc == 0 {
                let n_outer = previous.len();
                self.end_on(n_outer);
                return Some(Followed::End(EndReason::Root));
            }
            (lookup, sp) = (Avma(pc).sub(1), step.cfa());
        }
        let followed = previous.get(left..)?;
        let last = followed.first()?;
        for step in followed.iter().rev() {
            if let Some(rule) = &step.rule {
                rule.restore_saved::<WORD>(walk.registers, arch, step.extent());
            }
        }
        walk.registers.go_to(arch, last.cfa(), last.return_address);
        self.current.extend(followed.iter().rev());
        self.left = left;
        Some(Followed::To(lookup))
    }
}

impl CachedStep {
    /// A step of a frame without a caller.
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

    /// Extent of the frame on the stack.
    #[inline]
    const fn extent(&self) -> FrameExtent {
        FrameExtent { sp: self.sp, cfa: self.cfa() }
    }

    /// Returns the frame. Rules belong to opened files, so its address is one that the file states.
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

    /// Returns true if a quick check proves that the step would be repeated. `fp_slot` holds the frame pointer if a
    /// followed step saved it; otherwise the walk's registers hold it.
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
            // Other registers are rarely restored.
            if rule.cfa_register != arch.fp || fp != Some(base) {
                return false;
            }
        }
        let slot = slot_at::<WORD>(self.cfa(), rule.return_address());
        memory.recorded(slot) == Some(self.return_address)
    }
}

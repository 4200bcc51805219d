//! The outer frames of the sample before: samples of a thread follow each other closely, and most of the functions that
//! one of them was called from are still running at the next.
//!
//! A step is a function of the looked-up address, of the stack pointer and of the few words that it reads. So where a
//! walk comes to a frame that the walk before came through, and finds the same words in the same slots, its next frame
//! is known without the rule. Nothing is taken on trust: what is followed is what the rules would give.

use address::{Avma, ModuleId};
use profile::{EndReason, FoundBy};

use crate::arch::{Arch, NARROW};
use crate::frame::{AddressKind, Evidence, Frame};
use crate::rule::{SimpleRule, SlotsRead, slot_at};
use crate::state::{Memory, Registers, Saved};

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
    /// The slot that the base of the frame's address was read from, from the stack pointer on; 0 where it was in its
    /// register, or is the stack pointer.
    base_slot: i32,
    /// Bit set: the register of that number was saved in this frame.
    saved: u32,
}

/// The previous stack of a thread: the steps of its last walk, as far as they can be followed.
#[derive(Default, Debug)]
pub(crate) struct StackCache {
    /// The version of the space that they were made in, with the size of their words in the lowest bit.
    version: u64,
    /// Outermost first.
    known: Vec<CachedStep>,
    /// So many of them the walk has not yet come past.
    left: usize,
    /// The steps of this walk, innermost first.
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
    pub(crate) arch: Arch,
    pub(crate) registers: &'w mut Registers,
    pub(crate) memory: &'w Memory<'m>,
    pub(crate) frames: &'w mut Vec<Frame>,
    /// How many frames may be added.
    pub(crate) room: usize,
}

impl StackCache {
    /// Begins a walk in a version of a space. Steps of processors with other words are of no use.
    pub(crate) fn begin(&mut self, version: u64, arch: Arch) {
        let version = version << 1 | u64::from(arch.word() == NARROW);
        self.is_kept = self.version == version;
        if !self.is_kept {
            self.version = version;
            self.known.clear();
        }
        self.left = self.known.len();
        self.made.clear();
        self.ended = false;
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
        if !self.ended {
            self.end_on(0);
        }
    }

    /// Remembers a step from a frame that had called somebody, unless it is too far for it.
    #[inline]
    pub(crate) fn remember(&mut self, frame: &Frame, evidence: &Evidence) {
        match evidence {
            Evidence::Simple(rule, read) => self.remember_simple(frame, rule, read),
            Evidence::Outermost => {
                let outermost = frame.module.filter(|_| self.is_kept);
                let outermost = outermost.map(|module| CachedStep::outermost(frame, module));
                self.made.extend(outermost);
            }
        }
    }

    /// The same for a step by a simple rule.
    #[inline(always)]
    pub(crate) fn remember_simple(&mut self, frame: &Frame, rule: &SimpleRule, read: &SlotsRead) {
        let Some(module) = frame.module.filter(|_| self.is_kept) else { return };
        let sp = frame.sp;
        let size = u32::try_from(read.cfa.wrapping_sub(sp));
        let base_slot = match read.base_slot {
            0 => Ok(0),
            slot => i32::try_from(slot.wrapping_sub(sp) as i64),
        };
        let saved = u32::try_from(read.saved);
        let (Ok(size), Ok(base_slot), Ok(saved)) = (size, base_slot, saved) else { return };
        let (rule, return_address) = (Some(*rule), read.return_address);
        let outermost = CachedStep::outermost(frame, module);
        self.made.push(CachedStep { rule, return_address, size, base_slot, saved, ..outermost });
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
        let sp = walk.registers.sp(walk.arch);
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
        let arch = walk.arch;
        let known = self.known.get(..self.left)?;
        let (mut lookup, mut sp) = (known.last()?.lookup(), known.last()?.sp);
        let mut restored = 0;
        let mut left = known.len();
        let first = walk.frames.len();
        for step in known.iter().rev() {
            let is_next = step.lookup() == lookup && step.sp == sp;
            if !is_next || !step.holds::<WORD>(restored, walk.registers, walk.memory, arch) {
                break;
            }
            if known.len() - left == walk.room {
                return Some(Followed::End(EndReason::MaxFrames));
            }
            walk.frames.push(step.frame(found_by));
            left -= 1;
            found_by = FoundBy::Cfi;
            restored |= step.saved;
            let pc = arch.strip(step.return_address);
            if pc == 0 {
                restore_saved::<WORD>(known.get(left..)?, walk, first);
                let n_outer = known.len();
                self.end_on(n_outer);
                return Some(Followed::End(EndReason::Root));
            }
            (lookup, sp) = (Avma(pc).sub(1), step.cfa());
        }
        let followed = known.get(left..)?;
        let last = followed.first()?;
        restore_saved::<WORD>(followed, walk, first);
        walk.registers.set(arch.sp(), last.cfa());
        walk.registers.set(arch.return_address(), last.return_address);
        self.made.extend(followed.iter().rev());
        self.left = left;
        Some(Followed::To(lookup))
    }
}

/// Restores what was saved in the frames of steps, outermost first, that were followed; the frames begin at `first`.
#[inline]
fn restore_saved<const WORD: u64>(
    followed: &[CachedStep],
    walk: &mut WalkState<'_, '_>,
    first: usize,
) {
    let WalkState { arch, registers, memory, frames, .. } = walk;
    let frames = frames.get_mut(first..).unwrap_or_default();
    for (step, frame) in followed.iter().rev().zip(frames) {
        if let Some(rule) = &step.rule {
            let place = (step.sp, step.cfa());
            (_, frame.saved) = rule.restore_saved::<WORD>(registers, memory, *arch, place);
        }
    }
}

impl CachedStep {
    /// The step of a frame without a caller.
    #[inline(always)]
    const fn outermost(frame: &Frame, module: ModuleId) -> Self {
        let Frame { relative, bias, sp, .. } = *frame;
        let (rule, return_address, size, base_slot, saved) = (None, 0, 0, 0, 0);
        Self { relative, bias, sp, rule, return_address, module, size, base_slot, saved }
    }

    #[inline]
    const fn lookup(&self) -> Avma {
        Avma(self.relative.wrapping_add(self.bias))
    }

    #[inline]
    const fn cfa(&self) -> u64 {
        self.sp.wrapping_add(self.size as u64)
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

    /// Whether the step would be made again. `restored` has the registers that steps before this one have restored,
    /// which therefore are in the same slots; the others are those of the walk.
    #[inline]
    fn holds<const WORD: u64>(
        &self,
        restored: u32,
        registers: &Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> bool {
        let Some(rule) = &self.rule else { return true };
        let register = rule.cfa_register;
        let base = self.cfa().wrapping_sub(i64::from(rule.cfa_offset) as u64);
        let same_base = register == arch.sp()
            || if u64::from(restored) >> (register & 63) & 1 != 0 {
                let slot = self.sp.wrapping_add_signed(self.base_slot.into());
                memory.recorded(slot) == Some(base)
            } else {
                registers.get(register, memory) == Ok(base)
            };
        let slot = slot_at::<WORD>(self.cfa(), rule.return_address());
        same_base && memory.recorded(slot) == Some(self.return_address)
    }
}

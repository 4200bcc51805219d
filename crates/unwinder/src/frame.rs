//! A frame, where it is, and the step that leads to its caller.

use address::{Avma, FileOffset, ModuleId, Svma};
use profile::FoundBy;

use crate::rule::{SimpleRule, SlotsRead};
use crate::state::Saved;

/// The looked-up address of a frame (for callers: return address - 1), stated as far as its place is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameAddress {
    /// The address that the module's file states.
    Svma(Svma),
    /// The offset in the module's file, where no file was opened.
    FileOffset(FileOffset),
    /// The address in the process: memory without a file, the kernel, where nothing is mapped, and where no segment of the
    /// opened file has the address.
    Avma(Avma),
}

/// Which of [`FrameAddress`]' variants a word is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum AddressKind {
    Svma,
    FileOffset,
    Avma,
}

/// Where a frame is, without how that is stated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The module that is mapped there; `None` if there is none, or none with an id.
    pub module: Option<ModuleId>,
    /// The looked-up address as the module's file states it, or the word of a [`FrameAddress`] of another kind.
    pub relative: u64,
    /// The number to add to `relative`, wrapping, for the address in the process.
    pub bias: u64,
}

impl Place {
    /// No place.
    pub const NOWHERE: Self = Self { module: None, relative: 0, bias: 0 };

    /// The looked-up address in the process.
    #[inline]
    #[must_use]
    pub const fn addr(&self) -> u64 {
        self.relative.wrapping_add(self.bias)
    }
}

/// A frame as it was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// What was mapped at the looked-up address; `None` where nothing was, or nothing that its opened file has in a segment.
    pub module: Option<ModuleId>,
    /// The word of [`Self::address`]. It is kept as a word, for millions of them are hashed and compared.
    pub(crate) relative: u64,
    pub(crate) kind: AddressKind,
    /// What to add to `relative`, wrapping, for the address in the process.
    pub(crate) bias: u64,
    /// The stack pointer in it: where its callee's frame begins (the callee's CFA), for the first frame what was sampled.
    /// 0 where it is not known, as of frames that a recorder found.
    pub(crate) sp: u64,
    /// What it saved of its caller's registers.
    pub(crate) saved: Saved,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
}

impl Frame {
    /// The looked-up address in the module.
    #[must_use]
    pub const fn address(&self) -> FrameAddress {
        match self.kind {
            AddressKind::Svma => FrameAddress::Svma(Svma(self.relative)),
            AddressKind::FileOffset => FrameAddress::FileOffset(FileOffset(self.relative)),
            AddressKind::Avma => FrameAddress::Avma(Avma(self.relative)),
        }
    }

    /// The looked-up address in the process.
    #[inline]
    #[must_use]
    pub const fn in_process(&self) -> Avma {
        Avma(self.relative.wrapping_add(self.bias))
    }

    /// The stack pointer in it, an address in the process: where the frame of its callee begins (the callee's CFA), for the
    /// first frame what was sampled. `None` where it is not known, as of frames that a recorder found.
    #[inline]
    #[must_use]
    pub const fn sp(&self) -> Option<u64> {
        if self.sp == 0 { None } else { Some(self.sp) }
    }

    /// A digest of the registers of its caller that it saved.
    #[inline]
    #[must_use]
    pub const fn saved(&self) -> Saved {
        self.saved
    }

    /// Where it is.
    #[inline]
    #[must_use]
    pub const fn place(&self) -> Place {
        Place { module: self.module, relative: self.relative, bias: self.bias }
    }

    /// Stands for frames that are missing.
    pub(crate) const GAP: Self = Self::nowhere(Avma(0), FoundBy::Gap);

    /// A frame of user mode at an address where nothing is mapped.
    #[inline]
    #[must_use]
    pub const fn nowhere(lookup: Avma, found_by: FoundBy) -> Self {
        let kind = AddressKind::Avma;
        Self {
            module: None,
            relative: lookup.0,
            kind,
            bias: 0,
            sp: 0,
            saved: Saved::NONE,
            found_by,
            kernel: false,
        }
    }

    /// A frame of kernel mode, at a looked-up address of the machine.
    #[inline]
    #[must_use]
    pub const fn of_kernel(module: Option<ModuleId>, lookup: Avma, found_by: FoundBy) -> Self {
        Self { module, kernel: true, ..Self::nowhere(lookup, found_by) }
    }
}

/// The caller of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Where it goes on.
    pub(crate) pc: Avma,
    /// It was interrupted there: the instruction at `pc` has not run.
    pub(crate) exact: bool,
    pub(crate) found_by: FoundBy,
}

impl Caller {
    /// The address to look up: in the call, which is before the return address.
    pub(crate) const fn lookup(&self) -> Avma {
        if self.exact { self.pc } else { self.pc.sub(1) }
    }
}

/// A step outwards that was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// `None` where the frame is the outermost.
    pub(crate) caller: Option<Caller>,
    /// `None` where what the step read does not show whether it would be made again.
    pub(crate) evidence: Option<Evidence>,
    pub(crate) remark: Remark,
}

impl Step {
    /// The step to a caller, or from the outermost frame, that shows nothing else.
    pub(crate) const fn to(caller: Option<Caller>) -> Self {
        Self { caller, evidence: None, remark: Remark::Nothing }
    }

    /// The step from a frame that is stated to be the outermost.
    pub(crate) const fn outermost() -> Self {
        Self { caller: None, evidence: Some(Evidence::Outermost), remark: Remark::Nothing }
    }
}

/// A fact about the frames on both sides of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remark {
    Nothing,
    /// The address of the frame is behind the system call that it waits for.
    InSystemCall,
    /// The step is by the frame pointer from code that cannot be read.
    Guess,
    /// The same, and frames are missing before the caller.
    GuessAcrossGap,
}

impl Remark {
    /// Whether the step is no proof of its caller.
    pub(crate) const fn is_guess(self) -> bool {
        matches!(self, Self::Guess | Self::GuessAcrossGap)
    }
}

/// What a step depended on besides the place in the code and the stack pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Evidence {
    /// Nothing: the frame is the outermost.
    Outermost,
    /// On what a simple rule read.
    Simple(SimpleRule, SlotsRead),
}

//! A frame, its location, and the step to its caller.

use address::{Avma, FileOffset, ModuleId, Svma};
use profile::FoundBy;

use crate::rule::{SimpleRule, SlotsRead};
use crate::state::Saved;

/// Looked-up address of a frame (for callers: return address - 1), in the most specific form that is available.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameAddress {
    /// The address that the module's file states.
    Svma(Svma),
    /// The offset in the module's file, if the file was not opened.
    FileOffset(FileOffset),
    /// The address in the process: for memory without a file, the kernel, unmapped addresses, and addresses outside the
    /// segments of the opened file.
    Avma(Avma),
}

/// The variant of [`FrameAddress`] that a stored word belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum AddressKind {
    Svma,
    FileOffset,
    Avma,
}

/// Location of a frame, independent of how its address is stated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CodeLocation {
    /// The module that is mapped there; `None` if there is none, or none with an id.
    pub module: Option<ModuleId>,
    /// Looked-up address as the module's file states it, or the value of another variant of [`FrameAddress`].
    pub relative: u64,
    /// Number to add to `relative`, wrapping, for the address in the process.
    pub bias: u64,
}

impl CodeLocation {
    /// The absence of a location.
    pub const NOWHERE: Self = Self { module: None, relative: 0, bias: 0 };

    /// The looked-up address in the process.
    #[inline]
    #[must_use]
    pub const fn addr(&self) -> u64 {
        self.relative.wrapping_add(self.bias)
    }
}

/// A frame and its evidence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// Module mapped at the looked-up address; `None` if nothing is mapped there, or if the address is outside the
    /// segments of the opened file.
    pub module: Option<ModuleId>,
    /// Value of [`Self::address`], stored as a bare word because millions of frames are hashed and compared.
    pub(crate) relative: u64,
    pub(crate) kind: AddressKind,
    /// Number to add to `relative`, wrapping, for the address in the process.
    pub(crate) bias: u64,
    /// Stack pointer in the frame: the start of its callee's frame (the callee's CFA), or the sampled one for the first
    /// frame. 0 if unknown, as in frames that the recorder found.
    pub(crate) sp: u64,
    /// Digest of the caller's registers that it saved.
    pub(crate) saved: Saved,
    /// Evidence for the frame.
    pub found_by: FoundBy,
    /// True if it ran in kernel mode.
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

    /// Stack pointer in the frame, an address in the process: the start of its callee's frame (the callee's CFA), or
    /// the sampled one for the first frame. `None` if unknown, as in frames that the recorder found.
    #[inline]
    #[must_use]
    pub const fn sp(&self) -> Option<u64> {
        if self.sp == 0 { None } else { Some(self.sp) }
    }

    /// Digest of the caller's registers that it saved.
    #[inline]
    #[must_use]
    pub const fn saved(&self) -> Saved {
        self.saved
    }

    /// Location of the frame.
    #[inline]
    #[must_use]
    pub const fn location(&self) -> CodeLocation {
        CodeLocation { module: self.module, relative: self.relative, bias: self.bias }
    }

    /// Placeholder for missing frames.
    pub(crate) const GAP: Self = Self::nowhere(Avma(0), FoundBy::Gap);

    /// A user-mode frame at an address without a mapping.
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

    /// A kernel-mode frame at a looked-up address.
    #[inline]
    #[must_use]
    pub const fn of_kernel(module: Option<ModuleId>, lookup: Avma, found_by: FoundBy) -> Self {
        Self { module, kernel: true, ..Self::nowhere(lookup, found_by) }
    }
}

/// The caller of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// Address at which it continues.
    pub(crate) pc: Avma,
    /// True if it was interrupted at `pc`: the instruction there has not executed.
    pub(crate) exact: bool,
    pub(crate) found_by: FoundBy,
}

impl Caller {
    /// The address to look up: in the call instruction, before the return address.
    pub(crate) const fn lookup(&self) -> Avma {
        if self.exact { self.pc } else { self.pc.sub(1) }
    }
}

/// A completed step to a caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// `None` if the frame is the outermost.
    pub(crate) caller: Option<Caller>,
    /// `None` if the words that the step read do not determine whether a later walk would repeat it.
    pub(crate) evidence: Option<StepEvidence>,
    pub(crate) remark: Remark,
}

impl Step {
    /// A step to a caller, or from the outermost frame, without evidence or remark.
    pub(crate) const fn to(caller: Option<Caller>) -> Self {
        Self { caller, evidence: None, remark: Remark::Nothing }
    }

    /// A step from a frame that is stated to be the outermost.
    pub(crate) const fn outermost() -> Self {
        Self { caller: None, evidence: Some(StepEvidence::Outermost), remark: Remark::Nothing }
    }
}

/// A fact about the frames on both sides of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remark {
    Nothing,
    /// The address of the frame is after the system call that it waits for.
    InSystemCall,
    /// The step follows the frame pointer from unreadable code.
    Guess,
    /// As `Guess`, and frames are missing before the caller.
    GuessAcrossGap,
}

impl Remark {
    /// Returns true if the step does not prove its caller.
    pub(crate) const fn is_guess(self) -> bool {
        matches!(self, Self::Guess | Self::GuessAcrossGap)
    }
}

/// Inputs of a step besides the code address and the stack pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepEvidence {
    /// None: the frame is the outermost.
    Outermost,
    /// The words that a simple rule read.
    Simple(SimpleRule, SlotsRead),
}

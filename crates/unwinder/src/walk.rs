//! The walk of one sample: from the sampled registers outwards, frame by frame, to the root or to the reason why it
//! is not reached.

use address::{Avma, ModuleId};
use module_map::{Library, ModuleKind, Piece, Space};

use crate::arch::{Arch, UNUSED};
use crate::cache::RuleCache;
use crate::compile::Context;
use crate::engine::Engine;
use crate::fallback::Fallback;
use crate::memory::Memory;
use crate::reason::{EndReason, FoundBy};
use crate::registers::Registers;
use crate::rule::RuleKind;
use crate::step::{step_full, step_packed};

/// A frame as it was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// What was mapped at the looked-up address.
    pub module: Option<ModuleId>,
    /// The looked-up address (for callers: return address - 1) in the module: the address that its file states where
    /// a file was opened; else the offset in the file; for memory without file, and without module, the address in
    /// the process.
    pub relative: u64,
    /// What to add to `relative` for the address in the process.
    pub bias: u64,
    /// How it was found.
    pub found_by: FoundBy,
    /// Whether it ran in kernel mode.
    pub kernel: bool,
}

/// The user part of a sample.
#[derive(Clone, Copy, Debug)]
pub struct UserState<'a> {
    /// The processor.
    pub arch: Arch,
    /// The stack bytes, from the stack pointer up.
    pub stack: &'a [u8],
    /// Whether the stack is big-endian.
    pub big_endian: bool,
    /// The sample was taken in the kernel without full user registers: on x86-64, -1 in rbx and r12 to r15 then means
    /// "not known".
    pub partial_registers: bool,
    /// The address space at the time of the sample.
    pub space: &'a Space,
}

/// The scratch of one thread.
#[derive(Debug)]
pub struct Walker<'e> {
    engine: &'e Engine,
    library: &'e Library,
    max_frames: usize,
    context: Context,
    fallback: Fallback,
}

/// A frame's place: the piece, and the file's address where there is a file.
pub(crate) struct Place<'s> {
    piece: &'s Piece,
    pub(crate) frame: Frame,
    has_file: bool,
}

impl<'e> Walker<'e> {
    /// A walker that emits at most `max_frames` user frames a sample.
    #[must_use]
    pub fn new(engine: &'e Engine, library: &'e Library, max_frames: usize) -> Self {
        Self {
            engine,
            library,
            max_frames,
            context: Context::new_in(),
            fallback: Fallback::default(),
        }
    }

    /// Walks the user stack of a sample and appends its frames, innermost first. `sampled` gives the registers as (bit
    /// of the recorder's mask, value).
    pub fn walk(
        &mut self,
        state: &UserState<'_>,
        sampled: impl Iterator<Item = (u32, u64)>,
        frames: &mut Vec<Frame>,
    ) -> EndReason {
        let arch = state.arch;
        let (mut registers, pc) = initial_registers(state, sampled);
        let Some(pc) = pc else { return EndReason::NoUserRegs };
        let memory = Memory {
            stack: state.stack,
            stack_start: registers.sp(arch),
            big_endian: state.big_endian,
            space: state.space,
            library: self.library,
        };
        let mut lookup = Avma(pc);
        let mut found_by = FoundBy::Sampled;
        let first = frames.len();
        loop {
            let place = match self.place(lookup, state.space, found_by) {
                Some(place) => place,
                None if frames.len() == first => {
                    frames.push(Frame {
                        module: None,
                        relative: pc,
                        bias: 0,
                        found_by,
                        kernel: false,
                    });
                    return EndReason::NotMapped;
                }
                None => return EndReason::NotMapped,
            };
            if frames.len() > first && !place.piece.executable {
                // A return address outside of all code: the chain went wrong here, or code was never reported.
                return EndReason::NotMapped;
            }
            if frames.len() - first >= self.max_frames {
                return EndReason::MaxFrames;
            }
            frames.push(place.frame);
            let is_leaf = frames.len() - first == 1;
            match self.step(&place, lookup, is_leaf, &mut registers, &memory, arch) {
                Ok(Caller { pc: 0, .. }) => return EndReason::Root,
                Ok(caller) => {
                    lookup = if caller.exact { Avma(caller.pc) } else { Avma(caller.pc).sub(1) };
                    found_by = caller.found_by;
                }
                Err(reason) => return reason,
            }
        }
    }

    /// The frame of an address that was not walked to.
    pub(crate) fn frame_at(&self, lookup: Avma, space: &Space, found_by: FoundBy) -> Frame {
        let nowhere = Frame { module: None, relative: lookup.0, bias: 0, found_by, kernel: false };
        self.place(lookup, space, found_by).map_or(nowhere, |place| place.frame)
    }

    fn step(
        &mut self,
        place: &Place<'_>,
        lookup: Avma,
        is_leaf: bool,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Result<Caller, EndReason> {
        let sp = registers.sp(arch);
        let file = if place.has_file { place.piece.module.file(self.library).ok() } else { None };
        let rule = file.map(|file| {
            let svma = address::Svma(place.frame.relative);
            let cached = RuleCache::key(file.serial, svma).and_then(|key| self.engine.cached(key));
            cached.unwrap_or_else(|| {
                self.engine.make_rule(file, svma, lookup, memory, &mut self.context)
            })
        });
        let (rule, pc) = match rule {
            Some(rule) if rule.kind == RuleKind::Packed => {
                (rule, step_packed(&rule, registers, memory, arch)?)
            }
            Some(rule) if rule.kind == RuleKind::Complex => {
                let row = self.engine.row(&rule).ok_or(EndReason::BadUnwindInfo)?;
                (rule, step_full(&row, registers, memory, arch)?)
            }
            Some(rule) if rule.kind == RuleKind::Outermost => return Err(EndReason::Root),
            rule => {
                let reason = match (rule.map(|rule| rule.kind), place.piece.module.kind) {
                    (Some(RuleKind::Bad), _) => EndReason::BadUnwindInfo,
                    (Some(_), _) => EndReason::NoUnwindInfo,
                    (None, ModuleKind::Anonymous | ModuleKind::Unopened) => {
                        EndReason::AnonymousMemory
                    }
                    (None, _) => EndReason::NoModule,
                };
                let svma = address::Svma(place.frame.relative);
                let code = file.map(|file| (file, svma));
                let caller =
                    self.fallback.step(code, is_leaf, registers, memory, arch).ok_or(reason)?;
                return Ok(caller);
            }
        };
        let moved = registers.sp(arch);
        // A leaf can have its return address in a register and an empty frame: on aarch64 as a rule, on x86-64 in vfork.
        let advanced = moved > sp || (is_leaf && moved == sp);
        if !advanced && !rule.signal {
            return Err(EndReason::NoProgress);
        }
        Ok(Caller { pc: strip(arch, pc), exact: rule.signal, found_by: FoundBy::Cfi })
    }

    pub(crate) fn place<'s>(
        &self,
        lookup: Avma,
        space: &'s Space,
        found_by: FoundBy,
    ) -> Option<Place<'s>> {
        let piece = space.lookup(lookup)?;
        let svma = piece.module.file(self.library).ok().and_then(|file| {
            file.image().svma_of_offset(piece.offset_of(lookup), piece.executable)
        });
        let relative = match (svma, piece.module.kind) {
            (Some(svma), _) => svma.0,
            (None, ModuleKind::File | ModuleKind::Unopened | ModuleKind::Vdso) => {
                piece.offset_of(lookup).0
            }
            (None, ModuleKind::Anonymous | ModuleKind::Kernel) => lookup.0,
        };
        let frame = Frame {
            module: Some(piece.module.id),
            relative,
            bias: lookup.0.wrapping_sub(relative),
            found_by,
            kernel: false,
        };
        Some(Place { piece, frame, has_file: svma.is_some() })
    }
}

/// The caller of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller {
    /// Where it goes on; 0 where there is none.
    pub(crate) pc: u64,
    /// It was interrupted there: the instruction at `pc` has not run.
    pub(crate) exact: bool,
    pub(crate) found_by: FoundBy,
}

/// A return address without the bits that pointer authentication put into it.
///
/// Source: Arm ARM, "Pointer authentication": user addresses have bit 55 clear; addresses are of 48 bits at most
/// unless a process asks for more.
pub(crate) const fn strip(arch: Arch, pc: u64) -> u64 {
    match arch {
        Arch::X86_64 => pc,
        Arch::Aarch64 => pc & 0x0000_ffff_ffff_ffff,
    }
}

/// The sampled registers by DWARF number, and the program counter.
fn initial_registers(
    state: &UserState<'_>,
    sampled: impl Iterator<Item = (u32, u64)>,
) -> (Registers, Option<u64>) {
    let mut registers = Registers::new();
    let mut pc = None;
    let numbers = state.arch.of_mask_bits();
    for (bit, value) in sampled {
        let Some(&number) = numbers.get(bit as usize).filter(|&&number| number != UNUSED) else {
            continue;
        };
        if number == state.arch.pc() {
            pc = Some(value);
        }
        let unknown = state.partial_registers && value == u64::MAX && matches!(number, 3 | 12..=15);
        if !(unknown && state.arch == Arch::X86_64) {
            registers.set(number, value);
        }
    }
    (registers, pc)
}

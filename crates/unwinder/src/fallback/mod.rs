//! What to do where no call frame information covers the code: the analysis of the prologue or epilogue around the
//! sampled pc, the return address that a leaf has not moved, the frame pointer. Each answer is checked: it must be
//! an address after a call, in executable memory.

mod analysis;

use std::sync::Arc;

use address::{Avma, Svma};
use hashbrown::HashMap;
use module_map::LoadedImage;
use profile::FoundBy;

use crate::arch::Arch;
use crate::fallback::analysis::Analyser;
use crate::frame::Caller;
use crate::state::{Memory, MemoryError, Registers};

/// The scratch of the fallbacks of one thread.
#[derive(Default)]
pub(crate) struct Fallback {
    analysers: HashMap<u32, Option<Analyser>>,
}

impl std::fmt::Debug for Fallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fallback").field("files", &self.analysers.len()).finish()
    }
}

impl Fallback {
    /// The caller of a frame without call frame information, if one can be made plausible.
    pub(crate) fn step(
        &mut self,
        code: Option<(&Arc<LoadedImage>, Svma)>,
        is_leaf: bool,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<Caller> {
        if is_leaf
            && let Some((file, svma)) = code
            && let Some(caller) = self.analyse(file, svma, registers, memory, arch)
        {
            return Some(caller);
        }
        by_frame_pointer(registers, memory, arch)
            .or_else(|| by_leaf_rule(registers, memory, arch).filter(|_| is_leaf))
    }

    /// framehop's analysis of the instructions around the pc. It is asked for x86-64 only: on aarch64 the leaf rule
    /// and the frame pointer, which compilers keep there, say the same.
    fn analyse(
        &mut self,
        file: &Arc<LoadedImage>,
        svma: Svma,
        registers: &mut Registers,
        memory: &Memory<'_>,
        arch: Arch,
    ) -> Option<Caller> {
        if arch != Arch::X86_64 {
            return None;
        }
        let analyser =
            self.analysers.entry(file.serial).or_insert_with(|| Analyser::new(file)).as_mut()?;
        let sp = registers.sp(arch);
        let fp = registers.get(arch.fp(), memory).unwrap_or(0);
        let (pc, new_sp, new_fp) = analyser.step(svma, sp, fp, memory)?;
        if new_sp <= sp || !is_return_address(pc, memory, arch) {
            return None;
        }
        registers.set(arch.sp(), new_sp);
        if new_fp != fp {
            registers.set(arch.fp(), new_fp);
        }
        // An answer that only takes the word at the stack pointer is what the leaf rule says.
        let found_by =
            if new_sp == sp.wrapping_add(8) { FoundBy::LeafRule } else { FoundBy::Prologue };
        Some(Caller { pc: Avma(pc), exact: false, found_by })
    }
}

/// Whether the frame pointer's record lies on the stack, but past the end of what was recorded of it.
pub(crate) fn is_cut_off(registers: &Registers, memory: &Memory<'_>, arch: Arch) -> bool {
    registers.get(arch.fp(), memory).is_ok_and(|fp| {
        let record = [memory.read(fp), memory.read(fp.wrapping_add(8))];
        fp >= registers.sp(arch) && fp % 8 == 0 && record.contains(&Err(MemoryError::PastDump))
    })
}

/// The frame pointer's record: the caller's frame pointer, then the return address.
fn by_frame_pointer(registers: &mut Registers, memory: &Memory<'_>, arch: Arch) -> Option<Caller> {
    let sp = registers.sp(arch);
    let fp = registers.get(arch.fp(), memory).ok()?;
    if fp < sp || fp % 8 != 0 {
        return None;
    }
    let caller_fp = memory.read(fp).ok()?;
    let pc = arch.strip(memory.read(fp.wrapping_add(8)).ok()?);
    if !is_return_address(pc, memory, arch) {
        return None;
    }
    registers.set(arch.fp(), caller_fp);
    registers.set(arch.sp(), fp.wrapping_add(16));
    registers.set(arch.return_address(), pc);
    Some(Caller { pc: Avma(pc), exact: false, found_by: FoundBy::FramePointer })
}

/// A function that has not touched the stack: its return address is where the call put it.
fn by_leaf_rule(registers: &mut Registers, memory: &Memory<'_>, arch: Arch) -> Option<Caller> {
    let sp = registers.sp(arch);
    let pc = match arch {
        Arch::X86_64 => memory.read(sp).ok()?,
        Arch::Aarch64 => arch.strip(registers.get(arch.return_address(), memory).ok()?),
    };
    if !is_return_address(pc, memory, arch) {
        return None;
    }
    if arch == Arch::X86_64 {
        registers.set(arch.sp(), sp.wrapping_add(8));
    }
    Some(Caller { pc: Avma(pc), exact: false, found_by: FoundBy::LeafRule })
}

/// Whether a call can have pushed this address: it is in executable memory, and where the code can be read, a call
/// stands before it.
fn is_return_address(pc: u64, memory: &Memory<'_>, arch: Arch) -> bool {
    let before = Avma(pc).sub(1);
    if !memory.space.lookup(before).is_some_and(|mapping| mapping.executable) {
        return false;
    }
    let len = arch.longest_call();
    memory.code(Avma(pc).sub(len as u64), len).is_none_or(|code| arch.ends_with_call(code))
}

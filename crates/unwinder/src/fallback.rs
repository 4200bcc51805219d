//! What to do where no call frame information covers the code: the analysis of the prologue or epilogue around the
//! sampled pc, the return address that a leaf has not moved, the frame pointer. Each answer is checked: it must be
//! an address behind a call, in executable memory.

use std::ops::{Deref, Range};
use std::sync::Arc;

use address::{Avma, Svma};
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{
    ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, Unwinder as _,
};
use hashbrown::HashMap;
use module_map::LoadedImage;

use crate::arch::Arch;
use crate::memory::{Memory, MemoryError};
use crate::registers::Registers;
use crate::walk::{Caller, strip};
use profile::FoundBy;

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
        Some(Caller { pc, exact: false, found_by, passed: None })
    }
}

/// Whether the frame pointer's record lies on the stack, but behind what was recorded of it.
pub(crate) fn is_cut_off(registers: &Registers, memory: &Memory<'_>, arch: Arch) -> bool {
    registers.get(arch.fp(), memory).is_ok_and(|fp| {
        let record = [memory.read(fp), memory.read(fp.wrapping_add(8))];
        fp >= registers.sp(arch) && fp % 8 == 0 && record.contains(&Err(MemoryError::BehindDump))
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
    let pc = strip(arch, memory.read(fp.wrapping_add(8)).ok()?);
    if !is_return_address(pc, memory, arch) {
        return None;
    }
    registers.set(arch.fp(), caller_fp);
    registers.set(arch.sp(), fp.wrapping_add(16));
    registers.set(arch.return_address(), pc);
    Some(Caller { pc, exact: false, found_by: FoundBy::FramePointer, passed: None })
}

/// A function that has not touched the stack: its return address is where the call put it.
fn by_leaf_rule(registers: &mut Registers, memory: &Memory<'_>, arch: Arch) -> Option<Caller> {
    let sp = registers.sp(arch);
    let pc = match arch {
        Arch::X86_64 => memory.read(sp).ok()?,
        Arch::Aarch64 => strip(arch, registers.get(arch.return_address(), memory).ok()?),
    };
    if !is_return_address(pc, memory, arch) {
        return None;
    }
    if arch == Arch::X86_64 {
        registers.set(arch.sp(), sp.wrapping_add(8));
    }
    Some(Caller { pc, exact: false, found_by: FoundBy::LeafRule, passed: None })
}

/// Whether a call can have pushed this address: it is in executable memory, and where the code can be read, a call
/// stands before it.
fn is_return_address(pc: u64, memory: &Memory<'_>, arch: Arch) -> bool {
    let before = Avma(pc).sub(1);
    if !memory.space.lookup(before).is_some_and(|piece| piece.executable) {
        return false;
    }
    match arch {
        Arch::X86_64 => memory.code(Avma(pc).sub(7), 7).is_none_or(ends_with_call),
        Arch::Aarch64 => memory.code(Avma(pc).sub(4), 4).is_none_or(|code| {
            let word = code.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            word & 0xfc00_0000 == 0x9400_0000
                || word & 0xffff_f81f == 0xd63f_0800
                || word & 0xffff_fc1f == 0xd63f_0000
        }),
    }
}

/// Source: Intel SDM, CALL: `E8 rel32`, or `FF /2` with its addressing bytes.
fn ends_with_call(code: &[u8]) -> bool {
    let at = |back: usize| {
        code.len().checked_sub(back).and_then(|index| code.get(index)).copied().unwrap_or(0)
    };
    at(5) == 0xe8
        || [2, 3, 4, 6, 7].into_iter().any(|len| at(len) == 0xff && at(len - 1) & 0x38 == 0x10)
}

/// A file's code as framehop sees it.
struct Analyser {
    unwinder: UnwinderX86_64<Code, MayAllocateDuringUnwind>,
    cache: CacheX86_64<MayAllocateDuringUnwind>,
}

/// Bytes of a file, or a few bytes that were made for it.
#[derive(Clone, Default)]
enum Code {
    #[default]
    Nothing,
    File(Arc<LoadedImage>, Range<usize>),
    Made(Arc<[u8]>),
}

impl Deref for Code {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Nothing => &[],
            Self::File(file, range) => file.image().bytes().get(range.clone()).unwrap_or_default(),
            Self::Made(bytes) => bytes,
        }
    }
}

impl Analyser {
    fn new(file: &Arc<LoadedImage>) -> Option<Self> {
        let image = file.image();
        let segment = image.segments().iter().find(|segment| segment.executable)?;
        let start = usize::try_from(segment.offset.0).ok()?;
        let end = start.checked_add(usize::try_from(segment.file_size).ok()?)?;
        let base = segment.svma.0;
        let limit = base.checked_add(segment.file_size)?;
        let section = ExplicitModuleSectionInfo {
            base_svma: base,
            text_svma: Some(base..limit),
            text: Some(Code::File(file.clone(), start..end)),
            unwind_info: Some(Code::Made(
                one_function(u32::try_from(segment.file_size).ok()?).into(),
            )),
            ..ExplicitModuleSectionInfo::default()
        };
        let mut unwinder = UnwinderX86_64::new();
        unwinder.add_module(Module::new(String::new(), base..limit, base, section));
        Some(Self { unwinder, cache: CacheX86_64::new_in() })
    }

    /// The caller's pc, stack pointer and frame pointer, as the instructions around `svma` tell.
    fn step(
        &mut self,
        svma: Svma,
        sp: u64,
        fp: u64,
        memory: &Memory<'_>,
    ) -> Option<(u64, u64, u64)> {
        let mut registers = UnwindRegsX86_64::new(svma.0, sp, fp);
        let mut read = |address| memory.read(address).map_err(|_| ());
        let address = FrameAddress::from_instruction_pointer(svma.0);
        let pc = self
            .unwinder
            .unwind_frame(address, &mut registers, &mut self.cache, &mut read)
            .ok()??;
        Some((pc, registers.sp(), registers.bp()))
    }
}

/// Compact unwind information that says: one function without description, `len` bytes long. It is what makes
/// framehop look at the instructions.
///
/// Source: mach-o/compact_unwind_encoding.h, `unwind_info_section_header` and regular second-level pages.
fn one_function(len: u32) -> Vec<u8> {
    const HEADER: u32 = 28;
    const FIRST_LEVEL: u32 = 12;
    const PAGE: u32 = HEADER + 2 * FIRST_LEVEL;
    const REGULAR: u32 = 2;
    let words = [
        1,
        HEADER,
        0,
        HEADER,
        0,
        HEADER,
        2, // version, no encodings, no personalities, two index entries
        0,
        PAGE,
        0,
        len,
        0,
        0, // the page of the function, the sentinel behind its end
        REGULAR,
        8 | 1 << 16, // entries begin behind this, one of them
        0,
        0, // from the start: no encoding
    ];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_other_code() {
        assert!(ends_with_call(&[0x90, 0x90, 0xe8, 1, 2, 3, 4])); // call rel32
        assert!(ends_with_call(&[0, 0, 0, 0, 0x41, 0xff, 0xd3])); // call *%r11
        assert!(ends_with_call(&[0, 0xff, 0x15, 1, 2, 3, 4])); // call *rel(%rip)
        assert!(ends_with_call(&[0, 0, 0, 0xff, 0x54, 0x24, 8])); // call *8(%rsp)
        assert!(!ends_with_call(&[0x90; 7]));
        assert!(!ends_with_call(&[0, 0, 0, 0, 0x41, 0xff, 0xe3])); // jmp *%r11
        assert!(!ends_with_call(&[]));
    }
}

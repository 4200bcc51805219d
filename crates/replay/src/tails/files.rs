//! Functions of a file as its CFI describes them, and the targets of its calls and jumps.

use std::sync::Arc;

use address::Svma;
use hashbrown::HashMap;
use image_store::{CallSlot, Exported, Image, LoadedImage};
use unwinder::{Arch, CfiScratch, CodeAllowance, Flow, FlowDecoder};

use crate::join::CodeContext;

/// Code range of one FDE: a function, or a separate part of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FdeRange {
    /// Serial number of the file.
    pub(super) file: u32,
    /// Start and end, as SVMA.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Address of code (SVMA), and the serial number of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileAddress {
    pub(super) file: u32,
    pub(super) svma: u64,
}

impl FdeRange {
    pub(super) const fn beginning(self) -> FileAddress {
        FileAddress { file: self.file, svma: self.start }
    }

    pub(super) const fn contains(&self, file: u32, svma: u64) -> bool {
        self.file == file && self.start <= svma && svma < self.end
    }
}

/// A dynamic symbol: serial number of the file that references it, and index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DynamicSymbol {
    file: u32,
    symbol: u32,
}

/// Target of a call or a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JumpTarget {
    /// The start of a function.
    Function(FdeRange),
    /// An address inside of a function, or in a part of one.
    Inside(FdeRange),
    /// The function of that symbol, in the file that the loader finds.
    Symbol(DynamicSymbol),
    /// Unknown.
    Unknown,
}

/// The function that the loader binds a symbol to, relative to a current function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BoundFunction {
    /// A function of the current function's file, or of the file that references the symbol.
    Function(FdeRange),
    /// A function of a third file: neither of them defines the symbol.
    Elsewhere,
    Unknown,
}

/// Kind of instruction that leads to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BranchKind {
    Call,
    Jump,
    /// A conditional jump.
    Branch,
}

/// Cached lookups in files.
#[derive(Default)]
pub(super) struct FileLookups {
    /// Files by serial number.
    files: HashMap<u32, CachedFile>,
    described: HashMap<(u32, u64), Option<FdeRange>>,
    entries: HashMap<(u32, u64), bool>,
    /// Functions of dynamic symbols, by the current function's file.
    linked: HashMap<(DynamicSymbol, u32), BoundFunction>,
    pub(super) allowance: CodeAllowance,
    scratch: CfiScratch,
}

/// A file, with its frequently used properties.
struct CachedFile {
    image: Arc<LoadedImage>,
    /// Architecture, if unwinding supports it.
    arch: Option<Arch>,
    /// Start and end of its procedure linkage tables.
    linkage: Vec<(u64, u64)>,
    /// Value of r2 in its code, on POWER.
    contents: Option<u64>,
}

/// Maximum number of jumps through procedure linkage entries and veneers.
const MOST_HOPS: usize = 4;
/// Maximum number of instructions of a procedure linkage entry or a veneer.
const MOST_OF_STUB: usize = 8;
/// Offset of r2 from the start of the global offset table.
///
/// Source: Power Architecture 64-Bit ELF V2 ABI, "The TOC".
const CONTENTS: u64 = 0x8000;
/// Bytes of a procedure linkage entry or a veneer that are decoded.
const STUB: usize = 64;
/// Default alignment of functions; compilers only reduce it on purpose.
const ALIGNMENT: u64 = 16;
/// Symbol of the loader's list of loaded files.
const LOADED_FILES: &[u8] = b"_r_debug";
/// Maximum number of linkage tables of a file: `.plt`, `.plt.sec` and `.plt.got`.
const MOST_LINKAGE: usize = 16;
/// Capacity of each cache; a full cache is cleared.
const MAX_CACHED: usize = 1 << 16;

impl FileLookups {
    /// Adds a file under its serial number.
    pub(super) fn add(&mut self, image: &Arc<LoadedImage>, code: CodeContext<'_>) {
        self.files.entry(image.serial).or_insert_with(|| {
            let sections = image.image().sections().iter();
            let table = sections.clone().find(|section| &*section.name == b".got");
            let linkage = sections.filter(|section| section.name.starts_with(b".plt"));
            let linkage = linkage.take(MOST_LINKAGE);
            CachedFile {
                image: Arc::clone(image),
                arch: code.engine.arch_of(image),
                linkage: linkage.map(|it| (it.svma.0, it.svma.0.wrapping_add(it.size))).collect(),
                contents: table.map(|it| it.svma.0.wrapping_add(CONTENTS)),
            }
        });
    }

    pub(super) fn get(&self, file: u32) -> Option<Arc<LoadedImage>> {
        self.files.get(&file).map(|file| Arc::clone(&file.image))
    }

    /// Architecture of a file.
    pub(super) fn arch(&self, file: u32) -> Option<Arch> {
        self.files.get(&file)?.arch
    }

    /// Returns the range of the FDE that covers an address.
    pub(super) fn described(
        &mut self,
        file: u32,
        svma: u64,
        code: CodeContext<'_>,
    ) -> Option<FdeRange> {
        if self.described.len() >= MAX_CACHED {
            self.described.clear();
        }
        let Self { files, described, scratch, .. } = self;
        *described.entry((file, svma)).or_insert_with(|| {
            let image = &files.get(&file)?.image;
            let range = code.engine.described(image, Svma(svma), code.images, scratch)?;
            Some(FdeRange { file, start: range.start.0, end: range.end.0 })
        })
    }

    /// Returns true if the frame at an address is as a call leaves it: nothing is saved yet, or everything is restored.
    pub(super) fn is_at_entry(&mut self, file: u32, svma: u64, code: CodeContext<'_>) -> bool {
        if self.entries.len() >= MAX_CACHED {
            self.entries.clear();
        }
        let Some(image) = self.get(file) else { return false };
        let Self { entries, scratch, .. } = self;
        let is_it = || code.engine.is_at_entry(&image, Svma(svma), code.images, scratch);
        *entries.entry((file, svma)).or_insert_with(is_it)
    }

    /// Returns the target of a direct call or jump to an address.
    pub(super) fn target(
        &mut self,
        file: u32,
        mut target: u64,
        by: BranchKind,
        code: CodeContext<'_>,
    ) -> JumpTarget {
        for _ in 0..MOST_HOPS {
            let described = self.described(file, target, code);
            match described.filter(|_| !self.is_linkage(file, target)) {
                Some(function) if function.start != target => return JumpTarget::Inside(function),
                Some(function) if by == BranchKind::Call => return JumpTarget::Function(function),
                // Compilers jump to the cold part of a function conditionally, and do not align it.
                Some(part) if by == BranchKind::Branch && !target.is_multiple_of(ALIGNMENT) => {
                    return JumpTarget::Inside(part);
                }
                Some(part)
                    if !self.is_at_entry(file, target, code)
                        || self.is_part(file, target, code) =>
                {
                    return JumpTarget::Inside(part);
                }
                Some(function) => return JumpTarget::Function(function),
                None => {}
            }
            match self.stub(file, target) {
                Some(Flow::Jump(next)) => target = next,
                Some(Flow::JumpSlot(slot)) => return self.slot(file, slot, code),
                _ => return JumpTarget::Unknown,
            }
        }
        JumpTarget::Unknown
    }

    /// Returns the target of a call or a jump through a pointer slot of a file.
    pub(super) fn slot(&mut self, file: u32, slot: u64, code: CodeContext<'_>) -> JumpTarget {
        let Some(cached) = self.files.get(&file) else { return JumpTarget::Unknown };
        match cached.image.call_slot(slot) {
            Some(CallSlot::Address(svma)) => self.function_at(file, svma.0, code),
            Some(CallSlot::Symbol(symbol)) => JumpTarget::Symbol(DynamicSymbol { file, symbol }),
            None => JumpTarget::Unknown,
        }
    }

    /// Returns the function of a dynamic symbol.
    pub(super) fn symbol(
        &mut self,
        name: DynamicSymbol,
        at_hand: u32,
        code: CodeContext<'_>,
    ) -> BoundFunction {
        if let Some(&cached) = self.linked.get(&(name, at_hand)) {
            return cached;
        }
        if self.linked.len() >= MAX_CACHED {
            self.linked.clear();
        }
        let found = self.find_symbol(name, at_hand, code);
        self.linked.insert((name, at_hand), found);
        found
    }

    fn find_symbol(
        &mut self,
        name: DynamicSymbol,
        at_hand: u32,
        code: CodeContext<'_>,
    ) -> BoundFunction {
        let text = self.get(name.file).and_then(|file| file.image().dynamic_name(name.symbol));
        let Some(text) = text else { return BoundFunction::Unknown };
        for file in [at_hand, name.file] {
            let Some(image) = self.get(file) else { return BoundFunction::Unknown };
            match image.image().exported(&text) {
                Exported::Function(svma) => match self.function_at(file, svma.0, code) {
                    JumpTarget::Function(function) => return BoundFunction::Function(function),
                    _ => return BoundFunction::Unknown,
                },
                Exported::Unclear => return BoundFunction::Unknown,
                Exported::Nothing => {}
            }
        }
        BoundFunction::Elsewhere
    }

    /// Returns true if a file is the dynamic loader; its resolver runs in place of a function on the first call.
    /// Debuggers find the list of loaded files by the same symbol.
    pub(super) fn is_loader(&self, file: u32) -> bool {
        let exported = self.get(file).map(|file| file.image().exported(LOADED_FILES));
        exported.is_none_or(|exported| exported != Exported::Nothing)
    }

    fn function_at(&mut self, file: u32, svma: u64, code: CodeContext<'_>) -> JumpTarget {
        let found = self.described(file, svma, code).filter(|function| function.start == svma);
        found.map_or(JumpTarget::Unknown, JumpTarget::Function)
    }

    /// Returns the next jump of a procedure linkage entry or a veneer.
    fn stub(&self, file: u32, svma: u64) -> Option<Flow> {
        let bytes = code_at(self.files.get(&file)?.image.image(), svma, STUB)?;
        let steps = self.decoder(file, bytes, svma)?;
        let flows = steps.take(MOST_OF_STUB).map(|step| step.flow);
        flows.into_iter().find(|flow| *flow != Flow::Next)
    }

    /// Creates a decoder for code of a file at address `at`.
    pub(super) fn decoder<'c>(
        &self,
        file: u32,
        code: &'c [u8],
        at: u64,
    ) -> Option<FlowDecoder<'c>> {
        let decoder = FlowDecoder::of_arch(self.arch(file)?, code, at)?;
        Some(decoder.with_table_of_contents(self.files.get(&file)?.contents))
    }

    /// Returns true if an address is in a procedure linkage table.
    pub(super) fn is_linkage(&self, file: u32, svma: u64) -> bool {
        let Some(file) = self.files.get(&file) else { return false };
        file.linkage.iter().any(|&(start, end)| start <= svma && svma < end)
    }

    /// Returns true if a symbol marks the code at an address as a part of a function.
    fn is_part(&self, file: u32, svma: u64, code: CodeContext<'_>) -> bool {
        self.files.get(&file).is_some_and(|it| it.image.is_part(Svma(svma), code.images))
    }

    /// Returns true if symbols mark one as a part of the other.
    pub(super) fn is_part_of(
        &self,
        part: FdeRange,
        whole: FdeRange,
        code: CodeContext<'_>,
    ) -> bool {
        let (start, whole_start) = (Svma(part.start), Svma(whole.start));
        part.file == whole.file
            && self
                .files
                .get(&part.file)
                .is_some_and(|it| it.image.is_part_of(start, whole_start, code.images))
    }
}

/// Returns up to `most` bytes of code at an address, within its segment.
pub(super) fn code_at(image: &Image, svma: u64, most: usize) -> Option<&[u8]> {
    let mut segments = image.segments().iter().filter(|segment| segment.executable);
    let segment = segments.find(|segment| Svma(svma).since(segment.svma) < segment.file_size)?;
    let left = segment.file_size - Svma(svma).since(segment.svma);
    image.read_only_bytes(Svma(svma), most.min(usize::try_from(left).ok()?))
}

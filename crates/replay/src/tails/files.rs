//! Functions of a file as its CFI describes them, and the targets of its calls and jumps.

use std::sync::Arc;

use address::Svma;
use hashbrown::HashMap;
use image_store::{CallSlot, Exported, Image, LoadedImage};
use unwinder::{Arch, CfiScratch, CodeAllowance, Flow, FlowDecoder};

use crate::join::Code;

/// Code range of one FDE: a function, or a separate part of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Described {
    /// Serial number of the file.
    pub(super) file: u32,
    /// Start and end, as SVMA.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Address of code (SVMA), and the serial number of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InFile {
    pub(super) file: u32,
    pub(super) svma: u64,
}

impl Described {
    pub(super) const fn beginning(self) -> InFile {
        InFile { file: self.file, svma: self.start }
    }

    pub(super) const fn contains(&self, file: u32, svma: u64) -> bool {
        self.file == file && self.start <= svma && svma < self.end
    }
}

/// A dynamic symbol: serial number of the file that references it, and index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Named {
    file: u32,
    symbol: u32,
}

/// Target of a call or a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Landing {
    /// The start of a function.
    Function(Described),
    /// An address inside of a function, or in a part of one.
    Inside(Described),
    /// The function of that symbol, in the file that the loader finds.
    Symbol(Named),
    /// Unknown.
    Unknown,
}

/// The function that the loader binds a symbol to, relative to a current function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Linked {
    /// A function of the current function's file, or of the file that references the symbol.
    Function(Described),
    /// A function of a third file: neither of them defines the symbol.
    Elsewhere,
    Unknown,
}

/// Kind of instruction that leads to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    Call,
    Jump,
    /// A conditional jump.
    Branch,
}

/// Cached lookups in files.
#[derive(Default)]
pub(super) struct Files {
    /// Files by serial number.
    known: HashMap<u32, File>,
    described: HashMap<(u32, u64), Option<Described>>,
    entries: HashMap<(u32, u64), bool>,
    /// Functions of dynamic symbols, by the current function's file.
    linked: HashMap<(Named, u32), Linked>,
    pub(super) allowance: CodeAllowance,
    scratch: CfiScratch,
}

/// A file, with its frequently used properties.
struct File {
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
const MOST_KEPT: usize = 1 << 16;

impl Files {
    /// Adds a file under its serial number.
    pub(super) fn add(&mut self, image: &Arc<LoadedImage>, code: Code<'_>) {
        self.known.entry(image.serial).or_insert_with(|| {
            let sections = image.image().sections().iter();
            let table = sections.clone().find(|section| &*section.name == b".got");
            let linkage = sections.filter(|section| section.name.starts_with(b".plt"));
            let linkage = linkage.take(MOST_LINKAGE);
            File {
                image: Arc::clone(image),
                arch: code.engine.arch_of(image),
                linkage: linkage.map(|it| (it.svma.0, it.svma.0.wrapping_add(it.size))).collect(),
                contents: table.map(|it| it.svma.0.wrapping_add(CONTENTS)),
            }
        });
    }

    pub(super) fn get(&self, file: u32) -> Option<Arc<LoadedImage>> {
        self.known.get(&file).map(|file| Arc::clone(&file.image))
    }

    /// Architecture of a file.
    pub(super) fn arch(&self, file: u32) -> Option<Arch> {
        self.known.get(&file)?.arch
    }

    /// Returns the range of the FDE that covers an address.
    pub(super) fn described(&mut self, file: u32, svma: u64, code: Code<'_>) -> Option<Described> {
        if self.described.len() >= MOST_KEPT {
            self.described.clear();
        }
        let Self { known, described, scratch, .. } = self;
        *described.entry((file, svma)).or_insert_with(|| {
            let image = &known.get(&file)?.image;
            let range = code.engine.described(image, Svma(svma), code.images, scratch)?;
            Some(Described { file, start: range.start.0, end: range.end.0 })
        })
    }

    /// Returns true if the frame at an address is as a call leaves it: nothing is saved yet, or everything is restored.
    pub(super) fn is_at_entry(&mut self, file: u32, svma: u64, code: Code<'_>) -> bool {
        if self.entries.len() >= MOST_KEPT {
            self.entries.clear();
        }
        let Some(image) = self.get(file) else { return false };
        let Self { entries, scratch, .. } = self;
        let is_it = || code.engine.is_at_entry(&image, Svma(svma), code.images, scratch);
        *entries.entry((file, svma)).or_insert_with(is_it)
    }

    /// Returns the target of a direct call or jump to an address.
    pub(super) fn landing(
        &mut self,
        file: u32,
        mut target: u64,
        by: By,
        code: Code<'_>,
    ) -> Landing {
        for _ in 0..MOST_HOPS {
            let described = self.described(file, target, code);
            match described.filter(|_| !self.is_linkage(file, target)) {
                Some(function) if function.start != target => return Landing::Inside(function),
                Some(function) if by == By::Call => return Landing::Function(function),
                // Compilers jump to the cold part of a function conditionally, and do not align it.
                Some(part) if by == By::Branch && !target.is_multiple_of(ALIGNMENT) => {
                    return Landing::Inside(part);
                }
                Some(part)
                    if !self.is_at_entry(file, target, code)
                        || self.is_part(file, target, code) =>
                {
                    return Landing::Inside(part);
                }
                Some(function) => return Landing::Function(function),
                None => {}
            }
            match self.stub(file, target) {
                Some(Flow::Jump(next)) => target = next,
                Some(Flow::JumpSlot(slot)) => return self.slot(file, slot, code),
                _ => return Landing::Unknown,
            }
        }
        Landing::Unknown
    }

    /// Returns the target of a call or a jump through a pointer slot of a file.
    pub(super) fn slot(&mut self, file: u32, slot: u64, code: Code<'_>) -> Landing {
        let Some(known) = self.known.get(&file) else { return Landing::Unknown };
        match known.image.call_slot(slot) {
            Some(CallSlot::Address(svma)) => self.function_at(file, svma.0, code),
            Some(CallSlot::Symbol(symbol)) => Landing::Symbol(Named { file, symbol }),
            None => Landing::Unknown,
        }
    }

    /// Returns the function of a dynamic symbol.
    pub(super) fn symbol(&mut self, name: Named, at_hand: u32, code: Code<'_>) -> Linked {
        if let Some(&known) = self.linked.get(&(name, at_hand)) {
            return known;
        }
        if self.linked.len() >= MOST_KEPT {
            self.linked.clear();
        }
        let found = self.find_symbol(name, at_hand, code);
        self.linked.insert((name, at_hand), found);
        found
    }

    fn find_symbol(&mut self, name: Named, at_hand: u32, code: Code<'_>) -> Linked {
        let text = self.get(name.file).and_then(|file| file.image().dynamic_name(name.symbol));
        let Some(text) = text else { return Linked::Unknown };
        for file in [at_hand, name.file] {
            let Some(image) = self.get(file) else { return Linked::Unknown };
            match image.image().exported(&text) {
                Exported::Function(svma) => match self.function_at(file, svma.0, code) {
                    Landing::Function(function) => return Linked::Function(function),
                    _ => return Linked::Unknown,
                },
                Exported::Unclear => return Linked::Unknown,
                Exported::Nothing => {}
            }
        }
        Linked::Elsewhere
    }

    /// Returns true if a file is the dynamic loader; its resolver runs in place of a function on the first call.
    /// Debuggers find the list of loaded files by the same symbol.
    pub(super) fn is_loader(&self, file: u32) -> bool {
        let exported = self.get(file).map(|file| file.image().exported(LOADED_FILES));
        exported.is_none_or(|exported| exported != Exported::Nothing)
    }

    fn function_at(&mut self, file: u32, svma: u64, code: Code<'_>) -> Landing {
        let found = self.described(file, svma, code).filter(|function| function.start == svma);
        found.map_or(Landing::Unknown, Landing::Function)
    }

    /// Returns the next jump of a procedure linkage entry or a veneer.
    fn stub(&self, file: u32, svma: u64) -> Option<Flow> {
        let bytes = code_at(self.known.get(&file)?.image.image(), svma, STUB)?;
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
        Some(decoder.with_table_of_contents(self.known.get(&file)?.contents))
    }

    /// Returns true if an address is in a procedure linkage table.
    pub(super) fn is_linkage(&self, file: u32, svma: u64) -> bool {
        let Some(file) = self.known.get(&file) else { return false };
        file.linkage.iter().any(|&(start, end)| start <= svma && svma < end)
    }

    /// Returns true if a symbol marks the code at an address as a part of a function.
    fn is_part(&self, file: u32, svma: u64, code: Code<'_>) -> bool {
        self.known.get(&file).is_some_and(|it| it.image.is_part(Svma(svma), code.images))
    }

    /// Returns true if symbols mark one as a part of the other.
    pub(super) fn is_part_of(&self, part: Described, whole: Described, code: Code<'_>) -> bool {
        let (start, whole_start) = (Svma(part.start), Svma(whole.start));
        part.file == whole.file
            && self
                .known
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

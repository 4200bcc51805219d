//! The functions of a file as its call frame information describes them, and where its calls and jumps lead.

use std::sync::Arc;

use address::Svma;
use hashbrown::HashMap;
use module_map::{CallSlot, Exported, Image, LoadedImage};

use crate::arch::{Flow, FlowDecoder, Processor};
use crate::cfi::{CfiScratch, UnwindInfo};
use crate::code::CodeAllowance;
use crate::repair::Code;
use crate::rule::{Cfa, Recovery, Rule, SimpleRule};

/// A range of code that one frame description covers: a function, or a part of one that is placed elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Described {
    /// The serial of the file.
    pub(super) file: u32,
    /// Where it begins and ends, as the file states it.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Described {
    pub(super) const fn contains(&self, file: u32, svma: u64) -> bool {
        self.file == file && self.start <= svma && svma < self.end
    }
}

/// A dynamic symbol: the serial of the file that names it, and its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Named {
    file: u32,
    symbol: u32,
}

/// Where a call or a jump lands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Landing {
    /// At the beginning of a function.
    Function(Described),
    /// Inside of a function, or in a part of one.
    Inside(Described),
    /// In the function of that symbol, of whatever file the loader finds it in.
    Symbol(Named),
    /// It is not known.
    Unknown,
}

/// The function that the loader links a symbol to, for a function at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Linked {
    /// One of the file at hand, or of the file that names it.
    Function(Described),
    /// One of a third file: neither of them defines the symbol.
    Elsewhere,
    Unknown,
}

/// How code gets to an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    Call,
    Jump,
    /// By a jump on a condition.
    Branch,
}

/// What is looked up of files, each once.
#[derive(Default)]
pub(super) struct Files {
    /// By serial.
    known: HashMap<u32, File>,
    described: HashMap<(u32, u64), Option<Described>>,
    entries: HashMap<(u32, u64), bool>,
    /// Functions of dynamic symbols, by the file at hand.
    linked: HashMap<(Named, u32), Linked>,
    pub(super) allowance: CodeAllowance,
    scratch: CfiScratch,
}

/// A file, and what is asked of it again and again.
struct File {
    image: Arc<LoadedImage>,
    info: Arc<UnwindInfo>,
    /// Where its procedure linkage tables begin and end.
    linkage: Vec<(u64, u64)>,
    /// What r2 has in its code, on POWER.
    contents: Option<u64>,
}

/// Jumps from one procedure linkage entry or veneer to the next.
const MOST_HOPS: usize = 4;
/// Instructions of a procedure linkage entry or a veneer.
const MOST_OF_STUB: usize = 8;
/// r2 has an address so far after the beginning of the global offset table.
///
/// Source: Power Architecture 64-Bit ELF V2 ABI, "The TOC".
const CONTENTS: u64 = 0x8000;
/// Bytes of them that are looked at.
const STUB: usize = 64;
/// Functions begin at multiples of it, if nothing makes them smaller on purpose.
const ALIGNMENT: u64 = 16;
/// The symbol of the loader's list of loaded files.
const LOADED_FILES: &[u8] = b"_r_debug";
/// Linkage tables of a file: `.plt`, `.plt.sec` and `.plt.got`.
const MOST_LINKAGE: usize = 16;
/// So many addresses are remembered of each kind; then all are forgotten.
const MOST_KEPT: usize = 1 << 16;

impl Files {
    /// Notes a file by its serial.
    pub(super) fn add(&mut self, image: &Arc<LoadedImage>, code: Code<'_>) {
        self.known.entry(image.serial).or_insert_with(|| {
            let sections = image.image().sections().iter();
            let table = sections.clone().find(|section| &*section.name == b".got");
            let linkage = sections.filter(|section| section.name.starts_with(b".plt"));
            let linkage = linkage.take(MOST_LINKAGE);
            File {
                image: Arc::clone(image),
                info: code.engine.unwind_info(image),
                linkage: linkage.map(|it| (it.svma.0, it.svma.0.wrapping_add(it.size))).collect(),
                contents: table.map(|it| it.svma.0.wrapping_add(CONTENTS)),
            }
        });
    }

    pub(super) fn get(&self, file: u32) -> Option<Arc<LoadedImage>> {
        self.known.get(&file).map(|file| Arc::clone(&file.image))
    }

    /// The processor of a file.
    pub(super) fn arch(&self, file: u32) -> Option<Processor> {
        self.known.get(&file)?.info.arch
    }

    /// The frame description that covers an address.
    pub(super) fn described(&mut self, file: u32, svma: u64, code: Code<'_>) -> Option<Described> {
        if self.described.len() >= MOST_KEPT {
            self.described.clear();
        }
        let Self { known, described, scratch, .. } = self;
        *described.entry((file, svma)).or_insert_with(|| {
            let info = &known.get(&file)?.info;
            let range = info.described(Svma(svma), code.images, &mut scratch.last_cie)?;
            Some(Described { file, start: range.start.0, end: range.end.0 })
        })
    }

    /// Whether the frame at an address is as a call leaves it: nothing is saved yet, or all of it is undone.
    pub(super) fn is_at_entry(&mut self, file: u32, svma: u64, code: Code<'_>) -> bool {
        if self.entries.len() >= MOST_KEPT {
            self.entries.clear();
        }
        let (Some(image), Some(arch)) = (self.get(file), self.arch(file)) else { return false };
        let Self { entries, scratch, .. } = self;
        *entries.entry((file, svma)).or_insert_with(|| {
            let (at, images) = (Svma(svma), code.images);
            let rule = if arch.is_wide() {
                code.engine.make_rule::<{ crate::arch::WIDE }>(&image, at, images, scratch, None)
            } else {
                code.engine.make_rule::<{ crate::arch::NARROW }>(&image, at, images, scratch, None)
            };
            match rule {
                Rule::Simple(rule) => is_entry_rule(&rule, arch),
                Rule::Full { row, signal: false } => {
                    let row = code.engine.row_of(row, &image, at, images, scratch);
                    row.is_some_and(|row| {
                        let Cfa::Register(register, offset) = row.cfa else { return false };
                        let is_kept = |it: &(u8, Recovery)| matches!(it.1, Recovery::Same);
                        (register, offset) == (arch.sp, arch.conventions.cfa_above_sp.cast_signed())
                            && !arch.is_x86()
                            && row.registers.iter().all(is_kept)
                    })
                }
                _ => false,
            }
        })
    }

    /// Where a direct call or jump to an address lands.
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
                // Compilers jump to the cold part of a function on a condition, and do not align it.
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

    /// Where a call or a jump through a word of a file lands.
    pub(super) fn slot(&mut self, file: u32, slot: u64, code: Code<'_>) -> Landing {
        let Some(known) = self.known.get(&file) else { return Landing::Unknown };
        match known.image.call_slot(slot) {
            Some(CallSlot::Address(svma)) => self.function_at(file, svma.0, code),
            Some(CallSlot::Symbol(symbol)) => Landing::Symbol(Named { file, symbol }),
            None => Landing::Unknown,
        }
    }

    /// The function of a dynamic symbol.
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

    /// Whether a file is the dynamic loader, whose resolver runs in the place of a function that is called for the first
    /// time. Debuggers find the list of loaded files by its symbol.
    pub(super) fn is_loader(&self, file: u32) -> bool {
        let exported = self.get(file).map(|file| file.image().exported(LOADED_FILES));
        exported.is_none_or(|exported| exported != Exported::Nothing)
    }

    fn function_at(&mut self, file: u32, svma: u64, code: Code<'_>) -> Landing {
        let found = self.described(file, svma, code).filter(|function| function.start == svma);
        found.map_or(Landing::Unknown, Landing::Function)
    }

    /// Where a procedure linkage entry or a veneer goes on.
    fn stub(&self, file: u32, svma: u64) -> Option<Flow> {
        let bytes = code_at(self.known.get(&file)?.image.image(), svma, STUB)?;
        let steps = self.decoder(file, bytes, svma)?;
        let flows = steps.take(MOST_OF_STUB).map(|step| step.flow);
        flows.into_iter().find(|flow| *flow != Flow::Next)
    }

    /// A decoder of code of a file that begins at an address.
    pub(super) fn decoder<'c>(
        &self,
        file: u32,
        code: &'c [u8],
        at: u64,
    ) -> Option<FlowDecoder<'c>> {
        let decoder = FlowDecoder::new(self.arch(file)?, code, at)?;
        Some(decoder.with_table_of_contents(self.known.get(&file)?.contents))
    }

    /// Whether an address is in a procedure linkage table.
    pub(super) fn is_linkage(&self, file: u32, svma: u64) -> bool {
        let Some(file) = self.known.get(&file) else { return false };
        file.linkage.iter().any(|&(start, end)| start <= svma && svma < end)
    }

    /// Whether a symbol calls the code at an address a part of a function.
    fn is_part(&self, file: u32, svma: u64, code: Code<'_>) -> bool {
        self.known.get(&file).is_some_and(|it| it.image.is_part(Svma(svma), code.images))
    }

    /// Whether symbols call one a part of the other.
    pub(super) fn is_part_of(&self, part: Described, whole: Described, code: Code<'_>) -> bool {
        let (start, whole_start) = (Svma(part.start), Svma(whole.start));
        part.file == whole.file
            && self
                .known
                .get(&part.file)
                .is_some_and(|it| it.image.is_part_of(start, whole_start, code.images))
    }
}

/// Whether a row says that the frame is as a call leaves it.
fn is_entry_rule(rule: &SimpleRule, arch: Processor) -> bool {
    let mut n_saved = 0;
    rule.for_each_saved(|_, _| n_saved += 1);
    let (offset, return_address) =
        if arch.is_x86() { (arch.word, -1) } else { (arch.conventions.cfa_above_sp, 0) };
    (rule.cfa_register, i64::from(rule.cfa_offset)) == (arch.sp, offset.cast_signed())
        && rule.return_address() == return_address
        && n_saved == 0
        && !rule.signal
}

/// At most so many bytes of code from an address on, as far as its segment goes.
pub(super) fn code_at(image: &Image, svma: u64, most: usize) -> Option<&[u8]> {
    let mut segments = image.segments().iter().filter(|segment| segment.executable);
    let segment = segments.find(|segment| Svma(svma).since(segment.svma) < segment.file_size)?;
    let left = segment.file_size - Svma(svma).since(segment.svma);
    image.read_only_bytes(Svma(svma), most.min(usize::try_from(left).ok()?))
}

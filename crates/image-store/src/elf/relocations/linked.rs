//! Words of a file that the dynamic loader fills with code addresses, and the functions that a file exports.
//!
//! Names are represented by hashes: only equality of a word's and a function's name matters,
//! and a hostile file may have long names.
//!
//! Source: ELF, "Symbol Table", "String Table"; System V ABI, AMD64 and Intel386 supplements, "Relocation".

use std::borrow::Cow;

use address::{Arch, Svma};
use object::elf::{RelocationType, SHN_UNDEF, STT_FUNC, STT_GNU_IFUNC};
use object::{Object as _, ObjectSymbol as _, RelocationFlags, RelocationTarget};

use super::call_slots::{disjoint, is_within};
use crate::elf::Image;
use crate::elf::psabi::Supplement;

/// Value that the dynamic loader writes to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotValue {
    /// Address of the symbol with this name hash, from the first file that defines it.
    Symbol(u64),
    /// Address in the same file.
    Address(Svma),
}

/// A relocation for the dynamic loader.
struct DynamicRelocation {
    /// Address of the word, as stated in the file.
    slot: u64,
    kind: RelocationType,
    /// Number of its symbol; `None` if it has none.
    symbol: Option<usize>,
    /// Addend; 0 if not stated.
    addend: u64,
}

/// Hash function for names.
type NameHash<'h> = &'h dyn Fn(&[u8]) -> u64;

/// Offsets of the fields of a symbol after its name, and its size, in bytes.
///
/// Source: ELF, `Elf64_Sym` and `Elf32_Sym`.
#[derive(Clone, Copy)]
struct SymbolLayout {
    size: usize,
    info: usize,
    section: usize,
    value: usize,
    /// Size of the value, in bytes.
    word: usize,
}

const SYMBOL_64: SymbolLayout = SymbolLayout { size: 24, info: 4, section: 6, value: 8, word: 8 };
const SYMBOL_32: SymbolLayout = SymbolLayout { size: 16, info: 12, section: 14, value: 4, word: 4 };

/// Maximum length of names; longer ones are ignored.
const LONGEST_NAME: usize = 4096;

/// Dynamic symbols, used to link files.
struct DynamicSymbols<'i> {
    symbols: Cow<'i, [u8]>,
    strings: Cow<'i, [u8]>,
    layout: SymbolLayout,
    is_little: bool,
}

impl<'i> DynamicSymbols<'i> {
    fn of(image: &'i Image) -> Option<Self> {
        const CLASS_32: u8 = 1;
        const CLASS_64: u8 = 2;
        let data = |name| image.section_data(image.section(name)?).ok();
        let is_narrow = image.arch().and_then(Arch::bits) == Some(32);
        let layout = match (is_narrow, *image.bytes().get(4)?) {
            (false, CLASS_64) => SYMBOL_64,
            (true, CLASS_32) => SYMBOL_32,
            _ => return None,
        };
        let is_little = image.is_little_endian();
        Some(Self { symbols: data(".dynsym")?, strings: data(".dynstr")?, layout, is_little })
    }

    /// Returns the type, section and address of a symbol; the address of a Thumb function has the lowest bit set.
    fn function(&self, symbol: &[u8]) -> Option<(u8, u16, Svma)> {
        let SymbolLayout { info, section, value, word, .. } = self.layout;
        let section = *symbol.get(section..)?.first_chunk()?;
        let is_little = self.is_little;
        let section =
            if is_little { u16::from_le_bytes(section) } else { u16::from_be_bytes(section) };
        let stated = symbol.get(value..)?.get(..word)?;
        let mut address = [0; 8];
        let at = if is_little { 0 } else { address.len() - word };
        address.get_mut(at..)?.get_mut(..word)?.copy_from_slice(stated);
        let address =
            if is_little { u64::from_le_bytes(address) } else { u64::from_be_bytes(address) };
        Some((symbol.get(info)? & 0xf, section, Svma(address)))
    }

    fn name(&self, symbol: &[u8]) -> Option<&[u8]> {
        let at = *symbol.first_chunk()?;
        let at = if self.is_little { u32::from_le_bytes(at) } else { u32::from_be_bytes(at) };
        let at = at as usize;
        let rest = self.strings.get(at..)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        rest.get(..rest.iter().position(|&byte| byte == 0)?)
    }

    fn name_of(&self, index: usize) -> Option<&[u8]> {
        let size = self.layout.size;
        let at = index.checked_mul(size)?;
        self.name(self.symbols.get(at..)?.get(..size)?)
    }
}

impl Image {
    /// Returns the words that the dynamic loader fills with code addresses, by stated address: slots of the global
    /// offset table, entries of function tables. Words filled by a resolver are omitted.
    #[must_use]
    pub fn linked_slots(&self, hash: NameHash<'_>) -> Vec<(u64, SlotValue)> {
        let Some(symbols) = DynamicSymbols::of(self) else { return Vec::new() };
        let code = self.segments().iter().filter(|segment| segment.executable);
        let code = disjoint(code.map(|it| (it.svma.0, it.svma.0.saturating_add(it.file_size))));
        let mut slots = Vec::new();
        self.each_relocation(&mut |relocation| {
            let value = self.slot_value(&symbols, &code, &relocation, hash);
            slots.extend(value.map(|value| (relocation.slot, value)));
        });
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        slots
    }

    /// Returns the words that the dynamic loader fills with addresses of this file: stated address
    /// of the word and of its target, ordered by word.
    #[must_use]
    pub fn relative_words(&self) -> Vec<(Svma, Svma)> {
        let arch = self.arch().filter(|arch| matches!(arch, Arch::X86_64 | Arch::Aarch64));
        let Some(supplement) = arch.and_then(Supplement::of) else { return Vec::new() };
        let mut words = Vec::new();
        self.each_relocation(&mut |it| {
            if it.kind == supplement.relative {
                words.push((Svma(it.slot), Svma(it.addend)));
            }
        });
        words.sort_unstable();
        words
    }

    /// Calls `each` with the relocations for the dynamic loader.
    fn each_relocation(&self, each: &mut dyn FnMut(DynamicRelocation)) {
        let parsed = object::File::parse(self.bytes()).ok();
        let parsed = parsed.as_ref().filter(|file| file.sections().next().is_some());
        let Some(file) = parsed else { return self.each_stored_relocation(each) };
        for (slot, relocation) in file.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type: kind } = relocation.flags() else { continue };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => Some(index.0),
                _ => None,
            };
            let addend = relocation.addend().cast_unsigned();
            each(DynamicRelocation { slot, kind, symbol, addend });
        }
    }

    /// Same as [`Self::each_relocation`], for files of x86-64, aarch64 and i386 without section headers.
    ///
    /// Source: gABI, `Elf64_Rela` and `Elf32_Rel`.
    fn each_stored_relocation(&self, each: &mut dyn FnMut(DynamicRelocation)) {
        let data = |name| self.section_data(self.section(name)?).ok();
        let symbol = |number: u64| usize::try_from(number).ok().filter(|&number| number != 0);
        let is_wide = matches!(self.arch(), Some(Arch::X86_64 | Arch::Aarch64));
        if is_wide && self.is_little_endian() {
            for table in [".rela.dyn", ".rela.plt"].into_iter().filter_map(data) {
                for [slot, info, addend] in table.as_chunks::<8>().0.as_chunks::<3>().0 {
                    let [slot, info, addend] =
                        [slot, info, addend].map(|it| u64::from_le_bytes(*it));
                    let kind = RelocationType(info as u32);
                    each(DynamicRelocation { slot, kind, symbol: symbol(info >> 32), addend });
                }
            }
        } else if self.arch() == Some(Arch::X86) {
            for table in [".rel.dyn", ".rel.plt"].into_iter().filter_map(data) {
                for [slot, info] in table.as_chunks::<4>().0.as_chunks::<2>().0 {
                    let [slot, info] = [slot, info].map(|it| u64::from(u32::from_le_bytes(*it)));
                    let kind = RelocationType(info as u32 & 0xff);
                    each(DynamicRelocation { slot, kind, symbol: symbol(info >> 8), addend: 0 });
                }
            }
        }
    }

    fn slot_value(
        &self,
        symbols: &DynamicSymbols<'_>,
        code: &[(u64, u64)],
        relocation: &DynamicRelocation,
        hash: NameHash<'_>,
    ) -> Option<SlotValue> {
        let supplement = self.arch().and_then(Supplement::of)?;
        let is_relative = relocation.kind == supplement.relative;
        let is_symbol = supplement.is_of_symbol(relocation.kind);
        if is_relative {
            // Relocations of 32-bit files state no addend: it is in the word.
            let stored = || self.stored_word(Svma(relocation.slot));
            let svma = if supplement.has_addends { Svma(relocation.addend) } else { stored()? };
            return is_within(code, svma.0).then_some(SlotValue::Address(svma));
        }
        let symbol = relocation.symbol.filter(|_| is_symbol)?;
        symbols.name_of(symbol).map(|name| SlotValue::Symbol(hash(name)))
    }

    /// Returns the 32-bit word of the file at an address.
    fn stored_word(&self, svma: Svma) -> Option<Svma> {
        let offset = self.offset_of_svma(svma)?.sub(self.base().0);
        let bytes = self.bytes().get(usize::try_from(offset.0).ok()?..)?;
        Some(Svma(u32::from_le_bytes(*bytes.first_chunk()?).into()))
    }

    /// Returns the starts of code of one kind in a 32-bit Arm file, ordered by address; true for Thumb, false for ARM.
    ///
    /// Source: ELF for the Arm Architecture, "Mapping symbols".
    #[must_use]
    pub fn thumb_code(&self) -> Vec<(u64, bool)> {
        let Ok(file) = object::File::parse(self.bytes()) else { return Vec::new() };
        let kind = |name: &[u8]| match name {
            [b'$', b't'] | [b'$', b't', b'.', ..] => Some(true),
            [b'$', b'a'] | [b'$', b'a', b'.', ..] => Some(false),
            _ => None,
        };
        let symbols = file.symbols();
        let of = |symbol: object::Symbol<'_, '_>| {
            Some((symbol.address() & !1, kind(symbol.name_bytes().ok()?)?))
        };
        let mut found: Vec<_> = symbols.filter_map(of).collect();
        found.sort_unstable();
        found
    }

    /// Returns true if the file exports any function, on any processor.
    #[must_use]
    pub fn exports_functions(&self) -> bool {
        const CLASS_64: u8 = 2;
        let is_wide = self.bytes().get(4) == Some(&CLASS_64);
        let SymbolLayout { size, info, section, .. } = if is_wide { SYMBOL_64 } else { SYMBOL_32 };
        let is_exported = |symbol: &[u8]| {
            let kind = symbol.get(info).map(|info| info & 0xf);
            let is_function =
                kind.is_some_and(|kind| [STT_FUNC.0, STT_GNU_IFUNC.0].contains(&kind));
            // Zero in either byte order.
            is_function && symbol.get(section..section + 2).is_some_and(|it| it != [0, 0])
        };
        let symbols = self.section(".dynsym").and_then(|symbols| self.section_data(symbols).ok());
        symbols.is_some_and(|symbols| symbols.chunks_exact(size).any(is_exported))
    }

    /// Returns the exported functions by name hash, in order of the hashes.
    /// Functions decided by a resolver, and names with different versions, are omitted.
    #[must_use]
    pub fn exported_functions(&self, hash: NameHash<'_>) -> Vec<(u64, Svma)> {
        let Some(symbols) = DynamicSymbols::of(self) else { return Vec::new() };
        let function = |symbol: &[u8]| {
            let (kind, section, address) = symbols.function(symbol)?;
            let is_defined = section != SHN_UNDEF.0;
            let code = Some(address).filter(|_| kind != STT_GNU_IFUNC.0);
            is_defined.then_some((hash(symbols.name(symbol)?), code))
        };
        let mut named: Vec<_> =
            symbols.symbols.chunks_exact(symbols.layout.size).filter_map(function).collect();
        named.sort_by_key(|&(hash, _)| hash);
        let groups = named.chunk_by(|one, other| one.0 == other.0);
        let one = |group: &[(u64, Option<Svma>)]| {
            let &(hash, code) = group.first()?;
            group.iter().all(|other| other.1 == code).then_some((hash, code?))
        };
        groups.filter_map(one).collect()
    }
}

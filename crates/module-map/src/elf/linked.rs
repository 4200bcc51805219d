//! The words of a file that the dynamic loader fills with addresses of code, and the functions that a file defines for
//! others.
//!
//! Names are told as hashes: two words and a function have to have the same one, and a hostile file may have long ones.
//!
//! Source: ELF, "Symbol Table", "String Table"; System V ABI, AMD64 supplement, "Relocation".

use std::borrow::Cow;

use address::Svma;
use object::elf::{
    R_AARCH64_RELATIVE, R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE,
    SHN_UNDEF, STT_GNU_IFUNC,
};
use object::{Object as _, Relocation, RelocationFlags, RelocationTarget};

use super::{ElfMachine, Image};

/// What the dynamic loader writes to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotValue {
    /// The address of the symbol whose name has this hash, of whatever file it finds it in first.
    Symbol(u64),
    /// An address of the same file.
    Address(Svma),
}

/// The hash of a name.
type NameHash<'h> = &'h dyn Fn(&[u8]) -> u64;

/// Bytes of a symbol.
const SYMBOL: usize = 24;

/// Longer names are left out.
const LONGEST_NAME: usize = 4096;

/// The symbols that files are linked by.
struct DynamicSymbols<'i> {
    symbols: Cow<'i, [u8]>,
    strings: Cow<'i, [u8]>,
}

impl<'i> DynamicSymbols<'i> {
    fn of(image: &'i Image) -> Option<Self> {
        const CLASS_64: u8 = 2;
        let is_64 = image.bytes().get(4) == Some(&CLASS_64);
        let data = |name| image.section_data(image.section(name)?).ok();
        (is_64 && image.machine() == ElfMachine::X86_64).then_some(())?;
        Some(Self { symbols: data(".dynsym")?, strings: data(".dynstr")? })
    }

    fn name(&self, symbol: &[u8]) -> Option<&[u8]> {
        let at = u32::from_le_bytes(*symbol.first_chunk()?) as usize;
        let rest = self.strings.get(at..)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        rest.get(..rest.iter().position(|&byte| byte == 0)?)
    }

    fn name_of(&self, index: usize) -> Option<&[u8]> {
        let at = index.checked_mul(SYMBOL)?;
        self.name(self.symbols.get(at..)?.get(..SYMBOL)?)
    }
}

impl Image {
    /// The words that the dynamic loader fills with addresses of code, in the order of their stated addresses: slots of
    /// the global offset table, entries of function tables. Of x86-64 files only; what a resolver decides is left out.
    #[must_use]
    pub fn linked_slots(&self, hash: NameHash<'_>) -> Vec<(u64, SlotValue)> {
        let parsed = object::File::parse(self.bytes()).ok();
        let Some((file, symbols)) = parsed.zip(DynamicSymbols::of(self)) else { return Vec::new() };
        let Some(relocations) = file.dynamic_relocations() else { return Vec::new() };
        let value =
            |(slot, relocation)| Some((slot, self.slot_value(&symbols, &relocation, hash)?));
        let mut slots: Vec<_> = relocations.filter_map(value).collect();
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        slots
    }

    /// The words that the dynamic loader fills with addresses of this file: where each is, and the address, as the file
    /// states both; in the order of the words.
    #[must_use]
    pub fn relative_words(&self) -> Vec<(Svma, Svma)> {
        let parsed = object::File::parse(self.bytes()).ok();
        let relocations = parsed.as_ref().and_then(|file| file.dynamic_relocations());
        let word = |(word, relocation): (u64, Relocation)| {
            let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
            let is_relative = match self.machine() {
                ElfMachine::X86_64 => r_type == R_X86_64_RELATIVE,
                ElfMachine::Aarch64 => r_type == R_AARCH64_RELATIVE,
                _ => false,
            };
            is_relative.then(|| (Svma(word), Svma(relocation.addend().cast_unsigned())))
        };
        let mut words: Vec<_> = relocations.into_iter().flatten().filter_map(word).collect();
        words.sort_unstable();
        words
    }

    fn slot_value(
        &self,
        symbols: &DynamicSymbols<'_>,
        relocation: &Relocation,
        hash: NameHash<'_>,
    ) -> Option<SlotValue> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        match (r_type, relocation.target()) {
            (R_X86_64_RELATIVE, _) => {
                let svma = Svma(relocation.addend().cast_unsigned());
                let mut segments = self.segments().iter().filter(|segment| segment.executable);
                segments
                    .any(|segment| svma.since(segment.svma) < segment.file_size)
                    .then_some(SlotValue::Address(svma))
            }
            (
                R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT | R_X86_64_64,
                RelocationTarget::Symbol(index),
            ) => symbols.name_of(index.0).map(|name| SlotValue::Symbol(hash(name))),
            _ => None,
        }
    }

    /// The functions that others can be linked to, by the hashes of their names and in the order of those; without those
    /// of which a resolver decides which code it is, and names of which versions mean different code.
    #[must_use]
    pub fn exported_functions(&self, hash: NameHash<'_>) -> Vec<(u64, Svma)> {
        let Some(symbols) = DynamicSymbols::of(self) else { return Vec::new() };
        let function = |symbol: &[u8]| {
            let (info, section) = (*symbol.get(4)?, symbol.get(6..)?.first_chunk()?);
            let is_defined = u16::from_le_bytes(*section) != SHN_UNDEF.0;
            let address = Svma(u64::from_le_bytes(*symbol.get(8..)?.first_chunk()?));
            let code = Some(address).filter(|_| info & 0xf != STT_GNU_IFUNC.0);
            is_defined.then_some((hash(symbols.name(symbol)?), code))
        };
        let mut named: Vec<_> = symbols.symbols.chunks_exact(SYMBOL).filter_map(function).collect();
        named.sort_by_key(|&(hash, _)| hash);
        let groups = named.chunk_by(|one, other| one.0 == other.0);
        let one = |group: &[(u64, Option<Svma>)]| {
            let &(hash, code) = group.first()?;
            group.iter().all(|other| other.1 == code).then_some((hash, code?))
        };
        groups.filter_map(one).collect()
    }
}

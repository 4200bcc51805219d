//! Words through which code calls functions of other files, and the functions that a file exports.
//! Each is looked up individually, because the tables of large libraries have a million entries.
//!
//! Source: ELF, `Elf64_Rela` and `Elf64_Sym`; the psABI of each processor for the kinds of relocations; the layout of
//! `.gnu.hash` as binutils and glibc have it (`elf/dl-lookup.c`).

use address::Svma;
use object::elf::RelocationType;

use crate::elf::Image;
use crate::elf::psabi::Supplement;

/// Value that the dynamic loader writes to a word of the global offset table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallSlot {
    /// Address of the dynamic symbol with this number, from the first file that defines it.
    Symbol(u32),
    /// Address in the same file.
    Address(Svma),
}

/// Definition of a name in the dynamic symbols of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exported {
    /// A function, by its address as stated in the file.
    Function(Svma),
    /// Not a function, decided by a resolver, different for versions of the name, or unknown
    /// because the file has no table of names.
    Unclear,
    /// Not defined in the file.
    Nothing,
}

const RELOCATION: usize = 24;
const SYMBOL: usize = 24;
/// Maximum length of names; longer ones are ignored.
const LONGEST_NAME: usize = 4096;
/// Maximum number of symbols examined in a hash bucket.
const MOST_IN_BUCKET: u32 = 1 << 12;
/// Maximum number of names compared per hash: each version of a name has one.
const MOST_COMPARED: u32 = 32;
const FUNCTION: u8 = 2;
/// Symbols without a type come from assembly.
const NO_TYPE: u8 = 0;

/// Merges ranges into ranges that do not overlap, in order.
pub(crate) fn disjoint(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut sorted: Vec<_> = ranges.filter(|(start, end)| start < end).collect();
    sorted.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in sorted {
        match merged.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None => merged.push((start, end)),
        }
    }
    merged
}

/// Returns true if an address is in one of the ranges, which are in order and do not overlap.
#[must_use]
pub fn is_within(ranges: &[(u64, u64)], address: u64) -> bool {
    let after = ranges.partition_point(|&(start, _)| start <= address);
    let range = after.checked_sub(1).and_then(|at| ranges.get(at));
    range.is_some_and(|&(_, end)| address < end)
}

impl Image {
    /// Returns the words of the global offset table that the dynamic loader fills with code
    /// addresses, by stated address.
    /// Only for 64-bit files; words filled by a resolver are omitted.
    #[must_use]
    pub fn call_slots(&self) -> Vec<(u64, CallSlot)> {
        let Some(supplement) = self.wide_supplement() else { return Vec::new() };
        let sections = self.sections().iter();
        let tables = sections.filter(|section| section.name.starts_with(b".got"));
        let tables = disjoint(tables.map(|it| (it.svma.0, it.svma.0.saturating_add(it.size))));
        let mut slots = Vec::new();
        for relocations in
            [".rela.dyn", ".rela.plt"].into_iter().filter_map(|it| self.stored_section(it))
        {
            for relocation in relocations.as_chunks::<RELOCATION>().0 {
                let Some(slot) = self.number_64(relocation, 0) else { continue };
                if is_within(&tables, slot) {
                    slots.extend(self.call_slot(relocation, supplement).map(|value| (slot, value)));
                }
            }
        }
        slots.sort_unstable_by_key(|&(slot, _)| slot);
        slots
    }

    fn call_slot(
        &self,
        relocation: &[u8; RELOCATION],
        supplement: &Supplement,
    ) -> Option<CallSlot> {
        let info = self.number_64(relocation, 8)?;
        let kind = RelocationType(info as u32);
        if kind == supplement.relative {
            return Some(CallSlot::Address(Svma(self.number_64(relocation, 16)?)));
        }
        let symbol = (info >> 32) as u32;
        (supplement.slots.contains(&kind) && symbol != 0).then_some(CallSlot::Symbol(symbol))
    }

    /// Returns the name of a dynamic symbol by its number.
    #[must_use]
    pub fn dynamic_name(&self, symbol: u32) -> Option<Vec<u8>> {
        let symbols = self.stored_section(".dynsym")?;
        let strings = self.stored_section(".dynstr")?;
        self.name_of(symbols, strings, symbol).map(<[u8]>::to_vec)
    }

    /// Returns the stated address of an exported function. `None` if a resolver decides, or
    /// versions of the name differ.
    #[must_use]
    pub fn exported_function(&self, name: &[u8]) -> Option<Svma> {
        match self.exported(name) {
            Exported::Function(svma) => Some(svma),
            Exported::Unclear | Exported::Nothing => None,
        }
    }

    /// Returns the definition of an exported name.
    #[must_use]
    pub fn exported(&self, name: &[u8]) -> Exported {
        self.find_exported(name).unwrap_or(Exported::Unclear)
    }

    /// Returns the definition of an exported name; `None` if the tables are inconclusive.
    fn find_exported(&self, name: &[u8]) -> Option<Exported> {
        let (symbols, strings) = (self.stored_section(".dynsym")?, self.stored_section(".dynstr")?);
        let table = self.stored_section(".gnu.hash")?;
        let word = |at: usize| self.number_32(table, at.checked_mul(4)?);
        let (buckets, first, bloom) = (word(0)?, word(1)?, word(2)?);
        let hash = name
            .iter()
            .fold(5381_u32, |hash, &byte| hash.wrapping_mul(33).wrapping_add(u32::from(byte)));
        let start = 4_usize.checked_add(2_usize.checked_mul(bloom as usize)?)?;
        let mut symbol = word(start.checked_add(hash.checked_rem(buckets)? as usize)?)?;
        let mut found = Exported::Nothing;
        if symbol == 0 {
            return Some(found);
        }
        let chains = start.checked_add(buckets as usize)?;
        let mut compared = 0;
        for _ in 0..MOST_IN_BUCKET {
            let chain = word(chains.checked_add(symbol.checked_sub(first)? as usize)?)?;
            if chain | 1 == hash | 1 {
                compared += 1;
                if compared > MOST_COMPARED {
                    return None;
                }
                if self.name_of(symbols, strings, symbol) == Some(name) {
                    let this = self.definition(symbols, symbol)?;
                    found = if found == Exported::Nothing || this == found {
                        this
                    } else {
                        return Some(Exported::Unclear);
                    };
                }
            }
            if chain & 1 == 1 {
                return Some(found);
            }
            symbol = symbol.checked_add(1)?;
        }
        None
    }

    fn definition(&self, symbols: &[u8], symbol: u32) -> Option<Exported> {
        let symbol = symbols.get((symbol as usize).checked_mul(SYMBOL)?..)?.get(..SYMBOL)?;
        let is_function = matches!(symbol.get(4)? & 0xf, FUNCTION | NO_TYPE);
        Some(match symbol.get(6..8)? {
            [0, 0] => Exported::Nothing,
            _ if is_function => Exported::Function(Svma(self.number_64(symbol, 8)?)),
            _ => Exported::Unclear,
        })
    }

    fn name_of<'s>(&self, symbols: &[u8], strings: &'s [u8], symbol: u32) -> Option<&'s [u8]> {
        let at = self.number_32(symbols, (symbol as usize).checked_mul(SYMBOL)?)?;
        let rest = strings.get(at as usize..)?;
        let rest = rest.get(..LONGEST_NAME).unwrap_or(rest);
        rest.get(..memchr::memchr(0, rest)?)
    }

    fn number_64(&self, bytes: &[u8], at: usize) -> Option<u64> {
        let word = *bytes.get(at..)?.first_chunk()?;
        let little = self.is_little_endian();
        Some(if little { u64::from_le_bytes(word) } else { u64::from_be_bytes(word) })
    }

    fn number_32(&self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = *bytes.get(at..)?.first_chunk()?;
        let little = self.is_little_endian();
        Some(if little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) })
    }

    /// Returns the relocations of the processor; `None` for 32-bit files.
    fn wide_supplement(&self) -> Option<&'static Supplement> {
        self.arch().filter(|arch| arch.bits() == Some(64)).and_then(Supplement::of)
    }
}

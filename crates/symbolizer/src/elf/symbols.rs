//! The symbol that covers each requested address, found in one pass over the raw symbol tables. Only the few symbols
//! that cover an address are sorted.
//!
//! Source: gABI, "Symbol Table"; ELF for the ARM (64-bit) Architecture, "Mapping symbols"; the preference among
//! symbols of one address is that of `choose_best_symbol` in tools/perf/util/symbol.c.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::path::Path;

use address::{Arch, FileOffset};
use hashbrown::HashMap;
use image_store::{Image, Section};

use crate::addresses::{AddressIndex, Cover, sweep};
use crate::bytes::ByteCursor;
use crate::elf::bounds::CodeBounds;
use crate::elf::names::{NameKey, NameLocation, NameReader, name_key};

const STT_NOTYPE: u8 = 0;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STB_GLOBAL: u8 = 1;
const STB_WEAK: u8 = 2;
const SHN_UNDEF: u16 = 0;
const SHN_LORESERVE: u16 = 0xff00;
const SHN_XINDEX: u16 = 0xffff;

/// A symbol table with its strings.
pub(crate) struct SymbolTable<'a> {
    symbols: Cow<'a, [u8]>,
    strings: Cow<'a, [u8]>,
    wide: bool,
    big_endian: bool,
    thumb: bool,
    /// The file, and the offset of the table in it.
    pub(crate) place: (&'a Path, FileOffset),
}

/// An entry of a symbol table.
#[derive(Clone, Copy)]
pub(crate) struct Symbol {
    pub(crate) name: u32,
    info: u8,
    other: u8,
    section: u16,
    pub(crate) value: u64,
    size: u64,
}

impl<'a> SymbolTable<'a> {
    /// Reads the table `symbols` of the image with the strings in `strings`; `None` if it has none. The error is the
    /// file offset of an unreadable section.
    pub(crate) fn new(
        image: &'a Image,
        symbols: &str,
        strings: &str,
    ) -> Result<Option<Self>, FileOffset> {
        // A separate debug file also has headers of sections that it does not contain.
        let section = |name| image.section(name).filter(|section| section.has_bytes());
        let (Some(symbols), Some(strings)) = (section(symbols), section(strings)) else {
            return Ok(None);
        };
        let data = |section: &Section| image.section_data(section).map_err(|_| section.offset());
        Ok(Some(Self {
            symbols: data(symbols)?,
            strings: data(strings)?,
            wide: image.bytes().get(4) == Some(&2),
            big_endian: !image.is_little_endian(),
            thumb: image.arch() == Some(Arch::Arm),
            place: (image.path(), symbols.offset()),
        }))
    }

    const fn entry_size(&self) -> usize {
        if self.wide { 24 } else { 16 }
    }

    pub(crate) fn symbol(&self, index: u32) -> Option<Symbol> {
        let start = (index as usize).checked_mul(self.entry_size())?;
        self.decode(self.symbols.get(start..start.checked_add(self.entry_size())?)?)
    }

    pub(crate) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.symbols.chunks_exact(self.entry_size()).filter_map(|entry| self.decode(entry))
    }

    #[inline]
    fn decode(&self, entry: &[u8]) -> Option<Symbol> {
        let mut cursor = ByteCursor::new(entry, 0, self.big_endian);
        let name = cursor.u32()?;
        let mut symbol = Symbol { name, info: 0, other: 0, section: 0, value: 0, size: 0 };
        if self.wide {
            symbol.info = cursor.u8()?;
            symbol.other = cursor.u8()?;
            symbol.section = cursor.u16()?;
            symbol.value = cursor.u64()?;
            symbol.size = cursor.u64()?;
        } else {
            symbol.value = cursor.u32()?.into();
            symbol.size = cursor.u32()?.into();
            symbol.info = cursor.u8()?;
            symbol.other = cursor.u8()?;
            symbol.section = cursor.u16()?;
        }
        if self.thumb && symbol.kind() == STT_FUNC {
            symbol.value &= !1;
        }
        Some(symbol)
    }

    pub(crate) fn strings(&self) -> &[u8] {
        &self.strings
    }

    /// Returns the strings from a name on.
    fn name_start(&self, offset: u32) -> &[u8] {
        self.strings.get(offset as usize..).unwrap_or_default()
    }
}

impl Symbol {
    const fn kind(&self) -> u8 {
        self.info & 0xf
    }

    const fn bind(&self) -> u8 {
        self.info >> 4
    }

    /// Returns true if it is empty, which only the first one of a table is.
    const fn is_null(&self) -> bool {
        let Self { name, info, other, section, value, size } = *self;
        name == 0 && info == 0 && other == 0 && section == 0 && value == 0 && size == 0
    }

    pub(crate) const fn is_function(&self) -> bool {
        matches!(self.kind(), STT_FUNC | STT_GNU_IFUNC)
    }

    /// Returns true if it may name code: a function or visible label that is defined in a section.
    #[inline]
    const fn may_name_code(&self) -> bool {
        let defined = self.section != SHN_UNDEF
            && (self.section < SHN_LORESERVE || self.section == SHN_XINDEX);
        // STV_INTERNAL and STV_HIDDEN labels are not visible.
        let label = self.kind() == STT_NOTYPE && !matches!(self.other & 3, 1 | 2);
        defined && self.name != 0 && (self.is_function() || label)
    }
}

/// The symbol that covers an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CoveringSymbol<'t> {
    pub(crate) start: u64,
    pub(crate) name: &'t [u8],
}

/// A candidate symbol, with the location of its name.
#[derive(Clone, Copy)]
struct SymbolCandidate {
    /// Start of the covered range, which is the symbol's value if the symbol has a size.
    start: u64,
    end: u64,
    table: u32,
    symbol: Symbol,
}

/// Returns the covering symbol of each address: the one with the greatest start that still covers it.
/// A symbol without a size extends to the next symbol, the next function with a frame description, or the end of its
/// own description or section.
pub(crate) fn lookup<'t>(
    names: &NameReader<'t, '_>,
    code: &CodeBounds<'_>,
    index: &AddressIndex<'_>,
) -> Vec<Option<CoveringSymbol<'t>>> {
    let mut held = names.held.another(0);
    let mut candidates = Vec::new();
    // For the gap before each address, the symbol with the greatest start in it.
    let mut nearest: Vec<Option<SymbolCandidate>> = vec![None; index.all().len()];
    for number in 0..names.tables.len() as u32 {
        collect(number, code, names, index, &mut candidates, &mut nearest);
        let each = size_of::<SymbolCandidate>() + size_of::<Cover>();
        held.set((candidates.capacity() * each + size_of_val(&*nearest)) as u64);
    }
    extend_sizeless(index, code, &nearest, &mut candidates);
    sort(&mut candidates, names);
    let covers: Vec<Cover> = candidates
        .iter()
        .enumerate()
        .map(|(i, c)| Cover { start: c.start, end: c.end, item: i as u32 })
        .collect();
    let mut found = vec![None; index.all().len()];
    let mut last: Option<(NameLocation, Option<&'t [u8]>)> = None;
    sweep::<1>(index.all(), &covers, |address, [item]| {
        let candidate = item.and_then(|item| candidates.get(item as usize));
        if let (Some(slot), Some(candidate)) = (found.get_mut(address), candidate) {
            let place = candidate.name_location();
            // Neighbours are mostly in the same function.
            let name = match last {
                Some((known, name)) if known == place => name,
                _ => names.name(place),
            };
            last = Some((place, name));
            // A name that cannot be read becomes empty; a name over the limit becomes `None`.
            let is_missing = name.is_none() && names.exhausted().is_some();
            if !is_missing && name.is_none_or(<[u8]>::is_empty) {
                names.note_damage(candidate.table);
            }
            *slot = Some(CoveringSymbol {
                start: candidate.symbol.value,
                name: name.unwrap_or_default(),
            })
            .filter(|_| !is_missing);
        }
    });
    found
}

/// Sorts by start, then by preference. Names are compared only if nothing else decides, and each distinct name is read
/// once.
fn sort(candidates: &mut [SymbolCandidate], names: &NameReader<'_, '_>) {
    candidates.sort_unstable_by(|a, b| {
        a.start
            .cmp(&b.start)
            .then_with(|| simple(a).cmp(&simple(b)))
            .then_with(|| last_resort(a, b))
    });
    let same =
        |a: &SymbolCandidate, b: &SymbolCandidate| a.start == b.start && simple(a) == simple(b);
    for group in candidates.chunk_by_mut(same).filter(|group| group.len() > 1) {
        let mut places: Vec<NameLocation> =
            group.iter().map(SymbolCandidate::name_location).collect();
        places.sort_unstable();
        places.dedup();
        if places.len() == 1 {
            continue;
        }
        let mut read: Vec<(NameKey<'_>, NameLocation)> =
            places.into_iter().map(|place| (name_key(names.name(place)), place)).collect();
        read.sort_by_key(|&(key, _)| key);
        let mut ranks = HashMap::with_capacity(read.len());
        let mut rank = 0_u32;
        let mut before = None;
        for (key, place) in read {
            rank += u32::from(before != Some(key));
            before = Some(key);
            ranks.insert(place, rank);
        }
        group.sort_by_key(|candidate| ranks.get(&candidate.name_location()).copied());
    }
}

fn collect(
    number: u32,
    code: &CodeBounds<'_>,
    names: &NameReader<'_, '_>,
    index: &AddressIndex<'_>,
    candidates: &mut Vec<SymbolCandidate>,
    nearest: &mut [Option<SymbolCandidate>],
) {
    let mut section = (0, 0);
    let Some(table) = names.tables.get(number as usize) else { return };
    let n_strings = table.strings().len();
    for (at, symbol) in table.symbols().enumerate() {
        if symbol.name as usize >= n_strings || (at > 0 && symbol.is_null()) {
            names.note_damage(number);
        }
        if !symbol.may_name_code() {
            continue;
        }
        let start = symbol.value;
        let first = index.lower_bound(start);
        let Some(address) = index.all().get(first) else { continue };
        if !(section.0 <= start && start < section.1) {
            let Some(within) = code.section(start) else { continue };
            section = within;
        }
        let mut candidate = SymbolCandidate {
            start,
            end: start.saturating_add(symbol.size),
            table: number,
            symbol,
        };
        let covers = address.0 < candidate.end;
        let slot = nearest.get_mut(first);
        let nearer =
            slot.as_ref().is_some_and(|slot| slot.as_ref().is_none_or(|old| start >= old.start));
        if !covers && !nearer
            || symbol.kind() == STT_NOTYPE && is_mapping_symbol(table.name_start(symbol.name))
        {
            continue;
        }
        if covers {
            candidates.push(candidate);
        }
        if let (Some(slot), true) = (slot, nearer) {
            candidate.end = if symbol.size == 0 { section.1 } else { candidate.end };
            let better = |old: &SymbolCandidate| {
                old.start.cmp(&start).then_with(|| preference(old, &candidate, names))
                    == Ordering::Less
            };
            if slot.as_ref().is_none_or(better) {
                *slot = Some(candidate);
            }
        }
    }
}

/// Mapping symbols, such as `$a`, `$d`, `$t` and `$x`, mark the following bytes as code or data and name nothing.
fn is_mapping_symbol(name: &[u8]) -> bool {
    matches!(name, [b'$', b'a' | b'd' | b't' | b'x', ..])
}

/// Adds candidates for the symbols without a size that are nearest before an address. A label does not truncate a
/// function with a size that extends past it.
fn extend_sizeless(
    index: &AddressIndex<'_>,
    code: &CodeBounds<'_>,
    nearest: &[Option<SymbolCandidate>],
    candidates: &mut Vec<SymbolCandidate>,
) {
    let mut sized: Vec<(u64, u64)> = candidates.iter().map(|c| (c.start, c.end)).collect();
    sized.sort_unstable();
    let covers: Vec<Cover> =
        sized.iter().map(|&(start, end)| Cover { start, end, item: 0 }).collect();
    let mut covered = vec![false; index.all().len()];
    sweep::<1>(index.all(), &covers, |address, [item]| {
        if let Some(slot) = covered.get_mut(address) {
            *slot = item.is_some();
        }
    });
    let mut last: Option<SymbolCandidate> = None;
    for ((address, gap), covered) in index.all().iter().zip(nearest).zip(covered) {
        if let Some(mut nearest) = *gap {
            if nearest.symbol.size == 0 {
                let end = code.function_end(nearest.start).unwrap_or(u64::MAX);
                nearest.end = nearest.end.min(end);
            }
            last = Some(nearest);
        }
        let Some(symbol) = last.filter(|c| c.symbol.size == 0 && address.0 < c.end) else {
            continue;
        };
        if symbol.symbol.kind() == STT_NOTYPE && covered {
            continue;
        }
        // A candidate for this address only: at the next one another symbol may be the nearest.
        candidates.push(SymbolCandidate {
            start: address.0,
            end: address.0.saturating_add(1),
            ..symbol
        });
    }
}

impl SymbolCandidate {
    const fn name_location(&self) -> NameLocation {
        NameLocation { table: self.table, offset: self.symbol.name }
    }
}

/// Sort key of symbols with the same start, compared before their names.
fn simple(candidate: &SymbolCandidate) -> (bool, bool, bool, bool) {
    let s = &candidate.symbol;
    (s.size > 0, s.kind() != STT_NOTYPE, s.bind() != STB_WEAK, s.bind() == STB_GLOBAL)
}

/// Order of symbols with equal names.
fn last_resort(a: &SymbolCandidate, b: &SymbolCandidate) -> Ordering {
    let key = |c: &SymbolCandidate| (c.table, c.end, c.symbol.section, c.symbol.info);
    key(a).cmp(&key(b))
}

/// Compares two symbols with the same start: `Less` if `b` is preferred. The order is total, so that the result does
/// not depend on the order of the symbols.
fn preference(a: &SymbolCandidate, b: &SymbolCandidate, names: &NameReader<'_, '_>) -> Ordering {
    let by_name = || names.preference(a.name_location(), b.name_location());
    simple(a).cmp(&simple(b)).then_with(by_name).then_with(|| last_resort(a, b))
}

/// Returns the functions that begin exactly at `starts`, which are sorted, by the same preference.
pub(crate) fn functions_at<'t>(
    names: &NameReader<'t, '_>,
    starts: &[u64],
) -> HashMap<u64, &'t [u8]> {
    let mut best: HashMap<u64, SymbolCandidate> = HashMap::new();
    if starts.is_empty() {
        return HashMap::new();
    }
    for (table, number) in names.tables.iter().zip(0_u32..) {
        let functions = table.symbols().filter(|s| s.is_function() && s.may_name_code());
        for symbol in functions.filter(|s| starts.binary_search(&s.value).is_ok()) {
            let start = symbol.value;
            let candidate = SymbolCandidate { start, end: start, table: number, symbol };
            let known = best.entry(start).or_insert(candidate);
            if preference(known, &candidate, names).is_le() {
                *known = candidate;
            }
        }
    }
    let mut found: Vec<SymbolCandidate> = best.into_values().collect();
    found.sort_unstable_by_key(|candidate| candidate.start);
    let named = |candidate: &SymbolCandidate| {
        Some((candidate.start, names.name(candidate.name_location())?))
    };
    found.iter().filter_map(named).collect()
}

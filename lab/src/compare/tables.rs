//! Tables of an ELF file that bound and name its functions: call frame information, symbols, and the slots of the
//! global offset table.

use std::collections::BTreeMap;
use std::ops::Range;

use gimli::UnwindSection as _;
use object::{
    Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, ObjectSymbolTable as _,
    RelocationTarget, SymbolKind,
};

/// A function by its symbol.
pub(super) struct NamedSymbol {
    pub(super) range: Range<u64>,
    pub(super) name: String,
    /// True if resolved at run time: the function that runs has another name.
    pub(super) indirect: bool,
}

/// Value that the loader writes into a slot of the global offset table.
pub(super) enum Slot {
    /// Address of the function of that name.
    NamedSymbol(String),
    /// Address in this file.
    Own(u64),
}

/// Returns the slots that relocations fill, by address.
pub(super) fn slots(file: &object::File<'_>) -> BTreeMap<u64, Slot> {
    let mut slots = BTreeMap::new();
    let table = file.dynamic_symbol_table();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let symbol = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                table.as_ref().and_then(|table| table.symbol_by_index(index).ok())
            }
            RelocationTarget::Absolute if relocation.kind() == object::RelocationKind::Unknown => {
                if let object::RelocationFlags::Elf { r_type } = relocation.flags()
                    && r_type.0 == R_X86_64_RELATIVE
                {
                    let addend = Some(relocation.addend() as u64);
                    let addend = if file.is_64() { addend } else { stored(file, at) };
                    slots.extend(addend.map(|addend| (at, Slot::Own(addend))));
                }
                None
            }
            _ => None,
        };
        if let Some(Ok(name)) = symbol.map(|symbol| symbol.name()) {
            slots.insert(at, Slot::NamedSymbol(name.to_owned()));
        }
    }
    slots
}

/// The slot holds an address of the file itself, relocated with it. Same number on i386, with the addend in the slot.
const R_X86_64_RELATIVE: u32 = 8;

/// Returns the 32-bit word at an address of a file.
fn stored(file: &object::File<'_>, address: u64) -> Option<u64> {
    let mut found = file.segments().filter_map(|it| it.data_range(address, 4).ok().flatten());
    number(found.next()?, 0)
}

/// Returns the 32-bit number at an index of the code.
pub(super) fn number(code: &[u8], at: usize) -> Option<u64> {
    Some(u32::from_le_bytes(*code.get(at..)?.first_chunk()?).into())
}

/// Returns functions by call frame information, sorted.
pub(super) fn described(file: &object::File<'_>) -> Vec<Range<u64>> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.data() else { return Vec::new() };
    let mut frames = gimli::EhFrame::new(data, gimli::LittleEndian);
    frames.set_address_size(if file.is_64() { 8 } else { 4 });
    let bases = gimli::BaseAddresses::default().set_eh_frame(section.address());
    let mut ranges = Vec::new();
    let mut entries = frames.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let gimli::CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(fde) = partial.parse(gimli::EhFrame::cie_from_offset) {
            ranges.push(fde.initial_address()..fde.end_address());
        }
    }
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// Returns functions by symbol, sorted by start.
pub(super) fn named(file: &object::File<'_>) -> Vec<NamedSymbol> {
    let mut named: Vec<NamedSymbol> = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| !symbol.is_undefined() && symbol.size() > 0)
        .filter_map(|symbol| {
            let indirect = matches!(
                symbol.flags(),
                object::SymbolFlags::Elf { st_info, .. } if st_info.0 & 0xf == 10
            );
            let code = indirect || symbol.kind() == SymbolKind::Text;
            let range = symbol.address()..symbol.address().checked_add(symbol.size())?;
            let name = symbol.name().ok().filter(|_| code)?.to_owned();
            Some(NamedSymbol { range, name, indirect })
        })
        .collect();
    named.sort_by(|a, b| {
        (a.range.start, a.range.end, &a.name).cmp(&(b.range.start, b.range.end, &b.name))
    });
    named.dedup_by(|a, b| a.range == b.range && a.name == b.name);
    named
}

//! Names for the stubs of the procedure linkage table: `foo@plt`.
//!
//! A stub is identified by the GOT slot that it jumps through, which is looked up in the relocations. The layout of the
//! sections does not matter.
//!
//! Source: System V psABI for x86-64 and for i386, "Procedure Linkage Table" (lazy, IBT, `-z now`); ELF for the ARM 64-bit
//! Architecture, "Procedure Linkage Table"; names as by `dso__synthesize_plt_symbols` in tools/perf/util/symbol-elf.c.

use address::{Arch, Svma};
use hashbrown::HashMap;
use image_store::Image;

use crate::addresses::{AddressIndex, OpenSlots};
use crate::bytes::ByteCursor;
use crate::elf::names::{NameLocation, NameReader};
use crate::elf::symbols::{SymbolTable, functions_at};

/// A stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stub {
    start: u64,
    slot: u64,
}

/// A named stub that covers a requested address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PltName {
    /// Index of the address.
    pub(crate) index: usize,
    pub(crate) start: u64,
    pub(crate) name: Vec<u8>,
}

/// A requested address as an index, the start of its stub, and the stub's slot; or the section's start and name, if the
/// address is before the first stub.
type Hit<'i> = (usize, u64, Result<u64, &'i [u8]>);

/// Returns the stubs at the requested addresses that have no name yet.
pub(crate) fn names(
    image: &Image,
    names: &NameReader<'_, '_>,
    dynsym: Option<(u32, &SymbolTable<'_>)>,
    index: &AddressIndex<'_>,
    is_named: &[bool],
) -> Vec<PltName> {
    let mut relocations = None;
    let mut hits: Vec<Hit<'_>> = Vec::new();
    // Sections may overlap; an address belongs to the first.
    let mut open = OpenSlots::new(index.all().len());
    let named = is_named.iter().enumerate().filter(|(_, named)| **named);
    named.for_each(|(at, _)| open.close(at));
    for section in image.sections().iter().filter(|s| s.executable && is_plt(&s.name)) {
        let (start, end) = (section.svma.0, section.svma.0.saturating_add(section.size));
        let is_within = |at: &usize| index.all().get(*at).is_some_and(|address| address.0 < end);
        let first = open.next(index.lower_bound(start));
        if !is_within(&first) {
            continue;
        }
        let Ok(code) = image.section_data(section) else { continue };
        let relocations = relocations.get_or_insert_with(|| Relocations::read(image));
        let stubs = match image.arch() {
            Some(Arch::X86_64 | Arch::X86) => {
                x86_stubs(&code, start, relocations, &JumpForm::of(image))
            }
            Some(Arch::Aarch64) => aarch64_stubs(&code, start, &relocations.slots),
            _ => Vec::new(),
        };
        let mut next_open = Some(first).filter(is_within);
        while let Some(at) = next_open {
            let Some(address) = index.all().get(at) else { break };
            open.close(at);
            next_open = Some(open.next(at + 1)).filter(is_within);
            let next = stubs.partition_point(|stub| stub.start <= address.0);
            hits.push(match next.checked_sub(1).and_then(|before| stubs.get(before)) {
                Some(stub) => (at, stub.start, Ok(stub.slot)),
                // Before the first stub there is only the header, which calls the dynamic linker.
                None => (at, start, Err(&section.name[..])),
            });
        }
    }
    let Some(relocations) = relocations else { return Vec::new() };
    let resolvers =
        functions_at(names, &relocations.resolvers(hits.iter().filter_map(|hit| hit.2.ok())));
    let mut found: Vec<PltName> = Vec::new();
    for (index, start, hit) in hits {
        let name = match hit {
            Ok(slot) => relocations.name(slot, names, dynsym, &resolvers),
            Err(header) => Some(header.to_vec()),
        };
        found.extend(name.map(|name| PltName { index, start, name }));
    }
    found
}

fn is_plt(name: &[u8]) -> bool {
    matches!(name, b".plt" | b".plt.sec" | b".plt.got" | b".iplt")
}

/// The value that a relocation stores in a slot.
#[derive(Clone, Copy)]
enum SlotTarget {
    Symbol(u32),
    /// The result of the resolver at this address.
    Indirect(u64),
}

struct Relocations {
    slots: HashMap<u64, SlotTarget>,
    /// Slots of `.rela.plt` in order, since the `push` of a lazy stub states an index.
    order: Vec<u64>,
}

impl Relocations {
    fn read(image: &Image) -> Self {
        const ENTRY: usize = 24;
        if image.arch() == Some(Arch::X86) {
            return Self::read_x86(image);
        }
        let mut all = Self { slots: HashMap::new(), order: Vec::new() };
        for name in [".rela.plt", ".rela.iplt", ".rela.dyn"] {
            let Some(data) =
                image.section(name).and_then(|section| image.section_data(section).ok())
            else {
                continue;
            };
            for entry in data.chunks_exact(ENTRY) {
                let mut cursor = ByteCursor::new(entry, 0, !image.is_little_endian());
                let (Some(slot), Some(info), Some(addend)) =
                    (cursor.u64(), cursor.u64(), cursor.u64())
                else {
                    continue;
                };
                if name == ".rela.plt" {
                    all.order.push(slot);
                }
                let target = match info >> 32 {
                    _ if image.is_indirect_relocation(info as u32) => SlotTarget::Indirect(addend),
                    0 => continue,
                    symbol => SlotTarget::Symbol(symbol as u32),
                };
                all.slots.entry(slot).or_insert(target);
            }
        }
        all
    }

    /// Reads the relocations of an i386 file. They have no addend; it is in the slot.
    ///
    /// Source: ELF, `Elf32_Rel`; psABI i386, "Relocation".
    fn read_x86(image: &Image) -> Self {
        const ENTRY: usize = 8;
        let mut all = Self { slots: HashMap::new(), order: Vec::new() };
        for name in [".rel.plt", ".rel.iplt", ".rel.dyn"] {
            let section = image.section(name);
            let Some(data) = section.and_then(|section| image.section_data(section).ok()) else {
                continue;
            };
            for entry in data.chunks_exact(ENTRY) {
                let mut cursor = ByteCursor::new(entry, 0, false);
                let (Some(slot), Some(info)) = (cursor.u32(), cursor.u32()) else { continue };
                let slot = u64::from(slot);
                if name == ".rel.plt" {
                    all.order.push(slot);
                }
                let target = match info >> 8 {
                    _ if image.is_indirect_relocation(info & 0xff) => match word_at(image, slot) {
                        Some(resolver) => SlotTarget::Indirect(resolver),
                        None => continue,
                    },
                    0 => continue,
                    symbol => SlotTarget::Symbol(symbol),
                };
                all.slots.entry(slot).or_insert(target);
            }
        }
        all
    }

    /// Returns the resolvers of slots, sorted.
    fn resolvers(&self, slots: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut resolvers: Vec<u64> = slots
            .filter_map(|slot| match self.slots.get(&slot) {
                Some(SlotTarget::Indirect(resolver)) => Some(*resolver),
                _ => None,
            })
            .collect();
        resolvers.sort_unstable();
        resolvers.dedup();
        resolvers
    }

    fn name(
        &self,
        slot: u64,
        names: &NameReader<'_, '_>,
        dynsym: Option<(u32, &SymbolTable<'_>)>,
        resolvers: &HashMap<u64, &[u8]>,
    ) -> Option<Vec<u8>> {
        let name = match *self.slots.get(&slot)? {
            SlotTarget::Symbol(index) => dynsym.and_then(|(number, table)| {
                names.name(NameLocation { table: number, offset: table.symbol(index)?.name })
            }),
            SlotTarget::Indirect(resolver) => {
                // Many stubs may share a resolver, and each has its own copy of the name.
                let name = resolvers.get(&resolver).copied();
                name.filter(|name| names.count(name.len() as u64))
            }
        };
        let name = name
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("offset_{slot:#x}").into_bytes(), <[u8]>::to_vec);
        Some([&name, &b"@plt"[..]].concat())
    }
}

/// Returns the 32-bit word of an i386 file at an address.
fn word_at(image: &Image, svma: u64) -> Option<u64> {
    let offset = image.offset_of_svma(Svma(svma))?.sub(image.base().0);
    let bytes = image.bytes().get(usize::try_from(offset.0).ok()?..)?;
    Some(u32::from_le_bytes(*bytes.first_chunk()?).into())
}

/// The meaning of the operand of a stub's jump.
enum JumpForm {
    /// `jmp *slot(%rip)`: relative to the next instruction.
    Relative,
    /// i386: `jmp *slot`, or `jmp *offset(%ebx)` with this address in the register, which is that of the table of
    /// slots.
    Absolute(u64),
}

impl JumpForm {
    fn of(image: &Image) -> Self {
        if image.arch() == Some(Arch::X86_64) {
            return Self::Relative;
        }
        let table = |name: &[u8]| image.sections().iter().find(|section| &*section.name == name);
        let slots = table(b".got.plt").or_else(|| table(b".got"));
        Self::Absolute(slots.map_or(0, |section| section.svma.0))
    }

    /// Returns the slot of a jump at an address.
    fn slot(&self, opcode: [u8; 2], number: u32, address: u64) -> Option<u64> {
        match (self, opcode) {
            (Self::Relative, [0xff, 0x25]) => {
                let displacement = i64::from(number.cast_signed());
                Some(address.wrapping_add(6).wrapping_add_signed(displacement))
            }
            (Self::Absolute(_), [0xff, 0x25]) => Some(number.into()),
            (Self::Absolute(table), [0xff, 0xa3]) => {
                Some((*table as u32).wrapping_add(number).into())
            }
            _ => None,
        }
    }

    /// Returns the index of the relocation that a `push` states.
    const fn index(&self, number: u32) -> usize {
        match self {
            Self::Relative => number as usize,
            // The operand is the offset of the relocation.
            Self::Absolute(_) => number as usize / 8,
        }
    }
}

/// Finds stubs: a jump through a slot (`ff 25`, `ff a3`), or `push n` with a jump to the header (`68 .. e9`) in the
/// lazy half of an IBT table.
fn x86_stubs(code: &[u8], start: u64, relocations: &Relocations, form: &JumpForm) -> Vec<Stub> {
    let mut jumps: Vec<(u64, u64)> = Vec::new();
    for (at, window) in code.windows(6).enumerate() {
        let &[first, second, a, b, c, d] = window else { continue };
        let address = start.wrapping_add(at as u64);
        let number = u32::from_le_bytes([a, b, c, d]);
        if let Some(slot) = form.slot([first, second], number, address) {
            if relocations.slots.contains_key(&slot) {
                jumps.push((address, slot));
            }
        } else if first == 0x68 && matches!(d, 0xe9 | 0xf2) {
            let number = u32::from_le_bytes([second, a, b, c]);
            if let Some(&slot) = relocations.order.get(form.index(number)) {
                jumps.push((address, slot));
            }
        }
    }
    // Stubs begin at multiples of their size, which is 16 bytes, or 8 in `.plt.got` without IBT.
    let narrow = jumps
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if b.0 - a.0 == 8 && a.0 % 8 == b.0 % 8 && a.0 % 8 == 0));
    let single = jumps.len() == 1 && code.len() == 8;
    let size = if narrow || single { 8 } else { 16 };
    let mut stubs: Vec<Stub> = jumps
        .iter()
        .map(|&(address, slot)| Stub {
            start: address - (address.wrapping_sub(start) % size),
            slot,
        })
        .collect();
    stubs.dedup_by_key(|stub| stub.start);
    stubs
}

/// Finds stubs: `adrp x16, page; ldr x17, [x16, #offset]`, optionally after `bti c`.
fn aarch64_stubs(code: &[u8], start: u64, slots: &HashMap<u64, SlotTarget>) -> Vec<Stub> {
    let (words, _) = code.as_chunks::<4>();
    let word = |at: usize| words.get(at).map(|bytes| u32::from_le_bytes(*bytes));
    let mut stubs = Vec::new();
    for at in 0..words.len() {
        let (Some(adrp), Some(load)) = (word(at), word(at + 1)) else { break };
        if adrp & 0x9f00_001f != 0x9000_0010 || load & 0xffc0_03ff != 0xf940_0211 {
            continue;
        }
        let address = start.wrapping_add(at as u64 * 4);
        let immediate = (adrp >> 29 & 3) | (adrp >> 5 & 0x7_ffff) << 2;
        // Sign extension of 21 bits, in pages.
        let pages = i64::from((immediate << 11).cast_signed() >> 11);
        let slot = (address & !0xfff)
            .wrapping_add_signed(pages << 12)
            .wrapping_add(u64::from(load >> 10 & 0xfff) * 8);
        // The slot of the header has no relocation.
        if !slots.contains_key(&slot) {
            continue;
        }
        let guarded = at.checked_sub(1).and_then(word) == Some(0xd503_245f);
        stubs.push(Stub { start: if guarded { address.wrapping_sub(4) } else { address }, slot });
    }
    stubs
}

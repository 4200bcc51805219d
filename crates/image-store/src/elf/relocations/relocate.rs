//! Layout of relocatable files (`.o`, `.ko`) as if they were loaded: sections and symbols get
//! addresses, and the relocations of call frame information and debug sections are applied. The
//! result is readable like any other ELF file.
//!
//! Source: gABI, "Relocation"; psABI of x86-64, table 4.9; ELF for the Arm 64-bit architecture, 5.7; kernel/module,
//! `layout_sections`.

use std::path::Path;

use address::{Arch, Svma};
use object::elf::RelocationType;

use super::relocate_raw::{
    ObjectHeader, ObjectReader, RawSection, SHF_ALLOC, SHF_COMPRESSED, SHF_EXECINSTR,
};
use crate::elf::compression::inflate_section;
use crate::elf::psabi::{Field, Supplement};
use crate::elf::{FileAllowance, ImageError};

/// Placement of sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SectionLayout {
    /// Each byte at its offset in the file: for code that was copied out of it.
    FileOffsets,
    /// Code in the order of the section headers, as in the kernel, from [`MODULE_CODE`] on.
    KernelModule,
}

/// Address of kernel module code, which corresponds to the start of the kernel's mapping. Not 0, because linkers
/// write 0 into debug information for discarded code.
pub const MODULE_CODE: Svma = Svma(0x10_0000);
/// Address of module data, separate from the code; nothing depends on the value.
const MODULE_DATA: u64 = 0x4000_0000;
const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_NOBITS: u32 = 8;
/// Size of an `Elf64_Rela`, in bytes.
const RELOCATION: u64 = 24;

/// Returns the bytes of a file in the form of a shared object. Its length is that of the input, the decompressed debug
/// sections, and a program header for each section with code.
///
/// # Errors
/// If the headers are damaged, or the machine is unsupported.
pub(crate) fn link(
    path: &Path,
    bytes: &[u8],
    layout: SectionLayout,
    allowance: &mut FileAllowance,
) -> Result<Vec<u8>, ImageError> {
    let damaged = || ImageError::Relocatable { path: path.to_owned() };
    let reader = ObjectReader { bytes };
    let header = ObjectHeader::read(&reader).ok_or_else(damaged)?;
    let mut sections = header.sections(&reader).ok_or_else(damaged)?;
    // Only 64-bit files have such a header.
    let supplement = Arch::from_elf(header.machine, Some(64)).and_then(Supplement::of);
    let mut out = bytes.to_vec();
    place(&mut sections, layout, bytes.len() as u64);
    unpack_debug(&mut sections, &mut out, allowance);
    let (table, values) = move_symbols(&sections, &mut out, allowance);
    for index in 0..sections.len() {
        let relocations = &sections[index];
        let target = sections.get(relocations.info as usize);
        if let Some(target) = target.filter(|_| relocations.kind == SHT_RELA) {
            let name = header.name(&reader, &sections, target);
            if !target.has(SHF_ALLOC) || name == b".eh_frame" {
                let values = if table == Some(relocations.link) { &values[..] } else { &[] };
                let count = relocations.size / RELOCATION;
                if allowance.relocate(count, || "a section of relocations".to_owned()).is_err() {
                    break;
                }
                apply(supplement, relocations, target, values, &mut out);
            }
        }
    }
    header.write(&sections, layout == SectionLayout::FileOffsets, &mut out).ok_or_else(damaged)?;
    Ok(out)
}

fn place(sections: &mut [RawSection], layout: SectionLayout, file_len: u64) {
    let mut code = MODULE_CODE.0;
    let mut data = if layout == SectionLayout::KernelModule { MODULE_DATA } else { file_len };
    for section in sections.iter_mut().filter(|section| section.has(SHF_ALLOC)) {
        let by_offset = layout == SectionLayout::FileOffsets && section.kind != SHT_NOBITS;
        if by_offset {
            section.addr = section.offset;
            continue;
        }
        let is_code = layout == SectionLayout::KernelModule && section.has(SHF_EXECINSTR);
        // Initialization code is discarded after use and has a separate location.
        let next = if is_code && !section.init { &mut code } else { &mut data };
        let align = section.align.clamp(1, 1 << 16);
        let start = next.div_ceil(align).saturating_mul(align);
        section.addr = start;
        *next = start.saturating_add(section.size);
    }
}

/// Decompresses debug sections, because relocations refer to the decompressed bytes.
fn unpack_debug(sections: &mut [RawSection], out: &mut Vec<u8>, allowance: &mut FileAllowance) {
    for section in sections.iter_mut().filter(|section| section.has(SHF_COMPRESSED)) {
        let packed = section.range(out.len()).and_then(|range| out.get(range));
        let Some(unpacked) = packed.and_then(|packed| inflate_section(packed, allowance)) else {
            continue;
        };
        out.resize(out.len().next_multiple_of(8), 0);
        section.offset = out.len() as u64;
        section.size = unpacked.len() as u64;
        section.flags &= !SHF_COMPRESSED;
        out.extend(unpacked);
    }
}

/// Adds the section addresses to the symbols of the file's only symbol table. Returns its section index and the values.
///
/// Source: gABI, "Sections": an object file may have only one section of type `SHT_SYMTAB`.
fn move_symbols(
    sections: &[RawSection],
    out: &mut [u8],
    allowance: &mut FileAllowance,
) -> (Option<u32>, Vec<u64>) {
    const ENTRY: usize = 24;
    let mut tables = sections.iter().zip(0_u32..).filter(|(section, _)| section.kind == SHT_SYMTAB);
    let Some((section, number)) = tables.next() else { return (None, Vec::new()) };
    if tables.next().is_some() {
        allowance.note_further("a second symbol table");
    }
    let table = section.range(out.len()).and_then(|range| out.get_mut(range)).unwrap_or_default();
    let moved = |symbol: &mut [u8]| {
        let (head, tail) = symbol.split_at_mut(8);
        let place =
            head.get(6..8).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b));
        let Some(value) = tail.first_chunk_mut::<8>() else { return 0 };
        let base = sections.get(usize::from(place)).map_or(0, |section| section.addr);
        let moved = u64::from_le_bytes(*value).wrapping_add(if place == 0 { 0 } else { base });
        *value = moved.to_le_bytes();
        moved
    };
    (Some(number), table.chunks_exact_mut(ENTRY).map(moved).collect())
}

fn apply(
    supplement: Option<&Supplement>,
    relocations: &RawSection,
    target: &RawSection,
    values: &[u64],
    out: &mut [u8],
) {
    let Some(range) = relocations.range(out.len()) else { return };
    let Some(target_range) = target.range(out.len()) else { return };
    for at in range.step_by(RELOCATION as usize) {
        let word = |at: usize| Some(u64::from_le_bytes(*out.get(at..at + 8)?.first_chunk()?));
        let (Some(place), Some(info), Some(addend)) = (word(at), word(at + 8), word(at + 16))
        else {
            return;
        };
        let field = supplement.and_then(|it| it.field(RelocationType(info as u32)));
        let Some(&Field { size, is_relative, .. }) = field else { continue };
        let symbol = values.get((info >> 32) as usize).copied().unwrap_or(0);
        let mut value = symbol.wrapping_add(addend);
        if is_relative {
            value = value.wrapping_sub(target.addr.wrapping_add(place));
        }
        let field = usize::try_from(place)
            .ok()
            .and_then(|place| target_range.start.checked_add(place))
            .filter(|&start| start.saturating_add(size) <= target_range.end);
        if let Some(field) = field.and_then(|start| out.get_mut(start..start + size)) {
            field.copy_from_slice(value.to_le_bytes().get(..size).unwrap_or_default());
        }
    }
}

//! Sections of a file without section headers, made from its program headers and the tables of its dynamic section.
//! `lld -z nosectionheader`, `llvm-objcopy --strip-sections`, `sstrip` and packers make such files.
//! Symbols, call frame information and relocations are located as by the dynamic loader, for all readers of sections.
//!
//! The sections have the names given by linkers. Their contents are not checked here.
//!
//! Source: gABI, "Program Loading and Dynamic Linking"; LSB core, `PT_GNU_EH_FRAME`; ELF for the Arm Architecture,
//! `PT_ARM_EXIDX`.

mod dynamic;
mod frames;
mod linkage;
mod loaded;
mod symbols;
mod unsectioned;

use address::{Arch, FileOffset, Svma};
use object::CompressionFormat;

use super::Section;
use super::prefetch::SectionPrefetch;
pub(super) use loaded::LoadedFile;
use loaded::Part;
pub(super) use unsectioned::{Unsectioned, header_without_sections};

/// A program header other than `PT_LOAD`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProgramHeader {
    /// `p_type`.
    pub(super) kind: u32,
    /// `p_offset`.
    pub(super) offset: u64,
    /// `p_vaddr`.
    pub(super) svma: Svma,
    /// `p_filesz`, in bytes.
    pub(super) file_size: u64,
}

const PT_DYNAMIC: u32 = 2;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
const PT_ARM_EXIDX: u32 = 0x7000_0001;

/// Returns the sections located by program headers and the dynamic section: code, symbols,
/// relocations, call frame information.
pub(super) fn sections(file: &LoadedFile<'_>, headers: &[ProgramHeader]) -> Vec<Section> {
    let mut found: Vec<Section> = file.code().map(|part| section(".text", part, true)).collect();
    let first = |kind: u32| headers.iter().find(|header| header.kind == kind);
    if let Some(dynamic) = first(PT_DYNAMIC).and_then(|header| file.stated(header)) {
        found.extend(dynamic::sections(file, &dynamic));
        found.push(section(".dynamic", dynamic, false));
    }
    if let Some(header) = first(PT_GNU_EH_FRAME).and_then(|header| file.stated(header)) {
        found.extend(frames::find(file, &header).map(|part| section(".eh_frame", part, false)));
        found.push(section(".eh_frame_hdr", header, false));
    }
    if file.arch == Some(Arch::Arm) {
        let index = first(PT_ARM_EXIDX).and_then(|header| file.stated(header));
        found.extend(index.map(|part| section(".ARM.exidx", part, false)));
    }
    found
}

fn section(name: &str, part: Part, executable: bool) -> Section {
    let (offset, size) = (part.range.start as u64, part.range.len() as u64);
    Section {
        name: name.as_bytes().into(),
        svma: part.svma,
        size,
        executable,
        allocated: true,
        offset: FileOffset(offset),
        stored_size: size,
        in_file: Some((offset, size)),
        unpacked_size: size,
        format: CompressionFormat::None,
        too_large: None,
        prefetch: SectionPrefetch::default(),
    }
}

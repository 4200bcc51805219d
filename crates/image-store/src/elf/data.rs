//! Headers of an ELF file, read when it is opened, and its bytes.

use std::fmt;
use std::path::Path;

use address::{Arch, BuildId, FileOffset, Svma};
use budget::Budget;
use hashbrown::HashMap;
use host::Content;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _, SectionHeader as _};
use object::{CompressionFormat, Object as _, ObjectSection as _, ReadRef, SectionFlags, elf};

use super::bytes::FileBytes;
use super::headerless::{self, LoadedFile, ProgramHeader, Unsectioned};
use super::prefetch::SectionPrefetch;
use super::section_names;
use super::zip::stored_entry;
use super::{FileAllowance, ImageError, OmittedPart, Section, Segment};

/// Bytes and headers of an ELF file. They depend only on the content and are shared by all paths to it.
pub(crate) struct ElfData {
    pub(super) bytes: FileBytes,
    pub(super) base: FileOffset,
    pub(super) arch: Option<Arch>,
    pub(super) e_machine: u16,
    pub(super) relocatable: bool,
    pub(super) little_endian: bool,
    pub(super) entry: Svma,
    pub(super) build_id: Option<BuildId>,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section>,
    /// Index of the first section with bytes for each name.
    section_numbers: HashMap<Box<[u8]>, u32>,
    /// True if the file states unreadable section headers.
    pub(super) sections_lost: bool,
    /// Parts omitted because they exceed a limit.
    pub(crate) omitted: Vec<OmittedPart>,
}

impl fmt::Debug for ElfData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElfData")
            .field("e_machine", &self.e_machine)
            .field("build_id", &self.build_id)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

impl ElfData {
    /// Reads the headers of a file; `path` is used in errors only.
    pub(crate) fn parse(
        path: &Path,
        content: Content,
        budget: &Budget,
    ) -> Result<Self, ImageError> {
        let allowance = FileAllowance::new(budget, content.len());
        Self::parse_with(path, content, allowance)
    }

    /// Same as [`Self::parse`], with a given remaining budget.
    pub(crate) fn parse_with(
        path: &Path,
        content: Content,
        allowance: FileAllowance,
    ) -> Result<Self, ImageError> {
        Self::parse_bytes(path, FileBytes::from(content), allowance)
    }

    /// Same as [`Self::parse`], for the entry of an archive that is mapped from `offset`; for
    /// the whole file if it is not an archive.
    pub(crate) fn parse_part(
        path: &Path,
        content: Content,
        offset: FileOffset,
        budget: &Budget,
    ) -> Result<Self, ImageError> {
        let Some(range) = stored_entry(&content, offset.0) else {
            return Self::parse(path, content, budget);
        };
        let base = FileOffset(range.start as u64);
        let allowance = FileAllowance::new(budget, range.len());
        let bytes = FileBytes::from(content).part(range);
        Ok(Self { base, ..Self::parse_bytes(path, bytes, allowance)? })
    }

    /// Same as [`Self::parse_part`], but with offsets of mappings relative to the entry.
    pub(crate) fn parse_entry(
        path: &Path,
        content: Content,
        offset: FileOffset,
        budget: &Budget,
    ) -> Result<Self, ImageError> {
        let entry = Self::parse_part(path, content, offset, budget)?;
        Ok(Self { base: FileOffset(0), ..entry })
    }

    fn parse_bytes(
        path: &Path,
        bytes: FileBytes,
        mut allowance: FileAllowance,
    ) -> Result<Self, ImageError> {
        let all = bytes.as_slice();
        let headers = match object::File::parse(all) {
            Ok(file) if file.format() != object::BinaryFormat::Elf => {
                return Err(ImageError::OtherFormat { path: path.to_owned() });
            }
            Ok(file) => Headers::read(&file, all, &mut allowance),
            Err(source) => Headers::read_unsectioned(all, &mut allowance).ok_or_else(|| {
                let path = path.to_owned();
                if all.starts_with(b"\x7fELF") {
                    ImageError::Damaged { path, source }
                } else if all.iter().take(16).all(|&byte| byte == 0) {
                    ImageError::Overwritten { path }
                } else {
                    ImageError::NotElf { path, source }
                }
            })?,
        };
        Ok(Self {
            bytes,
            base: FileOffset(0),
            arch: headers.arch,
            e_machine: headers.e_machine,
            relocatable: headers.relocatable,
            little_endian: headers.little_endian,
            entry: headers.entry,
            build_id: headers.build_id,
            segments: headers.segments,
            section_numbers: numbers_of(&headers.sections),
            sections: headers.sections,
            sections_lost: headers.sections_lost,
            omitted: allowance.into_omitted(),
        })
    }

    /// Returns the bytes of the file; in an archive, of its entry.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    pub(crate) const fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// Returns the first section with a name that has bytes.
    pub(super) fn section(&self, name: &[u8]) -> Option<&Section> {
        self.sections.get(*self.section_numbers.get(name)? as usize)
    }
}

/// Indexes the first section with bytes for each name, because a file may state many and each frame queries some.
fn numbers_of(sections: &[Section]) -> HashMap<Box<[u8]>, u32> {
    let mut numbers = HashMap::with_capacity(sections.len());
    for (number, section) in (0..).zip(sections).filter(|(_, section)| section.has_bytes()) {
        numbers.entry(section.name.clone()).or_insert(number);
    }
    numbers
}

/// Returns the build-id of a file from its headers and notes; `None` if it is not an ELF file or has none.
pub(crate) fn build_id_of(bytes: &[u8]) -> Option<BuildId> {
    if !bytes.starts_with(b"\x7fELF") {
        return None;
    }
    match object::File::parse(bytes) {
        Ok(file) => build_id(&file, bytes),
        Err(_) => {
            let header = headerless::header_without_sections(bytes)?;
            build_id(&object::File::parse(Unsectioned::new(&header, bytes)).ok()?, bytes)
        }
    }
}

fn build_id<'d, R: ReadRef<'d>>(file: &object::File<'d, R>, bytes: &[u8]) -> Option<BuildId> {
    if !has_few_notes(file, bytes) {
        return None;
    }
    file.build_id().ok().flatten().and_then(BuildId::new)
}

/// Returns true if notes may be read: each of their sections is scanned, and many may state the same bytes.
fn has_few_notes<'d, R: ReadRef<'d>>(file: &object::File<'d, R>, bytes: &[u8]) -> bool {
    note_bytes(file) <= 4 * bytes.len() as u64
}

/// Values stated in the headers of a file.
struct Headers {
    arch: Option<Arch>,
    e_machine: u16,
    relocatable: bool,
    little_endian: bool,
    entry: Svma,
    build_id: Option<BuildId>,
    segments: Vec<Segment>,
    sections: Vec<Section>,
    sections_lost: bool,
}

impl Headers {
    fn read<'d, R: ReadRef<'d>>(
        file: &object::File<'d, R>,
        bytes: &[u8],
        allowance: &mut FileAllowance,
    ) -> Self {
        let segments = segments_of(file, bytes.len() as u64, allowance);
        let build_id = build_id(file, bytes);
        let e_machine = e_machine_of(file);
        let arch = Arch::from_elf(e_machine, Some(if file.is_64() { 64 } else { 32 }));
        let little_endian = file.is_little_endian();
        let (mut sections, sections_lost) = sections_of(file, bytes.len() as u64, allowance);
        if sections_lost {
            allowance.note_damaged("the table of section headers");
        } else if section_names::are_damaged(file) {
            allowance.note_damaged("the table of section names");
        }
        let mut notes = sections.iter().filter(|it| &*it.name == b".note.gnu.build-id");
        let is_read = has_few_notes(file, bytes);
        if build_id.is_none() && is_read && notes.any(Section::has_bytes) {
            allowance.note_damaged("the note with the build-id");
        }
        if sections.iter().all(|section| section.name.is_empty()) {
            let is_wide = file.is_64();
            let loaded = LoadedFile { bytes, segments: &segments, arch, is_wide, little_endian };
            sections = headerless::sections(&loaded, &other_headers(file));
        }
        Self {
            arch,
            e_machine,
            relocatable: file.kind() == object::ObjectKind::Relocatable,
            little_endian,
            entry: Svma(file.entry()),
            build_id,
            segments,
            sections,
            sections_lost,
        }
    }

    /// Reads the headers of a file with unreadable section headers, if all its segments are in the file.
    fn read_unsectioned(bytes: &[u8], allowance: &mut FileAllowance) -> Option<Self> {
        let header = headerless::header_without_sections(bytes)?;
        let file = object::File::parse(Unsectioned::new(&header, bytes)).ok()?;
        let headers = Self::read(&file, bytes, allowance);
        let is_there = |segment: &Segment| {
            let end = segment.offset.0.checked_add(segment.file_size);
            end.is_some_and(|end| end <= bytes.len() as u64)
        };
        let is_whole = !headers.segments.is_empty() && headers.segments.iter().all(is_there);
        is_whole.then(|| {
            allowance.note_damaged("the table of section headers");
            Self { sections_lost: true, ..headers }
        })
    }
}

/// Returns the processor number stated in a file.
fn e_machine_of<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> u16 {
    match file {
        object::File::Elf32(file) => file.elf_header().e_machine(file.endian()).0,
        object::File::Elf64(file) => file.elf_header().e_machine(file.endian()).0,
        _ => object::elf::EM_NONE.0,
    }
}

/// Returns the segments up to the limit for the file's size, because many may state the same bytes.
/// In a file laid out by this program they are its sections with code, which are counted elsewhere.
fn segments_of<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
    file_bytes: u64,
    allowance: &mut FileAllowance,
) -> Vec<Segment> {
    let all = file.segments().map(|segment| Segment::of(&segment));
    if allowance.is_laid_out() {
        return all.collect();
    }
    let fits = |segment: &Segment| allowance.segment(segment.file_size.min(file_bytes)).is_ok();
    let mut segments: Vec<Segment> = all.take_while(fits).collect();
    if segments.len() > MOST_SEGMENTS {
        segments.truncate(MOST_SEGMENTS);
        allowance.note_damaged("the rest of the table of segments");
    }
    segments
}

/// Maximum number of segments of a file; every frame searches them. Linkers make about ten.
const MOST_SEGMENTS: usize = 1 << 10;

/// Returns the sections with names, up to a limit: many may share the end of one long name, or the same bytes.
/// Also returns true if a name is unreadable although the header states the section of names.
fn sections_of<'d, R: ReadRef<'d>>(
    file: &object::File<'d, R>,
    file_bytes: u64,
    allowance: &mut FileAllowance,
) -> (Vec<Section>, bool) {
    let mut sections = Vec::new();
    let mut is_lost = false;
    for section in file.sections() {
        let Ok(name) = section.name_bytes() else {
            is_lost = true;
            continue;
        };
        if allowance.name(name.len(), || "the names of sections".to_owned()).is_err() {
            break;
        }
        let stated = section.file_range().map_or(0, |(_, size)| size.min(file_bytes));
        if allowance.section(stated).is_err() {
            break;
        }
        sections.extend(section_of(&section, name, allowance));
    }
    (sections, is_lost && states_names(file))
}

/// Returns true if the header of a file states the section with the names of sections.
fn states_names<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> bool {
    match file {
        object::File::Elf32(file) => file.elf_header().e_shstrndx(file.endian()).0 != 0,
        object::File::Elf64(file) => file.elf_header().e_shstrndx(file.endian()).0 != 0,
        _ => false,
    }
}

/// Returns the number of bytes of notes stated in the headers.
fn note_bytes<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> u64 {
    match file {
        object::File::Elf32(file) => note_bytes_of(file),
        object::File::Elf64(file) => note_bytes_of(file),
        _ => 0,
    }
}

fn note_bytes_of<'d, Elf: FileHeader, R: ReadRef<'d>>(file: &ElfFile<'d, Elf, R>) -> u64 {
    let endian = file.endian();
    let segments = file.elf_program_headers().iter();
    let segments = segments.filter(|header| header.p_type(endian) == elf::PT_NOTE);
    let sections = file.elf_section_table().iter();
    let sections = sections.filter(|header| header.sh_type(endian) == elf::SHT_NOTE);
    let sizes = segments.map(|header| header.p_filesz(endian).into());
    sizes.chain(sections.map(|header| header.sh_size(endian).into())).fold(0, u64::saturating_add)
}

/// Returns the program headers other than `PT_LOAD`.
fn other_headers<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> Vec<ProgramHeader> {
    match file {
        object::File::Elf32(file) => other_headers_of(file),
        object::File::Elf64(file) => other_headers_of(file),
        _ => Vec::new(),
    }
}

fn other_headers_of<'d, Elf: FileHeader, R: ReadRef<'d>>(
    file: &ElfFile<'d, Elf, R>,
) -> Vec<ProgramHeader> {
    let endian = file.endian();
    let headers = file.elf_program_headers().iter();
    let others = headers.filter(|header| header.p_type(endian) != elf::PT_LOAD);
    let other = |header: &Elf::ProgramHeader| ProgramHeader {
        kind: header.p_type(endian).0,
        offset: header.p_offset(endian).into(),
        svma: Svma(header.p_vaddr(endian).into()),
        file_size: header.p_filesz(endian).into(),
    };
    others.map(other).collect()
}

fn section_of<'d, R: ReadRef<'d>>(
    section: &object::Section<'d, '_, R>,
    name: &[u8],
    allowance: &mut FileAllowance,
) -> Option<Section> {
    let Ok(range) = section.compressed_file_range() else {
        allowance.note_damaged(&format!("section {}", String::from_utf8_lossy(name)));
        return None;
    };
    let unpacked = (range.format != CompressionFormat::None).then_some(range.uncompressed_size);
    let words = || format!("section {}", String::from_utf8_lossy(name));
    let too_large = unpacked.and_then(|size| allowance.unpack(size, words).err());
    let flags = match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.0,
        _ => 0,
    };
    Some(Section {
        name: name.into(),
        svma: Svma(section.address()),
        size: section.size(),
        offset: FileOffset(range.offset),
        stored_size: range.compressed_size,
        in_file: section.file_range(),
        unpacked_size: range.uncompressed_size,
        format: range.format,
        too_large,
        prefetch: SectionPrefetch::default(),
        executable: flags & elf::SHF_EXECINSTR.0 != 0,
        allocated: flags & elf::SHF_ALLOC.0 != 0,
    })
}

//! One ELF file, opened: its segments, its sections, its identity. Headers are read once; the rest stays where it
//! is, in the mapped file, and is touched by whoever needs it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use address::{Avma, Bias, BuildId, FileOffset, Svma};
use object::{
    Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, SectionFlags,
    SegmentFlags, elf,
};

use super::ImageError;
use super::bytes::FileBytes;
use super::early::Early;
use super::relocate::{SectionLayout, link};
use super::section::{self, Section};
use super::zip::stored_entry;

/// The processor that an ELF file was made for, as far as this project tells them apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Machine {
    /// x86-64 (`EM_X86_64`, 64-bit class).
    X86_64,
    /// aarch64 (`EM_AARCH64`, 64-bit class).
    Aarch64,
    /// 32-bit x86 (`EM_386`).
    X86,
    /// 32-bit ARM (`EM_ARM`).
    Arm,
    /// Anything else, with its `e_machine`.
    Other(u16),
}

/// A `PT_LOAD` program header.
///
/// Source: gABI, "Program Header".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// `p_offset`: where the segment's bytes begin in the file.
    pub offset: FileOffset,
    /// `p_filesz`: how many bytes of it are in the file.
    pub file_size: u64,
    /// `p_vaddr`: the address that the file states for its first byte.
    pub svma: Svma,
    /// `p_memsz`: its size in memory; what exceeds `file_size` is zero and has no place in the file.
    pub mem_size: u64,
    /// `PF_X`.
    pub executable: bool,
    /// `PF_W`.
    pub writable: bool,
}

impl Segment {
    /// Whether the byte at `offset` of the file belongs to this segment itself.
    fn holds(&self, offset: FileOffset) -> bool {
        offset.since(self.offset) < self.file_size
    }

    /// Whether the byte at `offset` is in a page that the loader maps for this segment, its own bytes or the padding
    /// before and behind them.
    fn maps(&self, offset: FileOffset) -> bool {
        self.page_range().contains(&offset.0)
    }

    /// The offsets of the pages that the loader maps for this segment.
    fn page_range(&self) -> Range<u64> {
        const PAGE: u64 = 0x1000;
        let end =
            self.offset.0.saturating_add(self.file_size).saturating_add(PAGE - 1) & !(PAGE - 1);
        self.offset.0 & !(PAGE - 1)..end
    }
}

/// An opened ELF file. Immutable; shared by everything that maps the same content.
pub struct Image {
    path: PathBuf,
    bytes: FileBytes,
    base: FileOffset,
    machine: Machine,
    relocatable: bool,
    little_endian: bool,
    entry: Svma,
    build_id: Option<BuildId>,
    segments: Vec<Segment>,
    sections: Vec<Section>,
}

impl Image {
    /// Opens an ELF file and reads its headers. Only regular files are opened, so that a device or FIFO of that name
    /// cannot block.
    ///
    /// # Errors
    /// Where the file is missing, is no regular file, cannot be read, or is no ELF file.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        Self::from_bytes(path, FileBytes::map(path)?)
    }

    /// Opens the ELF file that is mapped from `offset` of a file: the file itself, or what is stored there in a zip
    /// archive. Offsets of mappings stay those of the archive.
    ///
    /// # Errors
    /// As for [`Image::open`], and where no ELF file is stored there.
    pub fn open_at(path: &Path, offset: FileOffset) -> Result<Self, ImageError> {
        let bytes = FileBytes::map(path)?;
        let Some(range) = stored_entry(bytes.as_slice(), offset.0) else {
            return Self::from_bytes(path, bytes);
        };
        let base = FileOffset(range.start as u64);
        Ok(Self { base, ..Self::from_bytes(path, bytes.part(range))? })
    }

    /// Opens a file of which somebody copied code: as [`Image::open`], but a relocatable file is laid out first, each
    /// byte at its own offset.
    ///
    /// # Errors
    /// As for [`Image::open`], and where a relocatable file cannot be laid out.
    pub fn open_for_copies(path: &Path) -> Result<Self, ImageError> {
        let image = Self::open(path)?;
        if !image.relocatable {
            return Ok(image);
        }
        Self::from_vec(path, link(path, image.bytes(), SectionLayout::FileOffsets)?)
    }

    /// An image from bytes that were made or unpacked in memory; `path` only names it.
    ///
    /// # Errors
    /// Where the bytes are no ELF file.
    pub fn from_vec(path: &Path, bytes: Vec<u8>) -> Result<Self, ImageError> {
        Self::from_bytes(path, FileBytes::from(bytes))
    }

    fn from_bytes(path: &Path, bytes: FileBytes) -> Result<Self, ImageError> {
        let parse_error = |source| ImageError::NotElf { path: path.to_owned(), source };
        let file = object::File::parse(bytes.as_slice()).map_err(parse_error)?;
        if file.format() != object::BinaryFormat::Elf {
            return Err(ImageError::OtherFormat { path: path.to_owned() });
        }
        let machine = machine_of(&file, bytes.as_slice());
        let segments = file.segments().map(|segment| segment_of(&segment)).collect();
        let sections = file.sections().filter_map(|section| section_of(&section)).collect();
        let build_id = file.build_id().ok().flatten().and_then(BuildId::new);
        let relocatable = file.kind() == object::ObjectKind::Relocatable;
        let little_endian = file.is_little_endian();
        let entry = Svma(file.entry());
        drop(file);
        Ok(Self {
            path: path.to_owned(),
            bytes,
            base: FileOffset(0),
            machine,
            relocatable,
            little_endian,
            entry,
            build_id,
            segments,
            sections,
        })
    }

    /// The file that was really opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole ELF file, without what may be around it in an archive.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Where the ELF file begins in the file that was opened: 0 unless that is an archive.
    #[must_use]
    pub const fn base(&self) -> FileOffset {
        self.base
    }

    /// The processor it was made for.
    #[must_use]
    pub const fn machine(&self) -> Machine {
        self.machine
    }

    /// Whether it is a relocatable object (`ET_REL`): no segments, section addresses are not final.
    #[must_use]
    pub const fn is_relocatable(&self) -> bool {
        self.relocatable
    }

    /// Whether it is a separate debug file: it states sections with code, but holds bytes of none of them.
    #[must_use]
    pub fn is_stripped_of_code(&self) -> bool {
        let mut code =
            self.sections.iter().filter(|section| section.executable && section.allocated);
        code.clone().next().is_some() && !code.any(Section::has_bytes)
    }

    /// Whether its data is little-endian.
    #[must_use]
    pub const fn is_little_endian(&self) -> bool {
        self.little_endian
    }

    /// Where a process that runs this file begins (`e_entry`); 0 for a library.
    #[must_use]
    pub const fn entry(&self) -> Svma {
        self.entry
    }

    /// The file's own build-id.
    #[must_use]
    pub const fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// The `PT_LOAD` segments in the order of the program headers.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// All named sections, in file order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The section of that name that has bytes in this file. `.debug_x` also finds `.zdebug_x`.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        let named = |wanted: &str| {
            self.sections.iter().find(|s| &*s.name == wanted.as_bytes() && s.has_bytes())
        };
        named(name).or_else(|| {
            named(&format!(".z{}", name.strip_prefix('.')?)).filter(|_| name.starts_with(".debug_"))
        })
    }

    /// The bytes of a section, unpacked where they are compressed (`SHF_COMPRESSED` with zlib or zstd, `.zdebug_*`).
    ///
    /// # Errors
    /// Where the section lies outside the file or its compressed bytes are damaged.
    pub fn section_data(&self, section: &Section) -> Result<Cow<'_, [u8]>, ImageError> {
        section::data(section, self.bytes(), &self.path)
    }

    /// The address that the file states for the byte at `offset` of the file, seen through a mapping that is
    /// executable or not. `None` where no segment is mapped from there.
    ///
    /// Two segments can share a page of the file: the one that holds the byte itself wins, among those the one whose
    /// protection fits. A byte that is only padding of a page belongs to the segment that was mapped with it.
    ///
    /// Source: gABI, "Program Loading"; `elf_map` in `fs/binfmt_elf.c` maps whole pages.
    #[must_use]
    pub fn svma_of_offset(&self, offset: FileOffset, executable: bool) -> Option<Svma> {
        let offset = offset.sub(self.base.0);
        let best = self
            .segments
            .iter()
            .filter(|segment| segment.maps(offset))
            .max_by_key(|segment| (segment.executable == executable, segment.holds(offset)))?;
        Some(best.svma.add(offset.since(best.offset)))
    }

    /// The stated address of the first of `len` bytes of the file, where one segment is mapped for all of them and no
    /// other can be meant: then every address of the range is as far from its offset as the first.
    #[must_use]
    pub fn svma_of_range(&self, offset: FileOffset, len: u64, executable: bool) -> Option<Svma> {
        let last = offset.add(len.checked_sub(1)?);
        let mut fitting = self.segments.iter().filter(|segment| {
            segment.executable == executable
                && segment.page_range().start <= last.0
                && offset.0 < segment.page_range().end
        });
        let segment =
            fitting.next().filter(|segment| segment.maps(offset) && segment.maps(last))?;
        fitting.next().is_none().then(|| segment.svma.add(offset.since(segment.offset)))
    }

    /// The offset in the file of the byte at a stated address; `None` for addresses without bytes in the file.
    #[must_use]
    pub fn offset_of_svma(&self, svma: Svma) -> Option<FileOffset> {
        let segment =
            self.segments.iter().find(|segment| svma.since(segment.svma) < segment.file_size)?;
        Some(segment.offset.add(svma.since(segment.svma)).add(self.base.0))
    }

    /// The bias of a piece that maps `offset` of this file at `start`: from the `PT_LOAD` header, never
    /// `start - offset`, which is wrong for linkers that give a segment another address than its offset.
    #[must_use]
    pub fn bias(&self, start: Avma, offset: FileOffset, executable: bool) -> Option<Bias> {
        Some(Bias::between(start, self.svma_of_offset(offset, executable)?))
    }

    /// Every bias that a piece with that start and offset can have: two segments that share a page of the file are both
    /// mapped from there, and read-only data and data that became read-only look alike.
    pub fn possible_biases(&self, start: Avma, offset: FileOffset) -> impl Iterator<Item = Bias> {
        let offset = offset.sub(self.base.0);
        let segments = self.segments.iter().filter(move |segment| segment.maps(offset));
        segments.map(move |segment| {
            Bias::between(start, segment.svma.add(offset.since(segment.offset)))
        })
    }

    /// The address of the first symbol of that name.
    #[must_use]
    pub fn symbol_address(&self, name: &[u8]) -> Option<Svma> {
        let file = object::File::parse(self.bytes()).ok()?;
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        let found = symbols.find(|symbol| symbol.name_bytes() == Ok(name))?;
        Some(Svma(found.address()))
    }

    /// `len` bytes of the file's contents at a stated address, where a read-only segment holds them.
    #[must_use]
    pub fn read_only_bytes(&self, svma: Svma, len: usize) -> Option<&[u8]> {
        let segment =
            self.segments.iter().find(|s| !s.writable && svma.since(s.svma) < s.file_size)?;
        let within = svma.since(segment.svma);
        if segment.file_size - within < len as u64 {
            return None;
        }
        let start = usize::try_from(segment.offset.add(within).0).ok()?;
        self.bytes().get(start..start.checked_add(len)?)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("path", &self.path)
            .field("machine", &self.machine)
            .field("build_id", &self.build_id)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

fn machine_of(file: &object::File<'_>, bytes: &[u8]) -> Machine {
    match file.architecture() {
        object::Architecture::X86_64 => Machine::X86_64,
        object::Architecture::Aarch64 => Machine::Aarch64,
        object::Architecture::I386 => Machine::X86,
        object::Architecture::Arm => Machine::Arm,
        _ => {
            let raw = [bytes.get(18), bytes.get(19)].map(|byte| byte.copied().unwrap_or(0));
            Machine::Other(if file.is_little_endian() {
                u16::from_le_bytes(raw)
            } else {
                u16::from_be_bytes(raw)
            })
        }
    }
}

fn segment_of(segment: &object::Segment<'_, '_>) -> Segment {
    let (offset, file_size) = segment.file_range();
    let flags = match segment.flags() {
        SegmentFlags::Elf { p_flags, .. } => p_flags.0,
        _ => 0,
    };
    Segment {
        offset: FileOffset(offset),
        file_size,
        svma: Svma(segment.address()),
        mem_size: segment.size(),
        executable: flags & elf::PF_X.0 != 0,
        writable: flags & elf::PF_W.0 != 0,
    }
}

fn section_of(section: &object::Section<'_, '_>) -> Option<Section> {
    let name = section.name_bytes().ok()?;
    let range = section.compressed_file_range().ok()?;
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
        unpacked_size: range.uncompressed_size,
        format: range.format,
        early: Early::default(),
        executable: flags & elf::SHF_EXECINSTR.0 != 0,
        allocated: flags & elf::SHF_ALLOC.0 != 0,
    })
}

//! An opened ELF file: its segments, its sections, its identity. Headers are read once; all other bytes
//! stay in the mapped file and are read on demand.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Arch, Avma, Bias, BuildId, FileOffset, Svma};
use budget::{Budget, SharedAllowance};
use host::{Content, Damage, Host, Origin};
use object::{Object as _, ObjectSymbol as _, SymbolKind};

use super::data::ElfData;
use super::psabi::Supplement;
use super::relocations::{SectionLayout, disjoint, link};
use super::section::{self, Section};
use super::{FileAllowance, ImageError, ImageSource, OmittedPart, Segment};

/// An opened ELF file. Immutable; a clone shares everything except the path.
#[derive(Clone)]
pub struct Image {
    path: PathBuf,
    /// Folder that paths in the file must not leave; `None` if the user named the file, or it was made in memory.
    root: Option<Arc<Path>>,
    data: Arc<ElfData>,
    /// Remaining bytes that all files of a run may unpack.
    unpacked: Option<Arc<SharedAllowance>>,
    /// Source file; `None` if the image was made in memory.
    pub(super) source: Option<ImageSource>,
}

impl Image {
    /// Opens an ELF file and reads its headers.
    ///
    /// # Errors
    /// If the file is missing, not a regular file, unreadable, or not an ELF file.
    pub fn open(host: &dyn Host, path: &Path, origin: Origin<'_>) -> Result<Self, ImageError> {
        Self::from_content(path, host.open(path, origin)?.content)
    }

    /// Opens the ELF file that is mapped from `offset` of a file: the file itself, or an entry stored in a zip archive.
    /// Offsets of mappings remain relative to the archive.
    ///
    /// # Errors
    /// As for [`Image::open`], and if no ELF file is stored there.
    pub fn open_at(
        host: &dyn Host,
        path: &Path,
        origin: Origin<'_>,
        offset: FileOffset,
    ) -> Result<Self, ImageError> {
        let content = host.open(path, origin)?.content;
        let data = ElfData::parse_part(path, content, offset, &Budget::default())?;
        Ok(Self::of(path, origin.root(), Arc::new(data)))
    }

    /// Opens a file with code that was copied elsewhere. Same as [`Image::open`], except that a relocatable file is
    /// laid out first, with file offsets as addresses.
    ///
    /// # Errors
    /// As for [`Image::open`], and if a relocatable file cannot be laid out.
    pub fn open_for_copies(
        host: &dyn Host,
        path: &Path,
        origin: Origin<'_>,
    ) -> Result<Self, ImageError> {
        let image = Self::open(host, path, origin)?;
        if !image.is_relocatable() {
            return Ok(image);
        }
        let mut allowance = FileAllowance::new(&Budget::default(), image.bytes().len());
        let linked = link(path, image.bytes(), SectionLayout::FileOffsets, &mut allowance)?;
        let allowance = allowance.laid_out(linked.len());
        let data = ElfData::parse_with(path, Content::from(linked), allowance)?;
        Ok(Self::of(path, None, Arc::new(data)))
    }

    /// Creates an image from the content of an opened file.
    ///
    /// # Errors
    /// If the bytes are not an ELF file.
    pub fn from_content(path: &Path, content: Content) -> Result<Self, ImageError> {
        Ok(Self::of(path, None, Arc::new(ElfData::parse(path, content, &Budget::default())?)))
    }

    /// Creates an image from bytes made or unpacked in memory; `path` is only a name.
    ///
    /// # Errors
    /// If the bytes are not an ELF file.
    pub fn from_vec(path: &Path, bytes: Vec<u8>) -> Result<Self, ImageError> {
        Self::from_content(path, Content::from(bytes))
    }

    /// Creates the image of a content that was opened before, possibly with another path.
    pub(crate) fn of(path: &Path, root: Option<&Path>, data: Arc<ElfData>) -> Self {
        Self {
            path: path.to_owned(),
            root: root.map(Arc::from),
            data,
            unpacked: None,
            source: None,
        }
    }

    /// Sets the source file.
    pub(crate) fn source(self, source: ImageSource) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Sets the path, for example the one inside an archive.
    pub(crate) fn named(self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Sets the budget for unpacking that is shared by all files of the run.
    pub(crate) fn within(self, unpacked: &Arc<SharedAllowance>) -> Self {
        Self { unpacked: Some(Arc::clone(unpacked)), ..self }
    }

    /// Remaining bytes that all files of the run may unpack.
    pub(crate) fn unpacked(&self) -> Option<&SharedAllowance> {
        self.unpacked.as_deref()
    }

    /// Returns the indicator for lost bytes of the file; `None` if they are in memory and cannot be lost.
    pub(crate) fn damage(&self) -> Option<Damage> {
        self.data.bytes.damage()
    }

    /// Parts omitted because they exceed a limit.
    pub(crate) fn omitted(&self) -> &[OmittedPart] {
        &self.data.omitted
    }

    /// Folder that paths stated in the file must not leave.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Origin of the path, for opening the file again.
    #[must_use]
    pub fn origin(&self) -> Origin<'_> {
        self.root().map_or(Origin::User, |root| Origin::Stored { root })
    }

    /// Path of the file that was actually opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the ELF file, without a surrounding archive.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes.as_slice()
    }

    /// Offset of the ELF file in the opened file: 0 unless that is an archive.
    #[must_use]
    pub fn base(&self) -> FileOffset {
        self.data.base
    }

    /// Processor architecture, if supported.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        self.data.arch
    }

    /// Processor number, regardless of support.
    ///
    /// Source: gABI, "ELF Header", `e_machine`.
    #[must_use]
    pub fn e_machine(&self) -> u16 {
        self.data.e_machine
    }

    /// Returns true if, on the file's processor, a relocation of this number writes the result of a resolver.
    #[must_use]
    pub fn is_indirect_relocation(&self, kind: u32) -> bool {
        let supplement = self.arch().and_then(Supplement::of);
        supplement.is_some_and(|supplement| supplement.indirect.0 == kind)
    }

    /// Returns true for a relocatable object (`ET_REL`): it has no segments, and section addresses are not final.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.data.relocatable
    }

    /// Returns true for a separate debug file: it states sections with code but has no bytes of them.
    #[must_use]
    pub fn is_stripped_of_code(&self) -> bool {
        let mut code =
            self.data.sections.iter().filter(|section| section.executable && section.allocated);
        code.clone().next().is_some() && !code.any(Section::has_bytes)
    }

    /// Returns true if the data is little-endian.
    #[must_use]
    pub fn is_little_endian(&self) -> bool {
        self.data.little_endian
    }

    /// Entry point (`e_entry`) of a program; 0 for a library.
    #[must_use]
    pub fn entry(&self) -> Svma {
        self.data.entry
    }

    /// Build-id of the file.
    #[must_use]
    pub fn build_id(&self) -> Option<BuildId> {
        self.data.build_id
    }

    /// `PT_LOAD` segments in the order of the program headers.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.data.segments
    }

    /// Returns true if the file states unreadable section headers, as after truncation.
    #[must_use]
    pub fn has_lost_sections(&self) -> bool {
        self.data.sections_lost
    }

    /// All named sections, in file order. In a file without section headers, those derived from
    /// its program headers and dynamic section.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.data.sections
    }

    /// Returns the section with a name that has bytes in this file. `.debug_x` also finds `.zdebug_x`.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        let named = |wanted: &str| self.data.section(wanted.as_bytes());
        named(name).or_else(|| {
            named(&format!(".z{}", name.strip_prefix('.')?)).filter(|_| name.starts_with(".debug_"))
        })
    }

    /// Returns the bytes of a section, decompressed if necessary (`SHF_COMPRESSED` with zlib or zstd, `.zdebug_*`).
    ///
    /// # Errors
    /// If the section extends past the file or its compressed bytes are damaged.
    pub fn section_data(&self, section: &Section) -> Result<Cow<'_, [u8]>, ImageError> {
        section::data(section, self.bytes(), &self.path, self.unpacked())
    }

    /// Decompresses a section in advance for the next call of [`Self::section_data`], which reports damage.
    pub fn unpack_early(&self, section: &Section) {
        section::unpack_early(section, self.bytes(), &self.path, self.unpacked());
    }

    /// Returns decompressed bytes of a section for the next call of [`Self::section_data`]. Bytes that are not those of
    /// the section are dropped.
    pub fn give_back(&self, section: &Section, bytes: Vec<u8>) {
        if section.is_compressed() && bytes.len() as u64 == section.unpacked_size {
            section.prefetch.give_back(bytes);
        }
    }

    /// Returns the bytes of a section as stored. `None` if they are compressed, which tools do not do
    /// for symbols and tables of the dynamic loader.
    /// No decompression, so it is fast enough for every frame.
    pub(crate) fn stored_section(&self, name: &str) -> Option<&[u8]> {
        let section = self.section(name).filter(|section| !section.is_compressed())?;
        match self.section_data(section).ok()? {
            Cow::Borrowed(bytes) => Some(bytes),
            Cow::Owned(_) => None,
        }
    }

    /// Returns the stated address of the byte at `offset` of the file, given whether its mapping is
    /// executable. `None` if no segment is mapped from there.
    ///
    /// Two segments can share a page of the file: one with fitting protection takes precedence,
    /// then the one that contains the byte itself.
    /// A byte that is only padding of a page belongs to the segment mapped with it.
    ///
    /// Source: gABI, "Program Loading"; `elf_map` in `fs/binfmt_elf.c` maps whole pages.
    #[must_use]
    pub fn svma_of_offset(&self, offset: FileOffset, executable: bool) -> Option<Svma> {
        let offset = offset.sub(self.data.base.0);
        let best = self
            .data
            .segments
            .iter()
            .filter(|segment| segment.maps(offset))
            .max_by_key(|segment| (segment.executable == executable, segment.holds(offset)))?;
        Some(best.svma.add(offset.since(best.offset)))
    }

    /// Returns the stated address of the first of `len` bytes of the file. `None` unless
    /// exactly one segment is mapped for all of them.
    /// All addresses of the range then have the same distance to their offsets.
    #[must_use]
    pub fn svma_of_range(&self, offset: FileOffset, len: u64, executable: bool) -> Option<Svma> {
        let offset = offset.sub(self.data.base.0);
        let last = offset.add(len.checked_sub(1)?);
        let mut fitting = self.data.segments.iter().filter(|segment| {
            segment.executable == executable
                && segment.page_range().start <= last.0
                && offset.0 < segment.page_range().end
        });
        let segment =
            fitting.next().filter(|segment| segment.maps(offset) && segment.maps(last))?;
        fitting.next().is_none().then(|| segment.svma.add(offset.since(segment.offset)))
    }

    /// Returns the file offset of the byte at a stated address; `None` for addresses without bytes in the file.
    #[must_use]
    pub fn offset_of_svma(&self, svma: Svma) -> Option<FileOffset> {
        let segment = self
            .data
            .segments
            .iter()
            .find(|segment| svma.since(segment.svma) < segment.file_size)?;
        Some(segment.offset.add(svma.since(segment.svma)).add(self.data.base.0))
    }

    /// Returns the bias of a mapping of `offset` of this file at `start`, by the `PT_LOAD` header.
    /// `start - offset` is wrong if a linker gave a segment an address that differs from its offset.
    #[must_use]
    pub fn bias(&self, start: Avma, offset: FileOffset, executable: bool) -> Option<Bias> {
        Some(Bias::between(start, self.svma_of_offset(offset, executable)?))
    }

    /// Returns every possible bias of a mapping with that start and offset. Two segments that share a page of the file
    /// are both mapped from it, and read-only data is indistinguishable from data that became read-only.
    pub fn possible_biases(&self, start: Avma, offset: FileOffset) -> impl Iterator<Item = Bias> {
        let offset = offset.sub(self.data.base.0);
        let segments = self.data.segments.iter().filter(move |segment| segment.maps(offset));
        segments.map(move |segment| {
            Bias::between(start, segment.svma.add(offset.since(segment.offset)))
        })
    }

    /// Returns the address of the first symbol with a name.
    #[must_use]
    pub fn symbol_address(&self, name: &[u8]) -> Option<Svma> {
        let file = object::File::parse(self.bytes()).ok()?;
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        let found = symbols.find(|symbol| symbol.name_bytes() == Ok(name))?;
        Some(Svma(found.address()))
    }

    /// Returns the address of the first function with a symbol of that name. Functions that select another one at run
    /// time (`STT_GNU_IFUNC`) do not count.
    #[must_use]
    pub fn function_address(&self, name: &[u8]) -> Option<Svma> {
        let file = object::File::parse(self.bytes()).ok()?;
        let is_function = |symbol: &object::Symbol<'_, '_>| {
            let kind = match symbol.flags() {
                object::SymbolFlags::Elf { st_info, .. } => st_info.0 & 0xf,
                _ => 0,
            };
            kind == object::elf::STT_FUNC.0 && symbol.is_definition()
        };
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        let found = symbols.find(|it| it.name_bytes() == Ok(name) && is_function(it))?;
        Some(Svma(found.address()))
    }

    /// Returns the stated ranges of the functions named by symbols, ordered by start. A symbol
    /// without a size has no range.
    /// Function parts that a compiler moved are omitted, because they are entered by jumps.
    ///
    /// Source: `gcc/symtab.cc` and `llvm/lib/CodeGen/MachineFunctionSplitter.cpp`: the suffixes `.cold`, `.cold.0`.
    #[must_use]
    pub fn function_ranges(&self) -> Vec<Range<Svma>> {
        const PART: &[u8] = b".cold";
        let Ok(file) = object::File::parse(self.bytes()) else { return Vec::new() };
        let is_whole = |name: &[u8]| !name.windows(PART.len()).any(|part| part == PART);
        let symbols = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| {
            symbol.kind() == SymbolKind::Text
                && symbol.is_definition()
                && symbol.name_bytes().is_ok_and(is_whole)
        });
        let range = |start: u64, size: u64| Some(Svma(start)..Svma(start.checked_add(size)?));
        let ranges = symbols.filter_map(|symbol| range(symbol.address(), symbol.size()));
        let mut ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        ranges.dedup();
        ranges
    }

    /// Returns the ranges covered by the symbols and their sizes, in order and without overlaps.
    #[must_use]
    pub fn symbol_ranges(&self) -> Vec<(u64, u64)> {
        let Ok(file) = object::File::parse(self.bytes()) else { return Vec::new() };
        let symbols = file.symbols().chain(file.dynamic_symbols());
        disjoint(symbols.map(|it| (it.address(), it.address().saturating_add(it.size()))))
    }

    /// Returns `len` bytes of the file at a stated address if they are in a read-only segment.
    #[must_use]
    pub fn read_only_bytes(&self, svma: Svma, len: usize) -> Option<&[u8]> {
        self.read_only_from(svma)?.get(..len)
    }

    /// Returns the bytes of the file from a stated address to the end of its read-only segment.
    #[must_use]
    pub fn read_only_from(&self, svma: Svma) -> Option<&[u8]> {
        let segment =
            self.data.segments.iter().find(|s| !s.writable && svma.since(s.svma) < s.file_size)?;
        let within = svma.since(segment.svma);
        let start = usize::try_from(segment.offset.add(within).0).ok()?;
        let len = usize::try_from(segment.file_size - within).unwrap_or(usize::MAX);
        let rest = self.bytes().get(start..)?;
        rest.get(..len.min(rest.len()))
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("path", &self.path).field("data", &self.data).finish()
    }
}

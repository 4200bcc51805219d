//! One ELF file, opened: its segments, its sections, its identity. Headers are read once; the rest stays where it
//! is, in the mapped file, and is touched by whoever needs it.

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
use super::{FileAllowance, ImageError, LeftOut, MadeOf, Segment};

/// An opened ELF file. Immutable; a clone shares everything but the path.
#[derive(Clone)]
pub struct Image {
    path: PathBuf,
    /// The folder that paths in it must not leave; `None` where the user named it, or it was made in memory.
    root: Option<Arc<Path>>,
    data: Arc<ElfData>,
    /// What all files of a run may still unpack.
    unpacked: Option<Arc<SharedAllowance>>,
    /// The file; `None` where it was made in memory.
    pub(super) made_of: Option<MadeOf>,
}

impl Image {
    /// Opens an ELF file and reads its headers.
    ///
    /// # Errors
    /// Where the file is missing, is no regular file, cannot be read, or is no ELF file.
    pub fn open(host: &dyn Host, path: &Path, origin: Origin<'_>) -> Result<Self, ImageError> {
        Self::from_content(path, host.open(path, origin)?.content)
    }

    /// Opens the ELF file that is mapped from `offset` of a file: the file itself, or what is stored there in a zip
    /// archive. Offsets of mappings stay those of the archive.
    ///
    /// # Errors
    /// As for [`Image::open`], and where no ELF file is stored there.
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

    /// Opens a file of which somebody copied code: as [`Image::open`], but a relocatable file is laid out first, each
    /// byte at its own offset.
    ///
    /// # Errors
    /// As for [`Image::open`], and where a relocatable file cannot be laid out.
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

    /// An image of the content of an opened file.
    ///
    /// # Errors
    /// Where the bytes are no ELF file.
    pub fn from_content(path: &Path, content: Content) -> Result<Self, ImageError> {
        Ok(Self::of(path, None, Arc::new(ElfData::parse(path, content, &Budget::default())?)))
    }

    /// An image from bytes that were made or unpacked in memory; `path` only names it.
    ///
    /// # Errors
    /// Where the bytes are no ELF file.
    pub fn from_vec(path: &Path, bytes: Vec<u8>) -> Result<Self, ImageError> {
        Self::from_content(path, Content::from(bytes))
    }

    /// The image of a file whose content was opened before, maybe by another path.
    pub(crate) fn of(path: &Path, root: Option<&Path>, data: Arc<ElfData>) -> Self {
        Self {
            path: path.to_owned(),
            root: root.map(Arc::from),
            data,
            unpacked: None,
            made_of: None,
        }
    }

    /// The image with which file it was made of.
    pub(crate) fn made_of(self, made_of: MadeOf) -> Self {
        Self { made_of: Some(made_of), ..self }
    }

    /// The image by another path, as where it is in an archive.
    pub(crate) fn named(self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// The image with what all files of its run may still unpack.
    pub(crate) fn within(self, unpacked: &Arc<SharedAllowance>) -> Self {
        Self { unpacked: Some(Arc::clone(unpacked)), ..self }
    }

    /// What all files of its run may still unpack.
    pub(crate) fn unpacked(&self) -> Option<&SharedAllowance> {
        self.unpacked.as_deref()
    }

    /// Tells whether bytes of the file went missing; `None` where they cannot, as they are in memory.
    pub(crate) fn damage(&self) -> Option<Damage> {
        self.data.bytes.damage()
    }

    /// What of the file is not there for anybody, because there is too much of it.
    pub(crate) fn left_out(&self) -> &[LeftOut] {
        &self.data.left_out
    }

    /// The folder that paths which the file names must not leave.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Whom the path of the file is from, for who opens it again.
    #[must_use]
    pub fn origin(&self) -> Origin<'_> {
        self.root().map_or(Origin::User, |root| Origin::Stored { root })
    }

    /// The file that was really opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole ELF file, without what may be around it in an archive.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes.as_slice()
    }

    /// Where the ELF file begins in the file that was opened: 0 unless that is an archive.
    #[must_use]
    pub fn base(&self) -> FileOffset {
        self.data.base
    }

    /// The processor it was made for, if it is one of those known.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        self.data.arch
    }

    /// The number of the processor it was made for, whether that is known or not.
    ///
    /// Source: gABI, "ELF Header", `e_machine`.
    #[must_use]
    pub fn e_machine(&self) -> u16 {
        self.data.e_machine
    }

    /// Whether a relocation of that number has the dynamic loader write what a resolver returns, on the file's processor.
    #[must_use]
    pub fn is_indirect_relocation(&self, kind: u32) -> bool {
        let supplement = self.arch().and_then(Supplement::of);
        supplement.is_some_and(|supplement| supplement.indirect.0 == kind)
    }

    /// Whether it is a relocatable object (`ET_REL`): no segments, section addresses are not final.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.data.relocatable
    }

    /// Whether it is a separate debug file: it states sections with code, but holds bytes of none of them.
    #[must_use]
    pub fn is_stripped_of_code(&self) -> bool {
        let mut code =
            self.data.sections.iter().filter(|section| section.executable && section.allocated);
        code.clone().next().is_some() && !code.any(Section::has_bytes)
    }

    /// Whether its data is little-endian.
    #[must_use]
    pub fn is_little_endian(&self) -> bool {
        self.data.little_endian
    }

    /// Where a process that runs this file begins (`e_entry`); 0 for a library.
    #[must_use]
    pub fn entry(&self) -> Svma {
        self.data.entry
    }

    /// The file's own build-id.
    #[must_use]
    pub fn build_id(&self) -> Option<BuildId> {
        self.data.build_id
    }

    /// The `PT_LOAD` segments in the order of the program headers.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.data.segments
    }

    /// Whether the file states section headers that cannot be read, as if it were cut off.
    #[must_use]
    pub fn has_lost_sections(&self) -> bool {
        self.data.sections_lost
    }

    /// All named sections, in file order; of a file without section headers, those that its program headers and its
    /// dynamic section lead to.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.data.sections
    }

    /// The section of that name that has bytes in this file. `.debug_x` also finds `.zdebug_x`.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        let named = |wanted: &str| self.data.section(wanted.as_bytes());
        named(name).or_else(|| {
            named(&format!(".z{}", name.strip_prefix('.')?)).filter(|_| name.starts_with(".debug_"))
        })
    }

    /// The bytes of a section, unpacked where they are compressed (`SHF_COMPRESSED` with zlib or zstd, `.zdebug_*`).
    ///
    /// # Errors
    /// Where the section lies outside the file or its compressed bytes are damaged.
    pub fn section_data(&self, section: &Section) -> Result<Cow<'_, [u8]>, ImageError> {
        section::data(section, self.bytes(), &self.path, self.unpacked())
    }

    /// Unpacks a compressed section for the next call of [`Self::section_data`], which reports damage.
    pub fn unpack_early(&self, section: &Section) {
        section::unpack_early(section, self.bytes(), &self.path, self.unpacked());
    }

    /// The bytes of a section as they are in the file; `None` if they are compressed, as no tool does it with symbols and
    /// tables of the dynamic loader. Nothing is unpacked, so that they can be asked for at every frame.
    pub(crate) fn stored_section(&self, name: &str) -> Option<&[u8]> {
        let section = self.section(name).filter(|section| !section.is_compressed())?;
        match self.section_data(section).ok()? {
            Cow::Borrowed(bytes) => Some(bytes),
            Cow::Owned(_) => None,
        }
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
        let offset = offset.sub(self.data.base.0);
        let best = self
            .data
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

    /// The offset in the file of the byte at a stated address; `None` for addresses without bytes in the file.
    #[must_use]
    pub fn offset_of_svma(&self, svma: Svma) -> Option<FileOffset> {
        let segment = self
            .data
            .segments
            .iter()
            .find(|segment| svma.since(segment.svma) < segment.file_size)?;
        Some(segment.offset.add(svma.since(segment.svma)).add(self.data.base.0))
    }

    /// The bias of a mapping of `offset` of this file at `start`: from the `PT_LOAD` header, never
    /// `start - offset`, which is wrong for linkers that give a segment another address than its offset.
    #[must_use]
    pub fn bias(&self, start: Avma, offset: FileOffset, executable: bool) -> Option<Bias> {
        Some(Bias::between(start, self.svma_of_offset(offset, executable)?))
    }

    /// Every bias that a mapping with that start and offset can have: two segments that share a page of the file are both
    /// mapped from there, and read-only data and data that became read-only look alike.
    pub fn possible_biases(&self, start: Avma, offset: FileOffset) -> impl Iterator<Item = Bias> {
        let offset = offset.sub(self.data.base.0);
        let segments = self.data.segments.iter().filter(move |segment| segment.maps(offset));
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

    /// The code of the functions that symbols name, ordered by start, as the file states it. A symbol without a size has no
    /// range. A part of a function that a compiler moved elsewhere is entered by jumps and left out.
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

    /// The addresses that the sizes of its symbols cover, as ranges that do not overlap, in order.
    #[must_use]
    pub fn symbol_ranges(&self) -> Vec<(u64, u64)> {
        let Ok(file) = object::File::parse(self.bytes()) else { return Vec::new() };
        let symbols = file.symbols().chain(file.dynamic_symbols());
        disjoint(symbols.map(|it| (it.address(), it.address().saturating_add(it.size()))))
    }

    /// `len` bytes of the file's contents at a stated address, where a read-only segment holds them.
    #[must_use]
    pub fn read_only_bytes(&self, svma: Svma, len: usize) -> Option<&[u8]> {
        let segment =
            self.data.segments.iter().find(|s| !s.writable && svma.since(s.svma) < s.file_size)?;
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
        f.debug_struct("Image").field("path", &self.path).field("data", &self.data).finish()
    }
}

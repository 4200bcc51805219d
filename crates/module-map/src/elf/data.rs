//! What is read of an ELF file when it is opened: its headers, beside its bytes.

use std::fmt;
use std::path::Path;

use address::{BuildId, FileOffset, Svma};
use host::Content;
use object::{Object as _, ObjectSection as _, SectionFlags, elf};

use super::bytes::FileBytes;
use super::prefetch::SectionPrefetch;
use super::zip::stored_entry;
use super::{ElfMachine, ImageError, Section, Segment};

/// The bytes of an ELF file and its headers: a pure function of the file's content, shared by all paths that lead to it.
pub(crate) struct ElfData {
    pub(super) bytes: FileBytes,
    pub(super) base: FileOffset,
    pub(super) machine: ElfMachine,
    pub(super) relocatable: bool,
    pub(super) little_endian: bool,
    pub(super) entry: Svma,
    pub(super) build_id: Option<BuildId>,
    pub(super) segments: Vec<Segment>,
    pub(super) sections: Vec<Section>,
}

impl fmt::Debug for ElfData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElfData")
            .field("machine", &self.machine)
            .field("build_id", &self.build_id)
            .field("segments", &self.segments)
            .finish_non_exhaustive()
    }
}

impl ElfData {
    /// Reads the headers of a file; `path` only names it in errors.
    pub(crate) fn parse(path: &Path, content: Content) -> Result<Self, ImageError> {
        Self::parse_bytes(path, FileBytes::from(content))
    }

    /// The same of what is stored in an archive and mapped from `offset` of it; of the whole file where it is no archive.
    pub(crate) fn parse_part(
        path: &Path,
        content: Content,
        offset: FileOffset,
    ) -> Result<Self, ImageError> {
        let Some(range) = stored_entry(&content, offset.0) else {
            return Self::parse(path, content);
        };
        let base = FileOffset(range.start as u64);
        Ok(Self { base, ..Self::parse_bytes(path, FileBytes::from(content).part(range))? })
    }

    fn parse_bytes(path: &Path, bytes: FileBytes) -> Result<Self, ImageError> {
        let parse_error = |source| ImageError::NotElf { path: path.to_owned(), source };
        let file = object::File::parse(bytes.as_slice()).map_err(parse_error)?;
        if file.format() != object::BinaryFormat::Elf {
            return Err(ImageError::OtherFormat { path: path.to_owned() });
        }
        let machine = ElfMachine::of(&file, bytes.as_slice());
        let segments = file.segments().map(|segment| Segment::of(&segment)).collect();
        let sections = file.sections().filter_map(|section| section_of(&section)).collect();
        let build_id = file.build_id().ok().flatten().and_then(BuildId::new);
        let relocatable = file.kind() == object::ObjectKind::Relocatable;
        let little_endian = file.is_little_endian();
        let entry = Svma(file.entry());
        drop(file);
        Ok(Self {
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

    /// The bytes of the file; of an archive, those of the file in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    pub(crate) const fn is_relocatable(&self) -> bool {
        self.relocatable
    }

    pub(crate) const fn build_id(&self) -> Option<BuildId> {
        self.build_id
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
        prefetch: SectionPrefetch::default(),
        executable: flags & elf::SHF_EXECINSTR.0 != 0,
        allocated: flags & elf::SHF_ALLOC.0 != 0,
    })
}

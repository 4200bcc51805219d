//! Content of a kernel file: decompressed, with the section layout of loaded modules.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use budget::{Budget, Exhausted, Limit, Resource};
use host::{Content, HostError};

use crate::elf::{ElfData, FileAllowance, ImageError, SectionLayout, link, unpack};

/// Reads a kernel or module file. Decompresses it if it is compressed, and lays it out like the
/// kernel if it is relocatable.
///
/// A file that is compressed as a whole may expand to at most `left` bytes.
pub(crate) fn parse(
    path: &Path,
    content: Content,
    budget: &Budget,
    left: u64,
) -> Result<ElfData, ImageError> {
    let limit = budget.limit(Resource::UnpackedBytes);
    let limit = Limit { most: limit.most.min(left), ..limit };
    let budget = budget.with(Resource::UnpackedBytes, limit);
    let mut allowance = FileAllowance::new(&budget, content.len());
    let unusable = |source| unusable(path, source);
    let unpacked = match unpack(&content, &mut allowance).map_err(unusable)? {
        Cow::Owned(unpacked) => Content::from(unpacked),
        Cow::Borrowed(_) => content.clone(),
    };
    if !is_relocatable(&unpacked) {
        return ElfData::parse_with(path, unpacked, allowance);
    }
    let linked = link(path, &unpacked, SectionLayout::KernelModule, &mut allowance)?;
    let allowance = allowance.laid_out(linked.len());
    ElfData::parse_with(path, Content::from(linked), allowance)
}

/// Source: gABI, "ELF Header": `e_type`, `ET_REL`, in the byte order of the file.
fn is_relocatable(file: &[u8]) -> bool {
    let kind: &[u8] = if file.get(5) == Some(&1) { &[1, 0] } else { &[0, 1] };
    file.starts_with(b"\x7fELF") && file.get(16..18) == Some(kind)
}

/// Converts an error of decompression.
fn unusable(path: &Path, source: io::Error) -> ImageError {
    let path = path.to_owned();
    let exhausted = source.get_ref().and_then(|error| error.downcast_ref::<Exhausted>());
    match exhausted.copied() {
        Some(why) => ImageError::TooMuch { path, what: "the file".to_owned(), why },
        None => HostError::Io { path, source }.into(),
    }
}

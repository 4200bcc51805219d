//! The files of map hints.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use address::{BuildId, FileOffset};
use host::{Host, Origin};
use image_store::{Image, Section};
use module_map::Hint;

use crate::error::Error;

/// Hints with the build-ids of their files and their offsets, and the files.
pub(super) struct HintedFiles<'h> {
    pub(super) hints: Vec<(Hint, Option<BuildId>, FileOffset)>,
    pub(super) files: BTreeMap<&'h Path, HintedFile>,
}

/// A file of hints.
pub(super) struct HintedFile {
    pub(super) image: Image,
    code: HintedCode,
}

/// A file offset of code, for hints that state none.
enum HintedCode {
    /// Default offset: 0, except in a relocatable file.
    From(FileOffset),
    /// A relocatable file without code.
    Nowhere,
    /// A relocatable file with several sections of code; these are the first two.
    InSeveral(String, String),
}

/// Opens the files of hints, each once, even if several hints name it.
pub(super) fn open_hints<'h>(hints: &'h [Hint], host: &dyn Host) -> Result<HintedFiles<'h>, Error> {
    Hint::check(hints)?;
    let mut files: BTreeMap<&Path, HintedFile> = BTreeMap::new();
    let mut opened = Vec::with_capacity(hints.len());
    for hint in hints {
        let path = hint.object.as_path();
        let file = match files.entry(path) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let relocatable = Image::open(host, path, Origin::User)?.is_relocatable();
                let image = Image::open_for_copies(host, path, Origin::User)?;
                let code =
                    if relocatable { code_of(&image) } else { HintedCode::From(FileOffset(0)) };
                new.insert(HintedFile { image, code })
            }
        };
        let offset = match (hint.offset, &file.code) {
            (Some(offset), _) | (None, &HintedCode::From(offset)) => offset,
            (None, HintedCode::Nowhere) => {
                return Err(Error::HintWithoutCode { hint: hint.to_string() });
            }
            (None, HintedCode::InSeveral(first, second)) => {
                let (first, second) = (first.clone(), second.clone());
                return Err(Error::HintNeedsOffset { hint: hint.to_string(), first, second });
            }
        };
        opened.push((hint.clone(), file.image.build_id(), offset));
    }
    Ok(HintedFiles { hints: opened, files })
}

/// Returns the offset of the code in a relocatable file.
fn code_of(image: &Image) -> HintedCode {
    let mut code = image.sections().iter().filter(|s| s.executable && s.has_bytes());
    match (code.next(), code.next()) {
        (None, _) => HintedCode::Nowhere,
        (Some(only), None) => HintedCode::From(only.offset()),
        (Some(first), Some(second)) => HintedCode::InSeveral(describe(first), describe(second)),
    }
}

/// Formats a section's name and offset for a message.
fn describe(section: &Section) -> String {
    format!("{} at {:#x}", String::from_utf8_lossy(&section.name), section.offset().0)
}

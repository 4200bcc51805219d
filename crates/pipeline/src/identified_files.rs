//! Access by build-id to files, their symbols and their code, without a recording.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{BuildId, FileOffset, Svma};
use budget::MemoryBudget;
use host::{Host, HostError, OpenedFileHost, Origin};
use image_store::{Image, ImageError, LoadedImage};
use options::{FileSearch, NameOptions};
use profile::Strings;
use rayon::prelude::*;
use symbolizer::{
    Instruction, SplitFinder, StoredSplits, SymbolRequest, SymbolSource, Symbols, disassemble,
    named_source, symbolize,
};
use unwinder::FunctionStarts;

use crate::code::CodeError;
use crate::error::Error;
use crate::files::{Files, SourceFiles};
use crate::limits::check_memory;
use crate::setting::Setting;

/// The files of a host by their build-ids.
#[derive(Debug)]
pub struct IdentifiedFiles {
    files: Files,
    host: Arc<dyn Host>,
    names: NameOptions,
    search: FileSearch,
    memory: Arc<MemoryBudget>,
}

/// The reason that no file of a build-id was found.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct FileLookupError(image_store::LoadError);

/// A file with the requested build-id.
#[derive(Clone, Debug)]
pub struct IdentifiedFile(Arc<LoadedImage>);

impl IdentifiedFile {
    /// The path of the opened file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.image().path()
    }

    /// Returns the file's own address of the byte at an offset; `None` if the offset is not mapped.
    #[must_use]
    pub fn address_of(&self, offset: FileOffset) -> Option<Svma> {
        let image = self.0.image();
        image.svma_of_offset(offset, true).or_else(|| image.svma_of_offset(offset, false))
    }
}

/// A file with a section, to be handed to another process.
#[derive(Debug)]
pub struct OpenedSection {
    /// A descriptor of the file.
    pub file: File,
    /// Its path.
    pub path: PathBuf,
    /// File offsets of the section's bytes.
    pub range: Range<u64>,
}

/// A file to be handed to another process, opened again to verify its current content.
struct OpenedImage {
    file: File,
    path: PathBuf,
    now: Image,
}

impl OpenedImage {
    fn file(self) -> (File, PathBuf) {
        (self.file, self.path)
    }
}

/// Returns the file offsets of the section of exactly this name; `None` if it has no bytes in the file.
fn section_range(image: &Image, name: &[u8]) -> Option<Range<u64>> {
    image.sections().iter().filter(|section| &*section.name == name).find_map(|it| it.in_file())
}

impl IdentifiedFiles {
    /// Opens the stores and folders that the options name.
    pub(crate) fn new(setting: &Setting<'_>) -> Result<Self, Error> {
        Ok(Self {
            files: Files::of_no_recording(setting)?,
            host: Arc::clone(setting.host),
            names: setting.options.names.clone(),
            search: setting.options.files.clone(),
            memory: Arc::clone(&setting.memory),
        })
    }

    /// Returns the file of a build-id from the build-id stores of the options, or from one of `places`, its last known
    /// paths.
    /// `name` is the recorded name of the module, which identifies kernels (`[kernel.kallsyms]`).
    ///
    /// # Errors
    /// If there is none: the reason.
    pub fn find(
        &self,
        name: &[u8],
        id: BuildId,
        places: &[PathBuf],
    ) -> Result<IdentifiedFile, FileLookupError> {
        let found = self.files.images.file_by_id(name, id, places);
        found.map(IdentifiedFile).map_err(FileLookupError)
    }

    /// Symbolizes addresses of files. They are file addresses, sorted and distinct for each file. The answers are in
    /// the same order.
    ///
    /// # Errors
    /// If this needs more memory than the options allow.
    pub fn names(
        &self,
        wanted: &[(IdentifiedFile, Vec<Svma>)],
    ) -> Result<(Symbols, Strings), Error> {
        let images = &*self.files.images;
        // Finds separate debug files on all threads.
        wanted.par_iter().for_each(|(file, _)| {
            let _ = SymbolSource::of_loaded(&file.0, images);
        });
        let splits: Vec<StoredSplits<'_>> =
            wanted.iter().map(|(file, _)| StoredSplits { file: &file.0, images }).collect();
        let requests = wanted.iter().zip(&splits).map(|((file, addresses), split)| {
            let split = Some(split as &dyn SplitFinder);
            let source = SymbolSource { split, ..SymbolSource::of_loaded(&file.0, images) };
            SymbolRequest { source, addresses }
        });
        let requests: Vec<SymbolRequest<'_>> = requests.collect();
        let options = symbolizer::SymbolizeOptions {
            inlines: self.names.inlines,
            lines: true,
            demangle: self.names.demangle.unwrap_or_default(),
            observer: None,
            budget: images.options().budget,
            memory: Some(&self.memory),
        };
        let mut strings = Strings::default();
        let symbols = symbolize(&requests, &options, &mut strings);
        check_memory(&self.memory)?;
        Ok((symbols, strings))
    }

    /// Returns a descriptor of a found file, to be handed to another process, and its path.
    /// The descriptor's content is read again to verify that it is an ELF file of that build-id.
    ///
    /// # Errors
    /// If the path now has another file, or if the image is embedded in another file.
    pub fn open(&self, id: BuildId, file: &IdentifiedFile) -> Result<(File, PathBuf), ImageError> {
        self.open_image(id, file.0.image()).map(OpenedImage::file)
    }

    /// Opens the file with the debug information of a build-id, as [`Self::open`] does: the separate debug file, or the
    /// file itself if it has `.debug_info`. `None` if there is neither.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_debug(
        &self,
        id: BuildId,
        file: Option<&IdentifiedFile>,
    ) -> Option<Result<(File, PathBuf), ImageError>> {
        if let Some(debug) = self.debug_image(id, file) {
            return Some(self.open_image(id, &debug).map(OpenedImage::file));
        }
        let has_own = |image: &&Image| {
            image.section(".debug_info").or_else(|| image.section(".zdebug_info")).is_some()
        };
        let own = file.map(|file| file.0.image()).filter(has_own);
        own.map(|image| self.open_image(id, image).map(OpenedImage::file))
    }

    /// Opens the file with a section of this name, as [`Self::open`] does, and returns the section's file range.
    /// The separate debug file is preferred to the file itself. `None` if neither has bytes for the section.
    ///
    /// # Errors
    /// As for [`Self::open`].
    pub fn open_section(
        &self,
        id: BuildId,
        file: Option<&IdentifiedFile>,
        name: &[u8],
    ) -> Option<Result<OpenedSection, ImageError>> {
        let debug = self.debug_image(id, file);
        let own = file.map(|file| file.0.image());
        let has = |image: &&Image| section_range(image, name).is_some();
        let image = debug.as_deref().into_iter().chain(own).find(has)?;
        Some(self.open_image(id, image).and_then(|OpenedImage { file, path, now }| {
            let range = section_range(&now, name).ok_or_else(|| HostError::missing(&path))?;
            Ok(OpenedSection { file, path, range })
        }))
    }

    /// Opens a source file that the debug information of a build-id names, if it is below a folder that the options name.
    /// Paths are equal if they are without `.`, `..` and `//`. `None` if there is none.
    #[must_use]
    pub fn open_source(
        &self,
        id: BuildId,
        file: Option<&IdentifiedFile>,
        path: &[u8],
    ) -> Option<(File, PathBuf)> {
        let debug = self.debug_image(id, file);
        let images = &*self.files.images;
        let source = match (file, &debug) {
            (Some(file), _) => SymbolSource::of_loaded(&file.0, images),
            (None, debug) => SymbolSource::of(debug.as_deref()?),
        };
        let options = symbolizer::SymbolizeOptions {
            budget: images.options().budget,
            memory: Some(&self.memory),
            ..symbolizer::SymbolizeOptions::default()
        };
        let wanted = SourceFiles::plain_name(path);
        let name = wanted.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let is_wanted = |path: &[u8]| SourceFiles::plain_name(path) == wanted;
        let recorded = named_source(&source, &options, name, &is_wanted)?;
        SourceFiles::new(&self.search, &*self.host).open_named(&recorded)
    }

    /// Returns true if a named store or debug directory has a file of a build-id.
    #[must_use]
    pub fn is_in_named_stores(&self, id: BuildId) -> bool {
        let id = id.to_string();
        let Some((first, rest)) = id.split_at_checked(2) else { return false };
        let entry = format!(".build-id/{first}/{rest}");
        let has = |folder: &PathBuf, name: &str| {
            let origin = Origin::Stored { root: folder };
            self.host.is_file(&folder.join(format!("{entry}{name}")), origin)
        };
        let FileSearch { build_id_stores, debug_dirs, .. } = &self.search;
        let mut stores = build_id_stores.iter();
        stores.any(|it| has(it, "/elf") || has(it, "/debug") || has(it, ""))
            || debug_dirs.iter().any(|it| has(it, ".debug") || has(it, ""))
    }

    /// Returns the separate debug file.
    fn debug_image(&self, id: BuildId, file: Option<&IdentifiedFile>) -> Option<Arc<Image>> {
        let images = &self.files.images;
        match file {
            Some(file) => file.0.debug(images).cloned(),
            None => images.debug_file_by_id(id),
        }
    }

    fn open_image(&self, id: BuildId, image: &Image) -> Result<OpenedImage, ImageError> {
        let path = image.path();
        let file = self.host.descriptor(path, image.origin())?;
        let copy = file.try_clone();
        let copy = copy.map_err(|source| HostError::Io { path: path.to_owned(), source })?;
        let handed = OpenedFileHost::new(Arc::clone(&self.host), path, copy)?;
        let now = Image::open(&handed, path, Origin::User)?;
        if image.base() == FileOffset(0) && now.build_id().is_some_and(|found| found.matches(&id)) {
            return Ok(OpenedImage { file, path: path.to_owned(), now });
        }
        Err(HostError::missing(path).into())
    }

    /// Disassembles `length` bytes from `start`. With `to_end`, continues to the end of the function if unwind
    /// information states it.
    ///
    /// # Errors
    /// If the code cannot be read.
    pub fn instructions(
        &self,
        file: &IdentifiedFile,
        start: Svma,
        length: u64,
        to_end: bool,
    ) -> Result<Vec<Instruction>, CodeError> {
        let images = &self.files.images;
        let mut end = Svma(start.0.saturating_add(length));
        if to_end {
            let starts = FunctionStarts::new(Arc::clone(&file.0));
            let known = starts.range_of(start, images).map(|(_, end)| end);
            end = known.map_or(end, |known| end.max(known));
        }
        Ok(disassemble(file.0.image(), start, end)?)
    }
}

//! Files that are asked for by build-id, without a recording: the names of their addresses, and their code.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{BuildId, FileOffset, Svma};
use budget::Memory;
use host::{HandedHost, Host, HostError, Origin};
use image_store::{Image, ImageError, LoadedImage};
use options::NameOptions;
use profile::Strings;
use rayon::prelude::*;
use symbolizer::{
    Instruction, Request, SplitFinder, StoredSplits, SymbolSource, Symbols, disassemble, symbolize,
};
use unwinder::FunctionStarts;

use crate::code::NoCode;
use crate::error::Error;
use crate::files::Files;
use crate::limits::check_memory;
use crate::setting::Setting;

/// The files of a machine by their build-ids.
#[derive(Debug)]
pub struct IdentifiedFiles {
    files: Files,
    host: Arc<dyn Host>,
    names: NameOptions,
    memory: Arc<Memory>,
}

/// Why there is no file of a build-id.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct NoFile(image_store::LoadError);

/// A file of the build-id that was asked for.
#[derive(Clone, Debug)]
pub struct IdentifiedFile(Arc<LoadedImage>);

impl IdentifiedFile {
    /// The file that was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.image().path()
    }

    /// The address, as the file states it, of what lies at an offset in it; `None` where that is mapped nowhere.
    #[must_use]
    pub fn address_of(&self, offset: FileOffset) -> Option<Svma> {
        let image = self.0.image();
        image.svma_of_offset(offset, true).or_else(|| image.svma_of_offset(offset, false))
    }
}

/// A file with a section that is to be handed to another process.
#[derive(Debug)]
pub struct OpenedSection {
    /// A descriptor of the file.
    pub file: File,
    /// Its path.
    pub path: PathBuf,
    /// The section's bytes, as offsets in the file.
    pub range: Range<u64>,
}

/// A file to be handed to another process, as it is now.
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

/// Where the section of that very name lies in a file, where that has bytes for it.
fn section_range(image: &Image, name: &[u8]) -> Option<Range<u64>> {
    image.sections().iter().filter(|section| &*section.name == name).find_map(|it| it.in_file())
}

impl IdentifiedFiles {
    /// Opens what the options name.
    pub(crate) fn new(setting: &Setting<'_>) -> Result<Self, Error> {
        Ok(Self {
            files: Files::of_no_recording(setting)?,
            host: Arc::clone(setting.host),
            names: setting.options.names.clone(),
            memory: Arc::clone(&setting.memory),
        })
    }

    /// The file of a build-id: in stores by build-id, as the options say, or at one of `places`, where it is known to have
    /// been. `name` is the recorded name of the module, which tells kernels (`[kernel.kallsyms]`).
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(
        &self,
        name: &[u8],
        id: BuildId,
        places: &[PathBuf],
    ) -> Result<IdentifiedFile, NoFile> {
        let found = self.files.images.file_by_id(name, id, places);
        found.map(IdentifiedFile).map_err(NoFile)
    }

    /// What is known of addresses of files: those of each sorted and distinct, as the file states them. The answers are in
    /// the same order.
    ///
    /// # Errors
    /// Where more memory is needed than the options allow.
    pub fn names(
        &self,
        wanted: &[(IdentifiedFile, Vec<Svma>)],
    ) -> Result<(Symbols, Strings), Error> {
        let images = &*self.files.images;
        // Separate files are looked for on all threads.
        wanted.par_iter().for_each(|(file, _)| {
            let _ = SymbolSource::of_loaded(&file.0, images);
        });
        let splits: Vec<StoredSplits<'_>> =
            wanted.iter().map(|(file, _)| StoredSplits { file: &file.0, images }).collect();
        let requests = wanted.iter().zip(&splits).map(|((file, addresses), split)| {
            let split = Some(split as &dyn SplitFinder);
            let source = SymbolSource { split, ..SymbolSource::of_loaded(&file.0, images) };
            Request { source, addresses }
        });
        let requests: Vec<Request<'_>> = requests.collect();
        let options = symbolizer::Options {
            inlines: self.names.inlines,
            lines: true,
            demangle: self.names.demangle,
            observer: None,
            budget: images.options().budget,
            memory: Some(&self.memory),
        };
        let mut strings = Strings::default();
        let symbols = symbolize(&requests, &options, &mut strings);
        check_memory(&self.memory)?;
        Ok((symbols, strings))
    }

    /// A descriptor of a file that was found, to be handed to another process, and its path. What it leads to was looked at
    /// anew: it is an ELF file of that build-id.
    ///
    /// # Errors
    /// Where it is another file now, or lies in one.
    pub fn open(&self, id: BuildId, file: &IdentifiedFile) -> Result<(File, PathBuf), ImageError> {
        self.open_image(id, file.0.image()).map(OpenedImage::file)
    }

    /// The same for what has the debug information of a build-id: the separate debug file, else the file itself, where it
    /// has its own. `None` where nothing has.
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

    /// The same for what has bytes of a section of that name, with the range of the file that they are: the separate debug
    /// file, else the file itself. `None` where neither has.
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

    /// The separate debug file.
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
        let handed = HandedHost::new(Arc::clone(&self.host), path, copy)?;
        let now = Image::open(&handed, path, Origin::User)?;
        if image.base() == FileOffset(0) && now.build_id().is_some_and(|found| found.matches(&id)) {
            return Ok(OpenedImage { file, path: path.to_owned(), now });
        }
        Err(HostError::missing(path).into())
    }

    /// The instructions from an address on: `length` bytes of them, or up to the end of the function where `to_end` says
    /// so and unwind information tells where that is.
    ///
    /// # Errors
    /// Where the code cannot be read.
    pub fn instructions(
        &self,
        file: &IdentifiedFile,
        start: Svma,
        length: u64,
        to_end: bool,
    ) -> Result<Vec<Instruction>, NoCode> {
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

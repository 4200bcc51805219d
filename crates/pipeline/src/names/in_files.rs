//! Names from files: one request per file for all its addresses. Answers to requests of earlier runs come from the
//! cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use address::{ModuleId, Svma};
use cache::{Cache, CacheKey, Fresh};
use hashbrown::HashMap;
use image_store::{Image, ImageStore, LoadedImage};
use profile::Strings;
use rayon::prelude::*;
use symbolizer::{
    KernelFile, SplitFinder, StoredSplits, SymbolRequest, SymbolSource, Symbols, WhyNoName,
    symbolize,
};

use super::location_names::{LocationNames, NameSource};
use super::trampolines::name_trampolines;
use super::{NameScope, NameWatch, Sources};

/// An address that its file does not name.
pub(super) struct NamelessAddress {
    /// Index of its location.
    pub(super) location: u32,
    pub(super) address: Svma,
    pub(super) why: WhyNoName,
    pub(super) file: Arc<LoadedImage>,
}

/// A file and its addresses, each with the index of its location.
struct FileAddresses {
    file: Arc<LoadedImage>,
    entries: Vec<(u64, u32)>,
}

impl FileAddresses {
    /// Returns the distinct addresses, ascending.
    fn addresses(&mut self) -> Vec<Svma> {
        self.entries.sort_unstable();
        let mut addresses: Vec<Svma> = self.entries.iter().map(|&(svma, _)| Svma(svma)).collect();
        addresses.dedup();
        addresses
    }
}

/// The split units of a file, and whether one was requested. The cache key covers neither the content nor the absence
/// of these files, so such answers are not cached.
struct WatchedSplits<'l> {
    splits: StoredSplits<'l>,
    requested: AtomicBool,
}

impl SplitFinder for WatchedSplits<'_> {
    fn find(&self, id: u64, directory: &[u8], name: &[u8]) -> Option<&Image> {
        self.requested.store(true, Ordering::Relaxed);
        self.splits.find(id, directory, name)
    }
}

/// Returns the options of the look-up in files.
pub(crate) fn symbol_options<'o>(
    names: &NameOptions,
    images: &'o ImageStore,
) -> symbolizer::SymbolizeOptions<'o> {
    symbolizer::SymbolizeOptions {
        inlines: names.inlines && !names.only_without_build_id,
        lines: !names.only_without_build_id,
        demangle: names.demangle.unwrap_or_default(),
        observer: None,
        budget: images.options().budget,
        memory: Some(&images.options().memory),
    }
}

impl Sources<'_> {
    /// Returns all addresses in files, grouped by file.
    fn files_to_search(
        &self,
        named: &mut LocationNames<'_>,
        kernel: &HashMap<ModuleId, KernelFile>,
    ) -> Vec<FileAddresses> {
        let mut files: Vec<FileAddresses> = Vec::new();
        let mut index = HashMap::new();
        for (location, id) in named.locations.iter().zip(0_u32..) {
            let in_kernel = location.module.and_then(|module| kernel.get(&module));
            let (file, svma) = match in_kernel {
                Some(_) if self.scope == NameScope::WithoutBuildId => continue,
                Some(known) => {
                    named.slides.insert(id, known.slide);
                    (&known.file, known.svma(location.relative).0)
                }
                None => match self.file_of(location) {
                    Some(file) if self.names_file(location) => (file, location.relative),
                    _ => continue,
                },
            };
            let at = *index.entry(file.serial).or_insert_with(|| {
                files.push(FileAddresses { file: file.clone(), entries: Vec::new() });
                files.len() - 1
            });
            if let Some(file) = files.get_mut(at) {
                file.entries.push((svma, id));
            }
        }
        files
    }

    /// Looks up the names in the files; returns the addresses without one.
    pub(super) fn files(
        &self,
        named: &mut LocationNames<'_>,
        kernel: &HashMap<ModuleId, KernelFile>,
        watch: &NameWatch<'_>,
        strings: &mut Strings,
    ) -> Vec<NamelessAddress> {
        let mut files = self.files_to_search(named, kernel);
        let addresses: Vec<Vec<Svma>> =
            files.par_iter_mut().map(FileAddresses::addresses).collect();
        named.symbols = match self.cache {
            None => {
                let asked: Vec<&[Svma]> = addresses.iter().map(Vec::as_slice).collect();
                self.symbolize(&files, &asked, watch, strings).0
            }
            Some(cache) => self.recall_or_symbolize(cache, &files, &addresses, watch, strings),
        };
        let mut nameless = Vec::new();
        for (request, wanted) in (0_u32..).zip(&files) {
            take_answers(named, request, wanted, &mut nameless);
            let done = name_trampolines(named, &wanted.file, &wanted.entries);
            if !done.is_empty() {
                nameless.retain(|place| !done.contains(&place.location));
            }
        }
        nameless
    }

    /// Takes known answers from the cache, looks up the rest in the files, and caches that.
    fn recall_or_symbolize(
        &self,
        cache: &Cache,
        files: &[FileAddresses],
        addresses: &[Vec<Svma>],
        watch: &NameWatch<'_>,
        strings: &mut Strings,
    ) -> Symbols {
        let images = self.images;
        let options = symbol_options(self.options, images);
        let key = |wanted: &FileAddresses| {
            CacheKey::of(&SymbolSource::of_files(&wanted.file, images), &options)
        };
        let keys: Vec<Option<CacheKey>> = files.par_iter().map(key).collect();
        let known = keys.into_iter().zip(addresses.iter().map(Vec::as_slice));
        let recalled = cache.recall(&known.collect::<Vec<_>>());
        let missing: Vec<&[Svma]> = (0..files.len()).map(|file| recalled.missing(file)).collect();
        let mut new = Strings::default();
        let (symbols, asked_splits) = self.symbolize(files, &missing, watch, &mut new);
        let fresh = Fresh { symbols: &symbols, strings: &new };
        // An interrupted look-up is incomplete, but its answers do not show that.
        if !self.observer.is_cancelled() && !images.options().memory.is_exceeded() {
            let may_keep =
                |(wanted, asked): (&FileAddresses, &bool)| !asked && wanted.file.is_whole(images);
            let may_keep: Vec<bool> = files.iter().zip(&asked_splits).map(may_keep).collect();
            cache.store(&recalled, fresh, &may_keep);
        }
        recalled.complete(fresh, strings)
    }

    /// Looks up these addresses in the files; returns for each file whether split units were requested.
    fn symbolize(
        &self,
        files: &[FileAddresses],
        addresses: &[&[Svma]],
        watch: &NameWatch<'_>,
        strings: &mut Strings,
    ) -> (Symbols, Vec<bool>) {
        let images = self.images;
        let splits = files.iter().map(|FileAddresses { file, .. }| WatchedSplits {
            splits: StoredSplits { file, images },
            requested: AtomicBool::new(false),
        });
        let splits: Vec<WatchedSplits<'_>> = splits.collect();
        let asked = files.par_iter().zip(&splits).zip(addresses);
        let requests = asked.map(|((FileAddresses { file, .. }, split), addresses)| {
            // Without addresses, no section of the file is unpacked.
            let source = if addresses.is_empty() {
                SymbolSource::of(file.image())
            } else {
                let split = Some(split as &dyn SplitFinder);
                SymbolSource { split, ..SymbolSource::of_loaded(file, images) }
            };
            SymbolRequest { source, addresses }
        });
        let requests: Vec<SymbolRequest<'_>> = requests.collect();
        let mut options = symbol_options(self.options, images);
        options.observer = Some(watch);
        let symbols = symbolize(&requests, &options, strings);
        let asked = splits.iter().map(|split| split.requested.load(Ordering::Relaxed)).collect();
        (symbols, asked)
    }
}
use options::NameOptions;

/// Records the answers for a file's addresses, and adds those without a name to `nameless`.
fn take_answers(
    named: &mut LocationNames<'_>,
    request: u32,
    wanted: &FileAddresses,
    nameless: &mut Vec<NamelessAddress>,
) {
    let FileAddresses { file, entries } = wanted;
    let Some(answers) = named.symbols.addresses.get(request as usize) else { return };
    let mut at = 0_u32;
    let mut last = None;
    for &(svma, location) in entries {
        if last.is_some_and(|last| last != svma) {
            at += 1;
        }
        last = Some(svma);
        let Some(answer) = answers.get(at as usize) else { continue };
        if let Some(why) = answer.reason {
            let (address, file) = (Svma(svma), Arc::clone(file));
            nameless.push(NamelessAddress { location, address, why, file });
        }
        // If the file has no name for an address, the kernel's list may still have one.
        if let (false, Some(slot)) =
            (answer.frames.is_empty(), named.sources.get_mut(location as usize))
        {
            *slot = NameSource::File(request, at);
        }
    }
}

//! Prefetch for the symbol look-up while the replay still runs, for work that does not depend on the addresses: finding
//! and unpacking debug files, and reading the kernel's list.
//! Only files with frames are prefetched. The look-up does the rest.
//!
//! ```text
//!   pool           | walk w1 | walk w2 | ... | last repair and merge | look-up
//!   here, look               | files and list of w1, of w2 ...
//!   pool, rest                               | files, list of w1 ...
//! ```

use address::ById as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use cache::{Cache, CacheKey};
use hashbrown::HashSet;
use image_store::{ImageStore, LoadedImage};
use module_map::MappedKind;
use options::NameOptions;
use rayon::prelude::*;
use replay::PartialReplay;
use symbolizer::{KernelListPrefetch, KernelListSources, SymbolSource};

use crate::names::in_files::symbol_options;
use crate::setting::Setting;

/// Prefetches that were started. During the walk, dedicated threads do the work, since pool threads would be missing
/// from the walk.
#[derive(Debug, Default)]
pub(crate) struct Prefetch {
    /// Number of modules with frames that were examined.
    modules: usize,
    /// The serials of files with a started prefetch.
    begun: HashSet<u32>,
    /// Channel to the thread that prefetches files, which starts with the first file.
    files: Option<Sender<Arc<LoadedImage>>>,
    list: Option<KernelListPrefetch>,
}

impl Prefetch {
    /// Starts prefetches for modules found since the last call, on dedicated threads.
    pub(crate) fn look(
        &mut self,
        partial: &PartialReplay<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'_>,
        recording: &Path,
    ) {
        for file in self.new_files(partial, images, setting, recording) {
            self.send(file, images, setting);
        }
    }

    /// Returns the modules found since the last call, for prefetches on the pool after all samples are walked.
    pub(crate) fn remaining<'s>(
        &mut self,
        partial: &PartialReplay<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'s>,
        recording: &Path,
    ) -> RemainingPrefetch<'s> {
        let files = self.new_files(partial, images, setting, recording);
        let Setting { options, cache, .. } = setting;
        RemainingPrefetch {
            files,
            images: Arc::clone(images),
            names: &options.names,
            cache: cache.clone(),
        }
    }

    /// Returns the new files to prefetch; starts the prefetch of the kernel's list.
    fn new_files(
        &mut self,
        partial: &PartialReplay<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'_>,
        recording: &Path,
    ) -> Vec<Arc<LoadedImage>> {
        let mut files = Vec::new();
        let Setting { options, cache, .. } = setting;
        // With one thread, nothing runs in parallel.
        let NameOptions { look_up, only_without_build_id, .. } = options.names;
        if !look_up || only_without_build_id || rayon::current_num_threads() < 2 {
            return files;
        }
        // A download could delay one that a walk waits for. With a memory limit, sections unpacked early would count
        // against it.
        let may_unpack =
            images.options().fetcher.is_none() && options.limits.memory.bytes().is_none();
        let modules = partial.timeline.modules();
        let new = partial.modules.get(self.modules..).unwrap_or_default();
        self.modules = partial.modules.len();
        for module in new.iter().filter_map(|id| modules.by_id(*id)) {
            if module.kind == MappedKind::Kernel && self.list.is_none() {
                let named = options.files.kallsyms.as_deref();
                let places = KernelListSources { named, recording, images };
                let identity = || places.identity_so_far(partial.timeline);
                let is_kept = |cache: &Arc<Cache>| {
                    identity()
                        .is_some_and(|identity| cache.has(&CacheKey::of_kernel_list(&identity)))
                };
                if !cache.as_ref().is_some_and(is_kept) {
                    self.list = places.prefetch(partial.timeline);
                }
            } else if let Some(Ok(file)) = images.outcome(module).filter(|_| may_unpack) {
                files.extend(self.begun.insert(file.serial).then(|| Arc::clone(file)));
            }
        }
        files
    }

    /// Takes the kernel's list, if its prefetch was started.
    pub(crate) const fn take_list(&mut self) -> Option<KernelListPrefetch> {
        self.list.take()
    }

    /// Sends a file to the thread that prefetches files.
    fn send(&mut self, file: Arc<LoadedImage>, images: &Arc<ImageStore>, setting: &Setting<'_>) {
        let files = self.files.get_or_insert_with(|| {
            let (files, begun) = channel::<Arc<LoadedImage>>();
            let Setting { options, cache, .. } = setting;
            let (names, cache, images) = (options.names.clone(), cache.clone(), Arc::clone(images));
            let begin = move |file: Arc<LoadedImage>| {
                begin(&file, &images, &names, cache.as_deref(), symbolizer::prefetch);
            };
            std::thread::spawn(move || begun.iter().for_each(begin));
            files
        });
        // The thread ends after the sender is dropped, never before.
        let _ = files.send(file);
    }
}

/// Files without a started prefetch at the end of the walk.
pub(crate) struct RemainingPrefetch<'s> {
    files: Vec<Arc<LoadedImage>>,
    images: Arc<ImageStore>,
    names: &'s NameOptions,
    cache: Option<Arc<Cache>>,
}

impl RemainingPrefetch<'_> {
    /// Prefetches them on the pool and waits. Files that remain when the run is cancelled are skipped.
    pub(crate) fn unpack(self, is_cancelled: impl Fn() -> bool + Sync) {
        let Self { files, images, names, cache } = self;
        let wanted = files.into_par_iter().with_max_len(1).filter(|_| !is_cancelled());
        wanted.for_each(|file| {
            begin(&file, &images, names, cache.as_deref(), symbolizer::prefetch_on_pool);
        });
    }
}

/// Finds the separate debug files and unpacks the sections with names. If the cache has an entry for the file, loads
/// that instead, which mostly is sufficient.
fn begin(
    file: &LoadedImage,
    images: &ImageStore,
    names: &NameOptions,
    cache: Option<&Cache>,
    unpack: impl Fn(&SymbolSource<'_>),
) {
    if let Some(cache) = cache {
        let options = symbol_options(names, images);
        let key = CacheKey::of(&SymbolSource::of_files(file, images), &options);
        if key.is_some_and(|key| cache.has(&key)) {
            return;
        }
    }
    unpack(&SymbolSource::of_loaded(file, images));
}

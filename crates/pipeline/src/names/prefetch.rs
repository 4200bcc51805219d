//! What the look-up of symbols needs whatever the addresses are, begun while the replay still runs: debug files are found
//! and unpacked, the kernel's list is read. Only for what frames were found in, so that nothing is read in vain; and
//! what was not begun, or is not done, is done by the look-up.
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

use cache::{Cache, Key};
use hashbrown::HashSet;
use image_store::{ImageStore, LoadedImage};
use module_map::MappedKind;
use options::NameOptions;
use rayon::prelude::*;
use replay::Partial;
use symbolizer::{KernelListPlaces, KernelListPrefetch, SymbolSource};

use crate::names::in_files::symbol_options;
use crate::setting::Setting;

/// What was begun. Beside the walk threads of their own do the work, since the pool's would not be free for the walk
/// meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Prefetch {
    /// So many modules with frames were looked at.
    modules: usize,
    /// The serials of files that were begun.
    begun: HashSet<u32>,
    /// To the thread of the files, which is started with the first.
    files: Option<Sender<Arc<LoadedImage>>>,
    list: Option<KernelListPrefetch>,
}

impl Prefetch {
    /// Begins with what a replay has found since the last call, by threads of its own.
    pub(crate) fn look(
        &mut self,
        partial: &Partial<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'_>,
        recording: &Path,
    ) {
        for file in self.new_files(partial, images, setting, recording) {
            self.send(file, images, setting);
        }
    }

    /// What a replay whose samples are all walked has found since the last call, for the threads of the pool.
    pub(crate) fn rest<'s>(
        &mut self,
        partial: &Partial<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'s>,
        recording: &Path,
    ) -> PrefetchRest<'s> {
        let files = self.new_files(partial, images, setting, recording);
        let Setting { options, cache, .. } = setting;
        PrefetchRest {
            files,
            images: Arc::clone(images),
            names: &options.names,
            cache: cache.clone(),
        }
    }

    /// The files that are to be begun; the kernel's list is begun here.
    fn new_files(
        &mut self,
        partial: &Partial<'_>,
        images: &Arc<ImageStore>,
        setting: &Setting<'_>,
        recording: &Path,
    ) -> Vec<Arc<LoadedImage>> {
        let mut files = Vec::new();
        let Setting { options, cache, .. } = setting;
        // With one job nothing is done beside other work.
        if !options.names.look_up || rayon::current_num_threads() < 2 {
            return files;
        }
        // A download could delay one that a walk waits for. What is unpacked in advance counts against a limit.
        let may_unpack =
            images.options().fetcher.is_none() && options.limits.memory.bytes().is_none();
        let modules = partial.timeline.modules();
        let new = partial.met.get(self.modules..).unwrap_or_default();
        self.modules = partial.met.len();
        for module in new.iter().filter_map(|id| modules.by_id(*id)) {
            if module.kind == MappedKind::Kernel && self.list.is_none() {
                let named = options.files.kallsyms.as_deref();
                let places = KernelListPlaces { named, recording, images };
                let identity = || places.identity_so_far(partial.timeline);
                let is_kept = |cache: &Arc<Cache>| {
                    identity().is_some_and(|identity| cache.has(&Key::of_kernel_list(&identity)))
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

    /// The kernel's list, where it was begun.
    pub(crate) const fn take_list(&mut self) -> Option<KernelListPrefetch> {
        self.list.take()
    }

    /// To the thread of the files.
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
        // The thread ends with the sender, never before it.
        let _ = files.send(file);
    }
}

/// What was not begun when the walk had ended.
pub(crate) struct PrefetchRest<'s> {
    files: Vec<Arc<LoadedImage>>,
    images: Arc<ImageStore>,
    names: &'s NameOptions,
    cache: Option<Arc<Cache>>,
}

impl PrefetchRest<'_> {
    /// Begins with it on the pool, and returns when it is done; files that are left when the run is cancelled stay as they
    /// are.
    pub(crate) fn unpack(self, is_cancelled: impl Fn() -> bool + Sync) {
        let Self { files, images, names, cache } = self;
        let wanted = files.into_par_iter().with_max_len(1).filter(|_| !is_cancelled());
        wanted.for_each(|file| {
            begin(&file, &images, names, cache.as_deref(), symbolizer::prefetch_on_pool);
        });
    }
}

/// Finds the separate files, and unpacks what names are in. What runs before found out of a file is read instead: mostly
/// that is all that is needed.
fn begin(
    file: &LoadedImage,
    images: &ImageStore,
    names: &NameOptions,
    cache: Option<&Cache>,
    unpack: impl Fn(&SymbolSource<'_>),
) {
    if let Some(cache) = cache {
        let options = symbol_options(names, images);
        let key = Key::of(&SymbolSource::of_files(file, images), &options);
        if key.is_some_and(|key| cache.has(&key)) {
            return;
        }
    }
    unpack(&SymbolSource::of_loaded(file, images));
}

//! Names for the distinct addresses of a replay: one request per file for all its modules and processes, and separate
//! lists for the kernel and JIT code. The names are stored in the locations of the profile.

mod function_parts;
mod gap;
mod in_files;
mod in_memory;
mod kernel_list;
mod location_names;
mod prefetch;
mod scope;
mod starts;
mod texts;
mod trampolines;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use address::{Avma, BuildId, FileOffset, Svma};
use cache::Cache;
use hashbrown::HashMap;
use image_store::{ImageStore, LoadedImage};
use module_map::{MappedKind, Timeline};
use options::{NameOptions, Remedy};
use perf_data::{Head, SimpleperfFile};
use profile::{FieldTable, LocationId, LocationRow, Profile, Strings};
use rayon::prelude::*;
use replay::Thread;
use symbolizer::{
    DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols, KernelListPrefetch, KernelListSources,
    KernelNames, LostNames, NoKernelNames, RecordedKernel, SymbolObserver, SymbolStage,
    SymbolTimings,
};

use self::gap::GapLocations;
use self::in_files::NamelessAddress;
use self::kernel_list::FoundKernelNames;
use self::location_names::{LocationNames, NameSource};
use self::starts::{NamelessLocation, name_by_start};
use self::texts::{addresses_in_texts, name_texts};
use crate::observer::Observer;

pub(crate) use self::prefetch::{Prefetch, RemainingPrefetch};
pub(crate) use self::scope::NameScope;

/// Report on the names of the kernel, and on missing names.
#[derive(Debug, Default)]
pub struct NameReport {
    /// The reason that the kernel has no names, as text; only if kernel code was mapped.
    pub kernel_refused: Option<String>,
    /// True if the reason is that no list of its symbols was found.
    pub kernel_unlisted: bool,
    /// True if the reason is that the list is damaged.
    pub kernel_damaged: bool,
    /// The remedy for missing kernel names.
    pub kernel_remedy: Option<Remedy>,
    /// True if only the release and the address of the kernel show that its names belong to the recorded one.
    pub kernel_by_release: bool,
    /// True if a later run on the same boot may find other names in the kernel's list.
    pub kernel_may_change: bool,
    /// Build-ids that several kernel modules were recorded with. They identify no file.
    pub shared_ids: Vec<BuildId>,
    /// Names lost to damaged, incomplete or unavailable files.
    pub lost: LostNames,
    /// True if names were looked up.
    pub looked_up: bool,
    /// Locations with a nameless function that is identified by its start.
    pub by_start: Vec<LocationId>,
    /// Time spent on files, by stage.
    pub timings: SymbolTimings,
    /// The reason that names could not be cached for the next run.
    pub not_kept: Option<String>,
}

impl NameReport {
    /// Returns the remedy for a kernel without names, if no list was found.
    #[must_use]
    pub fn kernel_help(&self) -> Option<&Remedy> {
        self.kernel_remedy.as_ref().filter(|_| self.kernel_unlisted)
    }

    /// Reports the reason that the list has no names. It counts as a refusal only if no kernel file has names either.
    fn of_kernel(refused: Option<&NoKernelNames>, has_no_file: bool) -> Self {
        Self {
            kernel_remedy: refused.and_then(NoKernelNames::remedy),
            kernel_damaged: refused.is_some_and(NoKernelNames::is_damage),
            kernel_unlisted: refused.is_some_and(NoKernelNames::has_no_list),
            kernel_refused: refused.filter(|_| has_no_file).map(ToString::to_string),
            ..Self::default()
        }
    }

    /// Adds the report on further names.
    pub(crate) fn add(&mut self, other: Self) {
        self.kernel_damaged |= other.kernel_damaged;
        self.kernel_refused = self.kernel_refused.take().or(other.kernel_refused);
        self.kernel_remedy = self.kernel_remedy.take().or(other.kernel_remedy);
        self.kernel_unlisted |= other.kernel_unlisted;
        self.kernel_by_release |= other.kernel_by_release;
        self.kernel_may_change |= other.kernel_may_change;
        self.shared_ids = other.shared_ids;
        self.lost.merge(other.lost);
        self.looked_up |= other.looked_up;
        self.by_start.extend(other.by_start);
        self.not_kept = self.not_kept.take().or(other.not_kept);
        self.timings.loading += other.timings.loading;
        self.timings.looking_up += other.timings.looking_up;
        self.timings.naming += other.timings.naming;
    }
}

/// Sources of names.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) options: &'a NameOptions,
    pub(crate) scope: NameScope,
    /// A list of the kernel's symbols that the user named.
    pub(crate) kallsyms: Option<&'a Path>,
    pub(crate) head: &'a Head,
    /// The recording's path; a list of kernel symbols can be next to it.
    pub(crate) recording: &'a Path,
    pub(crate) timeline: &'a Timeline,
    /// The threads of samples.
    pub(crate) threads: &'a [Thread],
    pub(crate) images: &'a ImageStore,
    pub(crate) observer: &'a dyn Observer,
    /// The names of earlier runs.
    pub(crate) cache: Option<&'a Cache>,
}

/// Looks up all locations from `first` and stores their names. The kernel's symbol list is read only if needed, in
/// parallel with the files unless it was prefetched.
pub(crate) fn resolve(
    profile: &mut Profile,
    first: LocationId,
    sources: Sources<'_>,
    prefetched: Option<KernelListPrefetch>,
) -> NameReport {
    let Sources { options, kallsyms, head, recording, timeline, images, .. } = sources;
    let in_memory = sources.addresses_in_memory(profile, first);
    let Profile { locations, frames, inlines, strings, fields, modules, .. } = profile;
    let gaps = GapLocations::find(frames, first);
    let Some(new) = locations.as_mut_slice().get_mut(first.index()..) else {
        return NameReport::default();
    };
    new.par_iter_mut().for_each(|location| location.offset = sources.offset_of(location));
    if !options.look_up {
        gaps.name(new, strings, inlines);
        name_texts(fields, strings, None);
        return NameReport::default();
    }
    let mut named = LocationNames::new(new, gaps);
    let features = head.features();
    let kernel = RecordedKernel::find(&sources.listed_build_ids(), timeline, images);
    let places = KernelListSources { named: kallsyms, recording, images };
    sources.locate_kernel(modules, named.locations, strings, kernel.build_id());
    let in_kernel = sources.in_kernel(named.locations, fields, strings, kernel.build_id());
    let watch = NameWatch { timings: Mutex::default(), observer: sources.observer };
    let (list, nameless) = rayon::join(
        || sources.kernel_names(&kernel, places, &in_kernel, prefetched),
        || sources.files(&mut named, &kernel.files, &watch, strings),
    );
    let (mut kernel_by_release, mut kernel_may_change) = (false, list.is_some());
    let list_names = list.as_ref().and_then(|list| Some(&list.as_ref().ok()?.names));
    name_texts(fields, strings, list_names);
    let refused = match list {
        Some(Ok(FoundKernelNames { names, last })) => {
            sources.kernel(&mut named, &names);
            (kernel_by_release, kernel_may_change) = (names.by_release, !last);
            None
        }
        refused => refused.and_then(Result::err),
    };
    sources.jit(&mut named, &in_memory);
    if head.is_simpleperf() {
        let files = features.simpleperf_files.iter().map(device_file);
        sources
            .device(&mut named, &DeviceSymbols::new(files, options.demangle.unwrap_or_default()));
    }
    let lost = lost_names(&mut named, &nameless);
    let places = nameless.into_iter().map(NamelessLocation::from);
    let places: Vec<_> = places.filter(|it| !named.slides.contains_key(&it.location)).collect();
    let by_start = name_by_start(&mut named, &places, timeline, images);
    let by_start = by_start.iter().map(|at| LocationId::new(first.as_u32() + at)).collect();
    named.fill_in(strings, inlines);
    function_parts::name_parts(options, new, strings, inlines);
    NameReport {
        kernel_by_release,
        kernel_may_change,
        shared_ids: kernel.shared_ids,
        lost,
        looked_up: sources.scope != NameScope::WithoutBuildId,
        by_start,
        timings: watch.timings.into_inner().unwrap_or_else(PoisonError::into_inner),
        not_kept: sources.cache.and_then(Cache::finish),
        ..NameReport::of_kernel(refused.as_ref(), kernel.files.is_empty())
    }
}

/// Adds up the time of each stage and forwards a cancellation.
#[derive(Debug)]
struct NameWatch<'o> {
    timings: Mutex<SymbolTimings>,
    observer: &'o dyn Observer,
}

impl SymbolObserver for NameWatch<'_> {
    fn ended(&self, stage: SymbolStage, took: Duration) {
        self.timings.ended(stage, took);
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}

/// Converts a file of the device from the recording's form.
fn device_file<'r>(file: &SimpleperfFile<'r>) -> DeviceFile<'r> {
    let symbols = file.symbols.iter();
    DeviceFile {
        path: file.path,
        kind: DeviceFileKind::from_dso_type(file.kind),
        min_vaddr: file.min_vaddr,
        offset_of_min_vaddr: file.offset_of_min_vaddr,
        symbols: symbols
            .map(|it| DeviceSymbol { address: it.addr, size: it.len, name: it.name })
            .collect(),
    }
}

/// Returns the missing names of files, after all sources were tried.
fn lost_names(named: &mut LocationNames<'_>, nameless: &[NamelessAddress]) -> LostNames {
    let mut lost = LostNames::default();
    lost.add_findings(std::mem::take(&mut named.symbols.findings));
    // Looking up a path takes longer than everything else here.
    let mut of_files = HashMap::new();
    for NamelessAddress { location, address, why, file } in nameless {
        if !matches!(named.sources.get(*location as usize), Some(NameSource::List(_))) {
            let known = of_files.entry((file.serial, *why)).or_insert((file, 0, *address));
            (known.1, known.2) = (known.1 + 1, known.2.min(*address));
        }
    }
    for ((_, why), (file, count, lowest)) in of_files {
        lost.add_addresses(file.image().path(), count, lowest, why);
    }
    lost
}

impl Sources<'_> {
    fn kernel(&self, named: &mut LocationNames<'_>, kernel: &KernelNames) {
        named.name(|_, location, source| {
            if !self.is_listed(location) || !source.is_nothing() {
                return None;
            }
            let (name, start) = kernel.lookup(Avma(location.relative))?;
            Some((Cow::Borrowed(name), start.0))
        });
    }

    /// Names locations that have no name yet by the symbols in the recording itself.
    fn device(&self, named: &mut LocationNames<'_>, symbols: &DeviceSymbols<'_>) {
        named.name(|_, location, source| {
            if !source.is_nothing() || self.file_of(location).is_some() {
                return None;
            }
            let module = self.timeline.modules().get(location.module?.index())?;
            let (name, start) = symbols.lookup(module, location.relative)?;
            Some((Cow::Owned(name), start))
        });
    }

    /// Returns the build-ids that the header lists, with their paths.
    fn listed_build_ids(&self) -> Vec<(&[u8], BuildId)> {
        let features = self.head.features();
        let entries = features.build_ids.iter();
        entries.filter_map(|entry| Some((entry.name, entry.build_id?))).collect()
    }

    /// Returns the addresses of kernel code, and those that texts of samples name. `kernel` is the kernel's build-id.
    fn in_kernel(
        &self,
        locations: &[LocationRow],
        fields: &FieldTable,
        strings: &Strings,
        kernel: Option<BuildId>,
    ) -> Vec<Avma> {
        let in_texts = addresses_in_texts(fields, strings);
        if self.scope == NameScope::WithoutBuildId && kernel.is_some() {
            return in_texts;
        }
        let kernel = |it: &&LocationRow| self.is_listed(it);
        locations.iter().filter(kernel).map(|it| Avma(it.relative)).chain(in_texts).collect()
    }

    fn kind_of(&self, location: &LocationRow) -> Option<MappedKind> {
        Some(self.timeline.modules().get(location.module?.index())?.kind)
    }

    /// Returns the opened file of a location's module.
    fn file_of(&self, location: &LocationRow) -> Option<&Arc<LoadedImage>> {
        self.images.outcome(self.timeline.modules().get(location.module?.index())?)?.ok()
    }

    fn offset_of(&self, location: &LocationRow) -> Option<u64> {
        if let Some(file) = self.file_of(location) {
            let offset = file.image().offset_of_svma(Svma(location.relative));
            return offset.map(|FileOffset(offset)| offset);
        }
        let kind = self.kind_of(location)?;
        (!kind.is_without_file()).then_some(location.relative)
    }
}

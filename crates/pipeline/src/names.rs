//! Names for the distinct addresses of a replay: one request a file, whatever number of modules and processes it
//! served; the kernel and JIT code from their own lists.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use address::{Avma, BuildId, FileOffset, ModuleId, Svma};
use hashbrown::HashMap;
use module_map::{Library, LoadedImage, ModuleKind, Timeline};
use perf_data::{Head, SimpleperfFile};
use rayon::prelude::*;
use symbolizer::{
    DeviceFile, DeviceFileKind, DeviceSymbol, DeviceSymbols, KernelFile, KernelListPlaces,
    KernelListPrefetch, KernelNames, LostNames, PerfMap, RecordedKernel, Request, SplitFinder,
    StoredSplits, SymbolObserver, SymbolSource, SymbolStage, SymbolTimings, Symbols, WhyNoName,
    read_perf_map, symbolize,
};
use unwinder::FrameKey;

use crate::observer::Observer;
use crate::options::NameOptions;

/// A distinct looked-up address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Location {
    pub(crate) module: Option<ModuleId>,
    pub(crate) relative: u64,
}

/// The numbers of all addresses so far. Where a replay is looked at in steps, each step has addresses of its own behind
/// those of the steps before.
#[derive(Debug, Default)]
pub(crate) struct Places(HashMap<Location, u32>);

/// The distinct addresses of a replay, or of a step of it, and what is known about them.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) locations: Vec<Location>,
    /// For each frame, the number of its location among those of all steps.
    pub(crate) of_frame: Vec<u32>,
    /// For each location, where its names are.
    pub(crate) names: Vec<Source>,
    /// The answers for files.
    pub(crate) symbols: Symbols,
    /// The answers for everything else: name and start of the function, file offset.
    pub(crate) listed: Vec<Listed>,
    /// For each location, its offset in the file, where there is a file.
    pub(crate) offsets: Vec<Option<u64>>,
    /// For kernel locations that a file names, how far they lay from where the file states them.
    pub(crate) slides: HashMap<u32, u64>,
    /// Where the time for the files went.
    pub(crate) timings: SymbolTimings,
}

/// What is to be said of the kernel's names, and of names that are missing.
#[derive(Debug, Default)]
pub struct KernelReport {
    /// Why there are none, in plain words; only where kernel code was mapped.
    pub refused: Option<String>,
    /// Build-ids that several modules were recorded with, which therefore prove nothing.
    pub shared_ids: Vec<BuildId>,
    /// What was lost in files that are damaged, incomplete or not at hand.
    pub lost: LostNames,
}

/// Where the names of a location are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Nothing,
    /// Request and index in it.
    File(u32, u32),
    /// Index of `listed`.
    List(u32),
}

/// A function of the kernel or of JIT code.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: Vec<u8>,
    pub(crate) start: u64,
}

impl Resolved {
    /// The distinct addresses without any name.
    pub(crate) fn nothing(
        frames: &[FrameKey],
        places: &mut Places,
        timeline: &Timeline,
        library: &Library,
    ) -> Self {
        let mut resolved = Self::locate(frames, places);
        resolved.offsets = resolved
            .locations
            .iter()
            .map(|location| offset_of(*location, timeline, library))
            .collect();
        resolved
    }

    fn locate(frames: &[FrameKey], Places(index): &mut Places) -> Self {
        index.reserve(frames.len());
        let first = index.len();
        let mut resolved = Self { of_frame: Vec::with_capacity(frames.len()), ..Self::default() };
        for frame in frames {
            let location = Location { module: frame.module(), relative: frame.relative() };
            let id = *index.entry(location).or_insert_with(|| {
                resolved.locations.push(location);
                (first + resolved.locations.len()) as u32 - 1
            });
            resolved.of_frame.push(id);
        }
        resolved.names = vec![Source::Nothing; resolved.locations.len()];
        resolved
    }
}

/// Where names are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) options: &'a NameOptions,
    pub(crate) head: &'a Head,
    /// The recording's path; a kernel's symbol list can lie beside it.
    pub(crate) recording: &'a Path,
    pub(crate) timeline: &'a Timeline,
    pub(crate) library: &'a Library,
    /// Asked whether the names are still wanted; where not, they are not complete.
    pub(crate) observer: &'a dyn Observer,
}

/// Adds up where the time goes, and passes on whether the run is cancelled.
#[derive(Debug)]
struct LookUp<'a> {
    timings: Mutex<SymbolTimings>,
    observer: &'a dyn Observer,
}

impl SymbolObserver for LookUp<'_> {
    fn ended(&self, stage: SymbolStage, took: Duration) {
        self.timings.ended(stage, took);
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}

/// Looks up all distinct addresses of frames that `places` does not know yet. The kernel's symbol list is read beside the
/// files, where it was not read ahead, and only where it is needed.
pub(crate) fn resolve(
    frames: &[FrameKey],
    places: &mut Places,
    sources: Sources<'_>,
    ahead: Option<KernelListPrefetch>,
) -> (Resolved, KernelReport) {
    let Sources { options, head, recording, timeline, library, .. } = sources;
    let mut resolved = Resolved::nothing(frames, places, timeline, library);
    let features = head.features();
    let build_ids = features.build_ids.iter();
    let build_ids: Vec<(&[u8], BuildId)> =
        build_ids.filter_map(|entry| Some((entry.name, entry.build_id?))).collect();
    let known = RecordedKernel::find(&build_ids, timeline, library);
    let places = KernelListPlaces { named: options.kallsyms.as_deref(), recording, library };
    let in_kernel = |location: &Location| kind_of(*location, timeline) == Some(ModuleKind::Kernel);
    let wants_list = resolved.locations.iter().any(in_kernel);
    let (list, nameless) = rayon::join(
        || wants_list.then(|| known.read_list(places, timeline, ahead)),
        || resolve_files(&mut resolved, sources, &known.files),
    );
    let refused = match list {
        Some(Ok(names)) => {
            resolve_kernel(&mut resolved, timeline, &names);
            None
        }
        Some(Err(reason)) => Some(reason.to_string()).filter(|_| known.files.is_empty()),
        None => None,
    };
    resolve_jit(&mut resolved, timeline, library);
    if head.is_simpleperf() {
        let files = features.simpleperf_files.iter().map(device_file);
        let symbols = DeviceSymbols::new(files, options.demangle);
        resolve_device(&mut resolved, timeline, library, &symbols);
    }
    let lost = lost_names(&mut resolved, nameless);
    (resolved, KernelReport { refused, shared_ids: known.shared_ids, lost })
}

/// A file of the device as the recording has it.
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

/// An address that its file does not name.
struct Nameless {
    /// Index of its location.
    location: u32,
    address: Svma,
    why: WhyNoName,
    file: Arc<LoadedImage>,
}

/// What the files lack, once everything was asked.
fn lost_names(resolved: &mut Resolved, nameless: Vec<Nameless>) -> LostNames {
    let mut lost = LostNames::default();
    lost.add_findings(std::mem::take(&mut resolved.symbols.findings));
    for Nameless { location, address, why, file } in nameless {
        if !matches!(resolved.names.get(location as usize), Some(Source::List(_))) {
            lost.add_address(file.image().path(), address, why);
        }
    }
    lost
}

/// Addresses of a file, each with the location that it is of.
type Wanted = Vec<(u64, u32)>;

fn resolve_files(
    resolved: &mut Resolved,
    Sources { options, timeline, library, observer, .. }: Sources<'_>,
    kernel: &HashMap<ModuleId, KernelFile>,
) -> Vec<Nameless> {
    let mut files: Vec<(Arc<LoadedImage>, Wanted)> = Vec::new();
    let mut index = HashMap::new();
    for (location, id) in resolved.locations.iter().zip(0_u32..) {
        let in_kernel = location.module.and_then(|module| kernel.get(&module));
        let (file, svma) = match in_kernel {
            Some(known) => {
                resolved.slides.insert(id, known.slide);
                (&known.file, known.svma(location.relative).0)
            }
            None => match file_of(*location, timeline, library) {
                Some(file) => (file, location.relative),
                None => continue,
            },
        };
        let at = *index.entry(file.serial).or_insert_with(|| {
            files.push((file.clone(), Vec::new()));
            files.len() - 1
        });
        if let Some((_, wanted)) = files.get_mut(at) {
            wanted.push((svma, id));
        }
    }
    let addresses: Vec<Vec<Svma>> = files
        .par_iter_mut()
        .map(|(file, wanted)| {
            let _ = SymbolSource::of_loaded(file, library);
            wanted.sort_unstable();
            let mut addresses: Vec<Svma> = wanted.iter().map(|&(svma, _)| Svma(svma)).collect();
            addresses.dedup();
            addresses
        })
        .collect();
    let splits: Vec<StoredSplits<'_>> =
        files.iter().map(|(file, _)| StoredSplits { file, library }).collect();
    let requests: Vec<Request<'_>> = files
        .iter()
        .zip(&addresses)
        .zip(&splits)
        .map(|(((file, _), addresses), split)| Request {
            source: SymbolSource {
                split: Some(split as &dyn SplitFinder),
                ..SymbolSource::of_loaded(file, library)
            },
            addresses,
        })
        .collect();
    let look_up = LookUp { timings: Mutex::default(), observer };
    let options = symbolizer::Options {
        inlines: options.inlines,
        lines: true,
        demangle: options.demangle,
        observer: Some(&look_up),
    };
    resolved.symbols = symbolize(&requests, &options);
    resolved.timings = look_up.timings.into_inner().unwrap_or_default();
    let mut nameless = Vec::new();
    for (request, (file, wanted)) in files.iter().enumerate() {
        let mut at = 0_u32;
        let mut last = None;
        for &(svma, location) in wanted {
            if last.is_some_and(|last| last != svma) {
                at += 1;
            }
            last = Some(svma);
            let answer =
                resolved.symbols.addresses.get(request).and_then(|all| all.get(at as usize));
            if let Some(why) = answer.and_then(|answer| answer.reason) {
                let (address, file) = (Svma(svma), Arc::clone(file));
                nameless.push(Nameless { location, address, why, file });
            }
            // What the file cannot name may still be in the kernel's list.
            if answer.is_none_or(|answer| answer.frames.is_empty()) {
                continue;
            }
            if let Some(slot) = resolved.names.get_mut(location as usize) {
                *slot = Source::File(request as u32, at);
            }
        }
    }
    nameless
}

fn resolve_kernel(resolved: &mut Resolved, timeline: &Timeline, kernel: &KernelNames) {
    for (location, slot) in resolved.locations.iter().zip(&mut resolved.names) {
        if kind_of(*location, timeline) != Some(ModuleKind::Kernel)
            || !matches!(slot, Source::Nothing)
        {
            continue;
        }
        if let Some((name, start)) = kernel.lookup(Avma(location.relative)) {
            *slot = Source::List(resolved.listed.len() as u32);
            resolved.listed.push(Listed { name: name.to_vec(), start: start.0 });
        }
    }
}

/// What nothing else named, by the names of the recording itself.
fn resolve_device(
    resolved: &mut Resolved,
    timeline: &Timeline,
    library: &Library,
    symbols: &DeviceSymbols<'_>,
) {
    for (location, slot) in resolved.locations.iter().zip(&mut resolved.names) {
        if !matches!(slot, Source::Nothing) || file_of(*location, timeline, library).is_some() {
            continue;
        }
        let module = location.module.and_then(|module| timeline.modules().get(module.index()));
        let named = module.and_then(|module| symbols.lookup(module, location.relative));
        if let Some((name, start)) = named {
            *slot = Source::List(resolved.listed.len() as u32);
            resolved.listed.push(Listed { name, start });
        }
    }
}

fn resolve_jit(resolved: &mut Resolved, timeline: &Timeline, library: &Library) {
    let mut texts: HashMap<address::Pid, Vec<u8>> = HashMap::new();
    let owner_of = |location: &Location| timeline.modules().get(location.module?.index())?.owner;
    for pid in resolved.locations.iter().filter_map(owner_of) {
        texts.entry(pid).or_insert_with(|| read_perf_map(pid, library).unwrap_or_default());
    }
    let maps: HashMap<address::Pid, PerfMap<'_>> =
        texts.iter().map(|(&pid, text)| (pid, PerfMap::parse(text))).collect();
    for (location, slot) in resolved.locations.iter().zip(&mut resolved.names) {
        let map = owner_of(location).and_then(|pid| maps.get(&pid));
        if let Some(symbol) = map.and_then(|map| map.lookup(Avma(location.relative))) {
            *slot = Source::List(resolved.listed.len() as u32);
            resolved.listed.push(Listed { name: symbol.name.to_vec(), start: symbol.start.0 });
        }
    }
}

fn kind_of(location: Location, timeline: &Timeline) -> Option<ModuleKind> {
    Some(timeline.modules().get(location.module?.index())?.kind)
}

/// The opened file of a location's module.
fn file_of<'l>(
    location: Location,
    timeline: &Timeline,
    library: &'l Library,
) -> Option<&'l Arc<LoadedImage>> {
    library.outcome(timeline.modules().get(location.module?.index())?)?.ok()
}

fn offset_of(location: Location, timeline: &Timeline, library: &Library) -> Option<u64> {
    if let Some(file) = file_of(location, timeline, library) {
        return file
            .image()
            .offset_of_svma(Svma(location.relative))
            .map(|FileOffset(offset)| offset);
    }
    match kind_of(location, timeline)? {
        ModuleKind::File | ModuleKind::Unopened | ModuleKind::Vdso => Some(location.relative),
        ModuleKind::Anonymous | ModuleKind::Kernel => None,
    }
}

//! Kernel names: from the files and the list that are proven to be of the recorded kernel, or none. Names of another
//! kernel are worse than none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use address::{Avma, BuildId, ModuleId, Svma};
use hashbrown::HashMap;
use module_map::{
    Library, LoadedImage, MODULE_CODE, Module, ModuleKind, Timeline, kernel_module_name,
};
use perf_data::Head;
use symbolizer::Kallsyms;

use crate::cli::SymbolArgs;
use crate::notes::build_id_of_notes;

/// The kernel's names and what is to be said about them.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) symbols: Option<KernelNames>,
    /// Why there are no names, in plain words; only where kernel code was mapped.
    pub(crate) refused: Option<String>,
    /// Build-ids that several modules were recorded with, which therefore prove nothing.
    pub(crate) shared_ids: Vec<BuildId>,
}

/// A file of kernel code, and how far the code lay from where the file states it.
#[derive(Debug, Clone)]
pub(crate) struct KernelFile {
    pub(crate) file: Arc<LoadedImage>,
    pub(crate) slide: u64,
}

/// A kernel symbol list, and how far the recorded kernel lay from it.
#[derive(Debug)]
pub(crate) struct KernelNames {
    list: Kallsyms,
    slide: u64,
}

impl KernelNames {
    /// The symbol that covers an address of the recorded kernel: its name, and where it begins there.
    pub(crate) fn lookup(&self, address: Avma) -> Option<(&[u8], Avma)> {
        let symbol = self.list.lookup(address.sub(self.slide))?;
        Some((symbol.name, symbol.start.add(self.slide)))
    }

    /// Where the recorded kernel has what the list has under that name.
    fn address_of(&self, symbol: &[u8]) -> Option<Avma> {
        Some(self.list.address_of(symbol)?.add(self.slide))
    }
}

/// What is known of the recorded kernel before its symbol list is read.
pub(crate) struct Known {
    id: Option<BuildId>,
    /// Files of the kernel and of its modules, by module.
    pub(crate) files: HashMap<ModuleId, KernelFile>,
    shared_ids: Vec<BuildId>,
}

impl Known {
    /// The build-id of the recorded kernel, and the files of it and of its modules, by their build-ids.
    pub(crate) fn find(head: &Head, timeline: &Timeline, library: &Library) -> Self {
        let shared_ids = shared_ids(timeline);
        let id = kernel_id(head, timeline);
        Self { id, files: files(timeline, library, id, &shared_ids), shared_ids }
    }

    /// Reads the symbol list, or takes what was read ahead: the file that the user named, else that of the build-id
    /// cache, else that of the running kernel where its build-id is the recorded one. It takes a while, and nothing
    /// needs it that a file can name.
    pub(crate) fn list(
        &self,
        args: &SymbolArgs,
        recording: &Path,
        timeline: &Timeline,
        library: &Library,
        ahead: Option<ListAhead>,
    ) -> Result<KernelNames, String> {
        let path = list_path(args, recording, library, self.id)?;
        names_of(ListAhead::or_read(ahead, &path)?, &path, timeline)
    }

    /// What is to be said of the kernel.
    pub(crate) fn told(self, list: Option<Result<KernelNames, String>>) -> Kernel {
        let Self { files, shared_ids, .. } = self;
        let (symbols, refused) = match list {
            Some(Ok(names)) => (Some(names), None),
            Some(Err(reason)) => (None, Some(reason).filter(|_| files.is_empty())),
            None => (None, None),
        };
        Kernel { symbols, refused, shared_ids }
    }
}

fn is_kernel_itself(module: &Module) -> bool {
    module.path.starts_with(b"[kernel") || module.path.starts_with(b"[guest.kernel")
}

/// The build-id of the kernel by the records of its maps.
fn mapped_id(timeline: &Timeline) -> Option<BuildId> {
    let kernel = timeline.modules().iter();
    let mut kernel = kernel.filter(|m| m.kind == ModuleKind::Kernel && is_kernel_itself(m));
    kernel.find_map(|module| module.identity.build_id)
}

/// The build-id of the recorded kernel: from its map record or from the table of the header, under any of its names.
fn kernel_id(head: &Head, timeline: &Timeline) -> Option<BuildId> {
    mapped_id(timeline).or_else(|| {
        let features = head.features();
        features
            .build_ids
            .iter()
            .filter(|entry| {
                entry.name.starts_with(b"[kernel.") || entry.name.ends_with(b"/vmlinux")
            })
            .find_map(|entry| entry.build_id)
    })
}

/// Some recorders wrote the id of one module for all of them.
fn shared_ids(timeline: &Timeline) -> Vec<BuildId> {
    let mut names: HashMap<BuildId, Vec<u8>> = HashMap::new();
    let mut shared = Vec::new();
    for module in timeline.modules().iter().filter(|module| module.kind == ModuleKind::Kernel) {
        let Some(id) = module.identity.build_id else { continue };
        let name = kernel_module_name(&module.path);
        let known = names.entry(id).or_insert_with(|| name.clone());
        if *known != name && !shared.contains(&id) {
            shared.push(id);
        }
    }
    shared
}

fn files(
    timeline: &Timeline,
    library: &Library,
    kernel: Option<BuildId>,
    shared: &[BuildId],
) -> HashMap<ModuleId, KernelFile> {
    let mut files = HashMap::new();
    for module in timeline.modules().iter().filter(|module| module.kind == ModuleKind::Kernel) {
        let itself = is_kernel_itself(module);
        let id = if itself { kernel } else { module.identity.build_id };
        let id = id.filter(|id| itself || (!shared.contains(id) && Some(*id) != kernel));
        let Some(file) = id.and_then(|id| library.kernel_file(&module.path, id).ok()) else {
            continue;
        };
        let slide =
            if itself { kernel_slide(timeline, &file) } else { module_slide(timeline, module) };
        if let Some(slide) = slide {
            files.insert(module.id, KernelFile { file, slide });
        }
    }
    files
}

/// How far the kernel was moved when it booted: the recorder's address of its reference symbol, less the file's.
fn kernel_slide(timeline: &Timeline, file: &LoadedImage) -> Option<u64> {
    let (symbol, recorded) = timeline.kernel_reference()?;
    let stated = file.image().symbol_address(symbol)?;
    Some(recorded.0.wrapping_sub(stated.0))
}

/// A module's code begins where its map does.
fn module_slide(timeline: &Timeline, module: &Module) -> Option<u64> {
    let kernel = timeline.kernel();
    let piece = kernel.pieces().find(|piece| piece.module == module.id)?;
    Some(piece.start.0.wrapping_sub(piece.offset.0).wrapping_sub(MODULE_CODE.0))
}

impl KernelFile {
    /// The address that the file states for an address of the recorded kernel.
    pub(crate) const fn svma(&self, avma: u64) -> Svma {
        Svma(avma.wrapping_sub(self.slide))
    }
}

/// A symbol list that is read by a thread of its own.
#[derive(Debug)]
pub(crate) struct ListAhead {
    path: PathBuf,
    thread: JoinHandle<Result<Kallsyms, String>>,
}

impl ListAhead {
    /// Begins to read.
    pub(crate) fn begin(path: PathBuf) -> Self {
        let own = path.clone();
        Self { path, thread: std::thread::spawn(move || read_list(&own)) }
    }

    /// What was read, where it is of that path; else what is read now.
    fn or_read(ahead: Option<Self>, path: &Path) -> Result<Kallsyms, String> {
        let begun = ahead.filter(|ahead| ahead.path == path);
        begun.and_then(|ahead| ahead.thread.join().ok()).unwrap_or_else(|| read_list(path))
    }
}

/// The symbol list that [`Known::list`] will read, where that is sure before the replay has ended.
pub(crate) fn sure_list(
    args: &SymbolArgs,
    recording: &Path,
    timeline: &Timeline,
    library: &Library,
) -> Option<PathBuf> {
    // Once the records tell the build-id, no later record changes it.
    let id = mapped_id(timeline);
    list_path(args, recording, library, id).ok()
}

fn list_path(
    args: &SymbolArgs,
    recording: &Path,
    library: &Library,
    id: Option<BuildId>,
) -> Result<PathBuf, String> {
    let named = args.kallsyms.clone();
    let beside = recording.is_dir().then(|| recording.join("kcore_dir/kallsyms"));
    let kept =
        named.or_else(|| beside.filter(|path| path.is_file())).or_else(|| cached(library, id?));
    match kept {
        Some(path) => Ok(path),
        None => running_kernel_is(id).map(|()| PathBuf::from("/proc/kallsyms")),
    }
}

fn read_list(path: &Path) -> Result<Kallsyms, String> {
    let text = fs::metadata(path)
        .and_then(|metadata| {
            if metadata.is_file() {
                fs::read(path)
            } else {
                Err(std::io::ErrorKind::InvalidInput.into())
            }
        })
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Kallsyms::parse(text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The names of a list, unless it is of another kernel.
fn names_of(list: Kallsyms, path: &Path, timeline: &Timeline) -> Result<KernelNames, String> {
    let slide = timeline
        .kernel_reference()
        .and_then(|(symbol, recorded)| Some(recorded.since(list.address_of(symbol)?)));
    let names = KernelNames { list, slide: slide.unwrap_or(0) };
    match other_end(&names, timeline) {
        Some((listed, recorded)) => Err(format!(
            "{} is of another kernel: its code ends at {:#x}, that of the recorded one at {:#x}",
            path.display(),
            listed.0,
            recorded.0
        )),
        None => Ok(names),
    }
}

/// Where the code of the list's kernel ends and where that of the recorded one does, if they differ. A list has no
/// build-id, but recorders write the address of `_etext` or `_edata` as the end of the kernel's map.
///
/// Source: `machine__get_running_kernel_start` in `tools/perf/util/machine.c`. Recorders that do not find the symbols
/// write the start of the next module, which is at the start of a page.
fn other_end(names: &KernelNames, timeline: &Timeline) -> Option<(Avma, Avma)> {
    const PAGE: u64 = 0x1000;
    let (_, reference) = timeline.kernel_reference()?;
    let kernel = timeline.kernel();
    let recorded = kernel.lookup(reference)?.end;
    if recorded.0.is_multiple_of(PAGE) {
        return None;
    }
    let mut first = None;
    for symbol in [&b"_etext"[..], b"_edata"] {
        let listed = names.address_of(symbol);
        if listed == Some(recorded) {
            return None;
        }
        first = first.or(listed);
    }
    first.map(|first| (first, recorded))
}

/// The symbol list of that kernel in the build-id caches, in today's layout or in the older one.
fn cached(library: &Library, id: BuildId) -> Option<PathBuf> {
    let dirs = library.options().build_id_dirs.iter();
    let entries = dirs.map(|dir| dir.join("[kernel.kallsyms]").join(id.to_string()));
    entries.flat_map(|entry| [entry.join("kallsyms"), entry]).find(|path| path.is_file())
}

fn running_kernel_is(recorded: Option<BuildId>) -> Result<(), String> {
    let running = fs::read("/sys/kernel/notes").ok().and_then(|notes| build_id_of_notes(&notes));
    match (recorded, running) {
        (Some(recorded), Some(running)) if recorded.matches(&running) => Ok(()),
        (Some(recorded), Some(running)) => Err(format!(
            "the recorded kernel has build-id {recorded}, the running one {running}; name its symbols with --kallsyms"
        )),
        (None, _) => {
            Err("the recording does not say which kernel it was; name its symbols with --kallsyms"
                .to_owned())
        }
        (_, None) => {
            Err("the running kernel tells no build-id; name the symbols with --kallsyms".to_owned())
        }
    }
}

//! The files of a run: stores, folders and servers of the options, files of the recorder, and map hints.

mod absent;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(feature = "debuginfod")]
mod download;
mod hinted;
#[cfg(feature = "debuginfod")]
mod limits;
#[cfg(feature = "debuginfod")]
mod request;
#[cfg(feature = "debuginfod")]
mod servers;
mod source_files;
mod source_name;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use address::{Arch, BuildId, FileOffset};
use budget::Budget;
use host::{Distrust, Host, Origin};
use image_store::{
    Archive, DEBUG_DIR, DumpReader, ExtraFiles, Fetcher, FileFindingKind, FileOptions, ImageStore,
    RECORDED_COPIES,
};
use module_map::{Hint, Timeline};
use options::{FileSearch, parse_module_file};
use perf_data::Head;

use crate::error::Error;
use crate::limits::file_budget;
use crate::observer::Observer;
use crate::recording_key::recording_key;
use crate::references::{refuse_shared, resolved};
use crate::setting::Setting;
use hinted::{HintedFile, HintedFiles, open_hints};

pub(crate) use absent::ReaderStores;
pub use source_files::SourceFiles;

/// Sources of the files of a run.
#[derive(Debug)]
pub struct Files {
    /// The images, opened on first use.
    pub images: Arc<ImageStore>,
    /// Map hints, each with the build-id of its object and the file offset of its first byte.
    hints: Vec<(Hint, Option<BuildId>, FileOffset)>,
    /// The processor that was recorded.
    arch: Option<Arch>,
    /// Unpacked archives, which are removed at the end of the run.
    _archives: Vec<Archive>,
}

impl Files {
    /// Opens the stores, archives and hints that the options name; images are opened on first use.
    ///
    /// # Errors
    /// If an archive, a hint or the address of a server cannot be used, or if other users can write a named folder with
    /// files of earlier runs.
    pub(crate) fn new(
        setting: &Setting<'_>,
        head: &Head,
        recorded_until: Option<i128>,
        recording: Option<&Path>,
    ) -> Result<Self, Error> {
        let features = head.features();
        let (hostname, os_release) = (features.hostname, features.os_release);
        let machine = RecordedHost { hostname, os_release, recorded_until };
        Ok(Self { arch: head.machine().arch, ..Self::of_host(setting, machine, recording)? })
    }

    /// Like [`Self::new`], without a recording: files are those of this host, but each must prove its identity by its
    /// build-id.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub(crate) fn of_no_recording(setting: &Setting<'_>) -> Result<Self, Error> {
        let release = setting.host.kernel_release();
        let os_release = Some(&release[..]);
        Self::of_host(
            setting,
            RecordedHost { hostname: None, os_release, recorded_until: None },
            None,
        )
    }

    /// Like [`Self::new`], with the names of host and kernel instead of the header.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub(crate) fn of_machine(
        setting: &Setting<'_>,
        (hostname, os_release): (Option<&[u8]>, Option<&[u8]>),
        recorded_until: Option<i128>,
        recording: &Path,
    ) -> Result<Self, Error> {
        Self::of_host(
            setting,
            RecordedHost { hostname, os_release, recorded_until },
            Some(recording),
        )
    }

    fn of_host(
        setting: &Setting<'_>,
        machine: RecordedHost<'_>,
        recording: Option<&Path>,
    ) -> Result<Self, Error> {
        let Setting { host, options, observer, memory, .. } = setting;
        let shared = setting.shared();
        let search = &*resolved(&options.files, &***host)?;
        let budget = file_budget(options.limits, shared.budget);
        if let Some(place) = &options.cache {
            refuse_shared("cache", &place.folder, &***host)?;
        }
        let BuildIdDirs { dirs, archives, distrusted } =
            BuildIdDirs::of(search, &***host, &budget)?;
        let fetcher = fetcher(search, host, observer, budget)?;
        let memory = memory.clone();
        let options = file_options(search, machine, host, dirs, fetcher, budget);
        let recorded_copies = recorded_copies(&options.build_id_dirs, recording, &***host);
        let options = FileOptions { memory, recorded_copies, ..options };
        let images = Arc::new(ImageStore::sharing(options, Arc::clone(&shared.images)));
        for distrust in distrusted {
            let message = format!("{distrust}; its files are not used");
            images.note(FileFindingKind::SharedFolder, message);
        }
        let HintedFiles { hints, files } = open_hints(&search.hints, &***host)?;
        for (path, HintedFile { image, .. }) in files {
            images.provide(path.as_os_str().as_bytes(), image);
        }
        Ok(Self { images, hints, arch: None, _archives: archives })
    }

    /// Returns a timeline with the map hints of the options and no recorded mappings.
    #[must_use]
    pub fn timeline(&self) -> Timeline {
        let mut timeline = Timeline::within(&self.images.options().memory);
        for (hint, build_id, offset) in &self.hints {
            timeline.hint(hint, *build_id, *offset);
        }
        timeline.read_jit_with(self.jit_reader());
        timeline
    }

    /// Returns a reader of JIT dumps, which provides the images with their code.
    pub(crate) fn jit_reader(&self) -> Box<DumpReader> {
        let budget = self.images.options().budget;
        Box::new(DumpReader::new(self.images.clone(), budget, self.arch))
    }
}

/// The recorded machine, as the recording describes it.
#[derive(Clone, Copy)]
struct RecordedHost<'r> {
    hostname: Option<&'r [u8]>,
    os_release: Option<&'r [u8]>,
    /// When the recording ended, in nanoseconds since 1970.
    recorded_until: Option<i128>,
}

fn file_options(
    search: &FileSearch,
    recorded: RecordedHost<'_>,
    host: &Arc<dyn Host>,
    build_id_dirs: Vec<PathBuf>,
    fetcher: Option<Fetcher>,
    budget: Budget,
) -> FileOptions {
    let sysroots = search.sysroots.as_slice();
    let debug_dirs = match search.debug_dirs.as_slice() {
        [] if sysroots.is_empty() => vec![PathBuf::from(DEBUG_DIR)],
        [] => sysroots.iter().map(|root| root.join(DEBUG_DIR.trim_start_matches('/'))).collect(),
        dirs => dirs.to_vec(),
    };
    // The debug folder of a system has the standard layout and too many files to list.
    let is_system = |dir: &PathBuf| dir.ends_with(DEBUG_DIR.trim_start_matches('/'));
    let named_debug_dirs =
        search.debug_dirs.iter().filter(|dir| !is_system(dir)).cloned().collect();
    let same = |recorded: Option<&[u8]>, here: &[u8]| recorded == Some(here);
    let (mut modules, mut given) = (Vec::new(), Vec::new());
    for module in &search.modules {
        // A module path with `=` that exists as a file is a path, not a pair.
        match parse_module_file(module).filter(|_| !host.is_file(module, Origin::User)) {
            Some(pair) => given.push(pair),
            None => modules.push(module.clone()),
        }
    }
    FileOptions {
        host: host.clone(),
        modules,
        given,
        path_map: search.path_map.clone(),
        sysroots: sysroots.to_vec(),
        build_id_dirs,
        recorded_copies: Vec::new(),
        debug_dirs,
        named_debug_dirs,
        trust_running_kernel: sysroots.is_empty()
            && same(recorded.hostname, &host.hostname())
            && same(recorded.os_release, &host.kernel_release()),
        recorded_until: recorded.recorded_until,
        kernel_release: recorded.os_release.map(<[u8]>::to_vec),
        budget,
        memory: Arc::default(),
        fetcher,
        extra: ExtraFiles::below(&**host, &search.extra_dirs),
        perf_map_dirs: search.perf_map_dirs.clone(),
        trust_perf_maps: search.trust_perf_maps,
    }
}

#[cfg(feature = "debuginfod")]
fn fetcher(
    search: &FileSearch,
    host: &Arc<dyn Host>,
    observer: &Arc<dyn Observer>,
    budget: Budget,
) -> Result<Option<Fetcher>, Error> {
    debuginfod::fetcher(search, host, observer, budget)
}

#[cfg(not(feature = "debuginfod"))]
fn fetcher(
    search: &FileSearch,
    _host: &Arc<dyn Host>,
    _observer: &Arc<dyn Observer>,
    _budget: Budget,
) -> Result<Option<Fetcher>, Error> {
    match search.debuginfod.urls.first() {
        Some(url) => Err(Error::NotAServer { url: url.clone() }),
        None => Ok(None),
    }
}

/// The build-id stores.
#[derive(Default)]
struct BuildIdDirs {
    dirs: Vec<PathBuf>,
    /// The unpacked archives among them.
    archives: Vec<Archive>,
    /// Reasons that default stores are not used.
    distrusted: Vec<Distrust>,
}

impl BuildIdDirs {
    /// Returns the stores of the options, or the default ones if none is named.
    ///
    /// # Errors
    /// If an archive cannot be unpacked.
    fn of(search: &FileSearch, host: &dyn Host, budget: &Budget) -> Result<Self, Error> {
        let mut found = Self::default();
        for path in &search.build_id_stores {
            if host.is_dir(path, Origin::User) {
                found.dirs.push(path.clone());
                continue;
            }
            let archive = Archive::unpack(host, path, &std::env::temp_dir(), budget)
                .map_err(|source| Error::NoBuildIdStore { path: path.clone(), source })?;
            found.dirs.push(archive.dir().to_owned());
            found.archives.push(archive);
        }
        // With a sysroot, only files in it and files named by the user are opened.
        if found.dirs.is_empty() && search.sysroots.is_empty() {
            for dir in usual_build_id_dirs(host) {
                match host.distrust(&dir) {
                    Some(distrust) => found.distrusted.push(distrust),
                    None => found.dirs.push(dir),
                }
            }
        }
        Ok(found)
    }
}

/// Returns the folders in the stores that hold copies for this recording alone.
fn recorded_copies(stores: &[PathBuf], recording: Option<&Path>, host: &dyn Host) -> Vec<PathBuf> {
    let Some(recording) = recording else { return Vec::new() };
    let folders = stores.iter().map(|store| (store, store.join(RECORDED_COPIES)));
    let mut folders =
        folders.filter(|(store, all)| host.is_dir(all, Origin::Stored { root: store })).peekable();
    // Most stores have no such copies; then the recording is not read for its key.
    let key = folders.peek().and_then(|_| recording_key(host, recording));
    let below = |key: String| folders.map(move |(_, all)| all.join(&key)).collect();
    key.map_or_else(Vec::new, below)
}

/// Returns the default build-id stores: the one that `record` fills, and perf's own.
pub fn usual_build_id_dirs(host: &dyn Host) -> impl Iterator<Item = PathBuf> {
    host.file_store().into_iter().chain(host.home().map(|home| home.join(".debug")))
}

//! Where the list of the kernel's symbols is, and reading it, beside other work where that is wanted.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use address::BuildId;
use module_map::{Library, Timeline};

use crate::kernel::error::NoKernelNames;
use crate::kernel::identity::mapped_id;
use crate::kernel::kallsyms::Kallsyms;
use crate::kernel::notes::build_id_of_notes;

/// Where a list of the kernel's symbols is looked for.
#[derive(Clone, Copy, Debug)]
pub struct KernelListPlaces<'a> {
    /// The list that the user named.
    pub named: Option<&'a Path>,
    /// The recording; where it is a folder, a list can lie in it.
    pub recording: &'a Path,
    /// The store whose options have the build-id caches.
    pub library: &'a Library,
}

impl KernelListPlaces<'_> {
    /// The list that [`RecordedKernel::read_list`](super::RecordedKernel::read_list) will read, where that is sure
    /// before the replay has ended.
    #[must_use]
    pub fn find_early(self, timeline: &Timeline) -> Option<PathBuf> {
        // Once the records tell the build-id, no later record changes it.
        self.find(mapped_id(timeline)).ok()
    }

    /// The list for the kernel of that build-id.
    pub(super) fn find(self, id: Option<BuildId>) -> Result<PathBuf, NoKernelNames> {
        let named = self.named.map(Path::to_owned);
        let beside = self.recording.is_dir().then(|| self.recording.join("kcore_dir/kallsyms"));
        let kept = named
            .or_else(|| beside.filter(|path| path.is_file()))
            .or_else(|| cached(self.library, id?));
        match kept {
            Some(path) => Ok(path),
            None => running_kernel_is(id).map(|()| PathBuf::from("/proc/kallsyms")),
        }
    }
}

/// A list of symbols that is read by a thread of its own.
#[derive(Debug)]
pub struct KernelListPrefetch {
    path: PathBuf,
    thread: JoinHandle<Result<Kallsyms, NoKernelNames>>,
}

impl KernelListPrefetch {
    /// Begins to read.
    #[must_use]
    pub fn begin(path: PathBuf) -> Self {
        let own = path.clone();
        Self { path, thread: std::thread::spawn(move || read(&own)) }
    }

    /// What was read, where it is of that path; else what is read now.
    pub(super) fn take_or_read(
        prefetched: Option<Self>,
        path: &Path,
    ) -> Result<Kallsyms, NoKernelNames> {
        let begun = prefetched.filter(|prefetched| prefetched.path == path);
        begun.and_then(|begun| begun.thread.join().ok()).unwrap_or_else(|| read(path))
    }
}

fn read(path: &Path) -> Result<Kallsyms, NoKernelNames> {
    let regular = |metadata: fs::Metadata| match metadata.is_file() {
        true => fs::read(path),
        false => Err(std::io::ErrorKind::InvalidInput.into()),
    };
    let text = fs::metadata(path)
        .and_then(regular)
        .map_err(|source| NoKernelNames::Unreadable { path: path.to_owned(), source })?;
    Kallsyms::parse(text).map_err(|source| NoKernelNames::Useless { path: path.to_owned(), source })
}

/// The symbol list of that kernel in the build-id caches, in today's layout or in the older one.
fn cached(library: &Library, id: BuildId) -> Option<PathBuf> {
    let dirs = library.options().build_id_dirs.iter();
    let entries = dirs.map(|dir| dir.join("[kernel.kallsyms]").join(id.to_string()));
    entries.flat_map(|entry| [entry.join("kallsyms"), entry]).find(|path| path.is_file())
}

fn running_kernel_is(recorded: Option<BuildId>) -> Result<(), NoKernelNames> {
    let running = fs::read("/sys/kernel/notes").ok().and_then(|notes| build_id_of_notes(&notes));
    match (recorded, running) {
        (Some(recorded), Some(running)) if recorded.matches(&running) => Ok(()),
        (Some(recorded), Some(running)) => Err(NoKernelNames::OtherRunning { recorded, running }),
        (None, _) => Err(NoKernelNames::NotRecorded),
        (_, None) => Err(NoKernelNames::RunningUnknown),
    }
}

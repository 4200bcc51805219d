//! Where the list of the kernel's symbols is, and reading it, beside other work where that is wanted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use address::BuildId;
use budget::SharedAllowance;
use host::{Host, Origin};
use image_store::ImageStore;
use module_map::Timeline;

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
    /// The store whose options have the machine and its build-id caches.
    pub images: &'a ImageStore,
}

/// A file with a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct KernelListFile {
    pub(super) path: PathBuf,
    /// The folder that it is in, where strangers may have put links there.
    root: Option<PathBuf>,
    /// Whether nothing but the release says that it is of the recorded kernel.
    pub(super) by_release: bool,
}

impl KernelListFile {
    pub(super) fn origin(&self) -> Origin<'_> {
        self.root.as_deref().map_or(Origin::User, |root| Origin::Stored { root })
    }
}

impl KernelListPlaces<'_> {
    /// Begins to read the list that [`RecordedKernel::read_list`](super::RecordedKernel::read_list) will take, where
    /// that is sure before the replay has ended.
    #[must_use]
    pub fn prefetch(self, timeline: &Timeline) -> Option<KernelListPrefetch> {
        // Once the records state the build-id, no later record changes it.
        let file = self.find(mapped_id(timeline)).ok()?;
        Some(KernelListPrefetch::begin(
            file,
            Arc::clone(self.host()),
            Arc::clone(self.images.held()),
        ))
    }

    /// The machine.
    pub(super) fn host(&self) -> &Arc<dyn Host> {
        &self.images.options().host
    }

    /// The list for the kernel of that build-id.
    pub(super) fn find(self, id: Option<BuildId>) -> Result<KernelListFile, NoKernelNames> {
        let host = &**self.host();
        if let Some(path) = self.named {
            return Ok(KernelListFile { path: path.to_owned(), root: None, by_release: false });
        }
        let beside = self.recording.join("kcore_dir/kallsyms");
        if host.is_file(&beside, Origin::Stored { root: self.recording }) {
            let root = Some(self.recording.to_owned());
            return Ok(KernelListFile { path: beside, root, by_release: false });
        }
        if let Some(file) = id.and_then(|id| cached(self.images, id)) {
            return Ok(file);
        }
        if !self.images.options().sysroots.is_empty() {
            return Err(NoKernelNames::NotAsked);
        }
        let system = |by_release| {
            let path = PathBuf::from("/proc/kallsyms");
            KernelListFile { path, root: None, by_release }
        };
        match running_kernel_is(host, id) {
            // Without a build-id, the release and where the kernel lies must do.
            Err(NoKernelNames::NotRecorded) if self.images.options().trust_running_kernel => {
                Ok(system(true))
            }
            known => known.map(|()| system(false)),
        }
    }
}

/// A list of symbols that is read by a thread of its own.
#[derive(Debug)]
pub struct KernelListPrefetch {
    file: KernelListFile,
    thread: JoinHandle<Result<Kallsyms, NoKernelNames>>,
}

impl KernelListPrefetch {
    fn begin(file: KernelListFile, host: Arc<dyn Host>, held: Arc<SharedAllowance>) -> Self {
        let own = file.clone();
        Self { file, thread: std::thread::spawn(move || read(&*host, &own, &held)) }
    }

    /// What was read, where it is of that file; else what is read now.
    pub(super) fn take_or_read(
        prefetched: Option<Self>,
        images: &ImageStore,
        file: &KernelListFile,
    ) -> Result<Kallsyms, NoKernelNames> {
        let begun = prefetched.filter(|prefetched| prefetched.file == *file);
        begun
            .and_then(|begun| begun.thread.join().ok())
            .unwrap_or_else(|| read(&*images.options().host, file, images.held()))
    }
}

fn read(
    host: &dyn Host,
    file: &KernelListFile,
    held: &SharedAllowance,
) -> Result<Kallsyms, NoKernelNames> {
    let too_much = |why| NoKernelNames::TooMuch { path: file.path.clone(), why };
    let take = |bytes| held.take_for(bytes, || file.path.display().to_string()).map_err(too_much);
    // The places of its symbols take less than it does. What the kernel makes up has no size before it is read.
    let stated = 2 * host.stat(&file.path, file.origin())?.stamp.size;
    take(stated)?;
    let text = host.read(&file.path, file.origin())?;
    take((2 * text.len() as u64).saturating_sub(stated))?;
    Kallsyms::parse(text)
        .map_err(|source| NoKernelNames::Useless { path: file.path.clone(), source })
}

/// The symbol list of that kernel in the build-id caches, in today's layout or in the older one.
fn cached(images: &ImageStore, id: BuildId) -> Option<KernelListFile> {
    let options = images.options();
    let mut files = options.build_id_dirs.iter().flat_map(|dir| {
        let entry = dir.join("[kernel.kallsyms]").join(id.to_string());
        let root = || Some(dir.clone());
        let file = |path| KernelListFile { path, root: root(), by_release: false };
        [entry.join("kallsyms"), entry].map(file)
    });
    files.find(|file| options.host.is_file(&file.path, file.origin()))
}

fn running_kernel_is(host: &dyn Host, recorded: Option<BuildId>) -> Result<(), NoKernelNames> {
    let notes = host.read(Path::new("/sys/kernel/notes"), Origin::System).ok();
    match (recorded, notes.and_then(|notes| build_id_of_notes(&notes))) {
        (Some(recorded), Some(running)) if recorded.matches(&running) => Ok(()),
        (Some(recorded), Some(running)) => Err(NoKernelNames::OtherRunning { recorded, running }),
        (None, _) => Err(NoKernelNames::NotRecorded),
        (_, None) => Err(NoKernelNames::RunningUnknown),
    }
}

//! Files that a bundle leaves to the stores of its readers. A file is used only if its SHA-256 is that of the bundle.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use address::BuildId;
use budget::Budget;
use bundle::AbsentFile;
use host::{Content, Host, Origin};
use image_store::{Archive, DEBUG_DIR, FetchKind, Fetcher};
use options::{FileSearch, Limits};

use super::{BuildIdDirs, fetcher};
use crate::error::Error;
use crate::limits::file_budget;
use crate::observer::{Observer, Unobserved};
use crate::references::resolved;

/// The stores of a reader, opened for the first absent file.
pub(crate) struct ReaderStores<'o> {
    host: &'o Arc<dyn Host>,
    search: &'o FileSearch,
    budget: Budget,
    opened: OnceLock<Result<OpenedStores, Error>>,
}

impl<'o> ReaderStores<'o> {
    /// The stores that the options name, or the usual ones.
    pub(crate) const fn of(
        host: &'o Arc<dyn Host>,
        search: &'o FileSearch,
        budget: Budget,
    ) -> Self {
        Self { host, search, budget, opened: OnceLock::new() }
    }

    /// Returns the bytes of a file; `None` if no store has it.
    pub(crate) fn find(&self, wanted: &AbsentFile<'_>) -> Option<Content> {
        let open = || OpenedStores::new(self.host, self.search, self.budget);
        self.opened.get_or_init(open).as_ref().ok()?.find(wanted)
    }

    /// Checks that the stores could be opened, if a file was wanted.
    ///
    /// # Errors
    /// If a store or the address of a server cannot be used.
    pub(crate) fn check(self) -> Result<(), Error> {
        self.opened.into_inner().map_or(Ok(()), |opened| opened.map(drop))
    }
}

/// Stores that can be read.
struct OpenedStores {
    host: Arc<dyn Host>,
    /// Build-id caches.
    caches: Vec<PathBuf>,
    debug_dirs: Vec<PathBuf>,
    fetcher: Option<Fetcher>,
    _archives: Vec<Archive>,
}

impl OpenedStores {
    fn new(host: &Arc<dyn Host>, search: &FileSearch, budget: Budget) -> Result<Self, Error> {
        let observer: Arc<dyn Observer> = Arc::new(Unobserved);
        let budget = file_budget(Limits::default(), budget);
        let search = &*resolved(search, &**host)?;
        let BuildIdDirs { dirs, archives, .. } = BuildIdDirs::of(search, &**host, &budget)?;
        let fetcher = fetcher(search, host, &observer, budget)?;
        let mut debug_dirs = search.debug_dirs.clone();
        if debug_dirs.is_empty() {
            debug_dirs.push(DEBUG_DIR.into());
        }
        Ok(Self { host: host.clone(), caches: dirs, debug_dirs, fetcher, _archives: archives })
    }

    fn find(&self, wanted: &AbsentFile<'_>) -> Option<Content> {
        let open = |root: &Path, path: PathBuf| {
            let found = self.host.open(&path, Origin::Stored { root }).ok()?.content;
            wanted.is_of(&found).then_some(found)
        };
        let mut caches = self.caches.iter();
        if let Some(found) = caches.find_map(|root| open(root, root.join(wanted.path()))) {
            return Some(found);
        }
        let (id, is_debug_file) = wanted.build_id()?;
        if is_debug_file {
            let (first, rest) = id.split_at_checked(2)?;
            let name = format!(".build-id/{first}/{rest}.debug");
            let mut folders = self.debug_dirs.iter();
            if let Some(found) = folders.find_map(|root| open(root, root.join(&name))) {
                return Some(found);
            }
        }
        let kind = if is_debug_file { FetchKind::DebugInfo } else { FetchKind::Executable };
        let path = self.fetcher.as_ref()?.0.fetch(BuildId::from_hex(&id)?, kind)?;
        let found = self.host.open(&path, Origin::System).ok()?.content;
        wanted.is_of(&found).then_some(found)
    }
}

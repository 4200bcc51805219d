//! The sources of a profile: its modules and their files. Those of a recalled profile are opened on first use.

use std::sync::{Arc, LazyLock, Mutex};

use address::{ById as _, ModuleId};
use host::Host;
use image_store::{ImageStore, LoadedImage};
use module_map::{Module, Timeline};
use perf_data::Session;

use crate::files::Files;

/// The sources of a profile, in a box, because dropping them takes time that an exiting process can skip.
#[derive(Debug)]
pub(crate) enum AnalysisSources {
    /// Those of a run.
    Run(Box<RunSources>),
    /// Those of a recalled profile.
    Recalled(Box<RecalledSources>),
}

/// The sources of the profile of a run.
#[derive(Debug)]
pub(crate) struct RunSources {
    pub(crate) timeline: Timeline,
    /// The files, which the run opened.
    pub(crate) files: Arc<Files>,
    /// The input's bytes, to which the timeline and the files may refer. Nothing reads from it; the mutex makes the
    /// struct `Sync`.
    pub(crate) _session: Mutex<Session>,
}

/// The sources of a recalled profile.
#[derive(Debug)]
pub(crate) struct RecalledSources {
    /// The modules whose file the run opened, by id.
    pub(crate) modules: Vec<Arc<Module>>,
    /// The files; `None` if a folder that the options name is gone.
    pub(crate) files: LazyFiles,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) is_of_this_machine: bool,
}

/// Files of a run that are searched on first use.
pub(crate) type LazyFiles = LazyLock<Option<Files>, Box<dyn FnOnce() -> Option<Files> + Send>>;

impl AnalysisSources {
    /// The modules as recorded: all of a run, or those of a recalled profile whose file was opened.
    pub(crate) fn modules(&self) -> &[Arc<Module>] {
        match self {
            Self::Run(run) => run.timeline.modules(),
            Self::Recalled(recalled) => &recalled.modules,
        }
    }

    /// Returns a module; `None` if a recalled profile has no file for it.
    pub(crate) fn module(&self, id: ModuleId) -> Option<&Arc<Module>> {
        match self {
            Self::Run(run) => run.timeline.modules().by_id(id),
            Self::Recalled(recalled) => {
                let modules = &recalled.modules;
                let at = modules.binary_search_by_key(&id, |module| module.id).ok()?;
                modules.get(at)
            }
        }
    }

    /// The files of modules; `None` if a recalled profile has none.
    pub(crate) fn images(&self) -> Option<&ImageStore> {
        match self {
            Self::Run(run) => Some(&run.files.images),
            Self::Recalled(recalled) => Some(&recalled.files.as_ref()?.images),
        }
    }

    /// Returns the file of a module, if the run opened it.
    pub(crate) fn file(&self, module: &Module) -> Option<&Arc<LoadedImage>> {
        let images = self.images()?;
        match self {
            Self::Run(_) => images.outcome(module)?.ok(),
            Self::Recalled(_) => images.image(module).ok(),
        }
    }

    /// The machine that answered.
    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        match self {
            Self::Run(run) => &run.files.images.options().host,
            Self::Recalled(recalled) => &recalled.host,
        }
    }

    /// Returns true if the recording is of the running system, and no option names another root.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        match self {
            Self::Run(run) => run.files.images.options().trust_running_kernel,
            Self::Recalled(recalled) => recalled.is_of_this_machine,
        }
    }
}

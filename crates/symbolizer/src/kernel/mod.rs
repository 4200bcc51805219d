//! Names of kernel code, only from files and lists that are verified to belong to the recorded kernel. Names of another
//! kernel are worse than none.
//!
//! ```text
//!   build-ids of the map records and of the header --> the recorded kernel (identity)
//!     |-- files with that build-id, and the displacement of each when it was loaded (files)
//!     '-- a list of symbols: named by the user, stored with the recording or in a build-id store, or that of the
//!         running kernel with the same build-id, or without a build-id the same release and address (list_file);
//!         its displacement, and the check that it does not belong to another kernel (list)
//! ```

mod error;
mod files;
mod identity;
mod kallsyms;
mod list;
mod list_file;
mod list_identity;
mod notes;

use address::{BuildId, ModuleId};
use hashbrown::HashMap;
use image_store::{FileFindingKind, ImageStore};
use module_map::Timeline;

pub use error::NoKernelNames;
pub use files::{KernelFile, kernel_module_starts};
pub use identity::is_kernel_itself;
pub use kallsyms::{Kallsyms, KallsymsError, KernelFunction, KernelSymbol};
pub use list::{KernelNames, KernelSymbols, kernel_proofs};
pub use list_file::{KernelListPrefetch, KernelListSources};

/// Facts about the recorded kernel, known before a list of its symbols is read.
#[derive(Debug)]
pub struct RecordedKernel {
    id: Option<BuildId>,
    /// Files of the kernel and of its modules, by module.
    pub files: HashMap<ModuleId, KernelFile>,
    /// Build-ids that several modules were recorded with. They identify no file.
    pub shared_ids: Vec<BuildId>,
}

impl RecordedKernel {
    /// Determines the build-id of the recorded kernel, and finds the files of it and of its modules by their build-ids.
    /// `header` is the table of names and build-ids in the recording's header.
    #[must_use]
    pub fn find(header: &[(&[u8], BuildId)], timeline: &Timeline, images: &ImageStore) -> Self {
        let shared_ids = identity::shared_ids(timeline);
        let id = identity::kernel_id(header, timeline);
        Self { id, files: files::find(timeline, images, id, &shared_ids), shared_ids }
    }

    /// The build-id of the kernel; `None` if the recording does not state it.
    #[must_use]
    pub const fn build_id(&self) -> Option<BuildId> {
        self.id
    }

    /// Reads the list of symbols, or takes the prefetched one. Sources in order: the file that the user named, the
    /// recording's folder, the build-id store, and the running kernel if it has the recorded build-id.
    /// It is slow, and only needed for addresses that no file can name.
    ///
    /// # Errors
    /// If there is none, if it cannot be read, or if it belongs to another kernel.
    pub fn read_list(
        &self,
        places: KernelListSources<'_>,
        timeline: &Timeline,
        prefetched: Option<KernelListPrefetch>,
    ) -> Result<KernelNames, NoKernelNames> {
        let file = places.find(self.id)?;
        let list = KernelListPrefetch::take_or_read(prefetched, places.images, &file);
        let list = match list {
            // The list of the running kernel was only an attempt.
            Err(NoKernelNames::Unreadable(_)) if file.by_release => {
                return Err(NoKernelNames::NotRecorded);
            }
            list => list?,
        };
        let n_damaged = list.n_damaged();
        if n_damaged > 0 {
            let path = file.path.display();
            let message = format!(
                "{path}: {n_damaged} lines of the list of kernel symbols are damaged; names of the kernel may be wrong or missing"
            );
            places.images.note(FileFindingKind::KernelList, message);
        }
        KernelNames::proven(Box::new(list), &file.path, file.by_release, timeline)
    }

    /// Returns the identity across runs of the list that [`Self::read_list`] would read, which covers everything but
    /// short-lived symbols; `None` if it cannot be determined.
    #[must_use]
    pub fn list_identity(&self, places: KernelListSources<'_>) -> Option<Vec<u8>> {
        places.identity(self.id)
    }

    /// Returns the names from earlier look-ups in the list that [`Self::read_list`] would read.
    ///
    /// # Errors
    /// As for [`Self::read_list`].
    pub fn cached_list(
        &self,
        places: KernelListSources<'_>,
        timeline: &Timeline,
        kept: Box<dyn KernelSymbols>,
    ) -> Result<KernelNames, NoKernelNames> {
        let file = places.find(self.id)?;
        KernelNames::proven(kept, &file.path, file.by_release, timeline)
    }
}

//! Names of kernel code: from the files and the list that are proven to be of the recorded kernel, or none. Names of
//! another kernel are worse than none.
//!
//! ```text
//!   build-ids of the map records, of the header --> which kernel it was (identity)
//!     |-- files of that build-id, and how far each was moved when it was loaded (files)
//!     '-- a list of symbols: named by the user, kept beside the recording or in a build-id cache, or that of the
//!         running kernel where its build-id is the same, or where none was recorded its release and place (list_file); how far it was moved, and the proof that it is
//!         not of another kernel (list)
//! ```

mod error;
mod files;
mod identity;
mod kallsyms;
mod lasting;
mod list;
mod list_file;
mod notes;

use address::{BuildId, ModuleId};
use hashbrown::HashMap;
use image_store::{FileFindingKind, ImageStore};
use module_map::Timeline;

pub use error::NoKernelNames;
pub use files::KernelFile;
pub use kallsyms::{Kallsyms, KallsymsError, KernelFunction, KernelSymbol};
pub use list::{KernelNames, KernelSymbols, kernel_proofs};
pub use list_file::{KernelListPlaces, KernelListPrefetch};

/// What is known of the recorded kernel before a list of its symbols is read.
#[derive(Debug)]
pub struct RecordedKernel {
    id: Option<BuildId>,
    /// Files of the kernel and of its modules, by module.
    pub files: HashMap<ModuleId, KernelFile>,
    /// Build-ids that several modules were recorded with, which therefore prove nothing.
    pub shared_ids: Vec<BuildId>,
}

impl RecordedKernel {
    /// The build-id of the recorded kernel, and the files of it and of its modules, by their build-ids. `header` is
    /// the table of names and build-ids in the recording's header.
    #[must_use]
    pub fn find(header: &[(&[u8], BuildId)], timeline: &Timeline, images: &ImageStore) -> Self {
        let shared_ids = identity::shared_ids(timeline);
        let id = identity::kernel_id(header, timeline);
        Self { id, files: files::find(timeline, images, id, &shared_ids), shared_ids }
    }

    /// Reads the list of symbols, or takes what was prefetched: the file that the user named, else that beside the
    /// recording, else that of the build-id cache, else that of the running kernel where its build-id is the recorded
    /// one. It takes a while, and nothing needs it that a file can name.
    ///
    /// # Errors
    /// Where there is none, it cannot be read, or it is of another kernel.
    pub fn read_list(
        &self,
        places: KernelListPlaces<'_>,
        timeline: &Timeline,
        prefetched: Option<KernelListPrefetch>,
    ) -> Result<KernelNames, NoKernelNames> {
        let file = places.find(self.id)?;
        let list = KernelListPrefetch::take_or_read(prefetched, places.images, &file);
        let list = match list {
            // The list of the running kernel was but a try.
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

    /// What says of the list that [`Self::read_list`] would read, from one run to the next, that it is the same but for what
    /// does not last; `None` where nothing does.
    #[must_use]
    pub fn list_identity(&self, places: KernelListPlaces<'_>) -> Option<Vec<u8>> {
        places.identity(self.id)
    }

    /// The names of symbols that were looked up in that list before, as [`Self::read_list`] has those of the list.
    ///
    /// # Errors
    /// As for [`Self::read_list`].
    pub fn kept_list(
        &self,
        places: KernelListPlaces<'_>,
        timeline: &Timeline,
        kept: Box<dyn KernelSymbols>,
    ) -> Result<KernelNames, NoKernelNames> {
        let file = places.find(self.id)?;
        KernelNames::proven(kept, &file.path, file.by_release, timeline)
    }
}

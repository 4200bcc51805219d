//! The vdso, the kernel's code in processes: from build-id caches, or from this process if it is of the same kernel.

use std::path::Path;
use std::sync::Arc;

use address::BuildId;
use host::HostError;
use module_map::Module;

use super::images::ImageStore;
use super::loaded::LoadedImage;
use super::outcomes::{FoundImage, ImageOutcome};
use super::shared::Form;
use crate::elf::Image;
use crate::identity::{FileProof, LoadError};
use crate::search::cached_vdso;

impl ImageStore {
    /// Opens the vdso of a module.
    pub(super) fn load_vdso(&self, module: &Module) -> ImageOutcome {
        let wanted = module.identity.build_id;
        let fits = |loaded: &Arc<LoadedImage>, wanted: BuildId| {
            loaded.image().build_id().is_some_and(|found| found.matches(&wanted))
        };
        let cached = wanted.and_then(|id| {
            let mut opened =
                cached_vdso(self.options(), id).filter_map(|at| self.open(&at, Form::Whole).ok());
            opened.find(|loaded| fits(loaded, id))
        });
        if let Some(loaded) = cached {
            return Ok(FoundImage { image: loaded, proof: FileProof::BuildId });
        }
        let is_own = *module.path == *b"[vdso]";
        let path = Path::new(if is_own { "[vdso]" } else { "[vdso32]" });
        let missing = || LoadError::Missing(path.to_owned());
        if !is_own {
            // The vdso of this process is the 64-bit one.
            return Err(missing());
        }
        let running = self.remember(path, None, Form::Whole, || {
            let bytes = self.options().host.running_vdso();
            let bytes = bytes.ok_or_else(|| HostError::missing(path))?;
            Ok((Image::from_vec(path, bytes)?, None))
        });
        let loaded = running.map_err(|_| missing())?;
        match (wanted, loaded.image().build_id()) {
            (Some(wanted), Some(found)) if wanted.matches(&found) => {
                Ok(FoundImage { image: loaded, proof: FileProof::BuildId })
            }
            (Some(recorded), found) => {
                Err(LoadError::BuildId { path: path.to_owned(), recorded, found })
            }
            // Without a recorded id there is no evidence for the same kernel.
            (None, _) if self.options().trust_running_kernel => {
                Ok(FoundImage { image: loaded, proof: FileProof::UserNamed })
            }
            (None, _) => Err(missing()),
        }
    }
}

//! The map files of a run, each read once.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use address::Pid;
use hashbrown::HashMap;

use super::find::PerfMapFile;
use crate::store::images::ImageStore;

/// The map file of a process; `None` if it has none that is used.
type Slot = Arc<OnceLock<Option<Arc<PerfMapFile>>>>;

/// The map files that were looked for.
#[derive(Debug, Default)]
pub(in crate::store) struct KeptPerfMaps(RwLock<HashMap<Pid, Slot>>);

impl KeptPerfMaps {
    fn slot(&self, pid: Pid) -> Slot {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned();
        known.unwrap_or_else(|| {
            let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(pid).or_default())
        })
    }
}

impl ImageStore {
    /// The map file that a process wrote of its code, if there is one that can be trusted. It is read once; other threads
    /// wait meanwhile. Its age is not judged: see [`PerfMapFile::can_be_of`].
    #[must_use]
    pub fn perf_map(&self, pid: Pid) -> Option<Arc<PerfMapFile>> {
        let slot = self.perf_maps.slot(pid);
        slot.get_or_init(|| PerfMapFile::read(pid, self).map(Arc::new)).clone()
    }

    /// Forgets the map files: those of processes that still run have grown.
    pub fn forget_perf_maps(&self) {
        self.perf_maps.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

//! The map files of a run, each read once.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use address::Pid;
use hashbrown::HashMap;

use super::perf_map_file::PerfMapFile;
use crate::store::images::ImageStore;

/// Map file of a process; `None` if no file is used.
type PerfMapSlot = Arc<OnceLock<Option<Arc<PerfMapFile>>>>;

/// Results of the search for map files, by process.
#[derive(Debug, Default)]
pub(in crate::store) struct PerfMapCache(RwLock<HashMap<Pid, PerfMapSlot>>);

impl PerfMapCache {
    fn slot(&self, pid: Pid) -> PerfMapSlot {
        let slot = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned();
        slot.unwrap_or_else(|| {
            let mut slots = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry(pid).or_default())
        })
    }
}

impl ImageStore {
    /// Returns the map file that a process wrote of its code, if there is a trusted one. It is
    /// read once, while other threads wait.
    /// The age is not checked: see [`PerfMapFile::can_be_of`].
    #[must_use]
    pub fn perf_map(&self, pid: Pid) -> Option<Arc<PerfMapFile>> {
        let slot = self.perf_maps.slot(pid);
        slot.get_or_init(|| PerfMapFile::read(pid, self).map(Arc::new)).clone()
    }

    /// Clears the map files, because those of running processes have grown.
    pub fn clear_perf_maps(&self) {
        self.perf_maps.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

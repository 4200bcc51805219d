//! The spaces that the samples of a chunk need. Walking threads build those of processes.

use std::sync::Arc;

use address::Pid;
use module_map::{Guest, LazySpace, ProcessImage, Space};
use rayon::prelude::*;

/// The spaces of a chunk. Consecutive samples with the same space share an entry.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    processes: Vec<Arc<LazySpace>>,
    kernels: Vec<(Arc<Space>, Option<Arc<Guest>>)>,
}

impl Spaces {
    /// Returns the space of a process, building it on first use.
    #[inline]
    pub(crate) fn process(&self, index: u32) -> Option<&Arc<Space>> {
        self.processes.get(index as usize).map(|space| space.space())
    }

    /// Frees the spaces in parallel: there are many, and most have no other owner.
    pub(crate) fn discard(self) {
        self.processes.into_par_iter().with_min_len(256).for_each(drop);
    }

    /// Returns the spaces outside of processes.
    #[inline]
    pub(crate) fn kernel(&self, index: u32) -> Option<KernelSpaces<'_>> {
        let (host, guest) = self.kernels.get(index as usize)?;
        Some(KernelSpaces { host, guest: guest.as_deref() })
    }
}

/// The space of a process after records that shortly follow a sample.
#[derive(Clone, Debug)]
pub(crate) struct LaterSpace {
    pub(crate) space: Arc<LazySpace>,
    /// Process image of the space.
    pub(crate) process_image: ProcessImage,
}

/// The spaces that a sample needs outside of processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelSpaces<'s> {
    pub(crate) host: &'s Space,
    /// The guest that the sample's process runs; `None` if no guest was recorded.
    pub(crate) guest: Option<&'s Guest>,
}

/// Number of entries for last spaces; processes share them.
const LAST: usize = 64;

/// The spaces of a chunk during its planning.
pub(crate) struct ChunkSpaces {
    pub(crate) all: Spaces,
    /// Index of the last space for each entry.
    last: [u32; LAST],
}

impl ChunkSpaces {
    pub(crate) const fn new() -> Self {
        let all = Spaces { processes: Vec::new(), kernels: Vec::new() };
        Self { all, last: [0; LAST] }
    }

    /// Returns the index of the space of a process, adding it if needed.
    #[inline]
    pub(crate) fn of_process(&mut self, pid: Pid, space: &Arc<LazySpace>) -> u32 {
        let last = &mut self.last[pid.0 as usize % LAST];
        index(last, &mut self.all.processes, space)
    }

    /// Returns the index of the spaces outside of processes, adding them if needed.
    #[inline]
    pub(crate) fn of_kernel(&mut self, host: &Arc<Space>, guest: Option<&Arc<Guest>>) -> u32 {
        let kernels = &mut self.all.kernels;
        let is_last = kernels.last().is_some_and(|(known, of_guest)| {
            Arc::ptr_eq(known, host) && of_guest.as_ref().map(Arc::as_ptr) == guest.map(Arc::as_ptr)
        });
        if !is_last {
            kernels.push((host.clone(), guest.cloned()));
        }
        kernels.len() as u32 - 1
    }
}

/// Returns the index of a space, which is often the last one.
#[inline]
fn index(last: &mut u32, all: &mut Vec<Arc<LazySpace>>, space: &Arc<LazySpace>) -> u32 {
    if all.get(*last as usize).is_none_or(|known| !Arc::ptr_eq(known, space)) {
        *last = all.len() as u32;
        all.push(space.clone());
    }
    *last
}

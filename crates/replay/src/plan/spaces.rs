//! The spaces that the samples of a chunk need. Those of processes are made by the threads that walk.

use std::sync::Arc;

use address::Pid;
use module_map::{Guest, LazySpace, ProcessImage, Space};
use rayon::prelude::*;

/// The spaces of a chunk, each once as far as samples that follow each other have the same ones.
#[derive(Debug, Default)]
pub(crate) struct Spaces {
    processes: Vec<Arc<LazySpace>>,
    kernels: Vec<(Arc<Space>, Option<Arc<Guest>>)>,
}

impl Spaces {
    /// The space of a process, made now if it is needed for the first time.
    #[inline]
    pub(crate) fn process(&self, index: u32) -> Option<&Arc<Space>> {
        self.processes.get(index as usize).map(|space| space.space())
    }

    /// Frees them on all threads: there are many, most of which nobody else has.
    pub(crate) fn discard(self) {
        self.processes.into_par_iter().with_min_len(256).for_each(drop);
    }

    /// The spaces outside of processes.
    #[inline]
    pub(crate) fn kernel(&self, index: u32) -> Option<KernelSpaces<'_>> {
        let (host, guest) = self.kernels.get(index as usize)?;
        Some(KernelSpaces { host, guest: guest.as_deref() })
    }
}

/// The space of a process that records of shortly after a sample made.
#[derive(Clone, Debug)]
pub(crate) struct LaterSpace {
    pub(crate) space: Arc<LazySpace>,
    /// The process image that it is of.
    pub(crate) process_image: ProcessImage,
}

/// The spaces that a sample needs outside of processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelSpaces<'s> {
    pub(crate) host: &'s Space,
    /// Of the guest that the sample's process runs; `None` if nothing of guests was recorded.
    pub(crate) guest: Option<&'s Guest>,
}

/// How many processes have a place for their last space.
const LAST: usize = 64;

/// The spaces of a chunk while it is planned.
pub(crate) struct ChunkSpaces {
    pub(crate) all: Spaces,
    /// Of some processes, the index of their last.
    last: [u32; LAST],
}

impl ChunkSpaces {
    pub(crate) const fn new() -> Self {
        let all = Spaces { processes: Vec::new(), kernels: Vec::new() };
        Self { all, last: [0; LAST] }
    }

    /// The index of the space of a process.
    #[inline]
    pub(crate) fn of_process(&mut self, pid: Pid, space: &Arc<LazySpace>) -> u32 {
        let last = &mut self.last[pid.0 as usize % LAST];
        index(last, &mut self.all.processes, space)
    }

    /// The index of the spaces outside of processes.
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

/// The index of a space that may be the last one.
#[inline]
fn index(last: &mut u32, all: &mut Vec<Arc<LazySpace>>, space: &Arc<LazySpace>) -> u32 {
    if all.get(*last as usize).is_none_or(|known| !Arc::ptr_eq(known, space)) {
        *last = all.len() as u32;
        all.push(space.clone());
    }
    *last
}

//! Samples with code mapped by another process that shares their memory (`clone` with `CLONE_VM`).

use address::{ModuleId, Pid};
use module_map::{RelatedSpace, Space};
use unwinder::Frame;

/// Samples that were walked with code mapped by another process, and the first of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SharedMemory {
    /// Number of samples.
    pub samples: u64,
    /// Process of the first sample, process that mapped the code, and module of the code.
    pub first: Option<(Pid, Pid, ModuleId)>,
}

impl SharedMemory {
    /// Adds the samples of a later slice.
    pub(crate) fn add(&mut self, later: Self) {
        self.samples += later.samples;
        self.first = self.first.or(later.first);
    }
}

/// The space of a process merged with the code of a related process, by the versions of both.
#[derive(Default)]
pub(crate) struct RelatedSpaceCache(Option<((u64, u64), Option<Space>)>);

impl RelatedSpaceCache {
    /// Returns `own` plus the code of the other process at addresses without code in `own`.
    pub(crate) fn space(&mut self, own: &Space, related: &RelatedSpace) -> Option<&Space> {
        let other = related.space.space();
        let versions = (own.version(), other.version());
        if self.0.as_ref().is_none_or(|merged| merged.0 != versions) {
            self.0 = None;
        }
        self.0.get_or_insert_with(|| (versions, own.with_code_of(other))).1.as_ref()
    }
}

/// Returns the number of user frames in executable memory.
pub(crate) fn n_in_code(frames: &[Frame], space: &Space) -> usize {
    let user = frames.iter().filter(|frame| !frame.kernel);
    user.filter(|frame| is_in_code(frame, space)).count()
}

/// Returns the module of the first frame that is in code in `merged` and not in `own`.
pub(crate) fn first_gained(frames: &[Frame], own: &Space, merged: &Space) -> Option<ModuleId> {
    let user = frames.iter().filter(|frame| !frame.kernel);
    let mut gained = user.filter(|frame| is_in_code(frame, merged) && !is_in_code(frame, own));
    gained.next()?.module
}

fn is_in_code(frame: &Frame, space: &Space) -> bool {
    frame.module.is_some() && space.lookup(frame.in_process()).is_some_and(|it| it.executable)
}

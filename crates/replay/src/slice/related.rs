//! Samples whose code was mapped by a process that shares the memory of theirs (`clone` with `CLONE_VM`).

use address::{ModuleId, Pid};
use module_map::{RelatedSpace, Space};
use unwinder::Frame;

/// Samples that were walked with code that another process mapped, and the first of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SharedMemory {
    /// How many samples.
    pub samples: u64,
    /// The process of the first sample, the process that mapped the code, and the code.
    pub first: Option<(Pid, Pid, ModuleId)>,
}

impl SharedMemory {
    /// Adds what later samples needed.
    pub(crate) fn add(&mut self, later: Self) {
        self.samples += later.samples;
        self.first = self.first.or(later.first);
    }
}

/// The space of a process with the code of a relative, by the versions of both.
#[derive(Default)]
pub(crate) struct Merged(Option<((u64, u64), Option<Space>)>);

impl Merged {
    /// `own` with the code that the other process has where `own` has none.
    pub(crate) fn space(&mut self, own: &Space, related: &RelatedSpace) -> Option<&Space> {
        let other = related.space.space();
        let versions = (own.version(), other.version());
        if self.0.as_ref().is_none_or(|merged| merged.0 != versions) {
            self.0 = None;
        }
        self.0.get_or_insert_with(|| (versions, own.with_code_of(other))).1.as_ref()
    }
}

/// Frames of user mode in executable memory.
pub(crate) fn n_in_code(frames: &[Frame], space: &Space) -> usize {
    let user = frames.iter().filter(|frame| !frame.kernel);
    user.filter(|frame| is_in_code(frame, space)).count()
}

/// The first frame that is in code in `merged` and in none in `own`.
pub(crate) fn first_gained(frames: &[Frame], own: &Space, merged: &Space) -> Option<ModuleId> {
    let user = frames.iter().filter(|frame| !frame.kernel);
    let mut gained = user.filter(|frame| is_in_code(frame, merged) && !is_in_code(frame, own));
    gained.next()?.module
}

fn is_in_code(frame: &Frame, space: &Space) -> bool {
    frame.module.is_some() && space.lookup(frame.in_process()).is_some_and(|it| it.executable)
}

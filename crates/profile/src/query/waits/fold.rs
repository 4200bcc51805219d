//! Stacks of waits without the frames of the kernel and of the C library.

use hashbrown::HashMap;

use super::names::is_c_library;
use crate::id::{RowId as _, SampleId, StackId};
use crate::profile::Profile;
use crate::reason::WaitKind;
use crate::tables::SampleRow;

/// Frames that [`Profile::fold_waits`] removes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FoldedFrames {
    /// Those of the kernel.
    Kernel,
    /// Those of the kernel; and for waits, those of the C library that called it, so that a wait belongs to the
    /// program's function.
    KernelAndLibrary,
}

/// The stacks of samples before [`Profile::fold_waits`].
#[derive(Debug, Default)]
pub struct FoldedWaits(Vec<(SampleId, StackId)>);

impl Profile {
    /// Removes the innermost frames from the stacks of [`Self::off_cpu`]. Stacks without other frames are unchanged.
    /// Returns the removed part.
    pub fn fold_waits(&mut self, frames: FoldedFrames) -> FoldedWaits {
        let mut folded = FoldedWaits::default();
        let Some(event) = self.off_cpu else { return folded };
        let mut samples = std::mem::take(&mut self.samples);
        let mut outer: HashMap<(StackId, bool), Option<StackId>> = HashMap::new();
        let in_library = |row: &SampleRow| {
            frames == FoldedFrames::KernelAndLibrary && row.wait() != Some(WaitKind::Preempted)
        };
        for (at, row) in samples.as_mut_slice().iter_mut().enumerate() {
            let Some(stack) = row.stack.filter(|_| row.event == event) else { continue };
            let library = in_library(row);
            let user = *outer.entry((stack, library)).or_insert_with(|| {
                let user = self.outer_node(stack, |node| self.is_kernel(node))?;
                let program = || self.outer_node(user, |node| self.is_in_library(node));
                library.then(program).flatten().or(Some(user))
            });
            if let Some(user) = user.filter(|&user| user != stack) {
                folded.0.push((SampleId::from_index(at), stack));
                row.stack = Some(user);
            }
        }
        self.samples = samples;
        folded
    }

    /// Restores the frames that [`Self::fold_waits`] removed.
    pub fn unfold_waits(&mut self, folded: FoldedWaits) {
        for (sample, stack) in folded.0 {
            if let Some(row) = self.samples.get_mut(sample) {
                row.stack = Some(stack);
            }
        }
    }

    /// Returns the innermost node of a stack that is not removed.
    fn outer_node(&self, stack: StackId, is_removed: impl Fn(StackId) -> bool) -> Option<StackId> {
        let mut node = stack;
        while is_removed(node) {
            // Parents precede their children.
            node = self.stacks.get(node)?.parent.filter(|&parent| parent < node)?;
        }
        Some(node)
    }

    fn is_kernel(&self, node: StackId) -> bool {
        let frame = self.stacks.get(node).and_then(|row| self.frames.get(row.frame));
        frame.is_some_and(|frame| frame.kernel)
    }

    fn is_in_library(&self, node: StackId) -> bool {
        let frame = self.stacks.get(node).and_then(|row| self.frames.get(row.frame));
        let location = frame.and_then(|frame| self.locations.get(frame.location));
        let module = location.and_then(|row| self.modules.get(row.module?));
        module.is_some_and(|module| is_c_library(self.strings.get(module.path)))
    }
}

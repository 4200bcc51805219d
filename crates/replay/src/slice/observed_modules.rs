//! Modules with frames, available as soon as a chunk is walked.
//! Samples that wait for repair are not in the tables yet; in short recordings that is all of them.

use address::ModuleId;

use crate::slice::frame_key::FrameKey;

/// The modules of all slices so far.
#[derive(Debug, Default)]
pub(crate) struct ObservedModules {
    /// True for each module, by id, that has frames.
    is_observed: Vec<bool>,
    /// Modules with frames, in the order of the walk.
    modules: Vec<ModuleId>,
}

impl ObservedModules {
    /// Adds the modules of a slice.
    pub(crate) fn add(&mut self, of_slice: &[ModuleId]) {
        for &module in of_slice {
            let at = module.index();
            if at >= self.is_observed.len() {
                self.is_observed.resize(at + 1, false);
            }
            if let Some(is_observed) = self.is_observed.get_mut(at)
                && !std::mem::replace(is_observed, true)
            {
                self.modules.push(module);
            }
        }
    }

    /// In the order of the walk.
    pub(crate) fn modules(&self) -> &[ModuleId] {
        &self.modules
    }
}

/// Returns the modules of frames, each once.
pub(crate) fn modules_of(frames: &[FrameKey]) -> Vec<ModuleId> {
    let mut modules: Vec<_> = frames.iter().filter_map(|frame| frame.module()).collect();
    modules.dedup();
    modules.sort_unstable();
    modules.dedup();
    modules
}

#[cfg(test)]
mod tests {
    use profile::FoundBy;

    use super::*;
    use crate::slice::frame_key::PlacedFrame;
    use unwinder::CodeLocation;

    fn frame(module: Option<u32>, relative: u64) -> FrameKey {
        let location = CodeLocation { module: module.map(ModuleId), relative, bias: 0 };
        FrameKey::new(
            &PlacedFrame { location, found_by: FoundBy::Cfi, kernel: false, whole: false },
            0,
        )
    }

    #[test]
    fn each_module_is_met_once() {
        let first = [frame(Some(7), 1), frame(None, 1), frame(Some(2), 1), frame(Some(7), 2)];
        let second = [frame(Some(2), 1), frame(Some(3), 1), frame(Some(3), 2)];
        let mut met = ObservedModules::default();
        for frames in [&first[..], &second, &[]] {
            met.add(&modules_of(frames));
        }
        assert_eq!(met.modules(), [2, 7, 3].map(ModuleId));
    }
}

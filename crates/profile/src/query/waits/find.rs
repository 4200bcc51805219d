//! Kinds of the waits of a profile, from the names of the frames.

use hashbrown::HashMap;

use super::names::{KERNEL, LIBRARY, is_c_library, kernel_name, kind_of, library_name};
use crate::id::{FrameId, StackId};
use crate::profile::Profile;
use crate::query::functions;
use crate::reason::WaitKind;
use crate::tables::FrameRow;

/// The kind of a wait, and whether it is from the name of a library function, since no kernel function has a name.
type FoundWait = (WaitKind, bool);

impl Profile {
    /// Finds the kinds of the waits of [`Self::off_cpu`] by the names of their frames. Times whose thread was preempted
    /// are unchanged.
    pub fn find_waits(&mut self) {
        let Some(event) = self.off_cpu else { return };
        let mut samples = std::mem::take(&mut self.samples);
        let mut found: HashMap<Option<StackId>, FoundWait> = HashMap::new();
        for row in samples.as_mut_slice() {
            if row.event == event && row.wait() != Some(WaitKind::Preempted) {
                let &mut (kind, by_library) =
                    found.entry(row.stack).or_insert_with(|| self.wait_of(row.stack));
                *row = row.with_wait(kind, by_library);
            }
        }
        self.samples = samples;
    }

    /// Returns the kind of the wait that a stack shows.
    fn wait_of(&self, stack: Option<StackId>) -> FoundWait {
        let (mut is_named, mut weak) = (false, None);
        let mut user = Vec::new();
        for frame in self.frames_of(stack) {
            let Some(row) = self.frames.get(frame) else { continue };
            if !row.kernel {
                user.push(row);
                continue;
            }
            if !user.is_empty() {
                break;
            }
            for name in self.names_at(row) {
                is_named = true;
                match kind_of(KERNEL, kernel_name(name)) {
                    // A page fault may read a file; then its frames follow.
                    Some(WaitKind::ReadWrite) => weak = Some(WaitKind::ReadWrite),
                    Some(kind) if weak.is_none() || kind == WaitKind::PageFault => {
                        return (kind, false);
                    }
                    _ => {}
                }
            }
        }
        if is_named {
            return (weak.unwrap_or(WaitKind::Other), false);
        }
        let by_library = self.wait_of_library(&user);
        by_library.map_or((WaitKind::Unknown, false), |kind| (kind, true))
    }

    /// Returns the kind of the innermost library function with a known name.
    fn wait_of_library(&self, user: &[&FrameRow]) -> Option<WaitKind> {
        for (at, frame) in user.iter().enumerate() {
            let module = self.locations.get(frame.location)?.module;
            let path = module.and_then(|id| self.modules.get(id)).map(|row| row.path);
            if at > 0 && !path.is_some_and(|path| is_c_library(self.strings.get(path))) {
                return None;
            }
            let mut names = self.names_at(frame);
            if let Some(kind) = names.find_map(|name| kind_of(LIBRARY, library_name(name))) {
                return Some(kind);
            }
        }
        None
    }

    /// Iterates over the names of the functions of a frame, innermost first.
    fn names_at(&self, frame: &FrameRow) -> impl Iterator<Item = &[u8]> {
        let location = self.locations.get(frame.location);
        let rows = location.map_or(&[][..], |location| functions(self, location, true));
        rows.iter().filter_map(|row| Some(self.strings.get(row.function?)))
    }

    /// Iterates over the frames of a stack, innermost first.
    fn frames_of(&self, stack: Option<StackId>) -> impl Iterator<Item = FrameId> {
        std::iter::successors(stack, |&node| {
            // Parents precede their children.
            self.stacks.get(node)?.parent.filter(|&parent| parent < node)
        })
        .filter_map(|node| Some(self.stacks.get(node)?.frame))
    }
}

//! The merge: what the slices found becomes the tables of the profile, in the order of the samples.

use profile::{FrameId, LocationId, Profile, SampleRow, StackId, StackRow};

use crate::replay::frame_key::FrameKey;
use crate::replay::intern::Index;
use crate::replay::layout::{Layouts, Merging};
use crate::replay::slice::WalkedSlice;

/// The tables that grow slice by slice, and what finds rows in them.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) profile: Profile,
    locations: Index<FrameKey, LocationId>,
    frames: Index<FrameKey, FrameId>,
    stacks: Index<StackRow, StackId>,
    layouts: Layouts,
    pub(crate) undecoded: u64,
    pub(crate) late_maps: u64,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
}

impl Merged {
    /// Takes in a slice. Parents come before their children in a slice, so one pass translates its ids.
    pub(crate) fn add(&mut self, slice: &WalkedSlice) {
        let frames: Vec<FrameId> =
            slice.frames.values().iter().map(|&key| self.frame(key)).collect();
        let stacks = &mut self.profile.stacks;
        let mut nodes: Vec<StackId> = Vec::with_capacity(slice.stacks.values().len());
        for node in slice.stacks.values() {
            let Some(&frame) = frames.get(node.frame.index()) else { continue };
            let parent = node.parent.and_then(|parent| nodes.get(parent.index()).copied());
            let row = StackRow { parent, frame };
            nodes.push(self.stacks.intern(row, || stacks.push(row)));
        }
        let mut merging = Merging::new(&slice.layouts);
        let Profile { samples, layouts, summary, .. } = &mut self.profile;
        for row in &slice.samples {
            samples.push(SampleRow {
                stack: row.stack.and_then(|stack| nodes.get(stack.index()).copied()),
                layout: merging.next(row.layout.as_u32(), &mut self.layouts, layouts),
                ..*row
            });
        }
        summary.frames += slice.n_frames;
        self.undecoded += slice.undecoded;
        self.late_maps += slice.late_maps;
        self.cache_hits += slice.cache_hits;
        self.cache_misses += slice.cache_misses;
    }

    #[inline]
    fn frame(&mut self, key: FrameKey) -> FrameId {
        let Self { profile: Profile { locations, frames, .. }, .. } = self;
        self.frames.intern(key, || {
            let location =
                self.locations.intern(key.of_location(), || locations.push(key.location()));
            frames.push(key.frame(location))
        })
    }

    /// What the tables take, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.locations.heap_bytes()
            + self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.profile.heap_bytes()
    }
}

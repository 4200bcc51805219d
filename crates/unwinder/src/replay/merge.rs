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
    pub(crate) unplaced: u64,
}

impl Merged {
    /// Takes in a slice. Of its frames and nodes those that its samples have: not the chains that repair replaced.
    pub(crate) fn add(&mut self, slice: &WalkedSlice) {
        let mut frames = vec![None; slice.frames.values().len()];
        let mut nodes = vec![None; slice.stacks.values().len()];
        let mut merging = Merging::new(&slice.layouts);
        let mut chain = Vec::new();
        for row in &slice.samples {
            let stack = row
                .stack
                .and_then(|stack| self.stack(stack, slice, (&mut frames, &mut nodes), &mut chain));
            let Profile { samples, layouts, .. } = &mut self.profile;
            let layout = merging.next(row.layout.as_u32(), &mut self.layouts, layouts);
            samples.push(SampleRow { stack, layout, ..*row });
        }
        let summary = &mut self.profile.summary;
        summary.frames += slice.n_frames;
        summary.stack_needs.add(&slice.needs);
        self.undecoded += slice.undecoded;
        self.late_maps += slice.late_maps;
        self.cache_hits += slice.cache_hits;
        self.cache_misses += slice.cache_misses;
        self.unplaced += slice.unplaced;
    }

    /// The id of a node of a slice; `frames` and `nodes` have those that are known.
    fn stack(
        &mut self,
        stack: StackId,
        slice: &WalkedSlice,
        (frames, nodes): (&mut [Option<FrameId>], &mut [Option<StackId>]),
        chain: &mut Vec<(StackId, StackRow)>,
    ) -> Option<StackId> {
        // Outwards to a node that is known, then inwards again.
        let mut at = Some(stack);
        let mut parent = None;
        while let Some(node) = at {
            if let Some(known) = nodes.get(node.index()).copied().flatten() {
                parent = Some(known);
                break;
            }
            let row = *slice.stacks.values().get(node.index())?;
            chain.push((node, row));
            at = row.parent;
        }
        for (node, row) in chain.drain(..).rev() {
            let slot = frames.get_mut(row.frame.index())?;
            let frame = match *slot {
                Some(frame) => frame,
                None => *slot.insert(self.frame(*slice.frames.values().get(row.frame.index())?)),
            };
            let row = StackRow { parent, frame };
            let stacks = &mut self.profile.stacks;
            parent = Some(self.stacks.intern(row, || stacks.push(row)));
            *nodes.get_mut(node.index())? = parent;
        }
        parent
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

    /// Begins with empty tables; what is counted goes on.
    pub(crate) fn begin_anew(&mut self) {
        let Self { undecoded, late_maps, cache_hits, cache_misses, .. } = *self;
        *self = Self { undecoded, late_maps, cache_hits, cache_misses, ..Self::default() };
    }

    /// What the tables take, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.locations.heap_bytes()
            + self.frames.heap_bytes()
            + self.stacks.heap_bytes()
            + self.profile.heap_bytes()
    }
}

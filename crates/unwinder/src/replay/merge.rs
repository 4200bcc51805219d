//! The merge: what the slices found becomes the tables of the profile, in the order of the samples.

use std::hash::{Hash, Hasher};

use address::ModuleId;
use profile::{
    FoundBy, FrameId, FrameRow, LocationId, LocationRow, Profile, SampleRow, StackId, StackRow,
};

use crate::frame::Frame;
use crate::replay::intern::Index;
use crate::replay::layout::{Layouts, Merging};
use crate::replay::slice::WalkedSlice;

/// A distinct frame before its location has an id, apart from where its module lay. Two words, since a million of them
/// are hashed and compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameKey {
    relative: u64,
    /// The module plus one (0 for none), then a byte each of instance, found-by and kernel mode.
    rest: u64,
}

/// Where the module is in [`FrameKey::rest`].
const MODULE: u32 = 24;

impl FrameKey {
    pub(crate) fn new(frame: &Frame, instance: u8) -> Self {
        let module = frame.module.map_or(0, |module| u64::from(module.0) + 1);
        let rest = module << MODULE
            | u64::from(instance) << 16
            | (frame.found_by as u64) << 8
            | u64::from(frame.kernel);
        Self { relative: frame.relative, rest }
    }

    /// The same for all frames at its location.
    const fn of_location(self) -> Self {
        Self { rest: self.rest >> MODULE << MODULE, ..self }
    }

    fn location(self) -> LocationRow {
        let module = (self.rest >> MODULE).checked_sub(1).map(|module| ModuleId(module as u32));
        LocationRow::unnamed(module, self.relative)
    }

    fn frame(self, location: LocationId) -> FrameRow {
        let found_by = FoundBy::ALL.get(usize::from((self.rest >> 8) as u8)).copied();
        FrameRow {
            location,
            found_by: found_by.unwrap_or(FoundBy::Sampled),
            kernel: self.rest & 1 != 0,
            instance: (self.rest >> 16) as u8,
        }
    }
}

impl Hash for FrameKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // One multiplication less than hashing both: the modules' ids are small.
        state.write_u64(self.relative ^ self.rest.rotate_left(31));
    }
}

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

//! Frames of a sample, from a node of the prefix tree outwards, with addresses in the sample's process.

use std::num::NonZero;

use address::{Avma, Bias, ModuleId};

use crate::id::{FrameId, LayoutId, LocationId, SampleId, StackId};
use crate::profile::Profile;
use crate::tables::{FrameRow, LayoutRow, SampleRow, StackRow, Table};

/// Walks the stacks of samples. The components of frame addresses are stored compactly, because a walk accesses many
/// frames at random.
#[derive(Debug)]
pub struct StackWalker<'a> {
    profile: &'a Profile,
    locations: Table<FrameId, FrameLocation>,
    /// Number of frames from a node outwards, including itself.
    depths: Table<StackId, u32>,
}

/// Address of a frame, independent of the process.
#[derive(Debug, Clone, Copy)]
struct FrameLocation {
    relative: u64,
    /// Key of the bias to add; `None` if nothing was mapped and `relative` is the address.
    bias: Option<BiasKey>,
}

/// An image of a module in one word: the module's index plus one, and a byte for the instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BiasKey(NonZero<u64>);

impl BiasKey {
    fn new(module: ModuleId, instance: u8) -> Option<Self> {
        NonZero::new((u64::from(module.0) + 1) << 8 | u64::from(instance)).map(Self)
    }

    const fn module(self) -> ModuleId {
        ModuleId((self.0.get() >> 8) as u32 - 1)
    }

    const fn instance(self) -> u8 {
        self.0.get() as u8
    }
}

impl<'a> StackWalker<'a> {
    /// Prepares walks of all samples of `profile`.
    #[must_use]
    pub fn new(profile: &'a Profile) -> Self {
        let location_of = |frame: &FrameRow| {
            let location = profile.locations.get(frame.location);
            FrameLocation {
                relative: location.map_or(0, |location| location.relative),
                bias: location.and_then(|location| BiasKey::new(location.module?, frame.instance)),
            }
        };
        Self {
            profile,
            locations: profile.frames.iter().map(location_of).collect(),
            depths: depths(&profile.stacks),
        }
    }

    /// Number of frames of a sample, without inlined ones.
    pub fn depth(&self, sample: SampleId) -> u64 {
        let stack = self.profile.samples.get(sample).and_then(|sample| sample.stack);
        stack.and_then(|stack| self.depths.get(stack)).copied().unwrap_or(0).into()
    }

    /// Calls `visit` with each frame of the sample, innermost first, and its looked-up address in the process (for
    /// callers: return address - 1). The address equals [`Profile::frame_address`].
    #[inline]
    pub fn walk(
        &self,
        sample: &SampleRow,
        biases: &mut BiasCache<'a>,
        mut visit: impl FnMut(FrameId, Avma),
    ) {
        biases.enter(self.profile, sample.layout);
        each_frame(self.profile, sample.stack, |frame| {
            if let Some(location_of) = self.locations.get(frame) {
                let bias = location_of.bias.map_or(Bias(0), |key| biases.get(key));
                visit(frame, Avma(location_of.relative.wrapping_add(bias.0)));
            }
        });
    }
}

impl Profile {
    /// Returns the looked-up address of a frame in the process of a sample: the address of its location plus the bias
    /// of its module. Returns `None` if the tables lack the frame or its location.
    ///
    /// [`StackWalker`] is faster for the frames of many samples.
    #[must_use]
    pub fn frame_address(&self, sample: &SampleRow, frame: FrameId) -> Option<Avma> {
        let frame = self.frames.get(frame)?;
        let location = self.locations.get(frame.location)?;
        Some(match self.layouts.get(sample.layout) {
            Some(layout) => layout.avma(location, frame.instance),
            None => Avma(location.relative),
        })
    }
}

/// Calls `visit` with each frame of a stack, innermost first.
#[inline]
fn each_frame(profile: &Profile, stack: Option<StackId>, mut visit: impl FnMut(FrameId)) {
    let mut next = stack;
    while let Some(node) = next
        && let Some(&StackRow { parent, frame }) = profile.stacks.get(node)
    {
        visit(frame);
        // Parents precede their children. An inconsistent table ends the stack instead of causing a loop.
        next = parent.filter(|&parent| parent < node);
    }
}

/// Calls `visit` with each location of a stack, innermost first.
pub fn each_location(profile: &Profile, stack: Option<StackId>, mut visit: impl FnMut(LocationId)) {
    each_frame(profile, stack, |frame| {
        if let Some(frame) = profile.frames.get(frame) {
            visit(frame.location);
        }
    });
}

/// Biases of the process image of the previous sample. Consecutive samples are often from the same process.
#[derive(Debug)]
pub struct BiasCache<'a> {
    layout: Option<(LayoutId, &'a LayoutRow)>,
    /// Recently looked-up biases, by module.
    recent: [Option<(BiasKey, Bias)>; RECENT],
}

const RECENT: usize = 16;

impl Default for BiasCache<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> BiasCache<'a> {
    /// Returns an empty cache.
    #[must_use]
    pub const fn new() -> Self {
        Self { layout: None, recent: [None; RECENT] }
    }

    fn enter(&mut self, profile: &'a Profile, layout: LayoutId) {
        if self.layout.is_none_or(|(current, _)| current != layout) {
            self.layout = profile.layouts.get(layout).map(|row| (layout, row));
            self.recent = [None; RECENT];
        }
    }

    #[inline]
    fn get(&mut self, wanted: BiasKey) -> Bias {
        let module = wanted.module();
        let slot = &mut self.recent[module.index() % RECENT];
        match *slot {
            Some((key, bias)) if key == wanted => bias,
            _ => {
                let layout = self.layout.map(|(_, row)| row);
                let bias = layout.map_or(Bias(0), |row| row.bias(module, wanted.instance()));
                *slot = Some((wanted, bias));
                bias
            }
        }
    }
}

fn depths(stacks: &Table<StackId, StackRow>) -> Table<StackId, u32> {
    let mut depths = Table::new();
    depths.reserve(stacks.len());
    for stack in stacks {
        let outer = stack.parent.and_then(|parent| depths.get(parent)).copied().unwrap_or(0_u32);
        depths.push(outer.saturating_add(1));
    }
    depths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{EventId, ThreadId};
    use crate::reason::{EndReason, FoundBy};
    use crate::tables::LocationRow;

    /// Two images of module 0, one of module 16, which shares its slot of the cache, and a frame at an unmapped
    /// address.
    fn profile() -> Profile {
        let mut profile = Profile::default();
        let mut parent = None;
        for (module, relative, instance) in
            [(Some(0), 0x10, 0), (Some(16), 0x20, 0), (Some(0), 0x10, 1), (None, 0x30, 0)]
        {
            let row = LocationRow::unnamed(module.map(ModuleId), relative);
            let location = profile.locations.push(row);
            let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance };
            let frame = profile.frames.push(frame);
            parent = Some(profile.stacks.push(StackRow { parent, frame }));
        }
        for start in [0x1000, 0x8000] {
            let images = [(0, start), (0, start + 0x100), (16, start + 0x200)];
            profile.layouts.push(
                images.iter().map(|&(module, bias)| (ModuleId(module), Bias(bias))).collect(),
            );
        }
        profile.layouts.push(LayoutRow::default());
        for layout in [0, 1, 2] {
            profile.samples.push(SampleRow::new(
                ThreadId::new(0),
                EventId::new(0),
                EndReason::Root,
                parent,
                LayoutId::new(layout),
            ));
        }
        profile
    }

    #[test]
    fn addresses_are_those_in_the_process_of_the_sample() {
        let profile = profile();
        let walker = StackWalker::new(&profile);
        let mut biases = BiasCache::new();
        let mut walked = Vec::new();
        for sample in &profile.samples {
            let mut addresses = Vec::new();
            walker.walk(sample, &mut biases, |frame, address| {
                assert_eq!(profile.frame_address(sample, frame), Some(address));
                addresses.push(address.0);
            });
            walked.push(addresses);
        }
        assert_eq!(
            walked,
            [
                [0x30, 0x1110, 0x1220, 0x1010],
                [0x30, 0x8110, 0x8220, 0x8010],
                [0x30, 0x10, 0x20, 0x10],
            ]
        );
        assert_eq!(walker.depth(SampleId::new(0)), 4);
    }

    #[test]
    fn a_stack_that_loops_ends() {
        let mut profile = profile();
        profile.stacks.as_mut_slice()[1].parent = Some(StackId::new(3));
        let mut locations = Vec::new();
        each_location(&profile, Some(StackId::new(3)), |location| locations.push(location.index()));
        assert_eq!(locations, [3, 2, 1]);
        each_location(&profile, None, |location| panic!("{location:?} of no stack"));
    }

    #[test]
    fn a_place_is_two_words() {
        assert_eq!(size_of::<FrameLocation>(), 16);
    }
}

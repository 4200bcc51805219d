//! A sample's frames: from a node of the prefix tree outwards, with each frame's address in the sample's process.

use address::ModuleId;

use crate::profile::{InlineRow, LayoutRow, LocationRow, NO_STACK, Profile, SampleRow, StackRow};

/// What the addresses of a profile's frames are made of, close together: a walk touches many frames at random.
#[derive(Debug)]
pub struct Walker<'a> {
    profile: &'a Profile,
    /// By frame.
    places: Vec<Place>,
    /// By stack: how many frames there are from it outwards, itself included.
    depths: Vec<u32>,
}

/// Where a frame is, before the process is known.
#[derive(Debug, Clone, Copy)]
struct Place {
    relative: u64,
    /// `NO_MODULE` where there is none; then `relative` is the address.
    module: u32,
    instance: u8,
}

const NO_MODULE: u32 = u32::MAX;

impl<'a> Walker<'a> {
    /// The frames of all samples of `profile`.
    #[must_use]
    pub fn new(profile: &'a Profile) -> Self {
        let places = profile.frames.iter().map(|frame| {
            let location = profile.locations.get(frame.location as usize);
            let module = location.and_then(|location| location.module).map_or(NO_MODULE, |id| id.0);
            Place {
                relative: location.map_or(0, |location| location.relative),
                module,
                instance: frame.instance,
            }
        });
        Self { profile, places: places.collect(), depths: depths(&profile.stacks) }
    }

    /// How many frames the sample of that row has.
    pub fn depth(&self, sample: usize) -> u64 {
        let stack = self.profile.samples.get(sample).map_or(NO_STACK, |sample| sample.stack);
        self.depths.get(stack as usize).copied().unwrap_or(0).into()
    }

    /// Calls `visit` with the index of each frame of the sample, innermost first, and the frame's looked-up address in
    /// the process: return address - 1 for callers.
    #[inline]
    pub fn walk(
        &self,
        sample: &SampleRow,
        biases: &mut Biases<'a>,
        mut visit: impl FnMut(u32, u64),
    ) {
        biases.enter(self.profile, sample.layout);
        let mut node = sample.stack;
        while let Some(&StackRow { parent, frame }) = self.profile.stacks.get(node as usize) {
            if let Some(place) = self.places.get(frame as usize) {
                visit(frame, place.relative.wrapping_add(biases.get(place)));
            }
            // Parents come before their children: a table that breaks this ends the stack instead of looping.
            node = if parent < node { parent } else { NO_STACK };
        }
    }
}

/// The biases of the process image that was met last; neighbours in time are often of one process.
#[derive(Debug)]
pub struct Biases<'a> {
    layout: Option<(u32, &'a LayoutRow)>,
    /// Biases looked up last, by module.
    recent: [(u64, u64); RECENT],
}

const RECENT: usize = 16;

/// No key of a bias.
const EMPTY: u64 = u64::MAX;

impl Default for Biases<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> Biases<'a> {
    /// Of no process image yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { layout: None, recent: [(EMPTY, 0); RECENT] }
    }

    fn enter(&mut self, profile: &'a Profile, layout: u32) {
        if self.layout.is_none_or(|(current, _)| current != layout) {
            self.layout = profile.layouts.get(layout as usize).map(|row| (layout, row));
            self.recent = [(EMPTY, 0); RECENT];
        }
    }

    #[inline]
    fn get(&mut self, place: &Place) -> u64 {
        if place.module == NO_MODULE {
            return 0;
        }
        let key = u64::from(place.module) << 8 | u64::from(place.instance);
        let slot = &mut self.recent[place.module as usize % RECENT];
        if slot.0 != key {
            let biases = self.layout.map_or(&[][..], |(_, row)| &row.biases);
            let wanted = (ModuleId(place.module), place.instance);
            let found = biases.binary_search_by_key(&wanted, |&(id, instance, _)| (id, instance));
            *slot = (
                key,
                found.ok().and_then(|index| biases.get(index)).map_or(0, |&(_, _, bias)| bias),
            );
        }
        slot.1
    }
}

/// The functions at a location, innermost first: all of them, or with `inlines` false only the last, which is not
/// inlined. Empty where nothing is known.
#[inline]
pub fn functions<'a>(
    profile: &'a Profile,
    location: &LocationRow,
    inlines: bool,
) -> &'a [InlineRow] {
    let start = location.first_inline as usize;
    let rows = profile
        .inlines
        .get(start..start.saturating_add(location.n_inlines as usize))
        .unwrap_or_default();
    if inlines { rows } else { rows.last_chunk::<1>().map_or(&[], |last| last) }
}

fn depths(stacks: &[StackRow]) -> Vec<u32> {
    let mut depths: Vec<u32> = Vec::with_capacity(stacks.len());
    for stack in stacks {
        let outer = depths.get(stack.parent as usize).copied().unwrap_or(0);
        depths.push(outer.saturating_add(1));
    }
    depths
}

//! Tables with only the rows that remain after a filter.

use address::ById as _;
use hashbrown::HashMap;

use super::places::Places;
use crate::id::{FrameId, InlineId, LocationId, RowId, StackId};
use crate::profile::Profile;
use crate::query::engine::paths::{MergedNodes, NONE};
use crate::tables::{FrameRow, InlineRow, LocationRow, StackRow, Table};

/// New ids of rows, in the order of their first use.
#[derive(Debug)]
struct KeptRows<I> {
    new: Vec<Option<I>>,
    old: Vec<I>,
}

impl<I: RowId> KeptRows<I> {
    fn of(rows: usize) -> Self {
        Self { new: vec![None; rows], old: Vec::new() }
    }

    /// Returns the new id of a row, which is kept from now on.
    fn keep(&mut self, id: I) -> I {
        let next = I::from_index(self.old.len());
        match self.new.by_id_mut(id) {
            Some(Some(known)) => *known,
            slot => {
                if let Some(slot) = slot {
                    *slot = Some(next);
                }
                self.old.push(id);
                next
            }
        }
    }

    /// Takes the kept rows out of a table.
    fn rows<T: Default>(&self, table: &mut Table<I, T>) -> Table<I, T> {
        self.old
            .iter()
            .map(|&id| table.get_mut(id).map(std::mem::take).unwrap_or_default())
            .collect()
    }
}

/// Stacks, frames, locations and functions that remain.
#[derive(Debug)]
pub(super) struct RemainingStacks {
    stacks: Table<StackId, StackRow>,
    tables: FrameTables,
    /// By node of the tree: its stack, if samples need it.
    of_node: Vec<Option<StackId>>,
}

impl RemainingStacks {
    /// Builds the tables for samples that end at the nodes `ends` of a tree of places.
    pub(super) fn new(
        profile: &Profile,
        places: &Places,
        tree: &MergedNodes,
        ends: impl Iterator<Item = u32>,
    ) -> Self {
        let groups = groups(places, tree);
        let mut is_needed = vec![false; tree.len()];
        let need = |is_needed: &mut Vec<bool>, node: u32| {
            if let Some(is_needed) = is_needed.get_mut(node as usize) {
                *is_needed = true;
            }
        };
        ends.for_each(|end| need(&mut is_needed, end));
        for node in (0..tree.len()).rev() {
            if is_needed.get(node) == Some(&true) {
                let first = groups.get(node).copied().unwrap_or(NONE);
                need(&mut is_needed, tree.parent(first));
            }
        }
        let mut stacks = Table::new();
        let mut tables = FrameTables::default();
        let mut of_node: Vec<Option<StackId>> = vec![None; tree.len()];
        let needed = (0_u32..).zip(&groups).zip(&is_needed).filter(|(_, is_needed)| **is_needed);
        for ((node, &first), _) in needed {
            // From the innermost function of the frame to the outermost.
            let mut shown = Vec::new();
            let mut at = node;
            loop {
                shown.push(tree.code(at));
                if at == first || at == NONE {
                    break;
                }
                at = tree.parent(at);
            }
            let Some(frame) = tables.frame(profile, places, shown) else { continue };
            let parent = of_node.get(tree.parent(first) as usize).copied().flatten();
            let stack = stacks.push(StackRow { parent, frame });
            if let Some(slot) = of_node.get_mut(node as usize) {
                *slot = Some(stack);
            }
        }
        Self { stacks, tables, of_node }
    }

    /// Returns the stack of a node.
    pub(super) fn stack(&self, node: u32) -> Option<StackId> {
        self.of_node.get(node as usize).copied().flatten()
    }

    /// Replaces the tables of a profile.
    pub(super) fn store(self, profile: &mut Profile) {
        profile.stacks = self.stacks;
        profile.frames = self.tables.frames;
        profile.locations = self.tables.locations;
        profile.inlines = self.tables.inlines.into();
    }
}

/// Returns, by node, the outermost node of the same frame. Functions of one frame follow each other inwards.
fn groups(places: &Places, tree: &MergedNodes) -> Vec<u32> {
    let mut groups: Vec<u32> = Vec::with_capacity(tree.len());
    for node in 0..tree.len() as u32 {
        let (parent, place) = (tree.parent(node), tree.code(node));
        let outer = tree.code(parent);
        let is_same = parent != NONE && place < outer && places.frame(place) == places.frame(outer);
        let of_parent = groups.get(parent as usize).copied().filter(|_| is_same);
        groups.push(of_parent.unwrap_or(node));
    }
    groups
}

/// Frames with the functions that remain.
#[derive(Debug, Default)]
struct FrameTables {
    frames: Table<FrameId, FrameRow>,
    locations: Table<LocationId, LocationRow>,
    inlines: Vec<InlineRow>,
    /// By places, the innermost first.
    known: HashMap<Vec<u32>, FrameId>,
    /// By old location and the positions of its functions; no positions for all of them.
    known_locations: HashMap<(LocationId, Vec<u32>), LocationId>,
}

impl FrameTables {
    /// Returns the new frame with the functions at `shown`, which are places of one frame.
    fn frame(&mut self, profile: &Profile, places: &Places, shown: Vec<u32>) -> Option<FrameId> {
        if let Some(known) = self.known.get(&shown) {
            return Some(*known);
        }
        let old = places.frame(*shown.first()?)?;
        let row = *profile.frames.get(old)?;
        let all = places.of_frame(old);
        let positions = if shown.len() == all.len() {
            Vec::new()
        } else {
            shown.iter().map(|place| place - all.start).collect()
        };
        let location = self.location(profile, row.location, positions)?;
        let frame = self.frames.push(FrameRow { location, ..row });
        self.known.insert(shown, frame);
        Some(frame)
    }

    fn location(
        &mut self,
        profile: &Profile,
        old: LocationId,
        positions: Vec<u32>,
    ) -> Option<LocationId> {
        let key = (old, positions);
        if let Some(known) = self.known_locations.get(&key) {
            return Some(*known);
        }
        let positions = &key.1;
        let row = *profile.locations.get(old)?;
        let functions = profile.inlines.range(row.inlines());
        let first = self.inlines.len();
        let mut function_offset = row.function_offset;
        if positions.is_empty() {
            self.inlines.extend_from_slice(functions);
        } else {
            let kept = positions.iter().filter_map(|&at| functions.get(at as usize));
            self.inlines.extend(kept);
            if positions.last().is_some_and(|&last| last as usize + 1 != functions.len()) {
                // The function that contained the others is gone, and with it the start of the code.
                function_offset = None;
                if let Some(outermost) = self.inlines.last_mut() {
                    outermost.inlined = false;
                }
            }
        }
        let n_inlines = (self.inlines.len() - first) as u32;
        let first_inline = InlineId::from_index(first);
        let row = LocationRow { first_inline, n_inlines, function_offset, ..row };
        let location = self.locations.push(row);
        self.known_locations.insert(key, location);
        Some(location)
    }
}

/// Retains the threads of samples.
pub(super) fn retain_threads(profile: &mut Profile) {
    let mut kept = KeptRows::of(profile.threads.len());
    for sample in profile.samples.iter_mut() {
        sample.thread = kept.keep(sample.thread);
    }
    profile.threads = kept.old.iter().filter_map(|&id| profile.threads.get(id).copied()).collect();
    let unswitched = &mut profile.summary.threads_without_switch;
    unswitched.retain_mut(|row| match kept.new.by_id(row.thread).copied().flatten() {
        Some(thread) => {
            row.thread = thread;
            true
        }
        None => false,
    });
}

/// Retains the layouts of samples.
pub(super) fn retain_layouts(profile: &mut Profile) {
    let mut kept = KeptRows::of(profile.layouts.len());
    for sample in profile.samples.iter_mut() {
        sample.layout = kept.keep(sample.layout);
    }
    profile.layouts = kept.rows(&mut profile.layouts);
}

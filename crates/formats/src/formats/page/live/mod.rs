//! The tables of the page of a recording that is watched: they only grow, so that those who have them get what is new.
//!
//! Functions, nodes and leaves are numbered by when they appeared, not by their names: what has a number keeps it. Where a
//! name comes later than the samples that it is for, these samples' leaves move to other nodes.

mod grow;
mod rows;
mod sparse;
mod write;

use std::ops::Range;

use hashbrown::HashMap;
use profile::query::{Function, FunctionId};
use profile::{EndReason, LocationId, Profile, StackId, StringId, Table};

use super::head::{Fixed, PageModules};
use super::tree::{LeafId, NodeId, PageNode, PlaceId};
use crate::summary::write_summary;
use rows::{Rows, Texts};

/// The tables of a recording that grows.
#[derive(Default)]
pub struct LivePage {
    inlines: bool,
    /// What those must have who get what is new.
    texts: Texts,
    rows: Rows,
    /// What is known of the recording beside its tables, as members of a JSON object.
    facts: Vec<u8>,
    title: Vec<u8>,
    summary: Vec<u8>,
    quality: Vec<u8>,
    clock: Clock,
    fixed: Fixed,
    has_periods: bool,
    /// Where everything is in the tables.
    functions: HashMap<Function, FunctionId>,
    elsewhere: HashMap<(StringId, u32), u32>,
    strings: HashMap<StringId, u32>,
    nodes: HashMap<PageNode, NodeId>,
    of_stack: Table<StackId, StackNode>,
    leaves: HashMap<LiveLeaf, LeafId>,
    /// By leaf, what it is for.
    of_leaf: Table<LeafId, LiveLeaf>,
    places: HashMap<LocationId, PlaceId>,
    /// Samples that were taken in, with those that are forgotten, and how many are.
    samples: u64,
    forgotten: u64,
    /// So many nodes there are when it is next looked at whether samples still need them.
    next_look: usize,
}

/// Fewer nodes than that stay, whether samples need them or not.
const FEW_NODES: usize = 20_000;

impl std::fmt::Debug for LivePage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut all = f.debug_struct("LivePage");
        all.field("samples", &self.samples)
            .field("forgotten", &self.forgotten)
            .finish_non_exhaustive()
    }
}

/// A step of a profile that grows.
#[derive(Debug, Clone)]
pub struct LiveStep<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// So many samples of it are forgotten: the first one has that number.
    pub forgotten: u64,
    /// Locations that got their names in this step.
    pub named: Range<LocationId>,
}

/// The samples of a stack that ended alike.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LiveLeaf {
    stack: Option<StackId>,
    end: EndReason,
}

/// The innermost node of a stack, which is made when a sample has it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum StackNode {
    #[default]
    Unknown,
    Known(Option<NodeId>),
}

/// How times are told: in units since the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    unit: u64,
    origin: Option<u64>,
    /// The last time that was told.
    last: u32,
}

/// Nanoseconds of a unit: a count of 32 bits lasts for half a day.
const UNIT: u64 = 10_000;

impl Default for Clock {
    fn default() -> Self {
        Self { unit: UNIT, origin: None, last: 0 }
    }
}

impl LivePage {
    /// The tables of a recording of which nothing has come. `inlines`: whether inlined functions are functions of their own.
    #[must_use]
    pub fn new(inlines: bool) -> Self {
        Self { inlines, ..Self::default() }
    }

    /// Takes in what is new of a profile, and gives it as bytes for those who have what was before. `None` where they have
    /// to begin anew with [`Self::tables`].
    pub fn grow(&mut self, step: &LiveStep<'_>) -> Option<Vec<u8>> {
        let is_first = self.facts.is_empty();
        if self.is_sparse(step.forgotten) {
            self.drop_nodes();
            if self.take_in(step).is_some() {
                return None;
            }
        }
        let before = self.rows.sizes(&self.texts);
        match self.take_in(step) {
            Some(changes) if !is_first => Some(self.changes(&before, &changes)),
            Some(_) => None,
            None => {
                // What was stated before does not fit any more.
                *self = Self::new(self.inlines);
                self.clock.unit = UNIT.max(grow::span(step.profile) / (u64::from(u32::MAX) / 2));
                self.has_periods = grow::have_periods(step.profile);
                self.take_in(step);
                None
            }
        }
    }

    /// Nodes of the tree.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.rows.nodes.len()
    }

    /// Samples that are not forgotten.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.rows.samples.len()
    }

    /// The stream has ended: adds what is known of a profile then, beside its tables.
    pub fn end(&mut self, profile: &Profile) {
        self.state(profile, &PageModules::new(profile));
        // Writing to a vector does not fail.
        let _ = write_summary(profile, &mut self.summary);
    }

    /// All tables, as the page reads them, with a number that tells them from others; `None` where nothing has come yet.
    #[must_use]
    pub fn tables(&self, tick: u64) -> Option<Vec<u8>> {
        (!self.facts.is_empty()).then(|| self.whole(tick))
    }
}

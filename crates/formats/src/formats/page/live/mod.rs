//! Tables of the live page of a recording. They are append-only, so readers receive only the additions.
//!
//! Functions, nodes and leaves are numbered by first appearance, not by name; numbers are stable. If a name becomes
//! known after samples that need it, the leaves of these samples move to other nodes.

mod grow;
mod rows;
mod sparse;
mod write;

use std::ops::Range;

use hashbrown::HashMap;
use profile::query::{Function, FunctionId};
use profile::{EndReason, LocationId, Profile, StackId, StringId, Table};

use super::head::{Fixed, PageModules};
use super::schema::SampleFacts;
use super::tree::{AddressId, LeafId, NodeId, PageNode};
use crate::summary::write_summary;
use rows::{NumberTables, TextTables};

/// Tables of a growing recording.
#[derive(Default)]
pub struct LivePage {
    inlines: bool,
    /// Rows of the tables. A reader of an increment must have all earlier rows.
    texts: TextTables,
    rows: NumberTables,
    /// Facts of the recording outside of the tables, as members of a JSON object.
    facts: Vec<u8>,
    title: Vec<u8>,
    summary: Vec<u8>,
    quality: Vec<u8>,
    clock: TimeEncoding,
    fixed: Fixed,
    /// Properties of samples that the tables sent before can express.
    present: SampleFacts,
    /// Indexes of the rows in the tables.
    functions: HashMap<Function, FunctionId>,
    elsewhere: HashMap<(StringId, u32), u32>,
    strings: HashMap<StringId, u32>,
    nodes: HashMap<PageNode, NodeId>,
    of_stack: Table<StackId, StackNode>,
    leaves: HashMap<LiveLeaf, LeafId>,
    /// By leaf: its stack and end reason.
    of_leaf: Table<LeafId, LiveLeaf>,
    addresses: HashMap<LocationId, AddressId>,
    /// Total number of samples, including forgotten ones, and number of forgotten samples.
    samples: u64,
    forgotten: u64,
    /// Number of nodes at which [`Self::is_sparse`] next counts the nodes in use.
    next_look: usize,
}

/// Number of nodes below which unused nodes are not dropped.
const FEW_NODES: usize = 20_000;

impl std::fmt::Debug for LivePage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut all = f.debug_struct("LivePage");
        all.field("samples", &self.samples)
            .field("forgotten", &self.forgotten)
            .finish_non_exhaustive()
    }
}

/// A step of a growing profile.
#[derive(Debug, Clone)]
pub struct LiveStep<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Number of forgotten samples, which is the index of the profile's first sample.
    pub forgotten: u64,
    /// Locations that got their names in this step.
    pub named: Range<LocationId>,
}

/// Samples with the same stack and end reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LiveLeaf {
    stack: Option<StackId>,
    end: EndReason,
}

/// Innermost node of a stack, which is created when a sample has the stack.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum StackNode {
    #[default]
    Unknown,
    Known(Option<NodeId>),
}

/// Encoding of times: in units since the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeEncoding {
    unit: u64,
    origin: Option<u64>,
    /// The last time sent.
    last: u32,
}

/// Nanoseconds per unit: 32 bits count half a day.
const UNIT: u64 = 10_000;

impl Default for TimeEncoding {
    fn default() -> Self {
        Self { unit: UNIT, origin: None, last: 0 }
    }
}

impl LivePage {
    /// Returns the tables of a recording without any data. With `inlines`, inlined functions are separate functions.
    #[must_use]
    pub fn new(inlines: bool) -> Self {
        Self { inlines, ..Self::default() }
    }

    /// Adds the new rows of a profile. Returns the increment for readers that have the previous state, or `None` if
    /// they must restart with [`Self::tables`].
    pub fn grow(&mut self, step: &LiveStep<'_>) -> Option<Vec<u8>> {
        let is_first = self.facts.is_empty();
        if self.is_sparse(step.forgotten) {
            self.drop_nodes();
            if self.apply(step).is_some() {
                return None;
            }
        }
        let before = self.rows.sizes(&self.texts);
        match self.apply(step) {
            Some(changes) if !is_first => Some(self.changes(&before, &changes)),
            Some(_) => None,
            None => {
                // The step contradicts the facts that were sent before.
                *self = Self::new(self.inlines);
                self.clock.unit = UNIT.max(grow::span(step.profile) / (u64::from(u32::MAX) / 2));
                self.present.periods = grow::have_periods(step.profile);
                self.apply(step);
                None
            }
        }
    }

    /// Number of nodes of the tree.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.rows.nodes.len()
    }

    /// Number of samples that are not forgotten.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.rows.samples.len()
    }

    /// Ends the stream: adds the facts known only at the end, including the summary.
    pub fn end(&mut self, profile: &Profile) {
        self.state(profile, &PageModules::new(profile));
        // Writing to a vector does not fail.
        let _ = write_summary(profile, &mut self.summary);
    }

    /// Returns all tables in the page's format, identified by `tick`; `None` if there is no data yet.
    #[must_use]
    pub fn tables(&self, tick: u64) -> Option<Vec<u8>> {
        (!self.facts.is_empty()).then(|| self.all_tables(tick))
    }
}

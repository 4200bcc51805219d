//! The union of the stacks of all recordings: one tree of threads and functions, in which each node has what it weighs
//! in each recording. What is gone on one side stays, with a weight of 0.

use address::ById as _;
use hashbrown::HashMap;

use super::matching::{DiffFunctionId, PlaceFunctions};
use super::run::samples_of;
use super::weight::DiffWeight;
use crate::id::{StackId, StringId, ThreadId};
use crate::profile::Profile;
use crate::tables::{SampleRow, Strings, Table};
use crate::thread_names::folded_thread_name;

crate::row_ids! {
    /// A row of [`Diff::tree`](super::Diff::tree).
    pub DiffNodeId(u32);
}

/// What a node of the tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffLabel {
    /// Threads of a name, numbers of pools folded: an outermost node.
    Thread(StringId),
    /// Below a thread: the stacks that do not reach their root.
    Truncated,
    /// A function, called by the one of the node above.
    Function(DiffFunctionId),
}

/// Names of threads that have stacks of their own: each of them multiplies the tree. Those of further names are together.
const THREAD_NAMES: usize = 256;

/// What stands for the threads of further names.
const OTHERS: &[u8] = b"[others]";

/// A node: its caller's node, which comes before it, and what it stands for.
type Place = (Option<DiffNodeId>, DiffLabel);

/// The tree while recordings are added to it.
#[derive(Debug, Default)]
pub(super) struct UnionTree {
    pub(super) places: Table<DiffNodeId, Place>,
    index: HashMap<Place, DiffNodeId>,
    /// How many names of threads there are.
    thread_names: usize,
    /// By recording: what ends at each node; nodes that came later are missing.
    pub(super) own: Vec<Vec<DiffWeight>>,
}

/// How the samples of a recording are added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting<'a> {
    pub(super) event: &'a [u8],
    pub(super) by_samples: bool,
    /// What stands for an empty stack.
    pub(super) no_frames: DiffFunctionId,
    /// By name of a thread of this side: the one that it has on the other side.
    pub(super) renamed: &'a HashMap<Vec<u8>, Vec<u8>>,
}

impl UnionTree {
    /// Adds the stacks of a recording.
    pub(super) fn add(
        &mut self,
        profile: &Profile,
        places: &PlaceFunctions,
        strings: &mut Strings,
        counting: Counting<'_>,
    ) {
        let Counting { event, by_samples, no_frames, renamed } = counting;
        let mut roots: HashMap<(ThreadId, bool), DiffNodeId> = HashMap::new();
        let mut known: HashMap<(DiffNodeId, StackId), DiffNodeId> = HashMap::new();
        let mut own: Vec<DiffWeight> = Vec::new();
        for sample in samples_of(profile, event) {
            let key = (sample.thread, !sample.end.is_rooted());
            let root = match roots.get(&key) {
                Some(&root) => root,
                None => *roots.entry(key).or_insert(self.root(profile, sample, strings, renamed)),
            };
            let node = match sample.stack {
                Some(stack) => self.stack(profile, places, root, stack, &mut known),
                None => self.child(Some(root), DiffLabel::Function(no_frames)),
            };
            if own.len() <= node.index() {
                own.resize(node.index() + 1, DiffWeight::default());
            }
            if let Some(weight) = own.by_id_mut(node) {
                weight.add(DiffWeight::of(sample, by_samples));
            }
        }
        self.own.push(own);
    }

    /// The node that a sample's stack begins below.
    fn root(
        &mut self,
        profile: &Profile,
        sample: &SampleRow,
        strings: &mut Strings,
        renamed: &HashMap<Vec<u8>, Vec<u8>>,
    ) -> DiffNodeId {
        let comm = profile.threads.get(sample.thread).map(|thread| thread.comm);
        let comm = comm.map_or(&b""[..], |comm| profile.strings.get(comm));
        let name = folded_thread_name(renamed.get(comm).map_or(comm, Vec::as_slice));
        let mut label = DiffLabel::Thread(strings.intern(&name));
        if !self.index.contains_key(&(None, label)) {
            if self.thread_names >= THREAD_NAMES {
                label = DiffLabel::Thread(strings.intern(OTHERS));
            }
            self.thread_names += 1;
        }
        let thread = self.child(None, label);
        if sample.end.is_rooted() { thread } else { self.child(Some(thread), DiffLabel::Truncated) }
    }

    /// The node of a stack below a root. Stacks share their outer frames: what is `known` is not followed again.
    fn stack(
        &mut self,
        profile: &Profile,
        places: &PlaceFunctions,
        root: DiffNodeId,
        stack: StackId,
        known: &mut HashMap<(DiffNodeId, StackId), DiffNodeId>,
    ) -> DiffNodeId {
        let mut pending = Vec::new();
        let mut node = root;
        let mut next = Some(stack);
        while let Some(id) = next {
            if let Some(&found) = known.get(&(root, id)) {
                node = found;
                break;
            }
            let Some(row) = profile.stacks.get(id) else { break };
            pending.push((id, row.frame));
            // Parents come before their children: a table that breaks this ends the stack instead of looping.
            next = row.parent.filter(|&parent| parent < id);
        }
        for (id, frame) in pending.into_iter().rev() {
            if let Some(frame) = profile.frames.get(frame) {
                for &function in places.at(frame.location).iter().rev() {
                    node = self.child(Some(node), DiffLabel::Function(function));
                }
            }
            known.insert((root, id), node);
        }
        node
    }

    fn child(&mut self, parent: Option<DiffNodeId>, label: DiffLabel) -> DiffNodeId {
        let place = (parent, label);
        *self.index.entry(place).or_insert_with(|| self.places.push(place))
    }

    /// By recording and node: what ends there.
    pub(super) fn own_weight(&self, run: usize, node: DiffNodeId) -> DiffWeight {
        // A recording has weights up to the last node that it has samples at.
        let weight = self.own.get(run).and_then(|own| own.get(node.index()));
        weight.copied().unwrap_or_default()
    }

    /// By node: whether no node above it is of the same function. Such a node's subtree is all that this function
    /// weighs there, however often it calls itself.
    pub(super) fn is_outermost(&self) -> Table<DiffNodeId, bool> {
        let mut children: Table<DiffNodeId, Vec<DiffNodeId>> =
            self.places.iter().map(|_| Vec::new()).collect();
        let mut pending = Vec::new();
        for (id, &(parent, _)) in self.places.entries() {
            match parent.and_then(|parent| children.get_mut(parent)) {
                Some(siblings) => siblings.push(id),
                None => pending.push((id, false)),
            }
        }
        let mut outermost: Table<DiffNodeId, bool> =
            Table::from_vec(vec![false; self.places.len()]);
        // How often each function is on the way from the root to here.
        let mut above: HashMap<DiffFunctionId, u32> = HashMap::new();
        while let Some((id, is_left)) = pending.pop() {
            let Some(&(_, DiffLabel::Function(function))) = self.places.get(id) else {
                pending.extend(children.get(id).into_iter().flatten().map(|&child| (child, false)));
                continue;
            };
            let count = above.entry(function).or_default();
            if is_left {
                *count -= 1;
                continue;
            }
            if let Some(outermost) = outermost.get_mut(id) {
                *outermost = *count == 0;
            }
            *count += 1;
            pending.push((id, true));
            pending.extend(children.get(id).into_iter().flatten().map(|&child| (child, false)));
        }
        outermost
    }
}

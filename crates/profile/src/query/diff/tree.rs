//! Union of the stacks of all recordings: one tree of threads and functions, with the weight of each node in each
//! recording. Nodes that a recording lacks have weight 0.

use address::ById as _;
use hashbrown::HashMap;

use super::matching::{DiffFunctionId, LocationFunctions};
use super::run::samples_of;
use super::weight::DiffWeight;
use crate::id::{StackId, StringId, ThreadId};
use crate::profile::Profile;
use crate::tables::{SampleRow, Strings, Table};
use crate::thread_names::folded_thread_name;

crate::row_ids! {
    /// Index of a row of [`Diff::tree`](super::Diff::tree).
    pub DiffNodeId(u32);
}

/// Label of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DiffLabel {
    /// Threads of one name, with numbers of pools folded. It is an outermost node.
    Thread(StringId),
    /// Stacks that lack their root, below a thread.
    Truncated,
    /// A function, called by the function of the parent node.
    Function(DiffFunctionId),
}

/// Maximum number of thread names with separate stacks, because each name multiplies the tree. Further names are
/// merged.
const THREAD_NAMES: usize = 256;

/// Name of the merged threads.
const OTHERS: &[u8] = b"[others]";

/// A node: its caller's node, which precedes it, and its label.
type LabelledNode = (Option<DiffNodeId>, DiffLabel);

/// The tree while recordings are being added.
#[derive(Debug, Default)]
pub(super) struct UnionTree {
    pub(super) nodes: Table<DiffNodeId, LabelledNode>,
    index: HashMap<LabelledNode, DiffNodeId>,
    /// Number of thread names.
    thread_names: usize,
    /// By recording: weight that ends at each node; trailing nodes are omitted.
    pub(super) own: Vec<Vec<DiffWeight>>,
}

/// Parameters for adding the samples of a recording.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountOptions<'a> {
    pub(super) event: &'a [u8],
    pub(super) by_samples: bool,
    /// Function for an empty stack.
    pub(super) no_frames: DiffFunctionId,
    /// Names of threads, mapped to their names on the other side.
    pub(super) renamed: &'a HashMap<Vec<u8>, Vec<u8>>,
}

impl UnionTree {
    /// Adds the stacks of a recording.
    pub(super) fn add(
        &mut self,
        profile: &Profile,
        functions: &LocationFunctions,
        strings: &mut Strings,
        counting: CountOptions<'_>,
    ) {
        let CountOptions { event, by_samples, no_frames, renamed } = counting;
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
                Some(stack) => self.stack(profile, functions, root, stack, &mut known),
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

    /// Returns the node below which a sample's stack starts.
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

    /// Returns the node of a stack below a root. Stacks share their outer frames; `known` has the stacks added so far.
    fn stack(
        &mut self,
        profile: &Profile,
        functions: &LocationFunctions,
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
            // Parents precede their children. An inconsistent table ends the stack instead of causing a loop.
            next = row.parent.filter(|&parent| parent < id);
        }
        for (id, frame) in pending.into_iter().rev() {
            if let Some(frame) = profile.frames.get(frame) {
                for &function in functions.at(frame.location).iter().rev() {
                    node = self.child(Some(node), DiffLabel::Function(function));
                }
            }
            known.insert((root, id), node);
        }
        node
    }

    fn child(&mut self, parent: Option<DiffNodeId>, label: DiffLabel) -> DiffNodeId {
        let place = (parent, label);
        *self.index.entry(place).or_insert_with(|| self.nodes.push(place))
    }

    /// Returns the weight that ends at a node in a recording.
    pub(super) fn own_weight(&self, run: usize, node: DiffNodeId) -> DiffWeight {
        // A recording has weights up to the last node with samples.
        let weight = self.own.get(run).and_then(|own| own.get(node.index()));
        weight.copied().unwrap_or_default()
    }

    /// Returns, by node, whether no ancestor has the same function. The inclusive weight of a function is the sum over
    /// the subtrees of such nodes, which counts recursion once.
    pub(super) fn is_outermost(&self) -> Table<DiffNodeId, bool> {
        let mut children: Table<DiffNodeId, Vec<DiffNodeId>> =
            self.nodes.iter().map(|_| Vec::new()).collect();
        let mut pending = Vec::new();
        for (id, &(parent, _)) in self.nodes.entries() {
            match parent.and_then(|parent| children.get_mut(parent)) {
                Some(siblings) => siblings.push(id),
                None => pending.push((id, false)),
            }
        }
        let mut outermost: Table<DiffNodeId, bool> = Table::from_vec(vec![false; self.nodes.len()]);
        // Number of occurrences of each function on the path from the root.
        let mut above: HashMap<DiffFunctionId, u32> = HashMap::new();
        while let Some((id, is_left)) = pending.pop() {
            let Some(&(_, DiffLabel::Function(function))) = self.nodes.get(id) else {
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

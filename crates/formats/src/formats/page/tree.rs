//! The page's prefix tree of functions and lines. Addresses are stored only for the leaves.

use hashbrown::HashMap;
use profile::query::{Function, FunctionId, Functions, functions, stack_weights};
use profile::{
    EndReason, FrameRow, LocationId, LocationRow, ModuleKind, Profile, RowId as _, SampleId,
    StackId, StringId, Table, WaitKind, row_ids,
};
use rayon::slice::ParallelSliceMut as _;

/// Flags of a node; the page has the same numbers.
pub(super) const INLINED: u8 = 1;
const GUESSED: u8 = 2;
const KERNEL: u8 = 4;
const ANONYMOUS: u8 = 8;
pub(super) const JOINED: u8 = 16;
const GAP: u8 = 32;

row_ids! {
    /// Index of a row of `PageTree::nodes`.
    pub(super) NodeId(u32);
    /// Index of a row of `PageTree::leaves`.
    pub(super) LeafId(u32);
    /// Index of a row of `PageTree::addresses`.
    pub(super) AddressId(u32);
}

/// First line number that denotes a line of another file; the page has the same number.
pub(super) const ELSEWHERE: u32 = 1 << 31;

/// A line of a function below the lines that called it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct PageNode {
    /// The caller's node, which precedes this one; `None` for an outermost function.
    pub(super) parent: Option<NodeId>,
    pub(super) function: FunctionId,
    /// Line number, or 0 if unknown. Numbers from [`ELSEWHERE`] on denote a line in another file than the function's,
    /// by its index in [`PageTree::elsewhere`].
    pub(super) line: u32,
    /// In complete tables, [`JOINED`] is set if most samples have the frame from other samples; it does not split
    /// nodes.
    pub(super) flags: u8,
}

/// Sampled address and end reason.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Leaf {
    /// Node of the innermost function; `None` for a sample without frames.
    pub(super) node: Option<NodeId>,
    /// Sampled address.
    pub(super) address: Option<AddressId>,
    pub(super) end: EndReason,
    /// Kind of wait of a time off the processor.
    pub(super) wait: Option<WaitKind>,
}

/// The tree, and the leaf of each sample.
#[derive(Clone, Debug)]
pub(super) struct PageTree {
    /// Functions, sorted by name.
    pub(super) functions: Table<FunctionId, Function>,
    /// Lines in another file than their function's: file and line.
    pub(super) elsewhere: Vec<(StringId, u32)>,
    /// Strings of the functions and of `elsewhere`, sorted by id.
    pub(super) strings: Vec<StringId>,
    pub(super) nodes: Table<NodeId, PageNode>,
    /// Sampled addresses, as [`LocationRow::relative`].
    pub(super) addresses: Table<AddressId, u64>,
    pub(super) leaves: Table<LeafId, Leaf>,
    pub(super) of_sample: Table<SampleId, LeafId>,
}

/// By stack: node of the innermost function.
type Innermost = Table<StackId, Option<NodeId>>;

impl PageTree {
    pub(super) fn new(profile: &Profile, inlines: bool) -> Self {
        let all = Functions::new(profile, inlines);
        let (order, rank) = by_name(profile, &all.rows);
        let mut tree = Self {
            functions: order.iter().filter_map(|&id| all.rows.get(id)).copied().collect(),
            elsewhere: Vec::new(),
            strings: Vec::new(),
            nodes: Table::new(),
            addresses: Table::new(),
            leaves: Table::new(),
            of_sample: Table::new(),
        };
        let mut of_stack = tree.fill_nodes(profile, &all, &rank, inlines);
        tree.sort_nodes(&mut of_stack);
        tree.fill_leaves(profile, &of_stack);
        tree.sort_leaves();
        let of_functions = tree.functions.iter().flat_map(|row| [row.name, row.file]).flatten();
        tree.strings = of_functions.chain(tree.elsewhere.iter().map(|&(file, _)| file)).collect();
        tree.strings.sort_unstable();
        tree.strings.dedup();
        tree
    }

    /// Builds the nodes. Returns the innermost node of each stack.
    fn fill_nodes(
        &mut self,
        profile: &Profile,
        all: &Functions,
        rank: &Table<FunctionId, FunctionId>,
        inlines: bool,
    ) -> Innermost {
        let weights = stack_weights(profile);
        let mut index = NodeIndex::default();
        let mut elsewhere: HashMap<(StringId, u32), u32> = HashMap::new();
        // By node: number of samples with it, and number of those that have it from other samples.
        let mut shown: Table<NodeId, (u64, u64)> = Table::new();
        let mut of_stack = Innermost::new();
        of_stack.reserve(profile.stacks.len());
        for (stack, &weight) in profile.stacks.iter().zip(&weights) {
            let outside = stack.parent.and_then(|parent| of_stack.get(parent)).copied();
            let mut node = outside.unwrap_or(None);
            let frame = profile.frames.get(stack.frame);
            if let Some((frame, location)) =
                frame.and_then(|row| Some((row, profile.locations.get(row.location)?)))
            {
                let rows = functions(profile, location, inlines);
                let flags = frame_flags(profile, frame, location);
                for (depth, at) in all.at(frame.location).iter().enumerate().rev() {
                    let inlined = rows.get(depth).is_some_and(|row| row.inlined);
                    let flags = flags | if inlined { INLINED } else { 0 };
                    let function = rank.get(at.function).copied().unwrap_or(at.function);
                    let file = all.rows.get(at.function).and_then(|row| row.file);
                    let line = match other_file(at.file, at.line, file) {
                        Some(line) => *elsewhere.entry(line).or_insert_with(|| {
                            self.elsewhere.push(line);
                            ELSEWHERE + (self.elsewhere.len() as u32 - 1)
                        }),
                        None => at.line.min(ELSEWHERE - 1),
                    };
                    let row = PageNode { parent: node, function, line, flags };
                    let child = index.node(row, &mut self.nodes);
                    if child.index() == shown.len() {
                        shown.push((0, 0));
                    }
                    if let Some((all, joined)) = shown.get_mut(child) {
                        *all += weight;
                        *joined += if frame.found_by.is_joined() { weight } else { 0 };
                    }
                    node = Some(child);
                }
            }
            of_stack.push(node);
        }
        for (node, (all, joined)) in self.nodes.iter_mut().zip(shown) {
            node.flags |= if joined > all / 2 { JOINED } else { 0 };
        }
        of_stack
    }

    /// Sorts nodes in preorder, with children in the order of their functions. Nodes that a browser traverses together
    /// are then adjacent.
    fn sort_nodes(&mut self, of_stack: &mut Innermost) {
        let mut by_parent: Vec<(PageNode, NodeId)> =
            self.nodes.entries().map(|(id, &row)| (row, id)).collect();
        by_parent.par_sort_unstable();
        // By node, after one for no node: end of its children, which follow those of the node before.
        let mut ends = vec![0_u32; self.nodes.len() + 1];
        for (at, (row, _)) in (1..).zip(&by_parent) {
            let place = row.parent.map_or(0, |parent| parent.index() + 1);
            if let Some(end) = ends.get_mut(place) {
                *end = at;
            }
        }
        let mut end = 0;
        for next in &mut ends {
            end = end.max(*next);
            *next = end;
        }
        let children = |of: Option<NodeId>| {
            let place = of.map_or(0, |of| of.index() + 1);
            let end_of = |place: usize| ends.get(place).map_or(0, |&end| end as usize);
            let range = place.checked_sub(1).map_or(0, end_of)..end_of(place);
            by_parent.get(range).unwrap_or_default().iter().map(|&(_, id)| id)
        };
        let mut sorted: Table<NodeId, PageNode> = Table::new();
        let mut target: Table<NodeId, Option<NodeId>> =
            Table::from_vec(vec![None; self.nodes.len()]);
        let mut todo: Vec<NodeId> = children(None).rev().collect();
        while let Some(id) = todo.pop() {
            let Some(&row) = self.nodes.get(id) else { continue };
            let parent = row.parent.and_then(|parent| target.get(parent).copied().flatten());
            let new = sorted.push(PageNode { parent, ..row });
            if let Some(slot) = target.get_mut(id) {
                *slot = Some(new);
            }
            todo.extend(children(Some(id)).rev());
        }
        for node in of_stack.iter_mut() {
            *node = node.and_then(|id| target.get(id).copied().flatten());
        }
        self.nodes = sorted;
    }

    /// Sorts leaves by node.
    fn sort_leaves(&mut self) {
        let mut order: Vec<LeafId> = self.leaves.ids().collect();
        order.sort_by_key(|&id| self.leaves.get(id).map(|leaf| leaf.node));
        let mut target: Table<LeafId, LeafId> = self.leaves.ids().collect();
        for (at, &id) in order.iter().enumerate() {
            if let Some(slot) = target.get_mut(id) {
                *slot = LeafId::from_index(at);
            }
        }
        self.leaves = order.iter().filter_map(|&id| self.leaves.get(id)).copied().collect();
        for leaf in self.of_sample.iter_mut() {
            *leaf = target.get(*leaf).copied().unwrap_or(*leaf);
        }
    }

    fn fill_leaves(&mut self, profile: &Profile, of_stack: &Innermost) {
        let mut index: HashMap<Leaf, LeafId> = HashMap::new();
        let mut addresses: Table<LocationId, Option<AddressId>> =
            Table::from_vec(vec![None; profile.locations.len()]);
        // By stack: the leaf of its latest sample.
        let mut latest: Table<StackId, Option<LeafId>> =
            Table::from_vec(vec![None; profile.stacks.len()]);
        self.of_sample.reserve(profile.samples.len());
        for sample in &profile.samples {
            let node = sample.stack.and_then(|stack| of_stack.get(stack)).copied().flatten();
            let stack = sample.stack.and_then(|stack| profile.stacks.get(stack));
            let location =
                stack.and_then(|row| profile.frames.get(row.frame)).map(|row| row.location);
            let address = location.and_then(|id| {
                let address = || profile.locations.get(id).map_or(0, |row| row.relative);
                let known = addresses.get_mut(id)?;
                Some(*known.get_or_insert_with(|| self.addresses.push(address())))
            });
            let leaf = Leaf { node, address, end: sample.end, wait: sample.wait() };
            let leaves = &mut self.leaves;
            let mut find = |leaves: &mut Table<LeafId, Leaf>| {
                *index.entry(leaf).or_insert_with(|| leaves.push(leaf))
            };
            let id = match sample.stack.and_then(|stack| latest.get_mut(stack)) {
                Some(Some(known)) if leaves.get(*known) == Some(&leaf) => *known,
                Some(latest) => *latest.insert(find(leaves)),
                None => find(leaves),
            };
            self.of_sample.push(id);
        }
    }
}

/// Nodes by their rows. Most nodes have at most one child, and need no entry in the hash table.
#[derive(Default)]
struct NodeIndex {
    /// By node: its first child.
    first: Table<NodeId, Option<NodeId>>,
    others: HashMap<PageNode, NodeId>,
}

impl NodeIndex {
    /// Returns the node of a row, adding it if there is none.
    fn node(&mut self, row: PageNode, nodes: &mut Table<NodeId, PageNode>) -> NodeId {
        let Self { first, others } = self;
        let node = match row.parent.and_then(|parent| first.get_mut(parent)) {
            Some(Some(known)) if nodes.get(*known) == Some(&row) => return *known,
            Some(first @ None) => *first.insert(nodes.push(row)),
            _ => *others.entry(row).or_insert_with(|| nodes.push(row)),
        };
        if node.index() == first.len() {
            first.push(None);
        }
        node
    }
}

/// Returns the file and line if a line is in another file than its function; otherwise `None`.
pub(super) fn other_file(
    file: Option<StringId>,
    line: u32,
    of_function: Option<StringId>,
) -> Option<(StringId, u32)> {
    file.filter(|_| line != 0 && file != of_function).map(|file| (file, line))
}

/// Returns the flags that all functions of a frame share.
pub(super) fn frame_flags(profile: &Profile, frame: &FrameRow, location: &LocationRow) -> u8 {
    let module = location.module.and_then(|id| profile.modules.get(id));
    let nowhere = matches!(module.map(|row| row.kind), Some(ModuleKind::Anonymous) | None);
    let gap = frame.found_by.is_gap();
    let flags = [
        (frame.found_by.is_unverified() && !frame.found_by.is_joined(), GUESSED),
        (frame.kernel, KERNEL),
        (nowhere && !frame.kernel && !gap, ANONYMOUS),
        (gap, GAP),
    ];
    flags.iter().filter(|flag| flag.0).fold(0, |all, flag| all | flag.1)
}

/// Returns the functions sorted by name, and the rank of each.
fn by_name(
    profile: &Profile,
    rows: &Table<FunctionId, Function>,
) -> (Vec<FunctionId>, Table<FunctionId, FunctionId>) {
    let text = |id: Option<StringId>| id.map_or(&[][..], |id| profile.strings.get(id));
    let mut order: Vec<FunctionId> = rows.ids().collect();
    order.sort_by_key(|&id| {
        let row = rows.get(id)?;
        Some((text(row.name), text(row.file), text(row.module), row.line, row.start))
    });
    let mut rank: Table<FunctionId, FunctionId> = rows.ids().collect();
    for (place, &id) in order.iter().enumerate() {
        if let Some(slot) = rank.get_mut(id) {
            *slot = FunctionId::from_index(place);
        }
    }
    (order, rank)
}

//! Prefix tree of stacks by function name, without addresses: stacks with equal names share one path.

use std::ops::Range;

use hashbrown::HashMap;

use crate::render::text::{push_label, push_module_label};
use crate::render::truncation::truncated;
use profile::query::functions;
use profile::{InlineRow, Profile, RowId, StackId, StringId, Strings, Table, row_ids};

row_ids! {
    /// Index of a node of the tree.
    pub(crate) NameId(u32);
}

/// A name below the path of its callers' names. A parent precedes its children.
#[derive(Debug, Clone, Copy)]
struct NameNode {
    /// `None` for an outermost name.
    parent: Option<NameId>,
    depth: u32,
    label: StringId,
}

/// The tree, and the node of each stack of the profile.
#[derive(Debug)]
pub(crate) struct NameTree {
    /// Printed names, before truncation.
    labels: Strings,
    /// Truncated names, for those too long to print in full.
    truncated: HashMap<StringId, Box<[u8]>>,
    nodes: Table<NameId, NameNode>,
    /// By stack of the profile.
    of_stack: Table<StackId, Option<NameId>>,
}

impl NameTree {
    /// Builds the tree of all stacks of `profile`. With `inlines`, inlined functions are separate nodes; with
    /// `kernel_suffix`, names of kernel functions get the suffix `_[k]`.
    pub(crate) fn new(profile: &Profile, inlines: bool, kernel_suffix: bool) -> Self {
        let mut tree = Self {
            labels: Strings::default(),
            truncated: HashMap::new(),
            nodes: Table::new(),
            of_stack: Table::new(),
        };
        let mut namer =
            Namer { profile, kernel_suffix, known: HashMap::new(), scratch: Vec::new() };
        let mut children: HashMap<(Option<NameId>, StringId), NameId> = HashMap::new();
        tree.of_stack.reserve(profile.stacks.len());
        for stack in &profile.stacks {
            let outer = stack.parent.and_then(|parent| tree.of_stack.get(parent));
            let mut node = outer.copied().flatten();
            let frame = profile.frames.get(stack.frame);
            let location = frame.and_then(|frame| profile.locations.get(frame.location));
            let kernel = frame.is_some_and(|frame| frame.kernel);
            let module = location.and_then(|location| profile.modules.get(location.module?));
            let module = module.map(|module| module.path);
            let functions =
                location.map_or(&[][..], |location| functions(profile, location, inlines));
            if functions.is_empty() {
                let label = namer.label(None, module, kernel, &mut tree.labels);
                node = Some(tree.child(&mut children, node, label));
            }
            for function in functions.iter().rev() {
                let label = namer.label(Some(function), module, kernel, &mut tree.labels);
                node = Some(tree.child(&mut children, node, label));
            }
            tree.of_stack.push(node);
        }
        tree
    }

    fn child(
        &mut self,
        children: &mut HashMap<(Option<NameId>, StringId), NameId>,
        parent: Option<NameId>,
        label: StringId,
    ) -> NameId {
        *children.entry((parent, label)).or_insert_with(|| {
            let outer = parent.and_then(|parent| self.nodes.get(parent));
            let depth = outer.map_or(0, |outer| outer.depth).saturating_add(1);
            self.nodes.push(NameNode { parent, depth, label })
        })
    }

    /// Returns the label of a name that is not a function.
    pub(crate) fn intern(&mut self, name: &[u8]) -> StringId {
        let mut text = Vec::new();
        push_label(&mut text, name);
        self.labels.intern(&text)
    }

    /// Truncates all labels to at most `most` bytes.
    pub(crate) fn truncate_labels(&mut self, most: usize) {
        let all = self.labels.ids();
        self.truncated =
            all.filter_map(|id| Some((id, truncated(self.labels.get(id), most)?))).collect();
    }

    /// Returns the text of a label.
    pub(crate) fn label(&self, label: StringId) -> &[u8] {
        if let Some(text) = self.truncated.get(&label) {
            return text;
        }
        self.labels.get(label)
    }

    /// Number of distinct paths of names.
    pub(crate) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of a stack of the profile; `None` for an empty stack.
    pub(crate) fn node_of(&self, stack: Option<StackId>) -> Option<NameId> {
        self.of_stack.get(stack?).copied().flatten()
    }

    /// Number of names on the path to a node.
    pub(crate) fn depth(&self, node: Option<NameId>) -> u32 {
        node.and_then(|node| self.nodes.get(node)).map_or(0, |node| node.depth)
    }

    /// Stores the labels from `node` outwards in `path`.
    pub(crate) fn path(&self, node: Option<NameId>, path: &mut Vec<StringId>) {
        path.clear();
        let mut next = node;
        // Terminates: a parent has a smaller index than its children.
        while let Some(&NameNode { parent, label, .. }) = next.and_then(|id| self.nodes.get(id)) {
            path.push(label);
            next = parent;
        }
    }

    /// Returns, by label, its rank in the byte order of all labels.
    pub(crate) fn label_ranks(&self) -> Table<StringId, u32> {
        let mut sorted: Vec<StringId> = self.labels.ids().collect();
        sorted.sort_unstable_by_key(|&label| self.labels.get(label));
        inverted(&sorted)
    }

    /// Returns, by node, its position in a preorder walk of the tree with siblings sorted by `ranks`.
    pub(crate) fn order(&self, ranks: &Table<StringId, u32>) -> Table<NameId, u32> {
        let rank = |node: &NameNode| ranks.get(node.label).copied().unwrap_or(0);
        // Sorted so that siblings are adjacent, in reverse order of rank, as the stack of the walk needs them.
        let mut siblings: Vec<(Option<NameId>, u32, NameId)> = Vec::with_capacity(self.nodes.len());
        siblings.extend(
            self.nodes.entries().map(|(id, node)| (node.parent, u32::MAX - rank(node), id)),
        );
        siblings.sort_unstable();
        // End of each node's children in `siblings`; the outermost nodes come first.
        let mut ends = Table::<NameId, usize>::from_vec(vec![0; self.nodes.len()]);
        let outermost = siblings.partition_point(|&(parent, ..)| parent.is_none());
        for &(parent, ..) in &siblings {
            if let Some(count) = parent.and_then(|parent| ends.get_mut(parent)) {
                *count += 1;
            }
        }
        let mut sum = outermost;
        for end in ends.iter_mut() {
            sum += *end;
            *end = sum;
        }
        let ids = |range: Range<usize>| {
            siblings.get(range).unwrap_or_default().iter().map(|&(.., id)| id)
        };
        let children = |node: NameId| {
            let before = node.index().checked_sub(1).and_then(|at| ends.as_slice().get(at));
            before.copied().unwrap_or(outermost)..ends.get(node).copied().unwrap_or(0)
        };
        let mut visited = Vec::with_capacity(self.nodes.len());
        let mut pending: Vec<NameId> = ids(0..outermost).collect();
        while let Some(node) = pending.pop() {
            visited.push(node);
            pending.extend(ids(children(node)));
        }
        inverted(&visited)
    }
}

/// Inverts a permutation of all ids: returns the position of each element.
fn inverted<I: RowId>(permutation: &[I]) -> Table<I, u32> {
    let mut places = Table::<I, u32>::from_vec(vec![0; permutation.len()]);
    for (place, &element) in (0..).zip(permutation) {
        if let Some(slot) = places.get_mut(element) {
            *slot = place;
        }
    }
    places
}

/// Computes the label of each function once.
struct Namer<'a> {
    profile: &'a Profile,
    kernel_suffix: bool,
    /// Labels by name, by module if there is no name, and by whether the kernel suffix applies.
    known: HashMap<(Option<StringId>, Option<StringId>, bool), StringId>,
    scratch: Vec<u8>,
}

impl Namer<'_> {
    fn label(
        &mut self,
        function: Option<&InlineRow>,
        module: Option<StringId>,
        kernel: bool,
        labels: &mut Strings,
    ) -> StringId {
        let name = function.and_then(|function| function.function);
        let suffix = kernel && self.kernel_suffix;
        let module = module.filter(|_| name.is_none());
        *self.known.entry((name, module, suffix)).or_insert_with(|| {
            self.scratch.clear();
            match (name, module) {
                (None, Some(module)) => {
                    push_module_label(&mut self.scratch, self.profile.strings.get(module));
                }
                (name, _) => {
                    let name = name.map_or(&b""[..], |name| self.profile.strings.get(name));
                    push_label(&mut self.scratch, name);
                }
            }
            if suffix {
                self.scratch.extend_from_slice(b"_[k]");
            }
            labels.intern(&self.scratch)
        })
    }
}

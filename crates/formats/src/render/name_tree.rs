//! The prefix tree of stacks with addresses forgotten: stacks whose functions have the same names are one path.

use std::ops::Range;

use hashbrown::HashMap;

use crate::render::text::push_label;
use profile::query::functions;
use profile::{InlineRow, Profile};
use profile::{StringId, Strings};

/// No node: the parent of an outermost one, the node of an empty stack.
pub(crate) const NO_NAME: u32 = u32::MAX;

/// A node: a name under the path of names that called it. A parent comes before its children.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    depth: u32,
    label: StringId,
}

/// The tree, and where each stack of the profile is in it.
#[derive(Debug)]
pub(crate) struct NameTree {
    /// Names as they are printed.
    labels: Strings,
    nodes: Vec<Node>,
    /// By stack of the profile.
    of_stack: Vec<u32>,
}

impl NameTree {
    /// The tree of all stacks of `profile`. `inlines`: whether inlined functions are nodes of their own;
    /// `kernel_suffix`: whether names of kernel functions get the suffix `_[k]`.
    pub(crate) fn new(profile: &Profile, inlines: bool, kernel_suffix: bool) -> Self {
        let mut tree = Self { labels: Strings::default(), nodes: Vec::new(), of_stack: Vec::new() };
        let mut namer =
            Namer { profile, kernel_suffix, known: HashMap::new(), scratch: Vec::new() };
        let mut children: HashMap<(u32, StringId), u32> = HashMap::new();
        tree.of_stack.reserve_exact(profile.stacks.len());
        for stack in &profile.stacks {
            let mut node = tree.of_stack.get(stack.parent as usize).copied().unwrap_or(NO_NAME);
            let frame = profile.frames.get(stack.frame as usize);
            let location = frame.and_then(|frame| profile.locations.get(frame.location as usize));
            let kernel = frame.is_some_and(|frame| frame.kernel);
            let functions =
                location.map_or(&[][..], |location| functions(profile, location, inlines));
            if functions.is_empty() {
                let label = namer.label(None, kernel, &mut tree.labels);
                node = tree.child(&mut children, node, label);
            }
            for function in functions.iter().rev() {
                let label = namer.label(Some(function), kernel, &mut tree.labels);
                node = tree.child(&mut children, node, label);
            }
            tree.of_stack.push(node);
        }
        tree
    }

    fn child(
        &mut self,
        children: &mut HashMap<(u32, StringId), u32>,
        parent: u32,
        label: StringId,
    ) -> u32 {
        *children.entry((parent, label)).or_insert_with(|| {
            let depth =
                self.nodes.get(parent as usize).map_or(0, |parent| parent.depth).saturating_add(1);
            self.nodes.push(Node { parent, depth, label });
            self.nodes.len() as u32 - 1
        })
    }

    /// The label of a name that is no function's.
    pub(crate) fn intern(&mut self, name: &[u8]) -> StringId {
        let mut text = Vec::new();
        push_label(&mut text, name);
        self.labels.intern(&text)
    }

    /// A label's text.
    pub(crate) fn label(&self, label: StringId) -> &[u8] {
        self.labels.get(label)
    }

    /// The node of a stack of the profile; `NO_NAME` for an empty one.
    pub(crate) fn node_of(&self, stack: u32) -> u32 {
        self.of_stack.get(stack as usize).copied().unwrap_or(NO_NAME)
    }

    /// How many names the path to a node has.
    pub(crate) fn depth(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.depth)
    }

    /// Puts the labels from `node` outwards into `path`.
    pub(crate) fn path(&self, node: u32, path: &mut Vec<StringId>) {
        path.clear();
        let mut next = node;
        // Ends: a node's parent has a smaller index than the node.
        while let Some(&Node { parent, label, .. }) = self.nodes.get(next as usize) {
            path.push(label);
            next = parent;
        }
    }

    /// By label: its place among all labels in the order of their bytes.
    pub(crate) fn label_ranks(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.labels.len() as u32).collect();
        sorted.sort_unstable_by_key(|&label| self.labels.get(StringId(label)));
        inverted(&sorted)
    }

    /// By node: its place in a walk of the tree that visits a node before its children, and these by `ranks`.
    pub(crate) fn order(&self, ranks: &[u32]) -> Vec<u32> {
        let rank = |node: &Node| ranks.get(node.label.0 as usize).copied().unwrap_or(0);
        // Siblings become neighbours, the last of them in front: the walk's stack takes them in this order.
        let mut siblings: Vec<(u32, u32, u32)> = Vec::with_capacity(self.nodes.len());
        siblings.extend(
            (0_u32..).zip(&self.nodes).map(|(id, node)| (node.parent, u32::MAX - rank(node), id)),
        );
        siblings.sort_unstable();
        // By node: where its children begin in `siblings`; the outermost nodes come last.
        let mut starts = vec![0_u32; self.nodes.len() + 1];
        for &(parent, ..) in &siblings {
            if let Some(count) = starts.get_mut((parent as usize).saturating_add(1)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let ids = |range: Range<usize>| {
            siblings.get(range).unwrap_or_default().iter().map(|&(.., id)| id)
        };
        let start = |node: usize| starts.get(node).map_or(siblings.len(), |&start| start as usize);
        let mut visited = Vec::with_capacity(self.nodes.len());
        let mut pending: Vec<u32> = ids(start(self.nodes.len())..siblings.len()).collect();
        while let Some(node) = pending.pop() {
            visited.push(node);
            pending.extend(ids(start(node as usize)..start(node as usize + 1)));
        }
        inverted(&visited)
    }
}

/// By element of a permutation: its index.
fn inverted(permutation: &[u32]) -> Vec<u32> {
    let mut places = vec![0; permutation.len()];
    for (place, &element) in (0..).zip(permutation) {
        if let Some(slot) = places.get_mut(element as usize) {
            *slot = place;
        }
    }
    places
}

/// Gives each function its label, once.
struct Namer<'a> {
    profile: &'a Profile,
    kernel_suffix: bool,
    /// Labels by name and whether it is the kernel's.
    known: HashMap<(Option<StringId>, bool), StringId>,
    scratch: Vec<u8>,
}

impl Namer<'_> {
    fn label(
        &mut self,
        function: Option<&InlineRow>,
        kernel: bool,
        labels: &mut Strings,
    ) -> StringId {
        let name = function.and_then(|function| function.function);
        let suffix = kernel && self.kernel_suffix;
        *self.known.entry((name, suffix)).or_insert_with(|| {
            self.scratch.clear();
            push_label(&mut self.scratch, name.map_or(&[], |name| self.profile.strings.get(name)));
            if suffix {
                self.scratch.extend_from_slice(b"_[k]");
            }
            labels.intern(&self.scratch)
        })
    }
}

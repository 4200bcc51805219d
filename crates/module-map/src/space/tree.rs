//! Disjoint mappings in address order, as a tree of chunks.
//! Versions share all nodes except the path to the change,
//! so the cost of a version hardly depends on the number of mappings.

use std::sync::Arc;

use address::Avma;
use budget::HeldMemory;

use super::Mapping;
use super::chunk::Chunk;

/// Maximum number of children of a node before it is split.
/// Most processes have fewer chunks, so that all are below the root.
const FANOUT: usize = 32;

/// A tree. Invariant: children are sorted and not empty, and each begins with its first mapping.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    root: Children,
}

/// The children of a node.
#[derive(Clone, Debug, Default)]
struct Children {
    list: Vec<Child>,
    held: HeldMemory,
}

/// Accounted bytes of a node and its allocation, besides its children.
const NODE: u64 = 128;

#[derive(Clone, Debug)]
struct Child {
    start: Avma,
    node: TreeNode,
}

#[derive(Clone, Debug)]
enum TreeNode {
    Leaf(Arc<Chunk>),
    Inner(Arc<Children>),
}

/// Result of a lookup.
pub(super) enum TreeMatch<'t> {
    Mapping(&'t Mapping),
    /// Nothing from the first address up to the second.
    Gap(Avma, Avma),
}

impl Tree {
    /// Creates an empty tree, charged to the account of `held`.
    pub(super) fn new(held: &HeldMemory) -> Self {
        Self { root: Children::new(Vec::new(), held) }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.root.list.is_empty()
    }

    /// Returns the mapping at an address.
    #[inline]
    pub(super) fn lookup(&self, avma: Avma) -> Option<&Mapping> {
        let mut children = &*self.root.list;
        loop {
            let at = children.partition_point(|child| child.start <= avma).checked_sub(1)?;
            match &children.get(at)?.node {
                TreeNode::Inner(inner) => children = &inner.list,
                TreeNode::Leaf(chunk) => {
                    let mappings = chunk.mappings();
                    let after = mappings.partition_point(|mapping| mapping.start <= avma);
                    let mapping = mappings.get(after.checked_sub(1)?)?;
                    return (avma < mapping.end).then_some(mapping);
                }
            }
        }
    }

    /// Returns the mapping at an address, or the gap around it.
    pub(super) fn find(&self, avma: Avma) -> TreeMatch<'_> {
        let mut next = Avma(u64::MAX);
        let mut children = &*self.root.list;
        loop {
            let after = children.partition_point(|child| child.start <= avma);
            next = children.get(after).map_or(next, |child| child.start);
            let child = after.checked_sub(1).and_then(|at| children.get(at));
            match child.map(|child| &child.node) {
                None => return TreeMatch::Gap(Avma(0), next),
                Some(TreeNode::Inner(inner)) => children = &inner.list,
                Some(TreeNode::Leaf(chunk)) => {
                    let mappings = chunk.mappings();
                    let after = mappings.partition_point(|mapping| mapping.start <= avma);
                    next = mappings.get(after).map_or(next, |mapping| mapping.start);
                    let before = after.checked_sub(1).and_then(|at| mappings.get(at));
                    return match before {
                        Some(mapping) if avma < mapping.end => TreeMatch::Mapping(mapping),
                        before => {
                            TreeMatch::Gap(before.map_or(Avma(0), |mapping| mapping.end), next)
                        }
                    };
                }
            }
        }
    }

    /// Replaces everything between two addresses with `new`, or with nothing.
    pub(super) fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) {
        if let Some(rear) = self.root.replace(start, end, new) {
            let above = Children::new(Vec::new(), &self.root.held);
            let front = Child::inner(std::mem::replace(&mut self.root, above));
            self.root.list = vec![front, Child::inner(rear)];
        }
        while let [Child { node: TreeNode::Inner(only), .. }] = &*self.root.list {
            self.root.list = only.list.clone();
        }
        self.root.count();
    }

    /// Calls `each` with every chunk.
    pub(super) fn for_each_chunk<'t>(&'t self, each: &mut dyn FnMut(&'t Arc<Chunk>)) {
        fn visit<'t>(children: &'t [Child], each: &mut dyn FnMut(&'t Arc<Chunk>)) {
            for child in children {
                match &child.node {
                    TreeNode::Leaf(chunk) => each(chunk),
                    TreeNode::Inner(inner) => visit(&inner.list, each),
                }
            }
        }
        visit(&self.root.list, each);
    }
}

impl Child {
    fn leaf(chunk: Chunk) -> Self {
        Self { start: chunk.start(), node: TreeNode::Leaf(Arc::new(chunk)) }
    }

    fn inner(mut children: Children) -> Self {
        children.count();
        let start = children.start();
        Self { start, node: TreeNode::Inner(Arc::new(children)) }
    }

    /// The same for this part of the tree; returns the overflow, which comes after it.
    fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) -> Option<Self> {
        match &mut self.node {
            TreeNode::Leaf(chunk) => {
                let chunk = Arc::make_mut(chunk);
                let rear = chunk.replace(start, end, new);
                self.start = chunk.start();
                rear.map(Self::leaf)
            }
            TreeNode::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                let rear = inner.replace(start, end, new);
                inner.count();
                self.start = inner.start();
                rear.map(Self::inner)
            }
        }
    }

    fn is_empty(&self) -> bool {
        match &self.node {
            TreeNode::Leaf(chunk) => chunk.mappings().is_empty(),
            TreeNode::Inner(inner) => inner.list.is_empty(),
        }
    }
}

impl Children {
    /// Creates children, charged to the account of `held`.
    fn new(list: Vec<Child>, held: &HeldMemory) -> Self {
        let mut children = Self { list, held: held.another(0) };
        children.count();
        children
    }

    /// Accounts their current size.
    fn count(&mut self) {
        self.held.set(NODE + (self.list.capacity() * size_of::<Child>()) as u64);
    }

    fn start(&self) -> Avma {
        self.list.first().map_or(Avma(0), |child| child.start)
    }

    /// The same for the children of a node.
    /// Maps mostly come in rows after an exec: then changed nodes are not shared, and nothing is copied.
    fn replace(&mut self, start: Avma, end: Avma, new: Option<Mapping>) -> Option<Self> {
        let Self { list: children, held } = self;
        let Some(after) = children.len().checked_sub(1) else {
            children.extend(new.map(|new| Child::leaf(Chunk::new(&[new], held))));
            return None;
        };
        // If no child contains the new mapping's addresses, the child before or after takes it.
        let low =
            children.partition_point(|child| child.start <= start).saturating_sub(1).min(after);
        let rest = children.get(low..).unwrap_or_default();
        let n_touched = rest.iter().take_while(|child| child.start < end).count();
        if n_touched > 1 {
            // Children between the first and the last are covered completely.
            children.drain(low + 1..low + n_touched - 1);
            if let Some(last) = children.get_mut(low + 1) {
                // Truncating one end adds no mappings.
                let _ = last.replace(start, end, None);
                if last.is_empty() {
                    children.remove(low + 1);
                }
            }
        }
        let first = children.get_mut(low)?;
        let rear = first.replace(start, end, new);
        if first.is_empty() {
            children.remove(low);
        } else if let Some(rear) = rear {
            children.insert(low + 1, rear);
        }
        if children.len() <= FANOUT {
            return None;
        }
        // A row that grows at the end leaves full nodes.
        let half = if low + 2 >= FANOUT { FANOUT } else { children.len() / 2 };
        let rear = children.split_off(half);
        Some(Self::new(rear, held))
    }
}

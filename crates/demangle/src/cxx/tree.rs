//! The tree of a parsed name: small nodes in one vector, which refer to each other by index. The vector is reused for
//! the next name.
//! A substitution or a template parameter is the index of its target, which makes the tree a graph without copies.

use crate::cxx::node::{Node, NodeId, NodeList, NodeShape, Signature};

/// A node and its cached properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeEntry {
    pub(crate) node: Node,
    pub(crate) shape: NodeShape,
    /// True if a substitution refers to the node, so that it is printed more than once.
    pub(crate) is_shared: bool,
    pub(crate) printed: Printed,
}

/// Range of a node's text in the output, in bytes; the length is 0 if it was not printed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printed {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

impl Printed {
    const NOT: Self = Self { start: 0, length: 0 };
}

/// The nodes of one name.
#[derive(Debug)]
pub(crate) struct Tree {
    entries: Vec<TreeEntry>,
    lists: Vec<NodeId>,
    signatures: Vec<Signature>,
    /// True if a node refers to a later template argument; only then are circles possible.
    pub(crate) has_forward: bool,
}

/// Placeholder for a missing node, which does not occur.
static NOTHING: TreeEntry = TreeEntry {
    node: Node::Word(&""),
    shape: NodeShape::PLAIN,
    is_shared: false,
    printed: Printed::NOT,
};

/// The builtin types by letter, from `a`; they are the first nodes of every tree.
///
/// Source: Itanium C++ ABI, 5.1.5.2 "Builtin types".
pub(crate) static BUILTINS: [&str; 26] = [
    "signed char",
    "bool",
    "char",
    "double",
    "long double",
    "float",
    "__float128",
    "unsigned char",
    "int",
    "unsigned int",
    "",
    "long",
    "unsigned long",
    "__int128",
    "unsigned __int128",
    "",
    "",
    "",
    "short",
    "unsigned short",
    "",
    "void",
    "wchar_t",
    "long long",
    "unsigned long long",
    "...",
];

impl Default for Tree {
    fn default() -> Self {
        let builtin = |word| TreeEntry { node: Node::Word(word), ..NOTHING };
        Self {
            entries: BUILTINS.iter().map(builtin).collect(),
            lists: Vec::new(),
            signatures: Vec::new(),
            has_forward: false,
        }
    }
}

/// Capacity that a tree retains between names, in nodes and list elements.
const RETAINED_NODES: usize = 1 << 12;

impl Tree {
    /// Clears the tree for the next name.
    pub(crate) fn clear(&mut self) {
        self.entries.truncate(BUILTINS.len());
        self.lists.clear();
        self.signatures.clear();
        self.has_forward = false;
        if self.entries.capacity() > RETAINED_NODES {
            self.entries.shrink_to(RETAINED_NODES);
            self.lists.shrink_to(RETAINED_NODES);
            self.signatures.shrink_to(RETAINED_NODES);
        }
    }

    /// Returns the builtin type of a letter, which every tree has.
    #[inline]
    pub(crate) fn builtin(letter: u8) -> Option<NodeId> {
        let index = letter.checked_sub(b'a').filter(|index| *index < 26)?;
        let id = NodeId::at(usize::from(index));
        BUILTINS.get(usize::from(index)).filter(|word| !word.is_empty()).map(|_| id)
    }

    /// Adds a node without a right part, as most are.
    #[inline]
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        self.add_shaped(node, NodeShape::PLAIN)
    }

    /// Adds a node with its shape.
    pub(crate) fn add_shaped(&mut self, node: Node, shape: NodeShape) -> NodeId {
        self.entries.push(TreeEntry { node, shape, is_shared: false, printed: Printed::NOT });
        NodeId::at(self.entries.len() - 1)
    }

    /// Moves the nodes from a position of the stack to its end into a new list.
    pub(crate) fn add_list(&mut self, stack: &mut Vec<NodeId>, from: usize) -> NodeList {
        let (at, length) = (self.lists.len(), stack.len() - from);
        self.lists.extend_from_slice(stack.get(from..).unwrap_or_default());
        stack.truncate(from);
        NodeList { at: at as u32, length: length as u32 }
    }

    /// Adds the signature of a function; returns its index.
    pub(crate) fn add_signature(&mut self, signature: Signature) -> u32 {
        self.signatures.push(signature);
        self.signatures.len() as u32 - 1
    }

    /// Returns a node with its properties.
    #[inline]
    pub(crate) fn entry(&self, id: NodeId) -> &TreeEntry {
        self.entries.get(id.index()).unwrap_or(&NOTHING)
    }

    /// Returns a node.
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.entry(id).node
    }

    /// Records that a substitution refers to a node.
    #[inline]
    pub(crate) fn set_shared(&mut self, id: NodeId) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.is_shared = true;
        }
    }

    /// Returns the shape of a node.
    #[inline]
    pub(crate) fn shape(&self, id: NodeId) -> NodeShape {
        self.entry(id).shape
    }

    /// Records the range of a node's text in the output.
    pub(crate) fn set_printed(&mut self, id: NodeId, printed: Printed) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.printed = printed;
        }
    }

    /// Replaces a node.
    pub(crate) fn set(&mut self, id: NodeId, node: Node) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.node = node;
        }
    }

    /// Returns the elements of a list.
    pub(crate) fn list(&self, list: NodeList) -> &[NodeId] {
        let at = list.at as usize;
        self.lists.get(at..at + list.length as usize).unwrap_or_default()
    }

    /// Returns an element of a list.
    #[inline]
    pub(crate) fn element(&self, list: NodeList, index: u32) -> Option<NodeId> {
        if index >= list.length {
            return None;
        }
        self.lists.get(list.at as usize + index as usize).copied()
    }

    /// Returns the signature of a function.
    pub(crate) fn signature(&self, index: u32) -> Signature {
        self.signatures.get(index as usize).copied().unwrap_or_default()
    }
}

//! The tree of a parsed name: small nodes in one vector, which refer to each other by index. The vector is reused for
//! the next name.
//! A substitution or a template parameter is the index of its target, which makes the tree a graph without copies.

use crate::cxx::node::{Id, List, Node, Shape, Signature};

/// A node and its cached properties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    pub(crate) shape: Shape,
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
    entries: Vec<Entry>,
    lists: Vec<Id>,
    signatures: Vec<Signature>,
    /// True if a node refers to a later template argument; only then are circles possible.
    pub(crate) has_forward: bool,
}

/// Placeholder for a missing node, which does not occur.
static NOTHING: Entry =
    Entry { node: Node::Word(&""), shape: Shape::PLAIN, is_shared: false, printed: Printed::NOT };

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
        let builtin = |word| Entry { node: Node::Word(word), ..NOTHING };
        Self {
            entries: BUILTINS.iter().map(builtin).collect(),
            lists: Vec::new(),
            signatures: Vec::new(),
            has_forward: false,
        }
    }
}

/// Capacity that a tree retains between names, in nodes and list elements.
const KEPT: usize = 1 << 12;

impl Tree {
    /// Clears the tree for the next name.
    pub(crate) fn clear(&mut self) {
        self.entries.truncate(BUILTINS.len());
        self.lists.clear();
        self.signatures.clear();
        self.has_forward = false;
        if self.entries.capacity() > KEPT {
            self.entries.shrink_to(KEPT);
            self.lists.shrink_to(KEPT);
            self.signatures.shrink_to(KEPT);
        }
    }

    /// Returns the builtin type of a letter, which every tree has.
    #[inline]
    pub(crate) fn builtin(letter: u8) -> Option<Id> {
        let index = letter.checked_sub(b'a').filter(|index| *index < 26)?;
        let id = Id::at(usize::from(index));
        BUILTINS.get(usize::from(index)).filter(|word| !word.is_empty()).map(|_| id)
    }

    /// Adds a node without a right part, as most are.
    #[inline]
    pub(crate) fn add(&mut self, node: Node) -> Id {
        self.add_shaped(node, Shape::PLAIN)
    }

    /// Adds a node with its shape.
    pub(crate) fn add_shaped(&mut self, node: Node, shape: Shape) -> Id {
        self.entries.push(Entry { node, shape, is_shared: false, printed: Printed::NOT });
        Id::at(self.entries.len() - 1)
    }

    /// Moves the nodes from a position of the stack to its end into a new list.
    pub(crate) fn add_list(&mut self, stack: &mut Vec<Id>, from: usize) -> List {
        let (at, length) = (self.lists.len(), stack.len() - from);
        self.lists.extend_from_slice(stack.get(from..).unwrap_or_default());
        stack.truncate(from);
        List { at: at as u32, length: length as u32 }
    }

    /// Adds the signature of a function; returns its index.
    pub(crate) fn add_signature(&mut self, signature: Signature) -> u32 {
        self.signatures.push(signature);
        self.signatures.len() as u32 - 1
    }

    /// Returns a node with its properties.
    #[inline]
    pub(crate) fn entry(&self, id: Id) -> &Entry {
        self.entries.get(id.index()).unwrap_or(&NOTHING)
    }

    /// Returns a node.
    #[inline]
    pub(crate) fn node(&self, id: Id) -> Node {
        self.entry(id).node
    }

    /// Records that a substitution refers to a node.
    #[inline]
    pub(crate) fn set_shared(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.is_shared = true;
        }
    }

    /// Returns the shape of a node.
    #[inline]
    pub(crate) fn shape(&self, id: Id) -> Shape {
        self.entry(id).shape
    }

    /// Records the range of a node's text in the output.
    pub(crate) fn set_printed(&mut self, id: Id, printed: Printed) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.printed = printed;
        }
    }

    /// Replaces a node.
    pub(crate) fn set(&mut self, id: Id, node: Node) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.node = node;
        }
    }

    /// Returns the elements of a list.
    pub(crate) fn list(&self, list: List) -> &[Id] {
        let at = list.at as usize;
        self.lists.get(at..at + list.length as usize).unwrap_or_default()
    }

    /// Returns an element of a list.
    #[inline]
    pub(crate) fn element(&self, list: List, index: u32) -> Option<Id> {
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

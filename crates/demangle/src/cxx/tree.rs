//! The tree that a name is parsed into: small nodes in one vector, which refer to each other by index, and which is
//! used again for the next name. A substitution or a template parameter is the index of what it stands for, so it
//! is a graph without copies.

use crate::cxx::node::{Id, List, Node, Shape, Signature};

/// A node with what is known of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) node: Node,
    pub(crate) shape: Shape,
    /// Whether a substitution refers to the node, so that it is printed more than once.
    pub(crate) is_shared: bool,
    pub(crate) printed: Printed,
}

/// Where the text of a node is in the output, in bytes; the length is 0 if the node was not printed yet.
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
    /// Whether a node refers to a template argument that comes after it: only then there can be circles.
    pub(crate) has_forward: bool,
}

/// What stands where no node is, which does not happen.
static NOTHING: Entry =
    Entry { node: Node::Word(&""), shape: Shape::PLAIN, is_shared: false, printed: Printed::NOT };

/// The builtin types by their letters, from `a` on; they are the first nodes of every tree.
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

/// Nodes and list elements that a tree keeps room for between names.
const KEPT: usize = 1 << 12;

impl Tree {
    /// Makes room for the next name.
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

    /// The builtin type of a letter, which every tree has.
    #[inline]
    pub(crate) fn builtin(letter: u8) -> Option<Id> {
        let index = letter.checked_sub(b'a').filter(|index| *index < 26)?;
        let id = Id::at(usize::from(index));
        BUILTINS.get(usize::from(index)).filter(|word| !word.is_empty()).map(|_| id)
    }

    /// Adds a node that has nothing to its right, as most have.
    #[inline]
    pub(crate) fn add(&mut self, node: Node) -> Id {
        self.add_shaped(node, Shape::PLAIN)
    }

    /// Adds a node with its shape.
    pub(crate) fn add_shaped(&mut self, node: Node, shape: Shape) -> Id {
        self.entries.push(Entry { node, shape, is_shared: false, printed: Printed::NOT });
        Id::at(self.entries.len() - 1)
    }

    /// Adds a list that is the end of a stack of nodes from a position on, and takes it from there.
    pub(crate) fn add_list(&mut self, stack: &mut Vec<Id>, from: usize) -> List {
        let (at, length) = (self.lists.len(), stack.len() - from);
        self.lists.extend_from_slice(stack.get(from..).unwrap_or_default());
        stack.truncate(from);
        List { at: at as u32, length: length as u32 }
    }

    /// Adds what a function takes and returns; gives its index.
    pub(crate) fn add_signature(&mut self, signature: Signature) -> u32 {
        self.signatures.push(signature);
        self.signatures.len() as u32 - 1
    }

    /// A node.
    #[inline]
    pub(crate) fn entry(&self, id: Id) -> &Entry {
        self.entries.get(id.index()).unwrap_or(&NOTHING)
    }

    /// A node without what is known of it.
    #[inline]
    pub(crate) fn node(&self, id: Id) -> Node {
        self.entry(id).node
    }

    /// Notes that a substitution refers to a node.
    #[inline]
    pub(crate) fn set_shared(&mut self, id: Id) {
        if let Some(entry) = self.entries.get_mut(id.index()) {
            entry.is_shared = true;
        }
    }

    /// The shape of a node.
    #[inline]
    pub(crate) fn shape(&self, id: Id) -> Shape {
        self.entry(id).shape
    }

    /// Notes where in the output the text of a node is.
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

    /// The elements of a list.
    pub(crate) fn list(&self, list: List) -> &[Id] {
        let at = list.at as usize;
        self.lists.get(at..at + list.length as usize).unwrap_or_default()
    }

    /// An element of a list.
    #[inline]
    pub(crate) fn element(&self, list: List, index: u32) -> Option<Id> {
        if index >= list.length {
            return None;
        }
        self.lists.get(list.at as usize + index as usize).copied()
    }

    /// What a function takes and returns.
    pub(crate) fn signature(&self, index: u32) -> Signature {
        self.signatures.get(index as usize).copied().unwrap_or_default()
    }
}

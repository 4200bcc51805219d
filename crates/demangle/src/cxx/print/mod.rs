//! The printer, which turns the tree into text. A C++ declaration is written around the declared name, so nodes have a
//! left part and possibly a right one. A part that is equal everywhere is printed once and then copied from the output.

mod expression;
mod float;
mod name;
mod operand;
mod template;
mod types;

use crate::cxx::node::{NameSlice, Node, NodeId, NodeList, Presence};
use crate::cxx::operators::Precedence;
use crate::cxx::tree::{Printed, Tree, TreeEntry};
use crate::cxx::{DemangleOptions, NameParts, Spelling};

/// Length of the longest output, in bytes.
const MAX_OUTPUT: usize = 1 << 16;
/// Output limit in proportion to the mangled name, so that many short names cannot cost as much as long ones.
const OUTPUT_PER_BYTE: usize = 64;
const LEAST_OUTPUT: usize = 1 << 12;
/// Limit on the printed or examined nodes: substitutions can double at each step and print nothing.
const MAX_STEPS: usize = 1 << 18;
const STEPS_PER_BYTE: usize = 128;
const LEAST_STEPS: usize = 1 << 10;
/// Limit on the nesting of nodes. It can exceed that of the mangled name, since names refer to names.
const MAX_DEPTH: u32 = 768;

/// The state of a pack's expansion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pack {
    index: u32,
    size: u32,
}

/// Printer of a tree.
#[derive(Debug)]
pub(crate) struct Printer<'a> {
    input: &'a [u8],
    tree: &'a mut Tree,
    out: &'a mut Vec<u8>,
    has_arguments: bool,
    has_parameters: bool,
    /// True to print return types of functions.
    has_results: bool,
    is_whole: bool,
    is_gnu: bool,
    /// Number of open brackets; 0 directly inside template arguments, because a `>` would end them.
    brackets: u32,
    /// The pack element being printed; set by the first pack inside an expansion.
    pack: Option<Pack>,
    /// Number of enclosing expansions.
    expansions: u32,
    /// Nodes being printed that may contain themselves.
    active: Vec<NodeId>,
    depth: u32,
    steps: usize,
    most_output: usize,
    is_too_large: bool,
}

impl<'a> Printer<'a> {
    /// Creates a printer that appends to `out`.
    pub(crate) fn new(
        input: &'a [u8],
        tree: &'a mut Tree,
        out: &'a mut Vec<u8>,
        options: DemangleOptions,
    ) -> Self {
        Self {
            input,
            tree,
            out,
            has_arguments: options.parts != NameParts::Name,
            has_parameters: options.parts == NameParts::All,
            has_results: options.parts == NameParts::All,
            is_whole: options.parts == NameParts::All,
            is_gnu: options.spelling == Spelling::Gnu,
            brackets: 1,
            pack: None,
            expansions: 0,
            active: Vec::new(),
            depth: 0,
            steps: (LEAST_STEPS + STEPS_PER_BYTE * input.len()).min(MAX_STEPS),
            most_output: (LEAST_OUTPUT + OUTPUT_PER_BYTE * input.len()).min(MAX_OUTPUT),
            is_too_large: false,
        }
    }

    /// Prints a name; `None` if it exceeds a limit.
    pub(crate) fn name(mut self, name: NodeId) -> Option<()> {
        self.print(name);
        (!self.is_too_large && self.out.len() <= self.most_output).then_some(())
    }

    /// Prints both parts of a node.
    #[inline(always)]
    fn print(&mut self, id: NodeId) {
        match self.tree.entry(id).node {
            Node::Text(text) => self.text(text),
            Node::Word(word) => self.word(word),
            _ => self.print_compound(id),
        }
    }

    #[inline(never)]
    fn print_compound(&mut self, id: NodeId) {
        let entry = self.tree.entry(id);
        match entry.node {
            Node::Instance { name, arguments } if !entry.is_shared => {
                if self.enter() {
                    self.print(name);
                    self.arguments(arguments);
                    self.depth -= 1;
                }
            }
            Node::Scoped { scope, name } if !entry.is_shared => {
                if self.enter() {
                    self.scoped(scope, name);
                    self.depth -= 1;
                }
            }
            Node::Nested { scope, name } if !entry.is_shared => {
                if self.enter() {
                    self.print(scope);
                    self.word("::");
                    self.print(name);
                    self.depth -= 1;
                }
            }
            _ => {
                let has_right = entry.shape.right != Presence::No;
                self.left(id);
                if has_right {
                    self.right(id);
                }
            }
        }
    }

    #[inline]
    fn scoped(&mut self, scope: NodeId, name: NameSlice) {
        self.print(scope);
        self.word("::");
        self.text(name);
    }

    /// Prints the part of a node before the declared name, or the whole node if it declares none.
    fn left(&mut self, id: NodeId) {
        let TreeEntry { node, is_shared, printed, .. } = *self.tree.entry(id);
        if is_shared && self.expansions == 0 && self.pack.is_none() {
            return self.left_of_shared(id, node, printed);
        }
        if self.enter() {
            match node {
                // The kinds of most parameters.
                Node::Pointer(_) | Node::Reference { .. } | Node::Qualified { .. } => {
                    self.left_of_type(id, node);
                }
                _ => self.left_of_name(id, node),
            }
            self.depth -= 1;
        }
    }

    /// Prints the left part of a shared node. It is copied from the output if it is equal everywhere.
    fn left_of_shared(&mut self, id: NodeId, node: Node, printed: Printed) {
        if printed.length > 0 {
            return self.copy(printed.start as usize, printed.length as usize);
        }
        if !self.enter() {
            return;
        }
        let start = self.out.len();
        self.left_of_name(id, node);
        self.depth -= 1;
        let is_name =
            matches!(node, Node::Instance { .. } | Node::Nested { .. } | Node::Scoped { .. });
        if is_name && self.pack.is_none() && !self.tree.has_forward {
            let length = (self.out.len() - start) as u32;
            self.tree.set_printed(id, Printed { start: start as u32, length });
        }
    }

    /// Prints the part of a node after the declared name.
    fn right(&mut self, id: NodeId) {
        let TreeEntry { node, shape, .. } = *self.tree.entry(id);
        if shape.right != Presence::No && self.enter() {
            self.right_of(id, node);
            self.depth -= 1;
        }
    }

    /// Counts a step; returns false if a limit is exceeded.
    #[inline]
    fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || self.steps == 0 || self.out.len() > self.most_output {
            self.abort();
            return false;
        }
        self.depth += 1;
        self.steps -= 1;
        true
    }

    /// Stops printing, because the name exceeds a limit.
    #[cold]
    fn abort(&mut self) {
        self.is_too_large = true;
        self.steps = 0;
    }

    #[inline]
    fn word(&mut self, word: &str) {
        self.out.extend_from_slice(word.as_bytes());
    }

    #[inline]
    fn text(&mut self, text: NameSlice) {
        /// Length of most identifiers, or more. This many bytes are copied by one instruction instead of a call.
        const SHORT: usize = 16;
        let (at, length) = (text.at as usize, text.length as usize);
        let from = self.input.get(at..).unwrap_or_default();
        match from.first_chunk::<SHORT>() {
            Some(chunk) if length <= SHORT => {
                let end = self.out.len() + length;
                self.out.extend_from_slice(chunk);
                self.out.truncate(end);
            }
            _ => self.out.extend_from_slice(from.get(..length).unwrap_or_default()),
        }
    }

    /// Copies text that is already in the output.
    fn copy(&mut self, at: usize, length: usize) {
        if at + length > self.out.len() || self.out.len() > self.most_output {
            return self.abort();
        }
        self.out.extend_from_within(at..at + length);
    }

    fn open(&mut self, bracket: &str) {
        self.brackets += 1;
        self.word(bracket);
    }

    fn close(&mut self, bracket: &str) {
        self.brackets -= 1;
        self.word(bracket);
    }

    /// Prints a node in parentheses.
    fn enclosed(&mut self, id: NodeId) {
        self.open("(");
        self.print(id);
        self.close(")");
    }

    /// Prints an operand, in parentheses unless it binds more tightly than `than`, or equally if `or_equal`.
    fn operand(&mut self, id: NodeId, than: Precedence, or_equal: bool) {
        let precedence = self.tree.node(id).precedence();
        let is_weak = if or_equal { precedence > than } else { precedence >= than };
        if is_weak { self.enclosed(id) } else { self.print(id) }
    }

    /// Prints nodes separated by commas. Nodes without text, such as empty packs, are omitted.
    fn list(&mut self, list: NodeList) {
        let mut is_first = true;
        for index in 0..list.length {
            let Some(id) = self.tree.element(list, index) else { return };
            let before = self.out.len();
            if !is_first {
                self.word(", ");
            }
            let after = self.out.len();
            match self.tree.node(id) {
                Node::Binary { .. } => self.operand(id, Precedence::Comma, false),
                _ => self.print(id),
            }
            if self.out.len() == after {
                self.out.truncate(before);
            } else {
                is_first = false;
            }
            if self.is_too_large {
                return;
            }
        }
    }

    fn enclosed_list(&mut self, list: NodeList) {
        self.open("(");
        self.list(list);
        self.close(")");
    }

    /// Prints the contents of angle brackets. They contain no unbracketed `>`, which would end them.
    fn angles(&mut self, inner: impl FnOnce(&mut Self)) {
        let brackets = std::mem::take(&mut self.brackets);
        if self.is_gnu && self.out.last() == Some(&b'<') {
            self.word(" ");
        }
        self.word("<");
        inner(self);
        if self.is_gnu && self.out.last() == Some(&b'>') {
            self.word(" ");
        }
        self.word(">");
        self.brackets = brackets;
    }

    /// Calls `inner` for a node that may contain itself, unless it is already being printed.
    fn guarded<T>(&mut self, id: NodeId, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if !self.tree.has_forward {
            return Some(inner(self));
        }
        if self.active.contains(&id) {
            return None;
        }
        self.active.push(id);
        let value = inner(self);
        self.active.pop();
        Some(value)
    }
}

//! The printer: the tree as text. A declaration in C++ is written around the name that it declares, so nodes have a
//! left part and may have a right one. What was printed once and reads the same everywhere is copied from the output.

mod expression;
mod float;
mod name;
mod operand;
mod template;
mod types;

use crate::cxx::node::{Has, Id, List, Node, Text};
use crate::cxx::operators::Precedence;
use crate::cxx::tree::{Entry, Printed, Tree};
use crate::cxx::{Options, Parts, Spelling};

/// Longest output, in bytes.
const MAX_OUTPUT: usize = 1 << 16;
/// The same in proportion to the mangled name, so that many short names cannot cost as much as long ones.
const OUTPUT_PER_BYTE: usize = 64;
const LEAST_OUTPUT: usize = 1 << 12;
/// Nodes that are printed or asked for their shape: substitutions can double at each step and print nothing.
const MAX_STEPS: usize = 1 << 18;
const STEPS_PER_BYTE: usize = 128;
const LEAST_STEPS: usize = 1 << 10;
/// Nesting of nodes; a name refers to names that refer to others, so it can be deeper than the mangled name.
const MAX_DEPTH: u32 = 768;

/// Where the expansion of a pack is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pack {
    index: u32,
    size: u32,
}

/// Prints a tree.
#[derive(Debug)]
pub(crate) struct Printer<'a> {
    input: &'a [u8],
    tree: &'a mut Tree,
    out: &'a mut Vec<u8>,
    has_arguments: bool,
    has_parameters: bool,
    is_gnu: bool,
    /// Brackets around the place; 0 right inside of template arguments, where a `>` would end them.
    brackets: u32,
    /// The element of packs that is printed; set by the first pack that an expansion comes to.
    pack: Option<Pack>,
    /// Expansions around the place.
    expansions: u32,
    /// Nodes that are being printed and may contain themselves.
    active: Vec<Id>,
    depth: u32,
    steps: usize,
    most_output: usize,
    is_too_large: bool,
}

impl<'a> Printer<'a> {
    /// A printer of a parsed name behind what is in `out`.
    pub(crate) fn new(
        input: &'a [u8],
        tree: &'a mut Tree,
        out: &'a mut Vec<u8>,
        options: Options,
    ) -> Self {
        Self {
            input,
            tree,
            out,
            has_arguments: options.parts == Parts::All,
            has_parameters: options.parts == Parts::All,
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

    /// Prints a name; `None` where it gets out of proportion.
    pub(crate) fn name(mut self, name: Id) -> Option<()> {
        self.print(name);
        (!self.is_too_large && self.out.len() <= self.most_output).then_some(())
    }

    /// Both parts of a node.
    #[inline(always)]
    fn print(&mut self, id: Id) {
        match self.tree.entry(id).node {
            Node::Text(text) => self.text(text),
            Node::Word(word) => self.word(word),
            _ => self.print_compound(id),
        }
    }

    #[inline(never)]
    fn print_compound(&mut self, id: Id) {
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
                let has_right = entry.shape.right != Has::No;
                self.left(id);
                if has_right {
                    self.right(id);
                }
            }
        }
    }

    #[inline]
    fn scoped(&mut self, scope: Id, name: Text) {
        self.print(scope);
        self.word("::");
        self.text(name);
    }

    /// What of a node comes before the name that it declares; all of it, where it declares none.
    fn left(&mut self, id: Id) {
        let Entry { node, is_shared, printed, .. } = *self.tree.entry(id);
        if is_shared && self.expansions == 0 && self.pack.is_none() {
            return self.left_of_shared(id, node, printed);
        }
        if self.enter() {
            match node {
                // What most parameters are.
                Node::Pointer(_) | Node::Reference { .. } | Node::Qualified { .. } => {
                    self.left_of_type(id, node);
                }
                _ => self.left_of_name(id, node),
            }
            self.depth -= 1;
        }
    }

    /// The same for a node that is written more than once: by copying what is there, if it reads the same everywhere.
    fn left_of_shared(&mut self, id: Id, node: Node, printed: Printed) {
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

    /// What of a node comes behind the name that it declares.
    fn right(&mut self, id: Id) {
        let Entry { node, shape, .. } = *self.tree.entry(id);
        if shape.right != Has::No && self.enter() {
            self.right_of(id, node);
            self.depth -= 1;
        }
    }

    /// Counts a step; whether there may be one more.
    #[inline]
    fn enter(&mut self) -> bool {
        if self.depth >= MAX_DEPTH || self.steps == 0 || self.out.len() > self.most_output {
            self.give_up();
            return false;
        }
        self.depth += 1;
        self.steps -= 1;
        true
    }

    /// Nothing is printed any more: the name gets out of proportion.
    #[cold]
    fn give_up(&mut self) {
        self.is_too_large = true;
        self.steps = 0;
    }

    #[inline]
    fn word(&mut self, word: &str) {
        self.out.extend_from_slice(word.as_bytes());
    }

    #[inline]
    fn text(&mut self, text: Text) {
        /// Most identifiers are not longer. So many bytes are copied by one instruction instead of a call.
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

    /// Text that is in the output already.
    fn copy(&mut self, at: usize, length: usize) {
        if at + length > self.out.len() || self.out.len() > self.most_output {
            return self.give_up();
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

    /// A node in parentheses.
    fn enclosed(&mut self, id: Id) {
        self.open("(");
        self.print(id);
        self.close(")");
    }

    /// An operand: in parentheses where it binds no tighter than that; or weaker, where `or_equal` is fine.
    fn operand(&mut self, id: Id, than: Precedence, or_equal: bool) {
        let precedence = self.tree.node(id).precedence();
        let is_weak = if or_equal { precedence > than } else { precedence >= than };
        if is_weak { self.enclosed(id) } else { self.print(id) }
    }

    /// Nodes with commas between them; those that print nothing, as empty packs do, have none.
    fn list(&mut self, list: List) {
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

    fn enclosed_list(&mut self, list: List) {
        self.open("(");
        self.list(list);
        self.close(")");
    }

    /// What is in angle brackets, where a `>` would be their end.
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

    /// Does something with a node that may contain itself, unless that is what it is in.
    fn guarded<T>(&mut self, id: Id, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
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

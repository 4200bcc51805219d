//! The printer: the tree as text. A declaration in C++ is written around the name that it declares, so nodes have a
//! left part and may have a right one. What was printed once and reads the same everywhere is copied from the output.

mod expression;
mod float;
mod name;
mod operand;
mod template;
mod types;

use crate::node::{Has, List, Node, Text};
use crate::operators::Precedence;
use crate::tree::{Id, Tree};
use crate::{Options, Parts, Spelling};

/// Longest output, in bytes.
const MAX_OUTPUT: usize = 1 << 16;
/// Nodes that are printed or asked for their shape: substitutions can double at each step and print nothing.
const MAX_STEPS: u32 = 1 << 18;
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
    steps: u32,
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
            steps: MAX_STEPS,
            is_too_large: false,
        }
    }

    /// Prints a name; `None` where it gets out of proportion.
    pub(crate) fn name(mut self, name: Id) -> Option<()> {
        self.print(name);
        (!self.is_too_large && self.out.len() <= MAX_OUTPUT).then_some(())
    }

    /// Both parts of a node.
    fn print(&mut self, id: Id) {
        self.left(id);
        if self.tree.shape(id).right != Has::No {
            self.right(id);
        }
    }

    /// What of a node comes before the name that it declares; all of it, where it declares none.
    fn left(&mut self, id: Id) {
        let entry = self.tree.entry(id);
        if let Node::Text(text) = entry.node {
            return self.text(text);
        }
        if let Node::Word(word) = entry.node {
            return self.word(word);
        }
        let can_copy = self.expansions == 0
            && self.pack.is_none()
            && matches!(entry.node, Node::Instance { .. } | Node::Nested { .. });
        if can_copy && entry.printed.1 > 0 {
            let (at, length) = (entry.printed.0 as usize, entry.printed.1 as usize);
            return self.copy(at, length);
        }
        if !self.enter() {
            return;
        }
        let start = self.out.len();
        self.left_of_name(id, entry.node);
        self.depth -= 1;
        if can_copy && self.pack.is_none() && !self.tree.has_forward {
            let number = |length: usize| u32::try_from(length).unwrap_or(0);
            self.tree.set_printed(id, (number(start), number(self.out.len() - start)));
        }
    }

    /// What of a node comes behind the name that it declares.
    fn right(&mut self, id: Id) {
        let entry = self.tree.entry(id);
        if entry.shape.right == Has::No || !self.enter() {
            return;
        }
        self.right_of(id, entry.node);
        self.depth -= 1;
    }

    /// Counts a step; whether there may be one more.
    #[inline]
    fn enter(&mut self) -> bool {
        self.depth += 1;
        self.steps = self.steps.saturating_sub(1);
        if self.depth > MAX_DEPTH || self.steps == 0 || self.out.len() > MAX_OUTPUT {
            self.is_too_large = true;
        }
        if self.is_too_large {
            self.depth -= 1;
        }
        !self.is_too_large
    }

    #[inline]
    fn word(&mut self, word: &str) {
        self.out.extend_from_slice(word.as_bytes());
    }

    #[inline]
    fn text(&mut self, text: Text) {
        let at = text.at as usize;
        let bytes = self.input.get(at..at + text.length as usize).unwrap_or_default();
        self.out.extend_from_slice(bytes);
    }

    /// Text that is in the output already.
    fn copy(&mut self, at: usize, length: usize) {
        if at + length > self.out.len() || self.out.len() > MAX_OUTPUT {
            self.is_too_large = true;
            return;
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
            self.operand(id, Precedence::Comma, false);
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

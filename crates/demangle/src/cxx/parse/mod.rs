//! The parser: one recursive-descent pass over a mangled name, which builds the tree. Template parameters are resolved
//! during the pass, so only the tree and the substitutions are stored.
//!
//! Source: Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)", with the extensions that LLVM and GCC write.

mod encoding;
mod expression;
mod lambda;
mod literal;
mod name;
mod operand;
mod special;
mod substitution;
mod template;
mod types;
mod unqualified;
mod unresolved;

use crate::cxx::node::{NameSlice, Node, NodeId, NodeList, Qualifiers, Reference, Word};
use crate::cxx::tree::Tree;

/// Limit on the nesting of recursive productions. Including the printer, it needs less than 256 KiB of stack in
/// optimised builds.
const MAX_DEPTH: u32 = 512;

/// Largest length or index. No name is longer or has more parts.
const MAX_NUMBER: usize = 1 << 24;

/// Vectors that are reused for the next name.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Nodes of incomplete lists.
    stack: Vec<NodeId>,
    substitutions: Vec<NodeId>,
    /// Lists of template arguments or parameters; `lists_used` of them are in use.
    lists: Vec<Vec<NodeId>>,
    /// The list for the template parameters of each level, from `levels_begin`; `None` for a generic lambda with `auto`
    /// parameters.
    levels: Vec<Option<usize>>,
    /// Template parameters that precede their arguments, with their numbers.
    forwards: Vec<(NodeId, u32)>,
}

impl Scratch {
    fn clear(&mut self) {
        self.stack.clear();
        self.substitutions.clear();
        self.levels.clear();
        self.forwards.clear();
    }
}

/// Properties of an encoding's name that determine the rest of the encoding.
#[derive(Debug, Default)]
struct NameState {
    /// True if the name belongs to an encoding, not to a type.
    is_encoding: bool,
    /// A constructor, a destructor or a conversion, which have no return type.
    has_no_result: bool,
    ends_with_arguments: bool,
    has_explicit_object: bool,
    qualifiers: Qualifiers,
    reference: Reference,
}

/// The template parameters in scope.
#[derive(Clone, Copy, Debug)]
struct Reach {
    levels_begin: usize,
    lists_used: usize,
    outer: Option<usize>,
}

/// A name being parsed. Parsing methods return `None` on a mismatch, which aborts the name: there is no backtracking.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    input: &'a [u8],
    at: usize,
    depth: u32,
    tree: &'a mut Tree,
    scratch: &'a mut Scratch,
    reach: Reach,
    /// True if template arguments may follow a template parameter: not in the type of a conversion operator.
    arguments_follow: bool,
    /// True if template parameters may precede their arguments: in the type of a conversion operator.
    arguments_come_later: bool,
    in_constraint: bool,
    /// The level at which template parameters may be `auto`.
    auto_level: Option<usize>,
    /// Number of names invented so far, by kind.
    invented: [u32; 3],
}

impl<'a> Parser<'a> {
    /// Creates a parser at the start of a name.
    pub(crate) fn new(input: &'a [u8], tree: &'a mut Tree, scratch: &'a mut Scratch) -> Self {
        tree.clear();
        scratch.clear();
        Self {
            input,
            at: 0,
            depth: 0,
            tree,
            scratch,
            reach: Reach { levels_begin: 0, lists_used: 0, outer: None },
            arguments_follow: true,
            arguments_come_later: false,
            in_constraint: false,
            auto_level: None,
            invented: [0; 3],
        }
    }

    /// Parses the whole name. Returns its tree, and the offset of the compiler's suffix, which begins with a dot.
    ///
    /// Source: clones of functions: GCC's `clone_function_name`; blocks: the Block ABI of Apple, `___Z..._block_invoke`.
    pub(crate) fn mangled_name(&mut self) -> Option<(NodeId, usize)> {
        const BLOCK: Word = &"invocation function for block in ";
        if self.eat_two(*b"_Z") || self.eat_word(b"__Z") {
            let encoding = self.encoding()?;
            let rest = self.rest();
            let is_whole = rest.is_empty() || rest.first() == Some(&b'.');
            return is_whole.then_some((encoding, self.at));
        }
        if !self.eat_word(b"___Z") && !self.eat_word(b"____Z") {
            return None;
        }
        let of = self.encoding()?;
        if !self.eat_word(b"_block_invoke") {
            return None;
        }
        let needs_number = self.eat(b'_');
        let number = self.number();
        if number.length == 0 && needs_number {
            return None;
        }
        let rest = self.rest();
        let is_whole = rest.is_empty() || rest.first() == Some(&b'.');
        is_whole.then(|| (self.tree.add(Node::Special { what: BLOCK, of }), self.input.len()))
    }

    fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte; 0 at the end, which begins no production.
    #[inline]
    fn peek(&self) -> u8 {
        self.input.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn peek_at(&self, ahead: usize) -> u8 {
        self.input.get(self.at + ahead).copied().unwrap_or(0)
    }

    #[inline]
    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.input.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    #[inline]
    fn eat_word(&mut self, word: &[u8]) -> bool {
        let is_there = self.rest().starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    /// Like `eat_word`, for two bytes, without a slice.
    #[inline]
    fn eat_two(&mut self, word: [u8; 2]) -> bool {
        let is_there = [self.peek(), self.peek_at(1)] == word;
        self.at += if is_there { 2 } else { 0 };
        is_there
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// Enters a nested production; `None` if the nesting exceeds the limit. Call `leave` after it.
    #[inline]
    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    #[inline]
    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Adds a node to the tree.
    fn add(&mut self, node: Node) -> NodeId {
        self.tree.add(node)
    }

    fn word(&mut self, word: Word) -> NodeId {
        self.tree.add(Node::Word(word))
    }

    fn text(&mut self, text: NameSlice) -> NodeId {
        self.tree.add(Node::Text(text))
    }

    fn push(&mut self, id: NodeId) {
        self.scratch.stack.push(id);
    }

    fn stacked(&self) -> usize {
        self.scratch.stack.len()
    }

    /// Moves the nodes pushed since `from` into a list.
    fn list_since(&mut self, from: usize) -> NodeList {
        self.tree.add_list(&mut self.scratch.stack, from)
    }

    fn remember(&mut self, id: NodeId) {
        self.scratch.substitutions.push(id);
    }

    /// Returns the slice of the input from `at` to here.
    #[inline]
    fn since(&self, at: usize) -> NameSlice {
        // It fits, because the length of names is limited.
        NameSlice { at: at as u32, length: (self.at - at) as u32 }
    }

    /// Parses digits; empty if there are none.
    #[inline]
    fn number(&mut self) -> NameSlice {
        let at = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.since(at)
    }

    /// Parses digits, optionally after an `n` for minus; empty if there are none.
    fn signed_number(&mut self) -> NameSlice {
        let at = self.at;
        self.eat(b'n');
        if self.number().length == 0 { NameSlice::default() } else { self.since(at) }
    }

    /// Parses the value of the next digits; `None` without digits.
    fn positive(&mut self) -> Option<usize> {
        let first @ b'0'..=b'9' = self.peek() else { return None };
        let mut value = usize::from(first - b'0');
        self.at += 1;
        while let digit @ b'0'..=b'9' = self.peek() {
            value = value * 10 + usize::from(digit - b'0');
            if value > MAX_NUMBER {
                return None;
            }
            self.at += 1;
        }
        Some(value)
    }

    /// Parses a length, and that many bytes.
    #[inline]
    fn counted(&mut self) -> Option<NameSlice> {
        let length = self.positive()?;
        let at = self.at;
        if length > self.input.len() - at {
            return None;
        }
        self.at += length;
        Some(self.since(at))
    }

    /// Returns the bytes of a slice of the input.
    fn bytes(&self, text: NameSlice) -> &'a [u8] {
        let at = text.at as usize;
        self.input.get(at..at + text.length as usize).unwrap_or_default()
    }

    fn qualifiers(&mut self) -> Qualifiers {
        let mut bits = 0;
        for (letter, bit) in
            [(b'r', Qualifiers::RESTRICT), (b'V', Qualifiers::VOLATILE), (b'K', Qualifiers::CONST)]
        {
            if self.eat(letter) {
                bits |= bit;
            }
        }
        Qualifiers(bits)
    }
}

//! The parser: one pass over a mangled name, by recursive descent, which builds the tree. Template parameters are
//! looked up while it goes on, so nothing of the name has to be kept but the tree and the substitutions.
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

use crate::cxx::node::{Id, List, Node, Qualifiers, Reference, Text, Word};
use crate::cxx::tree::Tree;

/// Nesting of a name, in productions that can contain themselves. With what the printer may take it is less than
/// 256 KiB of the thread's stack in optimised builds.
const MAX_DEPTH: u32 = 512;

/// Largest length or index: no name is as long, and none has as many parts.
const MAX_NUMBER: usize = 1 << 24;

/// Vectors that are used again for the next name.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Nodes of lists that are not complete yet.
    stack: Vec<Id>,
    substitutions: Vec<Id>,
    /// Lists of template arguments or parameters; `lists_used` of them are in use.
    lists: Vec<Vec<Id>>,
    /// The lists that template parameters of each level stand in, from `levels_begin` on; `None` for a generic lambda
    /// whose parameters are `auto`.
    levels: Vec<Option<usize>>,
    /// Template parameters that wait for their arguments, with their numbers.
    forwards: Vec<(Id, u32)>,
}

impl Scratch {
    fn clear(&mut self) {
        self.stack.clear();
        self.substitutions.clear();
        self.levels.clear();
        self.forwards.clear();
    }
}

/// What the name of an encoding says about the rest of it.
#[derive(Debug, Default)]
struct NameState {
    /// Whether the name is of an encoding, and not of a type.
    is_encoding: bool,
    /// A constructor, a destructor or a conversion, which have no return type.
    has_no_result: bool,
    ends_with_arguments: bool,
    has_explicit_object: bool,
    qualifiers: Qualifiers,
    reference: Reference,
}

/// The template parameters that are in reach.
#[derive(Clone, Copy, Debug)]
struct Reach {
    levels_begin: usize,
    lists_used: usize,
    outer: Option<usize>,
}

/// A name while it is parsed. The methods that parse something give `None` where it is not there, and the name is
/// given up then: nothing is tried twice.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    input: &'a [u8],
    at: usize,
    depth: u32,
    tree: &'a mut Tree,
    scratch: &'a mut Scratch,
    reach: Reach,
    /// Whether template arguments may follow a template parameter: not in the type of a conversion operator.
    arguments_follow: bool,
    /// Whether arguments of template parameters may come behind them: in the type of a conversion operator.
    arguments_come_later: bool,
    in_constraint: bool,
    /// The level whose template parameters may be `auto`.
    auto_level: Option<usize>,
    /// Names invented so far, by what they stand for.
    invented: [u32; 3],
}

impl<'a> Parser<'a> {
    /// A parser at the start of a name.
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

    /// The name as a tree, and where in the input the suffix begins that a compiler appended, with its dot.
    ///
    /// Source: clones of functions: GCC's `clone_function_name`; blocks: the Block ABI of Apple, `___Z..._block_invoke`.
    pub(crate) fn mangled_name(&mut self) -> Option<(Id, usize)> {
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

    /// The next byte; 0 at the end, which no production begins with.
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

    /// The same for two bytes, without a slice.
    #[inline]
    fn eat_two(&mut self, word: [u8; 2]) -> bool {
        let is_there = [self.peek(), self.peek_at(1)] == word;
        self.at += if is_there { 2 } else { 0 };
        is_there
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.eat(byte).then_some(())
    }

    /// Goes on if the name is not nested too deep; `leave` is called where what was nested is complete.
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
    fn add(&mut self, node: Node) -> Id {
        self.tree.add(node)
    }

    fn word(&mut self, word: Word) -> Id {
        self.tree.add(Node::Word(word))
    }

    fn text(&mut self, text: Text) -> Id {
        self.tree.add(Node::Text(text))
    }

    fn push(&mut self, id: Id) {
        self.scratch.stack.push(id);
    }

    fn stacked(&self) -> usize {
        self.scratch.stack.len()
    }

    /// What was pushed since then, as a list.
    fn list_since(&mut self, from: usize) -> List {
        self.tree.add_list(&mut self.scratch.stack, from)
    }

    fn remember(&mut self, id: Id) {
        self.scratch.substitutions.push(id);
    }

    /// The piece of the input from there to here.
    #[inline]
    fn since(&self, at: usize) -> Text {
        // The length of names is limited.
        Text { at: at as u32, length: (self.at - at) as u32 }
    }

    /// Digits; empty where there are none.
    #[inline]
    fn number(&mut self) -> Text {
        let at = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.since(at)
    }

    /// Digits behind an `n` that stands for a minus; empty where there are none.
    fn signed_number(&mut self) -> Text {
        let at = self.at;
        self.eat(b'n');
        if self.number().length == 0 { Text::default() } else { self.since(at) }
    }

    /// The value of the digits that come next; `None` without digits.
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

    /// A length and so many bytes.
    #[inline]
    fn counted(&mut self) -> Option<Text> {
        let length = self.positive()?;
        let at = self.at;
        if length > self.input.len() - at {
            return None;
        }
        self.at += length;
        Some(self.since(at))
    }

    /// The bytes of a piece of the input.
    fn bytes(&self, text: Text) -> &'a [u8] {
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

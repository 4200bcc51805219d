//! Names without their scope: identifiers, operators, constructors, modules, tags.
//!
//! Source: Itanium C++ ABI, 5.1.2 "Names", 5.1.3 "Operator Encodings", 5.1.4 "Other Special Functions and Entities".

use super::{NameState, Parser};
use crate::cxx::node::{NameSlice, Node, NodeId, Std};
use crate::cxx::operators::{self, OperatorKind, operator};

impl Parser<'_> {
    /// `<unqualified-name> ::= [<module-name>] [F] [L] (<operator-name> | <ctor-dtor-name> | <source-name> |
    /// <unnamed-type-name> | DC <source-name>+ E) [<abi-tags>]`, with its scope added.
    pub(super) fn unqualified_name(
        &mut self,
        state: &mut NameState,
        scope: Option<NodeId>,
        module: Option<NodeId>,
    ) -> Option<NodeId> {
        if module.is_none() && matches!(self.peek(), b'1'..=b'9') {
            return self.identifier_in(scope);
        }
        let module = if self.peek() == b'W' { self.module_name(module)? } else { module };
        let is_friend = scope.is_some() && self.eat(b'F');
        self.eat(b'L');
        let mut scope = scope;
        let mut name = match (self.peek(), self.peek_at(1)) {
            (b'1'..=b'9', _) => self.source_name()?,
            (b'U', _) => self.unnamed_type(state.is_encoding)?,
            (b'D', b'C') => self.bindings()?,
            (b'C' | b'D', _) if module.is_none() => {
                let class = self.written_out(scope?);
                scope = Some(class);
                self.constructor(class, state)?
            }
            (b'C' | b'D', _) => return None,
            _ => self.operator_name(state)?,
        };
        if let Some(module) = module {
            name = self.add(Node::InModule { module, name });
        }
        if self.peek() == b'B' {
            name = self.tags(name)?;
        }
        Some(match scope {
            Some(scope) if is_friend => self.add(Node::Friend { scope, name }),
            Some(scope) => self.add(Node::Nested { scope, name }),
            None => name,
        })
    }

    /// `<module-name> ::= (W [P] <source-name>)+`
    pub(super) fn module_name(&mut self, mut module: Option<NodeId>) -> Option<Option<NodeId>> {
        while self.eat(b'W') {
            let partition = self.eat(b'P');
            let name = self.source_name()?;
            let id = self.add(Node::Module { parent: module, name, partition });
            self.remember(id);
            module = Some(id);
        }
        Some(module)
    }

    /// `<source-name> ::= <length> <identifier>`
    pub(super) fn source_name(&mut self) -> Option<NodeId> {
        let text = self.counted().filter(|text| text.length > 0)?;
        Some(self.identifier(text))
    }

    pub(super) fn identifier(&mut self, text: NameSlice) -> NodeId {
        if self.is_anonymous(text) { self.word(&"(anonymous namespace)") } else { self.text(text) }
    }

    /// Returns true for the identifier that compilers use for unnamed namespaces.
    #[inline]
    pub(super) fn is_anonymous(&self, text: NameSlice) -> bool {
        self.input.get(text.at as usize) == Some(&b'_')
            && self.bytes(text).starts_with(b"_GLOBAL__N")
    }

    /// `<abi-tags> ::= (B <source-name>)*`
    pub(super) fn tags(&mut self, mut base: NodeId) -> Option<NodeId> {
        while self.eat(b'B') {
            let tag = self.counted().filter(|tag| tag.length > 0)?;
            let shape = self.tree.shape(base);
            base = self.tree.add_shaped(Node::Tagged { base, tag }, shape);
        }
        Some(base)
    }

    /// `DC <source-name>+ E`
    fn bindings(&mut self) -> Option<NodeId> {
        self.at += 2;
        let from = self.stacked();
        loop {
            let name = self.source_name()?;
            self.push(name);
            if self.eat(b'E') {
                break;
            }
        }
        let list = self.list_since(from);
        Some(self.add(Node::Bindings(list)))
    }

    /// Returns the long form of an abbreviation, which is used in front of a constructor.
    fn written_out(&mut self, scope: NodeId) -> NodeId {
        match self.tree.node(scope) {
            Node::Std(std, false) => self.add(Node::Std(std, true)),
            _ => scope,
        }
    }

    /// `<ctor-dtor-name> ::= C[1-5] | CI[1-5] <base> | D[01245]`
    fn constructor(&mut self, class: NodeId, state: &mut NameState) -> Option<NodeId> {
        let is_destructor = self.peek() == b'D';
        self.at += 1;
        if is_destructor {
            if !matches!(self.peek(), b'0' | b'1' | b'2' | b'4' | b'5') {
                return None;
            }
            self.at += 1;
        } else {
            let is_inherited = self.eat(b'I');
            if !matches!(self.peek(), b'1'..=b'5') {
                return None;
            }
            self.at += 1;
            if is_inherited {
                self.enter()?;
                self.name(state)?;
                self.leave();
            }
        }
        state.has_no_result = true;
        Some(self.add(Node::Constructor { class, is_destructor }))
    }

    /// `<operator-name> ::= <two letters> | cv <type> | li <source-name> | v <digit> <source-name>`
    pub(super) fn operator_name(&mut self, state: &mut NameState) -> Option<NodeId> {
        if let Some(index) = operators::find([self.peek(), self.peek_at(1)]) {
            self.at += 2;
            let found = operator(index);
            if found.kind == OperatorKind::Conversion {
                return self.conversion_operator(state);
            }
            return found.is_function().then(|| self.word(&found.name));
        }
        if self.eat_two(*b"li") {
            let name = self.source_name()?;
            return Some(self.add(Node::LiteralOperator(name)));
        }
        if self.eat(b'v') && self.peek().is_ascii_digit() {
            self.at += 1;
            let name = self.source_name()?;
            return Some(self.add(Node::ConversionOperator(name)));
        }
        None
    }

    /// Parses the target type of a conversion operator. It may refer to template parameters before their arguments.
    fn conversion_operator(&mut self, state: &mut NameState) -> Option<NodeId> {
        let follow = std::mem::replace(&mut self.arguments_follow, false);
        let later = self.arguments_come_later;
        self.arguments_come_later |= state.is_encoding;
        let to = self.type_()?;
        self.arguments_follow = follow;
        self.arguments_come_later = later;
        state.has_no_result = true;
        Some(self.add(Node::ConversionOperator(to)))
    }
}

/// Returns the abbreviation for a letter after `S`.
///
/// Source: Itanium C++ ABI, 5.1.10 "Compression".
pub(super) fn abbreviation(letter: u8) -> Option<Std> {
    Some(match letter {
        b'a' => Std::Allocator,
        b'b' => Std::BasicString,
        b's' => Std::String,
        b'i' => Std::Istream,
        b'o' => Std::Ostream,
        b'd' => Std::Iostream,
        _ => return None,
    })
}

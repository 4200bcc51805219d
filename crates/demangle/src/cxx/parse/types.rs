//! Types.
//!
//! Source: Itanium C++ ABI, 5.1.5 "Type Encodings".

use super::{NameState, Parser};
use crate::cxx::node::{Node, NodeId, NodeShape, Qualifiers, Reference, Signature, Word};
use crate::cxx::tree::Tree;

/// Returns the builtin type for `D` and a letter, except those with a size.
fn builtin_of_two(letter: u8) -> Option<Word> {
    Some(match letter {
        b'd' => &"decimal64",
        b'e' => &"decimal128",
        b'f' => &"decimal32",
        b'h' => &"half",
        b'i' => &"char32_t",
        b's' => &"char16_t",
        b'u' => &"char8_t",
        b'a' => &"auto",
        b'c' => &"decltype(auto)",
        b'n' => &"std::nullptr_t",
        _ => return None,
    })
}

impl Parser<'_> {
    /// `<type>`. All but builtin types and substitutions can be substituted later.
    #[inline]
    pub(super) fn type_(&mut self) -> Option<NodeId> {
        if let Some(builtin) = Tree::builtin(self.peek()) {
            self.at += 1;
            return Some(builtin);
        }
        self.new_type()
    }

    fn new_type(&mut self) -> Option<NodeId> {
        self.enter()?;
        let id = match self.peek() {
            b'S' if self.peek_at(1) != b't' => {
                let (id, is_new) = self.substituted_type()?;
                if !is_new {
                    self.leave();
                    return Some(id);
                }
                id
            }
            b'D' => {
                let (id, is_new) = self.type_of_d()?;
                if !is_new {
                    self.leave();
                    return Some(id);
                }
                id
            }
            _ => self.compound_type()?,
        };
        self.leave();
        self.remember(id);
        Some(id)
    }

    fn compound_type(&mut self) -> Option<NodeId> {
        let letter = self.peek();
        match letter {
            b'r' | b'V' | b'K' if self.is_qualified_function() => self.function_type(),
            b'r' | b'V' | b'K' | b'U' => self.qualified_type(),
            b'F' => self.function_type(),
            b'A' => self.array_type(),
            b'M' => self.member_pointer(),
            b'P' | b'R' | b'O' => {
                self.at += 1;
                let to = self.type_()?;
                let shape = self.tree.shape(to).of_pointer();
                let node = match letter {
                    b'P' => Node::Pointer(to),
                    _ => Node::Reference { to, is_right: letter == b'O' },
                };
                Some(self.tree.add_shaped(node, shape))
            }
            b'C' | b'G' => {
                self.at += 1;
                let base = self.type_()?;
                let postfix = if letter == b'C' { &" complex" } else { &" imaginary" };
                Some(self.add(Node::Postfixed { base, postfix }))
            }
            b'T' if !matches!(self.peek_at(1), b's' | b'u' | b'e') => self.parameter_type(),
            b'u' => self.vendor_type(),
            _ => self.class_type(),
        }
    }

    /// `<template-param> [<template-args>]`
    fn parameter_type(&mut self) -> Option<NodeId> {
        let name = self.template_parameter()?;
        if !self.arguments_follow || self.peek() != b'I' {
            return Some(name);
        }
        let arguments = self.template_arguments(false)?;
        Some(self.add(Node::Instance { name, arguments }))
    }

    /// Parses a type that begins with a substitution. The flag is true if it has more parts.
    fn substituted_type(&mut self) -> Option<(NodeId, bool)> {
        let mut name = self.substitution()?;
        let is_substitution = !matches!(self.tree.node(name), Node::Module { .. });
        if !is_substitution {
            name = self.unqualified_name(&mut NameState::default(), None, Some(name))?;
        }
        if self.peek() == b'I' && (!is_substitution || self.arguments_follow) {
            if !is_substitution {
                self.remember(name);
            }
            let arguments = self.template_arguments(false)?;
            return Some((self.add(Node::Instance { name, arguments }), true));
        }
        Some((name, !is_substitution))
    }

    /// Parses a type that begins with `D`. The flag is true if it can be substituted, which builtin types cannot.
    fn type_of_d(&mut self) -> Option<(NodeId, bool)> {
        let letter = self.peek_at(1);
        if let Some(word) = builtin_of_two(letter) {
            self.at += 2;
            return Some((self.word(word), false));
        }
        match letter {
            b'F' | b'B' | b'U' => Some((self.sized_number()?, false)),
            b'k' | b'K' => {
                self.at += 2;
                let base = self.plain_name()?;
                let postfix = if letter == b'k' { &" auto" } else { &" decltype(auto)" };
                Some((self.add(Node::Postfixed { base, postfix }), false))
            }
            b't' | b'T' => Some((self.decltype()?, true)),
            b'v' => Some((self.vector_type()?, true)),
            b'p' => {
                self.at += 2;
                let pattern = self.type_()?;
                Some((self.add(Node::Expansion(pattern)), true))
            }
            b'o' | b'O' | b'w' | b'x' => Some((self.function_type()?, true)),
            _ => None,
        }
    }

    /// `DF <number> _ | DF <number> x | DF16b | DB <number or expression> _ | DU <number or expression> _`
    fn sized_number(&mut self) -> Option<NodeId> {
        let letter = self.peek_at(1);
        self.at += 2;
        let size = if letter == b'F' || self.peek().is_ascii_digit() {
            let digits = self.number();
            self.text(digits)
        } else {
            self.expression()?
        };
        if letter == b'F' && self.eat(b'x') {
            let base = self.add(Node::BinaryFloat(size));
            return Some(self.add(Node::Postfixed { base, postfix: &"x" }));
        }
        if letter == b'F' && self.eat(b'b') {
            return Some(self.word(&"std::bfloat16_t"));
        }
        self.expect(b'_')?;
        Some(match letter {
            b'F' => self.add(Node::BinaryFloat(size)),
            _ => self.add(Node::BitInt { size, is_signed: letter == b'B' }),
        })
    }

    /// `<decltype> ::= Dt <expression> E | DT <expression> E`
    pub(super) fn decltype(&mut self) -> Option<NodeId> {
        if !self.eat_two(*b"Dt") && !self.eat_two(*b"DT") {
            return None;
        }
        let of = self.expression()?;
        self.expect(b'E')?;
        Some(self.add(Node::Enclosed { word: &"decltype", of }))
    }

    /// `<vector-type> ::= Dv <number> _ (p | <type>) | Dv [<expression>] _ <type>`
    fn vector_type(&mut self) -> Option<NodeId> {
        self.at += 2;
        let has_number = matches!(self.peek(), b'1'..=b'9');
        let size = self.dimension(has_number)?;
        match size {
            Some(size) if has_number && self.eat(b'p') => Some(self.add(Node::PixelVector(size))),
            _ => {
                let of = self.type_()?;
                Some(self.add(Node::Vector { of, size }))
            }
        }
    }

    /// `<array-type> ::= A [<number or expression>] _ <type>`
    fn array_type(&mut self) -> Option<NodeId> {
        self.at += 1;
        let has_number = self.peek().is_ascii_digit();
        let size = self.dimension(has_number)?;
        let of = self.type_()?;
        Some(self.tree.add_shaped(Node::Array { of, size }, NodeShape::ARRAY))
    }

    fn dimension(&mut self, has_number: bool) -> Option<Option<NodeId>> {
        let size = if has_number {
            let digits = self.number();
            Some(self.text(digits))
        } else if self.eat(b'_') {
            return Some(None);
        } else {
            Some(self.expression()?)
        };
        self.expect(b'_')?;
        Some(size)
    }

    /// `<pointer-to-member-type> ::= M <class type> <member type>`
    fn member_pointer(&mut self) -> Option<NodeId> {
        self.at += 1;
        let class = self.type_()?;
        let member = self.type_()?;
        let shape = self.tree.shape(member).of_pointer();
        Some(self.tree.add_shaped(Node::MemberPointer { class, member }, shape))
    }

    /// `<class-enum-type> ::= [Ts | Tu | Te] <name>`
    fn class_type(&mut self) -> Option<NodeId> {
        let what: Option<Word> = if self.eat_two(*b"Ts") {
            Some(&"struct")
        } else if self.eat_two(*b"Tu") {
            Some(&"union")
        } else if self.eat_two(*b"Te") {
            Some(&"enum")
        } else {
            None
        };
        let name = self.plain_name()?;
        Some(match what {
            Some(what) => self.add(Node::Elaborated { what, name }),
            None => name,
        })
    }

    /// `u <source-name> [I <type> E]`
    fn vendor_type(&mut self) -> Option<NodeId> {
        self.at += 1;
        let name = self.counted().filter(|name| name.length > 0)?;
        let name = self.text(name);
        if !self.eat(b'I') {
            return Some(name);
        }
        let base = self.type_()?;
        self.expect(b'E')?;
        Some(self.add(Node::Transformed { transform: name, base }))
    }

    /// `<qualified-type> ::= (U <source-name> [<template-args>])* [r] [V] [K] <type>`
    fn qualified_type(&mut self) -> Option<NodeId> {
        self.enter()?;
        let id = if self.eat(b'U') {
            self.vendor_qualified()?
        } else {
            let qualifiers = self.qualifiers();
            let base = self.type_()?;
            let shape = self.tree.shape(base);
            match qualifiers {
                Qualifiers(0) => base,
                _ => self.tree.add_shaped(Node::Qualified { base, qualifiers }, shape),
            }
        };
        self.leave();
        Some(id)
    }

    /// Parses a vendor qualifier, or an Objective-C protocol: `U <length> objcproto <source-name>`.
    fn vendor_qualified(&mut self) -> Option<NodeId> {
        const PROTOCOL: &[u8] = b"objcproto";
        let qualifier = self.counted().filter(|name| name.length > 0)?;
        if self.bytes(qualifier).starts_with(PROTOCOL) {
            let end = std::mem::replace(&mut self.at, qualifier.at as usize + PROTOCOL.len());
            let protocol = self.counted().filter(|name| name.length > 0)?;
            let is_inside = self.at <= end;
            self.at = end;
            let base = is_inside.then(|| self.qualified_type()).flatten()?;
            let protocol = self.text(protocol);
            return Some(self.add(Node::Protocol { base, protocol }));
        }
        let arguments = match self.peek() {
            b'I' => Some(self.template_arguments(false)?),
            _ => None,
        };
        let base = self.qualified_type()?;
        let qualifier = self.text(qualifier);
        Some(self.add(Node::Vendor { base, qualifier, arguments }))
    }

    fn is_qualified_function(&self) -> bool {
        let mut ahead = 0;
        for letter in *b"rVK" {
            ahead += usize::from(self.peek_at(ahead) == letter);
        }
        match self.peek_at(ahead) {
            b'F' => true,
            b'D' => matches!(self.peek_at(ahead + 1), b'o' | b'O' | b'w' | b'x'),
            _ => false,
        }
    }

    /// `<function-type> ::= [<qualifiers>] [<exception-spec>] [Dx] F [Y] <type>+ [<ref-qualifier>] E`
    fn function_type(&mut self) -> Option<NodeId> {
        let qualifiers = self.qualifiers();
        let tail = self.exceptions()?;
        self.eat_two(*b"Dx");
        self.expect(b'F')?;
        self.eat(b'Y');
        let result = Some(self.type_()?);
        let from = self.stacked();
        let reference = loop {
            if self.eat(b'E') {
                break Reference::None;
            } else if self.eat_two(*b"RE") {
                break Reference::Left;
            } else if self.eat_two(*b"OE") {
                break Reference::Right;
            } else if !self.eat(b'v') {
                let parameter = self.type_()?;
                self.push(parameter);
            }
        };
        let parameters = self.list_since(from);
        let signature = self.tree.add_signature(Signature {
            result,
            parameters,
            tail,
            requires: None,
            qualifiers,
            reference,
        });
        Some(self.tree.add_shaped(Node::FunctionType(signature), NodeShape::FUNCTION))
    }

    /// `<exception-spec> ::= Do | DO <expression> E | Dw <type>+ E`
    fn exceptions(&mut self) -> Option<Option<NodeId>> {
        if self.eat_two(*b"Do") {
            return Some(Some(self.word(&"noexcept")));
        }
        if self.eat_two(*b"DO") {
            let condition = self.expression()?;
            self.expect(b'E')?;
            return Some(Some(self.add(Node::Noexcept(condition))));
        }
        if !self.eat_two(*b"Dw") {
            return Some(None);
        }
        let from = self.stacked();
        while !self.eat(b'E') {
            let thrown = self.type_()?;
            self.push(thrown);
        }
        let list = self.list_since(from);
        Some(Some(self.add(Node::Throws(list))))
    }
}

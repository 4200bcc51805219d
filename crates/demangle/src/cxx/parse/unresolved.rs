//! Unresolved names in expressions, which depend on template parameters.
//!
//! Source: Itanium C++ ABI, 5.1.6 "Expressions" (`<unresolved-name>`).

use super::{NameState, Parser};
use crate::cxx::node::{Node, NodeId};

impl Parser<'_> {
    /// `<unresolved-name> ::= [gs] <base> | sr <unresolved-type> <base> | srN <unresolved-type> <level>+ E <base> |
    /// [gs] sr <level>+ E <base>`. The caller has parsed `gs`.
    pub(super) fn unresolved_name(&mut self, is_global: bool) -> Option<NodeId> {
        let scope = if self.eat_word(b"srN") {
            let mut scope = self.unresolved_type_with_arguments()?;
            while !self.eat(b'E') {
                let name = self.simple_id()?;
                scope = self.add(Node::Nested { scope, name });
            }
            scope
        } else if !self.eat_two(*b"sr") {
            let base = self.unresolved_base()?;
            return Some(if is_global { self.add(Node::Global(base)) } else { base });
        } else if self.peek().is_ascii_digit() {
            let mut scope = self.simple_id()?;
            if is_global {
                scope = self.add(Node::Global(scope));
            }
            while !self.eat(b'E') {
                let name = self.simple_id()?;
                scope = self.add(Node::Nested { scope, name });
            }
            scope
        } else {
            self.unresolved_type_with_arguments()?
        };
        let name = self.unresolved_base()?;
        Some(self.add(Node::Nested { scope, name }))
    }

    fn unresolved_type_with_arguments(&mut self) -> Option<NodeId> {
        if (self.peek(), self.peek_at(1)) == (b'S', b't') {
            // GCC encodes names of `std` here like types.
            return self.type_();
        }
        let name = self.unresolved_type()?;
        self.with_arguments(name)
    }

    /// `[<template-args>]` after a name.
    fn with_arguments(&mut self, name: NodeId) -> Option<NodeId> {
        if self.peek() != b'I' {
            return Some(name);
        }
        let arguments = self.template_arguments(false)?;
        Some(self.add(Node::Instance { name, arguments }))
    }

    /// `<unresolved-type> ::= <template-param> | <decltype> | <substitution>`
    fn unresolved_type(&mut self) -> Option<NodeId> {
        let id = match self.peek() {
            b'T' => self.template_parameter()?,
            b'D' => self.decltype()?,
            _ => return self.substitution(),
        };
        self.remember(id);
        Some(id)
    }

    /// `<simple-id> ::= <source-name> [<template-args>]`
    fn simple_id(&mut self) -> Option<NodeId> {
        let name = self.source_name()?;
        self.with_arguments(name)
    }

    /// `<base-unresolved-name> ::= <simple-id> | dn <destructor-name> | [on] <operator-name> [<template-args>]`
    fn unresolved_base(&mut self) -> Option<NodeId> {
        if self.peek().is_ascii_digit() {
            return self.simple_id();
        }
        if self.eat_two(*b"dn") {
            let class = match self.peek() {
                b'0'..=b'9' => self.simple_id()?,
                _ => self.unresolved_type()?,
            };
            return Some(self.add(Node::Destructor(class)));
        }
        self.eat_two(*b"on");
        let name = self.operator_name(&mut NameState::default())?;
        self.with_arguments(name)
    }
}

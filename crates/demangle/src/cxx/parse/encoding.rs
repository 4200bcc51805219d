//! Encodings: a function with its parameters, or data.
//!
//! Source: Itanium C++ ABI, 5.1.1 "General Structure".

use super::{NameState, Parser, Reach};
use crate::cxx::node::{Node, NodeId, NodeList, NodeShape, Signature};

impl Parser<'_> {
    /// `<encoding> ::= <name> [<bare-function-type>] [Q <requires>] | <special-name>`
    pub(super) fn encoding(&mut self) -> Option<NodeId> {
        self.enter()?;
        let saved = self.new_reach();
        let encoding = match self.peek() {
            b'G' | b'T' => self.special_name(),
            _ => self.named_encoding(),
        }?;
        self.restore_reach(saved);
        self.leave();
        Some(encoding)
    }

    /// Starts a scope without the enclosing template parameters; returns the state to restore.
    pub(super) fn new_reach(&mut self) -> Reach {
        let saved = self.reach;
        self.reach.levels_begin = self.scratch.levels.len();
        self.reach.outer = None;
        saved
    }

    pub(super) fn restore_reach(&mut self, saved: Reach) {
        self.scratch.levels.truncate(self.reach.levels_begin);
        self.reach = saved;
    }

    fn named_encoding(&mut self) -> Option<NodeId> {
        let mut state = NameState { is_encoding: true, ..NameState::default() };
        let forwards = self.scratch.forwards.len();
        let name = self.name(&mut state)?;
        self.resolve_forwards(forwards)?;
        if self.is_at_end() {
            return Some(name);
        }
        let tail = if self.eat_word(b"Ua9enable_ifI") {
            let list = self.arguments_until_end()?;
            Some(self.add(Node::EnableIf(list)))
        } else {
            None
        };
        let has_result = state.ends_with_arguments && !state.has_no_result;
        let result = if has_result { Some(self.type_()?) } else { None };
        let parameters = self.parameters(&state)?;
        let requires = if self.eat(b'Q') { Some(self.constraint()?) } else { None };
        let (qualifiers, reference) = (state.qualifiers, state.reference);
        let signature = self.tree.add_signature(Signature {
            result,
            parameters,
            tail,
            requires,
            qualifiers,
            reference,
        });
        Some(self.tree.add_shaped(Node::Function { name, signature }, NodeShape::FUNCTION))
    }

    fn parameters(&mut self, state: &NameState) -> Option<NodeList> {
        let from = self.stacked();
        if !self.eat(b'v') {
            loop {
                let mut parameter = self.type_()?;
                if state.has_explicit_object && self.stacked() == from {
                    parameter = self.add(Node::ExplicitObject(parameter));
                }
                self.push(parameter);
                if self.is_at_end() || self.peek() == b'Q' {
                    break;
                }
            }
        }
        Some(self.list_since(from))
    }

    /// Returns true at the end of an encoding: the bytes that can follow it begin no type.
    fn is_at_end(&self) -> bool {
        self.at >= self.input.len() || matches!(self.peek(), b'E' | b'.' | b'_')
    }

    /// Resolves the template parameters that were added to the waiting list since `from`.
    fn resolve_forwards(&mut self, from: usize) -> Option<()> {
        if self.scratch.forwards.len() == from {
            return Some(());
        }
        let list = self.scratch.levels.get(self.reach.levels_begin).copied().flatten();
        for at in from..self.scratch.forwards.len() {
            let (id, index) = *self.scratch.forwards.get(at)?;
            let target = *self.scratch.lists.get(list?)?.get(index as usize)?;
            self.tree.set(id, Node::Forward { target: Some(target) });
        }
        self.scratch.forwards.truncate(from);
        self.tree.has_forward = true;
        Some(())
    }

    /// `<template-arg>* E`
    pub(super) fn arguments_until_end(&mut self) -> Option<NodeList> {
        let from = self.stacked();
        while !self.eat(b'E') {
            let argument = self.template_argument()?;
            self.push(argument);
        }
        Some(self.list_since(from))
    }
}

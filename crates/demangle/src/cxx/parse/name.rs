//! Names: plain, in a scope, in a function.
//!
//! Source: Itanium C++ ABI, 5.1.2 "Names", 5.1.7 "Scope Encoding".

use super::{NameState, Parser, Reach};
use crate::cxx::node::{NameSlice, Node, NodeId, Reference};

impl Parser<'_> {
    /// `<name> ::= <nested-name> | <local-name> | <unscoped-name> [<template-args>]`
    pub(super) fn name(&mut self, state: &mut NameState) -> Option<NodeId> {
        match self.peek() {
            b'N' => self.nested_name(state),
            b'Z' => self.local_name(state),
            _ => {
                let (name, is_substitution) = self.unscoped_name(state)?;
                if self.peek() != b'I' {
                    // A substitution alone is not a name.
                    return (!is_substitution).then_some(name);
                }
                if !is_substitution {
                    self.remember(name);
                }
                let arguments = self.template_arguments(state.is_encoding)?;
                state.ends_with_arguments = true;
                Some(self.add(Node::Instance { name, arguments }))
            }
        }
    }

    /// Parses the name of a type, or of anything else that is not an encoding.
    pub(super) fn plain_name(&mut self) -> Option<NodeId> {
        self.name(&mut NameState::default())
    }

    /// `<unscoped-name> ::= [St] <unqualified-name> | <substitution>`. The flag is true for a substitution.
    pub(super) fn unscoped_name(&mut self, state: &mut NameState) -> Option<(NodeId, bool)> {
        let std = self.eat_two(*b"St").then(|| self.word(&"std"));
        let mut module = None;
        if self.peek() == b'S' {
            let substitution = self.substitution()?;
            if matches!(self.tree.node(substitution), Node::Module { .. }) {
                module = Some(substitution);
            } else {
                return std.is_none().then_some((substitution, true));
            }
        }
        Some((self.unqualified_name(state, std, module)?, false))
    }

    /// `<local-name> ::= Z <encoding> E (<name> | d [<number>] _ <name> | s) [<discriminator>]`
    fn local_name(&mut self, state: &mut NameState) -> Option<NodeId> {
        self.at += 1;
        let encoding = self.encoding()?;
        self.expect(b'E')?;
        if self.eat(b's') {
            self.discriminator();
            let entity = self.word(&"string literal");
            return Some(self.add(Node::Local { encoding, entity }));
        }
        let saved = self.new_reach();
        let entity = if self.eat(b'd') {
            let number = self.signed_number();
            self.expect(b'_')?;
            let entity = self.name(state)?;
            self.add(Node::DefaultArgument { number, entity })
        } else {
            let entity = self.name(state)?;
            self.discriminator();
            entity
        };
        let reach = self.reach;
        self.restore_reach(saved);
        if state.is_encoding && state.ends_with_arguments {
            self.adopt(reach);
        }
        Some(self.add(Node::Local { encoding, entity }))
    }

    /// Adopts the template arguments of an entity in a function, which the parameters refer to. Clang encodes the
    /// parameters of generic lambdas so.
    fn adopt(&mut self, reach: Reach) {
        if let Some(outer) = reach.outer {
            self.scratch.levels.push(Some(outer));
            self.reach.outer = Some(outer);
            self.reach.lists_used = reach.lists_used;
        }
    }

    /// `<discriminator> ::= _ <digit> | __ <number> _`, or digits at the very end as in older compilers.
    fn discriminator(&mut self) {
        let at = self.at;
        if self.eat(b'_') {
            if self.peek().is_ascii_digit() {
                self.at += 1;
                return;
            }
            if self.eat(b'_') {
                self.number();
                if self.eat(b'_') {
                    return;
                }
            }
        } else if self.number().length > 0 && self.at == self.input.len() {
            return;
        }
        self.at = at;
    }

    /// `<nested-name> ::= N [<qualifiers>] [<ref-qualifier>] <prefix>+ E`
    fn nested_name(&mut self, state: &mut NameState) -> Option<NodeId> {
        self.at += 1;
        match self.peek() {
            b'H' => {
                self.at += 1;
                state.has_explicit_object = true;
            }
            b'r' | b'V' | b'K' | b'O' | b'R' => {
                state.qualifiers = self.qualifiers();
                state.reference = self.reference();
            }
            _ => {}
        }
        let so_far = self.prefixes(state)?;
        self.scratch.substitutions.pop()?;
        so_far
    }

    /// `<prefix>+ E`: each is in the scope of the previous ones, and can be substituted later.
    fn prefixes(&mut self, state: &mut NameState) -> Option<Option<NodeId>> {
        let mut so_far: Option<NodeId> = None;
        let mut end_of_last = 0;
        loop {
            let letter = self.peek();
            if letter == b'E' {
                self.at += 1;
                return Some(so_far);
            }
            if letter == b'M' && self.at == end_of_last {
                // The scope of a member's initialiser; only older compilers wrote it.
                self.at += 1;
                continue;
            }
            state.ends_with_arguments = false;
            let next = match letter {
                b'1'..=b'9' => self.identifier_in(so_far)?,
                b'I' => self.instance_of(so_far?, state)?,
                b'S' => {
                    let substitution = self.prefix_substitution()?;
                    if matches!(self.tree.node(substitution), Node::Module { .. }) {
                        self.unqualified_name(state, so_far, Some(substitution))?
                    } else if so_far.is_some() {
                        return None;
                    } else {
                        so_far = Some(substitution);
                        continue;
                    }
                }
                b'T' if so_far.is_none() => self.template_parameter()?,
                b'T' => return None,
                b'D' if matches!(self.peek_at(1), b't' | b'T') => {
                    if so_far.is_some() {
                        return None;
                    }
                    self.decltype()?
                }
                _ => self.unqualified_name(state, so_far, None)?,
            };
            so_far = Some(next);
            self.remember(next);
            end_of_last = self.at;
        }
    }

    /// Parses a plain identifier in its scope, which most parts of names are.
    #[inline(always)]
    pub(super) fn identifier_in(&mut self, scope: Option<NodeId>) -> Option<NodeId> {
        let text = self.counted().filter(|text| text.length > 0)?;
        match scope {
            Some(scope) if self.peek() != b'B' && !self.is_anonymous(text) => {
                Some(self.add(Node::Scoped { scope, name: text }))
            }
            _ => self.any_identifier_in(scope, text),
        }
    }

    fn any_identifier_in(&mut self, scope: Option<NodeId>, text: NameSlice) -> Option<NodeId> {
        let mut name = self.identifier(text);
        if self.peek() == b'B' {
            name = self.tags(name)?;
        }
        Some(match scope {
            Some(scope) => self.add(Node::Nested { scope, name }),
            None => name,
        })
    }

    fn reference(&mut self) -> Reference {
        if self.eat(b'O') {
            Reference::Right
        } else if self.eat(b'R') {
            Reference::Left
        } else {
            Reference::None
        }
    }

    /// Parses the arguments of a template.
    fn instance_of(&mut self, name: NodeId, state: &mut NameState) -> Option<NodeId> {
        let arguments = self.template_arguments(state.is_encoding)?;
        if matches!(self.tree.node(name), Node::Instance { .. }) {
            return None;
        }
        state.ends_with_arguments = true;
        Some(self.add(Node::Instance { name, arguments }))
    }

    fn prefix_substitution(&mut self) -> Option<NodeId> {
        if self.eat_two(*b"St") { Some(self.word(&"std")) } else { self.substitution() }
    }
}

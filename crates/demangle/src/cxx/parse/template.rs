//! Template arguments, and the parameters that refer to them.
//!
//! Source: Itanium C++ ABI, 5.1.5.3 "Template Parameters" to 5.1.5.8, 5.1.8.

use super::Parser;
use crate::cxx::node::{Invented, Node, NodeId, NodeList, NodeShape, Presence};

impl Parser<'_> {
    /// `<template-args> ::= I <template-arg>* [Q <requires>] E`. Template parameters after the arguments of an encoding
    /// refer to these.
    pub(super) fn template_arguments(&mut self, is_encoding: bool) -> Option<NodeId> {
        self.expect(b'I')?;
        let outer = if is_encoding { Some(self.new_outer_list()) } else { None };
        // Inside the brackets, arguments may have arguments again, regardless of the context.
        let follow = std::mem::replace(&mut self.arguments_follow, true);
        let from = self.stacked();
        while !self.eat(b'E') {
            let argument = self.template_argument()?;
            self.push(argument);
            if let Some(list) = outer {
                let target = self.target_of(argument);
                self.scratch.lists.get_mut(list)?.push(target);
            }
            if self.eat(b'Q') {
                // The clause is not printed.
                self.constraint()?;
                self.expect(b'E')?;
                break;
            }
        }
        self.arguments_follow = follow;
        let list = self.list_since(from);
        Some(self.add(Node::Arguments(list)))
    }

    /// Removes the template parameters in scope, and returns the list for new ones.
    fn new_outer_list(&mut self) -> usize {
        self.scratch.levels.truncate(self.reach.levels_begin);
        let list = match self.reach.outer {
            Some(list) => list,
            None => self.new_list(),
        };
        if let Some(list) = self.scratch.lists.get_mut(list) {
            list.clear();
        }
        self.reach.outer = Some(list);
        self.scratch.levels.push(Some(list));
        list
    }

    /// Returns the target of a template parameter with this argument.
    fn target_of(&mut self, argument: NodeId) -> NodeId {
        match self.tree.node(argument) {
            Node::DeclaredArgument(argument) => argument,
            Node::ArgumentPack(list) => {
                let shape = self.shape_of_pack(list);
                self.tree.add_shaped(Node::ParameterPack(list), shape)
            }
            _ => argument,
        }
    }

    /// Returns the shape of a pack: a property is known if no element has it.
    fn shape_of_pack(&self, list: NodeList) -> NodeShape {
        let of = |part: fn(NodeShape) -> Presence| {
            let all =
                self.tree.list(list).iter().all(|&id| part(self.tree.shape(id)) == Presence::No);
            if all { Presence::No } else { Presence::Unknown }
        };
        NodeShape {
            right: of(|shape| shape.right),
            array: of(|shape| shape.array),
            function: of(|shape| shape.function),
        }
    }

    /// `<template-arg> ::= <type> | X <expression> E | <expr-primary> | J <template-arg>* E | LZ <encoding> E |
    /// <template-param-decl> <template-arg>`
    pub(super) fn template_argument(&mut self) -> Option<NodeId> {
        match self.peek() {
            b'X' => {
                self.at += 1;
                let expression = self.expression()?;
                self.expect(b'E')?;
                Some(expression)
            }
            b'J' => {
                self.at += 1;
                self.enter()?;
                let list = self.arguments_until_end()?;
                self.leave();
                Some(self.add(Node::ArgumentPack(list)))
            }
            b'L' if self.peek_at(1) == b'Z' => {
                self.at += 2;
                let encoding = self.encoding()?;
                self.expect(b'E')?;
                Some(encoding)
            }
            b'L' => self.primary(),
            b'T' if self.is_parameter_declaration() => {
                self.enter()?;
                self.parameter_declaration(None)?;
                let argument = self.template_argument()?;
                self.leave();
                Some(self.add(Node::DeclaredArgument(argument)))
            }
            _ => self.type_(),
        }
    }

    /// `<template-param> ::= T [<number>] _ | TL <level> __ | TL <level> _ <number> _`
    pub(super) fn template_parameter(&mut self) -> Option<NodeId> {
        let at = self.at;
        self.expect(b'T')?;
        let mut level = 0;
        if self.eat(b'L') {
            level = self.positive()?.checked_add(1)?;
            self.expect(b'_')?;
        }
        let mut index = 0;
        if !self.eat(b'_') {
            index = self.positive()?.checked_add(1)?;
            self.expect(b'_')?;
        }
        if self.in_constraint {
            // Constraints may use parameters of enclosing templates, and their arguments are unknown.
            let mut text = self.since(at);
            text.length -= 1;
            return Some(self.text(text));
        }
        if self.arguments_come_later && level == 0 {
            let forward = self.add_forward(u32::try_from(index).ok()?);
            return Some(forward);
        }
        self.resolve(level, index)
    }

    fn add_forward(&mut self, index: u32) -> NodeId {
        let id = self.tree.add_shaped(Node::Forward { target: None }, NodeShape::UNKNOWN);
        self.scratch.forwards.push((id, index));
        id
    }

    /// Returns the target of a parameter; `auto` for a lambda's parameter without a list.
    fn resolve(&mut self, level: usize, index: usize) -> Option<NodeId> {
        let levels = self.scratch.levels.get(self.reach.levels_begin..).unwrap_or_default();
        let list = levels.get(level).copied().flatten();
        let list = list.and_then(|list| self.scratch.lists.get(list));
        if let Some(&target) = list.and_then(|list| list.get(index)) {
            return Some(target);
        }
        if self.auto_level != Some(level) || level > levels.len() {
            return None;
        }
        if level == levels.len() {
            self.scratch.levels.push(None);
        }
        Some(self.add(Node::Auto(u32::try_from(index).ok()?)))
    }

    pub(super) fn is_parameter_declaration(&self) -> bool {
        self.peek() == b'T' && matches!(self.peek_at(1), b'y' | b'p' | b't' | b'n' | b'k')
    }

    /// `<template-param-decl> ::= Ty | Tk <concept> | Tn <type> | Tt <template-param-decl>* [Q <requires>] E | Tp
    /// <template-param-decl>`. Its name is invented and added to the list.
    pub(super) fn parameter_declaration(&mut self, list: Option<usize>) -> Option<NodeId> {
        self.expect(b'T')?;
        let letter = self.peek();
        self.at += 1;
        self.enter()?;
        let declaration = match letter {
            b'y' => Node::TypeParameter(self.invent(Invented::Type, list)),
            b'k' => {
                let constraint = self.plain_name()?;
                let name = self.invent(Invented::Type, list);
                Node::ConstrainedParameter { constraint, name }
            }
            b'n' => {
                let name = self.invent(Invented::Value, list);
                Node::ValueParameter { name, of: self.type_()? }
            }
            b't' => self.template_template_parameter(list)?,
            b'p' => Node::PackParameter(self.parameter_declaration(list)?),
            _ => return None,
        };
        self.leave();
        Some(self.tree.add_shaped(declaration, NodeShape::RIGHT))
    }

    fn template_template_parameter(&mut self, list: Option<usize>) -> Option<Node> {
        let name = self.invent(Invented::Template, list);
        let from = self.stacked();
        let level = self.scratch.levels.len();
        let inner = self.new_list();
        self.scratch.levels.push(Some(inner));
        let mut requires = None;
        while !self.eat(b'E') {
            let parameter = self.parameter_declaration(Some(inner))?;
            self.push(parameter);
            if self.eat(b'Q') {
                requires = Some(self.constraint()?);
                self.expect(b'E')?;
                break;
            }
        }
        self.scratch.levels.truncate(level);
        self.reach.lists_used -= 1;
        let parameters = self.list_since(from);
        let parameters = self.add(Node::List(parameters));
        Some(Node::TemplateParameter { name, parameters, requires })
    }

    fn invent(&mut self, what: Invented, list: Option<usize>) -> NodeId {
        let number = match what {
            Invented::Type => &mut self.invented[0],
            Invented::Value => &mut self.invented[1],
            Invented::Template => &mut self.invented[2],
        };
        let node = Node::Invented(what, *number);
        *number += 1;
        let name = self.add(node);
        if let Some(list) = list.and_then(|list| self.scratch.lists.get_mut(list)) {
            list.push(name);
        }
        name
    }
}

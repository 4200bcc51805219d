//! Printing of template parameters and packs.

use super::{Pack, Printer};
use crate::cxx::node::{Invented, Node, NodeId, NodeList, Presence};
use crate::cxx::tree::TreeEntry;

impl Printer<'_> {
    pub(super) fn left_of_template(&mut self, id: NodeId, node: Node) {
        match node {
            Node::ArgumentPack(list) | Node::List(list) => self.list(list),
            Node::ParameterPack(list) => {
                if let Some(id) = self.element(list) {
                    self.left(id);
                }
            }
            Node::Expansion(pattern) => self.expansion(pattern),
            Node::Forward { target: Some(target) } => {
                self.guarded(id, |this| this.left(target));
            }
            Node::Forward { target: None } => {}
            Node::DeclaredArgument(argument) => self.print(argument),
            Node::Auto(index) => {
                self.word("auto");
                if self.is_gnu {
                    self.word(":");
                    self.word(&(u64::from(index) + 1).to_string());
                }
            }
            Node::Invented(what, number) => {
                self.word(match what {
                    Invented::Type => "$T",
                    Invented::Value => "$N",
                    Invented::Template => "$TT",
                });
                if let Some(number) = number.checked_sub(1) {
                    self.word(&number.to_string());
                }
            }
            Node::TypeParameter(_) => self.word("typename "),
            Node::ConstrainedParameter { constraint, .. } => {
                self.print(constraint);
                self.word(" ");
            }
            Node::ValueParameter { of, .. } => {
                self.left(of);
                if !self.has_right(of) {
                    self.word(" ");
                }
            }
            Node::TemplateParameter { parameters, .. } => {
                self.word("template");
                self.angles(|this| this.print(parameters));
                self.word(" typename ");
            }
            Node::PackParameter(of) => {
                self.left(of);
                self.word("...");
            }
            _ => self.left_of_type(id, node),
        }
    }

    /// Returns the current element of a pack. The first pack in an expansion sets the number of elements.
    pub(super) fn element(&mut self, list: NodeList) -> Option<NodeId> {
        let pack = *self.pack.get_or_insert(Pack { index: 0, size: list.length });
        self.tree.element(list, pack.index)
    }

    /// Prints a pattern for each element of the packs in it.
    pub(super) fn expansion(&mut self, pattern: NodeId) {
        let around = self.pack.take();
        self.expansions += 1;
        let start = self.out.len();
        self.print(pattern);
        match self.pack {
            // It contains no pack, as for a parameter of a function.
            None => self.word("..."),
            Some(Pack { size: 0, .. }) => self.out.truncate(start),
            Some(Pack { size, .. }) => {
                for index in 1..size {
                    if self.is_too_large {
                        break;
                    }
                    self.word(", ");
                    self.pack = Some(Pack { index, size });
                    self.print(pattern);
                }
            }
        }
        self.expansions -= 1;
        self.pack = around;
    }

    pub(super) fn right_of_template(&mut self, id: NodeId, node: Node) {
        match node {
            Node::ParameterPack(list) => {
                if let Some(id) = self.element(list) {
                    self.right(id);
                }
            }
            Node::Forward { target: Some(target) } => {
                self.guarded(id, |this| this.right(target));
            }
            Node::TypeParameter(name) | Node::ConstrainedParameter { name, .. } => self.print(name),
            Node::ValueParameter { name, of } => {
                self.print(name);
                self.right(of);
            }
            Node::TemplateParameter { name, requires, .. } => {
                self.print(name);
                requires.into_iter().for_each(|requires| self.prefixed(" requires ", requires));
            }
            Node::PackParameter(of) => self.right(of),
            _ => {}
        }
    }

    pub(super) fn has_right(&mut self, id: NodeId) -> bool {
        self.has(id, |shape| shape.right)
    }

    pub(super) fn is_array(&mut self, id: NodeId) -> bool {
        self.has(id, |shape| shape.array)
    }

    pub(super) fn is_function(&mut self, id: NodeId) -> bool {
        self.has(id, |shape| shape.function)
    }

    /// Returns true if a node, or the current target of a parameter, has a property.
    fn has(&mut self, id: NodeId, part: fn(crate::cxx::node::NodeShape) -> Presence) -> bool {
        let TreeEntry { node, shape, .. } = *self.tree.entry(id);
        match part(shape) {
            Presence::No => return false,
            Presence::Yes => return true,
            Presence::Unknown => {}
        }
        if !self.enter() {
            return false;
        }
        let found = match node {
            Node::ParameterPack(list) => self.element(list).is_some_and(|id| self.has(id, part)),
            Node::Forward { target: Some(target) } => {
                self.guarded(id, |this| this.has(target, part)).unwrap_or(false)
            }
            Node::Qualified { base, .. } => self.has(base, part),
            Node::Pointer(of) | Node::Reference { to: of, .. } => self.has(of, part),
            Node::MemberPointer { member, .. } => self.has(member, part),
            _ => false,
        };
        self.depth -= 1;
        found
    }

    /// Returns the current target of a parameter.
    pub(super) fn resolved(&mut self, id: NodeId) -> NodeId {
        match self.tree.node(id) {
            Node::ParameterPack(list) => match self.element(list) {
                Some(element) if self.enter() => {
                    let found = self.resolved(element);
                    self.depth -= 1;
                    found
                }
                _ => id,
            },
            Node::Forward { target: Some(target) } if self.enter() => {
                let found = self.guarded(id, |this| this.resolved(target)).unwrap_or(id);
                self.depth -= 1;
                found
            }
            _ => id,
        }
    }
}

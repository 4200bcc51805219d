//! Printing of types and functions.

use super::Printer;
use crate::cxx::node::{NameSlice, Node, NodeId, NodeShape, Qualifiers, Reference, Signature};

impl Printer<'_> {
    pub(super) fn left_of_type(&mut self, id: NodeId, node: Node) {
        match node {
            Node::Pointer(to) => self.left_of_pointer(to),
            Node::Reference { .. } => {
                self.guarded(id, |this| this.left_of_reference(id));
            }
            Node::MemberPointer { class, member } => {
                self.left(member);
                let is_around = self.is_array(member) || self.is_function(member);
                self.word(if is_around { "(" } else { " " });
                self.print(class);
                self.word("::*");
            }
            Node::Array { of, .. } => self.left(of),
            Node::FunctionType(signature) => {
                let signature = self.tree.signature(signature);
                signature.result.into_iter().for_each(|result| self.left(result));
                self.word(" ");
            }
            Node::Qualified { base, qualifiers } => {
                if self.tree.shape(base) == NodeShape::PLAIN {
                    self.print(base);
                } else {
                    self.left(base);
                }
                self.qualifiers(qualifiers);
            }
            Node::Vendor { base, qualifier, arguments } => {
                self.print(base);
                self.prefixed(" ", qualifier);
                arguments.into_iter().for_each(|arguments| self.print(arguments));
            }
            Node::Protocol { base, protocol } => {
                self.print(base);
                self.word("<");
                self.print(protocol);
                self.word(">");
            }
            Node::Postfixed { base, postfix } => {
                self.left(base);
                self.word(postfix);
            }
            _ => self.left_of_plain_type(node),
        }
    }

    fn left_of_plain_type(&mut self, node: Node) {
        match node {
            Node::Elaborated { what, name } => {
                self.word(what);
                self.prefixed(" ", name);
            }
            Node::Transformed { transform, base } => {
                self.print(transform);
                self.word("(");
                self.print(base);
                self.word(")");
            }
            Node::Vector { of, size } => {
                self.print(of);
                self.word(" vector[");
                size.into_iter().for_each(|size| self.print(size));
                self.word("]");
            }
            Node::PixelVector(size) => {
                self.prefixed("pixel vector[", size);
                self.word("]");
            }
            Node::BinaryFloat(size) => self.prefixed("_Float", size),
            Node::BitInt { size, is_signed } => {
                self.word(if is_signed { "_BitInt" } else { "unsigned _BitInt" });
                self.enclosed(size);
            }
            Node::Noexcept(condition) => {
                self.word("noexcept");
                self.enclosed(condition);
            }
            Node::Throws(list) => {
                self.word("throw");
                self.enclosed_list(list);
            }
            _ => self.left_of_expression(node),
        }
    }

    pub(super) fn right_of(&mut self, id: NodeId, node: Node) {
        match node {
            Node::Pointer(to) if self.is_objc_object(to).is_none() => self.right_around(to),
            Node::Reference { .. } => {
                self.guarded(id, |this| {
                    if let Some((_, to)) = this.collapsed(id) {
                        this.right_around(to);
                    }
                });
            }
            Node::MemberPointer { member, .. } => self.right_around(member),
            Node::Array { of, size } => {
                if self.out.last() != Some(&b']') {
                    self.word(" ");
                }
                self.word("[");
                size.into_iter().for_each(|size| self.print(size));
                self.word("]");
                self.right(of);
            }
            Node::FunctionType(signature) => {
                let signature = self.tree.signature(signature);
                self.right_of_function(&signature);
                if let Some(exceptions) = signature.tail {
                    self.prefixed(" ", exceptions);
                }
            }
            Node::Function { signature, .. } if self.has_parameters => {
                let signature = self.tree.signature(signature);
                self.right_of_function(&signature);
                signature.tail.into_iter().for_each(|attributes| self.print(attributes));
                let requires = signature.requires.into_iter();
                requires.for_each(|requires| self.prefixed(" requires ", requires));
            }
            Node::Function { .. } => {}
            Node::Qualified { base, .. } => self.right(base),
            _ => self.right_of_template(id, node),
        }
    }

    /// Prints the return type of a function, and its name.
    pub(super) fn left_of_function(&mut self, name: NodeId, signature: u32) {
        let result = self.tree.signature(signature).result;
        if let Some(result) = result.filter(|_| self.has_results) {
            self.left(result);
            if !self.has_right(result) {
                self.word(" ");
            }
        }
        self.print(name);
    }

    fn right_of_function(&mut self, signature: &Signature) {
        self.enclosed_list(signature.parameters);
        signature.result.into_iter().for_each(|result| self.right(result));
        self.qualifiers(signature.qualifiers);
        match signature.reference {
            Reference::None => {}
            Reference::Left => self.word(" &"),
            Reference::Right => self.word(" &&"),
        }
    }

    fn qualifiers(&mut self, qualifiers: Qualifiers) {
        if qualifiers == Qualifiers::default() {
            return;
        }
        for (bit, word) in [
            (Qualifiers::CONST, " const"),
            (Qualifiers::VOLATILE, " volatile"),
            (Qualifiers::RESTRICT, " restrict"),
        ] {
            if qualifiers.0 & bit != 0 {
                self.word(word);
            }
        }
    }

    fn left_of_pointer(&mut self, to: NodeId) {
        if let Some(protocol) = self.is_objc_object(to) {
            self.word("id<");
            self.print(protocol);
            self.word(">");
            return;
        }
        self.left_around(to, "*");
    }

    fn left_of_reference(&mut self, id: NodeId) {
        if let Some((is_right, to)) = self.collapsed(id) {
            self.left_around(to, if is_right { "&&" } else { "&" });
        }
    }

    /// Prints the target of a pointer, up to the pointer's sign. Arrays and functions enclose the sign.
    fn left_around(&mut self, to: NodeId, sign: &str) {
        let is_plain = self.tree.shape(to) == NodeShape::PLAIN;
        if is_plain {
            self.print(to);
            return self.word(sign);
        }
        self.left(to);
        let is_array = self.is_array(to);
        if is_array {
            self.word(" ");
        }
        if is_array || self.is_function(to) {
            self.word("(");
        }
        self.word(sign);
    }

    fn right_around(&mut self, to: NodeId) {
        if self.is_array(to) || self.is_function(to) {
            self.word(")");
        }
        self.right(to);
    }

    /// Returns the protocol of `id<protocol>`.
    fn is_objc_object(&self, to: NodeId) -> Option<NodeId> {
        let Node::Protocol { base, protocol } = self.tree.node(to) else { return None };
        let Node::Text(NameSlice { at, length }) = self.tree.node(base) else { return None };
        let at = at as usize;
        let name = self.input.get(at..at + length as usize);
        (name == Some(b"objc_object")).then_some(protocol)
    }

    /// Collapses a reference to references: the result is an rvalue reference only if all of them are. `None` for a
    /// circle.
    fn collapsed(&mut self, id: NodeId) -> Option<(bool, NodeId)> {
        /// Limit on consecutive references, above the number that a name without a circle can have.
        const MANY: u32 = 1 << 10;
        let Node::Reference { mut to, mut is_right } = self.tree.node(id) else { return None };
        if self.tree.shape(to) == NodeShape::PLAIN
            && !matches!(self.tree.node(to), Node::Reference { .. } | Node::ParameterPack(_))
        {
            return Some((is_right, to));
        }
        for _ in 0..MANY {
            let found = self.resolved(to);
            let Node::Reference { to: next, is_right: next_is_right } = self.tree.node(found)
            else {
                return Some((is_right, to));
            };
            (to, is_right) = (next, is_right && next_is_right);
        }
        None
    }
}

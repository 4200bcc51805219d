//! Printing of expressions, except for operators.

use super::{Printer, float};
use crate::cxx::node::{NameSlice, Node, NodeId};
use crate::cxx::operators::{Precedence, operator};
use crate::cxx::tree::Tree;

impl Printer<'_> {
    pub(super) fn left_of_expression(&mut self, node: Node) {
        match node {
            Node::Enclosed { word, of } => {
                self.word(word);
                self.enclosed(of);
            }
            Node::SizeOfPack(pack) => {
                self.word("sizeof...");
                self.open("(");
                self.expansion(pack);
                self.close(")");
            }
            Node::Subobject { what, of, offset } => {
                self.print(of);
                self.prefixed(".<", what);
                self.word(" at offset ");
                match self.tree.node(offset) {
                    Node::Text(NameSlice { length: 0, .. }) => self.word("0"),
                    Node::Text(text) => self.signed(text),
                    _ => {}
                }
                self.word(">");
            }
            Node::Braces { what, values } => {
                what.into_iter().for_each(|what| self.print(what));
                self.word("{");
                self.list(values);
                self.word("}");
            }
            Node::Designated { place, value, is_index } => {
                self.word(if is_index { "[" } else { "." });
                self.print(place);
                self.word(if is_index { "]" } else { "" });
                self.designated(value);
            }
            Node::DesignatedRange { first, last, value } => {
                self.prefixed("[", first);
                self.prefixed(" ... ", last);
                self.word("]");
                self.designated(value);
            }
            Node::Fold { operator, is_left, pack, start } => {
                self.fold(operator, is_left, pack, start);
            }
            Node::Throw(what) => self.prefixed("throw ", what),
            Node::FunctionParameter(number) => {
                self.word("fp");
                self.text(number);
            }
            _ => self.left_of_literal(node),
        }
    }

    fn left_of_literal(&mut self, node: Node) {
        match node {
            Node::StringLiteral(of) => {
                self.prefixed("\"<", of);
                self.word(">\"");
            }
            Node::LambdaExpression(closure) => {
                self.word("[]");
                if let Node::Closure { declarator, .. } = self.tree.node(closure) {
                    self.print(declarator);
                }
                self.word("{...}");
            }
            Node::EnumLiteral { what, value } => {
                self.enclosed(what);
                self.signed(value);
            }
            Node::Integer { what, value } => self.integer(what, value),
            Node::Float { what, digits } => {
                let at = digits.at as usize;
                let digits = self.input.get(at..at + digits.length as usize).unwrap_or_default();
                float::write(self.out, what, digits);
            }
            _ => self.left_of_requirement(node),
        }
    }

    fn left_of_requirement(&mut self, node: Node) {
        match node {
            Node::Requires { parameters, list } => {
                self.word("requires ");
                if let Some(parameters) = parameters {
                    self.enclosed(parameters);
                    self.word(" ");
                }
                self.open("{");
                for index in 0..list.length {
                    self.tree.element(list, index).into_iter().for_each(|id| self.print(id));
                }
                self.word(" ");
                self.close("}");
            }
            Node::ExpressionRequirement { of, is_noexcept, constraint } => {
                self.word(" ");
                if is_noexcept || constraint.is_some() {
                    self.open("{");
                    self.print(of);
                    self.close("}");
                } else {
                    self.print(of);
                }
                self.word(if is_noexcept { " noexcept" } else { "" });
                constraint.into_iter().for_each(|constraint| self.prefixed(" -> ", constraint));
                self.word(";");
            }
            Node::TypeRequirement(of) => {
                self.prefixed(" typename ", of);
                self.word(";");
            }
            Node::NestedRequirement(of) => {
                self.prefixed(" requires ", of);
                self.word(";");
            }
            _ => self.left_of_operation(node),
        }
    }

    fn designated(&mut self, value: NodeId) {
        let is_more = |node| matches!(node, Node::Designated { .. } | Node::DesignatedRange { .. });
        if !is_more(self.tree.node(value)) {
            self.word(" = ");
        }
        self.print(value);
    }

    /// `(init op ... op pack)`, `(pack op ... op init)`, or without an initial value.
    fn fold(&mut self, index: u8, is_left: bool, pack: NodeId, start: Option<NodeId>) {
        let symbol = operator(index).symbol();
        self.open("(");
        if !is_left || start.is_some() {
            self.fold_operand(if is_left { start } else { None }, pack);
            self.spaced(symbol);
        }
        self.word("...");
        if is_left || start.is_some() {
            self.spaced(symbol);
            self.fold_operand(if is_left { None } else { start }, pack);
        }
        self.close(")");
    }

    fn fold_operand(&mut self, start: Option<NodeId>, pack: NodeId) {
        if let Some(start) = start {
            return self.operand(start, Precedence::Cast, true);
        }
        self.open("(");
        self.expansion(pack);
        self.close(")");
    }

    pub(super) fn spaced(&mut self, symbol: &str) {
        self.word(" ");
        self.word(symbol);
        self.word(" ");
    }

    /// Prints a number; a leading `n` is a minus.
    fn signed(&mut self, mut value: NameSlice) {
        if self.input.get(value.at as usize) == Some(&b'n') {
            self.word("-");
            value = NameSlice { at: value.at + 1, length: value.length.saturating_sub(1) };
        }
        self.text(value);
    }

    /// Prints an integer with the suffix of its type, or after its type if that has no suffix.
    fn integer(&mut self, what: u8, value: NameSlice) {
        let suffix = match what {
            b'i' => Some(""),
            b'j' => Some("u"),
            b'l' => Some("l"),
            b'm' => Some("ul"),
            b'x' => Some("ll"),
            b'y' => Some("ull"),
            _ => None,
        };
        if let Some(suffix) = suffix {
            self.signed(value);
            return self.word(suffix);
        }
        self.open("(");
        Tree::builtin(what).into_iter().for_each(|builtin| self.print(builtin));
        self.close(")");
        self.signed(value);
    }
}

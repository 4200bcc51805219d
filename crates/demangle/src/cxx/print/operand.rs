//! Printing of operators with their operands. An operand that binds less tightly than its operator gets parentheses.

use super::Printer;
use crate::cxx::node::{IS_ARRAY, IS_GLOBAL, Node, NodeId, NodeList};
use crate::cxx::operators::{Precedence, operator};

impl Printer<'_> {
    pub(super) fn left_of_operation(&mut self, node: Node) {
        let precedence = node.precedence();
        match node {
            Node::Binary { operator: index, left, right } => {
                self.binary(operator(index).symbol(), precedence, left, right);
            }
            Node::Prefix { operator: index, of } => {
                self.word(operator(index).symbol());
                self.operand(of, precedence, false);
            }
            Node::Postfix { operator: index, of } => {
                self.operand(of, precedence, true);
                self.word(operator(index).symbol());
            }
            Node::Subscript { of, index } => {
                self.operand(of, precedence, false);
                self.open("[");
                self.print(index);
                self.close("]");
            }
            Node::Member { operator: index, of, member } => {
                self.operand(of, precedence, true);
                self.word(operator(index).symbol());
                self.operand(member, precedence, false);
            }
            Node::Conditional { condition, then, or } => {
                self.operand(condition, precedence, false);
                self.prefixed(" ? ", then);
                self.word(" : ");
                self.operand(or, Precedence::Assignment, true);
            }
            Node::Cast { operator: index, to, from } => {
                self.word(operator(index).name);
                self.angles(|this| this.left(to));
                self.enclosed(from);
            }
            Node::Of { operator: index, of } => {
                self.word(operator(index).name);
                self.enclosed(of);
            }
            Node::NoexceptOf(of) => {
                self.word("noexcept ");
                self.enclosed(of);
            }
            _ => self.left_of_call(node),
        }
    }

    fn left_of_call(&mut self, node: Node) {
        match node {
            Node::Call { callee, arguments } => {
                self.print(callee);
                self.enclosed_list(arguments);
            }
            Node::New { flags, placement, what, values } => {
                self.new_expression(flags, placement, what, values);
            }
            Node::Delete { flags, what } => {
                self.word(if flags & IS_GLOBAL != 0 { "::delete" } else { "delete" });
                self.word(if flags & IS_ARRAY != 0 { "[] " } else { " " });
                self.print(what);
            }
            Node::Conversion { to, from } => {
                self.enclosed(to);
                self.enclosed_list(from);
            }
            Node::MemberPointerConversion { to, from } => {
                self.enclosed(to);
                self.enclosed(from);
            }
            _ => {}
        }
    }

    fn binary(&mut self, symbol: &str, precedence: Precedence, left: NodeId, right: NodeId) {
        let would_end = self.brackets == 0 && (symbol == ">" || symbol == ">>");
        if would_end {
            self.open("(");
        }
        // Assignments group from the right.
        let is_assignment = precedence == Precedence::Assignment;
        let than = if is_assignment { Precedence::LogicalOr } else { precedence };
        self.operand(left, than, !is_assignment);
        if symbol == "," {
            self.word(", ");
        } else {
            self.spaced(symbol);
        }
        self.operand(right, precedence, is_assignment);
        if would_end {
            self.close(")");
        }
    }

    fn new_expression(&mut self, flags: u8, placement: NodeId, what: NodeId, values: NodeId) {
        self.word(if flags & IS_GLOBAL != 0 { "::new" } else { "new" });
        self.word(if flags & IS_ARRAY != 0 { "[]" } else { "" });
        self.enclosed_unless_empty(placement);
        self.prefixed(" ", what);
        match self.tree.node(values) {
            Node::List(_) => self.enclosed_unless_empty(values),
            _ => self.print(values),
        }
    }

    fn enclosed_unless_empty(&mut self, list: NodeId) {
        if let Node::List(list @ NodeList { length: 1.., .. }) = self.tree.node(list) {
            self.enclosed_list(list);
        }
    }
}

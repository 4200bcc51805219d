//! Operators with their operands, parameters of functions, folds.
//!
//! Source: Itanium C++ ABI, 5.1.6 "Expressions".

use super::Parser;
use crate::cxx::node::{IS_ARRAY, IS_GLOBAL, Node, NodeId, NodeList};
use crate::cxx::operators::{self, OperatorKind, operator};

impl Parser<'_> {
    /// Parses the operands after the letters of an operator.
    pub(super) fn operation(&mut self, index: u8, is_global: bool) -> Option<NodeId> {
        let kind = operator(index).kind;
        let global = if is_global { IS_GLOBAL } else { 0 };
        let array = |is_array| if is_array { IS_ARRAY } else { 0 };
        let node = match kind {
            OperatorKind::Binary => {
                let left = self.expression()?;
                Node::Binary { operator: index, left, right: self.expression()? }
            }
            OperatorKind::Prefix => Node::Prefix { operator: index, of: self.expression()? },
            OperatorKind::Postfix if self.eat(b'_') => {
                Node::Prefix { operator: index, of: self.expression()? }
            }
            OperatorKind::Postfix => Node::Postfix { operator: index, of: self.expression()? },
            OperatorKind::Subscript => {
                let of = self.expression()?;
                Node::Subscript { of, index: self.expression()? }
            }
            OperatorKind::Member(_) => {
                let of = self.expression()?;
                Node::Member { operator: index, of, member: self.expression()? }
            }
            OperatorKind::New(is_array) => self.new_expression(global | array(is_array))?,
            OperatorKind::Delete(is_array) => {
                Node::Delete { flags: global | array(is_array), what: self.expression()? }
            }
            OperatorKind::Call => {
                let callee = self.expression()?;
                Node::Call { callee, arguments: self.expressions_until_end()? }
            }
            OperatorKind::Conversion => self.conversion()?,
            OperatorKind::Conditional => {
                let condition = self.expression()?;
                let then = self.expression()?;
                Node::Conditional { condition, then, or: self.expression()? }
            }
            OperatorKind::NamedCast => {
                let to = self.type_()?;
                Node::Cast { operator: index, to, from: self.expression()? }
            }
            OperatorKind::Of(true) => Node::Of { operator: index, of: self.type_()? },
            OperatorKind::Of(false) => Node::Of { operator: index, of: self.expression()? },
            OperatorKind::NameOnly => return None,
        };
        Some(self.add(node))
    }

    /// `nw <expression>* _ <type> (pi <expression>* E | il <braced-expression>* E | E)`
    fn new_expression(&mut self, flags: u8) -> Option<Node> {
        let from = self.stacked();
        while !self.eat(b'_') {
            let expression = self.expression()?;
            self.push(expression);
        }
        let placement = self.list_since(from);
        let placement = self.add(Node::List(placement));
        let what = self.type_()?;
        let values = if self.eat_two(*b"pi") {
            Node::List(self.expressions_until_end()?)
        } else if self.eat_two(*b"il") {
            Node::Braces { what: None, values: self.braced_until_end()? }
        } else {
            self.expect(b'E')?;
            Node::List(NodeList::default())
        };
        let values = self.add(values);
        Some(Node::New { flags, placement, what, values })
    }

    /// `cv <type> <expression> | cv <type> _ <expression>* E`
    fn conversion(&mut self) -> Option<Node> {
        let follow = std::mem::replace(&mut self.arguments_follow, false);
        let to = self.type_()?;
        self.arguments_follow = follow;
        if self.eat(b'_') {
            return Some(Node::Conversion { to, from: self.expressions_until_end()? });
        }
        if self.peek() == b'E' {
            return None;
        }
        let at = self.stacked();
        let expression = self.expression()?;
        self.push(expression);
        Some(Node::Conversion { to, from: self.list_since(at) })
    }

    /// `fp… | fL <digit>…` are parameters; all others that begin with `f` are folds.
    pub(super) fn parameter_or_fold(&mut self) -> Option<NodeId> {
        match (self.peek_at(1), self.peek_at(2)) {
            (b'p', _) | (b'L', b'0'..=b'9') => self.function_parameter(),
            _ => self.fold(),
        }
    }

    /// `<function-param> ::= fpT | fp <qualifiers> [<number>] _ | fL <number> p <qualifiers> [<number>] _`
    pub(super) fn function_parameter(&mut self) -> Option<NodeId> {
        if self.eat_word(b"fpT") {
            return Some(self.word(&"this"));
        }
        if self.eat_two(*b"fL") {
            if self.number().length == 0 {
                return None;
            }
            self.expect(b'p')?;
        } else if !self.eat_two(*b"fp") {
            return None;
        }
        self.qualifiers();
        let number = self.number();
        self.expect(b'_')?;
        Some(self.add(Node::FunctionParameter(number)))
    }

    /// `f[lrLR] <binary operator> <expression> [<expression>]`
    fn fold(&mut self) -> Option<NodeId> {
        let letter = self.peek_at(1);
        if !matches!(letter, b'l' | b'r' | b'L' | b'R') {
            return None;
        }
        self.at += 2;
        let index = operators::find([self.peek(), self.peek_at(1)])?;
        self.at += 2;
        let found = operator(index);
        let is_foldable = match found.kind {
            OperatorKind::Binary => true,
            OperatorKind::Member(_) => found.name.ends_with('*'),
            _ => false,
        };
        if !is_foldable {
            return None;
        }
        let is_left = letter.eq_ignore_ascii_case(&b'l');
        let mut pack = self.expression()?;
        let mut start = None;
        if letter.is_ascii_uppercase() {
            let second = self.expression()?;
            start = Some(if is_left { std::mem::replace(&mut pack, second) } else { second });
        }
        Some(self.add(Node::Fold { operator: index, is_left, pack, start }))
    }

    /// `u <source-name> <template-arg>* E`, and `__uuidof`, which has one operand and no end.
    pub(super) fn vendor_expression(&mut self) -> Option<NodeId> {
        self.at += 1;
        let callee = self.source_name()?;
        let is_uuid = match self.tree.node(callee) {
            Node::Text(text) => self.bytes(text) == b"__uuidof",
            _ => false,
        };
        let from = self.stacked();
        if is_uuid && self.eat(b't') {
            let of = self.type_()?;
            self.push(of);
        } else if is_uuid && self.eat(b'z') {
            let of = self.expression()?;
            self.push(of);
        } else {
            let arguments = self.arguments_until_end()?;
            return Some(self.add(Node::Call { callee, arguments }));
        }
        let arguments = self.list_since(from);
        Some(self.add(Node::Call { callee, arguments }))
    }
}

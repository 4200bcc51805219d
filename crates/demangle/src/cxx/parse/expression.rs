//! Expressions: in `decltype`, sizes of arrays, constraints and template arguments.
//!
//! Source: Itanium C++ ABI, 5.1.6 "Expressions".

use super::Parser;
use crate::cxx::node::{Node, NodeId, NodeList};
use crate::cxx::operators;

impl Parser<'_> {
    /// `<expression>`
    pub(super) fn expression(&mut self) -> Option<NodeId> {
        self.enter()?;
        let is_global = self.eat_two(*b"gs");
        let expression = match operators::find([self.peek(), self.peek_at(1)]) {
            Some(operator) => {
                self.at += 2;
                self.operation(operator, is_global)?
            }
            None => self.other_expression(is_global)?,
        };
        self.leave();
        Some(expression)
    }

    /// Parses an expression that may use the template parameters of all enclosing scopes.
    pub(super) fn constraint(&mut self) -> Option<NodeId> {
        let saved = std::mem::replace(&mut self.in_constraint, true);
        let expression = self.expression()?;
        self.in_constraint = saved;
        Some(expression)
    }

    fn other_expression(&mut self, is_global: bool) -> Option<NodeId> {
        if self.input.len() - self.at < 2 {
            return None;
        }
        let letters = [self.peek(), self.peek_at(1)];
        match &letters {
            [b'L', _] => return self.primary(),
            [b'T', _] => return self.template_parameter(),
            [b'f', _] => return self.parameter_or_fold(),
            [b'u', _] => return self.vendor_expression(),
            b"rq" | b"rQ" => return self.requires(),
            b"sZ" => return self.size_of_pack(),
            b"il" | b"tl" | b"mc" | b"nx" | b"so" | b"sp" | b"sP" | b"tr" | b"tw" => {}
            _ => return self.unresolved_name(is_global),
        }
        self.at += 2;
        let node = match &letters {
            b"il" => Node::Braces { what: None, values: self.braced_until_end()? },
            b"tl" => {
                let what = Some(self.type_()?);
                Node::Braces { what, values: self.braced_until_end()? }
            }
            b"mc" => self.member_pointer_conversion()?,
            b"nx" => Node::NoexceptOf(self.expression()?),
            b"so" => self.subobject()?,
            b"sp" => Node::Expansion(self.expression()?),
            b"sP" => {
                let list = self.arguments_until_end()?;
                let of = self.add(Node::List(list));
                Node::Enclosed { word: &"sizeof... ", of }
            }
            b"tr" => Node::Word(&"throw"),
            _ => Node::Throw(self.expression()?),
        };
        Some(self.add(node))
    }

    /// `sZ <template-param> | sZ <function-param>`
    fn size_of_pack(&mut self) -> Option<NodeId> {
        self.at += 2;
        if self.peek() == b'T' {
            let pack = self.template_parameter()?;
            return Some(self.add(Node::SizeOfPack(pack)));
        }
        let of = self.function_parameter()?;
        Some(self.add(Node::Enclosed { word: &"sizeof... ", of }))
    }

    /// `<expression>* E`
    pub(super) fn expressions_until_end(&mut self) -> Option<NodeList> {
        let from = self.stacked();
        while !self.eat(b'E') {
            let expression = self.expression()?;
            self.push(expression);
        }
        Some(self.list_since(from))
    }

    pub(super) fn braced_until_end(&mut self) -> Option<NodeList> {
        let from = self.stacked();
        while !self.eat(b'E') {
            let value = self.braced()?;
            self.push(value);
        }
        Some(self.list_since(from))
    }

    /// `<braced-expression> ::= <expression> | di <source-name> <braced> | dx <expression> <braced> |
    /// dX <expression> <expression> <braced>`
    fn braced(&mut self) -> Option<NodeId> {
        self.enter()?;
        let node = if self.eat_two(*b"di") {
            let place = self.source_name()?;
            Node::Designated { place, value: self.braced()?, is_index: false }
        } else if self.eat_two(*b"dx") {
            let place = self.expression()?;
            Node::Designated { place, value: self.braced()?, is_index: true }
        } else if self.eat_two(*b"dX") {
            let first = self.expression()?;
            let last = self.expression()?;
            Node::DesignatedRange { first, last, value: self.braced()? }
        } else {
            let expression = self.expression()?;
            self.leave();
            return Some(expression);
        };
        self.leave();
        Some(self.add(node))
    }

    /// `mc <type> <expression> [<offset>] E`
    ///
    /// Source: Itanium C++ ABI, issue 47.
    fn member_pointer_conversion(&mut self) -> Option<Node> {
        let to = self.type_()?;
        let from = self.expression()?;
        self.signed_number();
        self.expect(b'E')?;
        Some(Node::MemberPointerConversion { to, from })
    }

    /// `so <type> <expression> [<offset>] (_ [<number>])* [p] E`
    ///
    /// Source: Itanium C++ ABI, issue 47.
    fn subobject(&mut self) -> Option<Node> {
        let what = self.type_()?;
        let of = self.expression()?;
        let offset = self.signed_number();
        let offset = self.text(offset);
        while self.eat(b'_') {
            self.number();
        }
        self.eat(b'p');
        self.expect(b'E')?;
        Some(Node::Subobject { what, of, offset })
    }

    /// `rq <requirement>+ E | rQ <type>+ _ <requirement>+ E`
    fn requires(&mut self) -> Option<NodeId> {
        let has_parameters = self.peek_at(1) == b'Q';
        self.at += 2;
        let from = self.stacked();
        let parameters = if has_parameters {
            while !self.eat(b'_') {
                let parameter = self.type_()?;
                self.push(parameter);
            }
            let list = self.list_since(from);
            (list.length > 0).then(|| self.add(Node::List(list)))
        } else {
            None
        };
        loop {
            let requirement = self.requirement()?;
            let requirement = self.add(requirement);
            self.push(requirement);
            if self.eat(b'E') {
                break;
            }
        }
        let list = self.list_since(from);
        Some(self.add(Node::Requires { parameters, list }))
    }

    /// `<requirement> ::= X <expression> [N] [R <type-constraint>] | T <type> | Q <expression>`
    fn requirement(&mut self) -> Option<Node> {
        if self.eat(b'X') {
            let of = self.expression()?;
            let is_noexcept = self.eat(b'N');
            let constraint = if self.eat(b'R') { Some(self.plain_name()?) } else { None };
            return Some(Node::ExpressionRequirement { of, is_noexcept, constraint });
        }
        if self.eat(b'T') {
            return Some(Node::TypeRequirement(self.type_()?));
        }
        self.expect(b'Q')?;
        Some(Node::NestedRequirement(self.expression()?))
    }
}

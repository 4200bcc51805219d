//! Literals in template arguments and expressions.
//!
//! Source: Itanium C++ ABI, 5.1.6.1 "Literals" (`<expr-primary>`).

use super::Parser;
use crate::cxx::node::{Node, NodeId};

impl Parser<'_> {
    /// `<expr-primary> ::= L <type> <value> E | L <type> E | L _Z <encoding> E`
    pub(super) fn primary(&mut self) -> Option<NodeId> {
        self.expect(b'L')?;
        let letter = self.peek();
        match letter {
            b'b' => {
                let value = if self.eat_word(b"b0E") {
                    &"false"
                } else if self.eat_word(b"b1E") {
                    &"true"
                } else {
                    return None;
                };
                Some(self.word(value))
            }
            b'w' | b'c' | b'a' | b'h' | b's' | b't' | b'i' | b'j' | b'l' | b'm' | b'x' | b'y'
            | b'n' | b'o' => {
                self.at += 1;
                let value = self.signed_number();
                self.expect(b'E')?;
                let is_there = value.length > 0;
                is_there.then(|| self.add(Node::Integer { what: letter, value }))
            }
            b'f' => self.float(letter, 8),
            b'd' => self.float(letter, 16),
            b'e' => self.float(letter, 20),
            b'_' => {
                if !self.eat_two(*b"_Z") {
                    return None;
                }
                let encoding = self.encoding()?;
                self.expect(b'E')?;
                Some(encoding)
            }
            b'A' => {
                let of = self.type_()?;
                self.expect(b'E')?;
                Some(self.add(Node::StringLiteral(of)))
            }
            b'D' if self.eat_two(*b"Dn") => {
                self.eat(b'0');
                self.expect(b'E')?;
                Some(self.word(&"nullptr"))
            }
            b'T' => None,
            b'U' => self.lambda_expression(),
            _ => {
                let what = self.type_()?;
                let value = self.signed_number();
                self.expect(b'E')?;
                (value.length > 0).then(|| self.add(Node::EnumLiteral { what, value }))
            }
        }
    }

    fn lambda_expression(&mut self) -> Option<NodeId> {
        if self.peek_at(1) != b'l' {
            return None;
        }
        let closure = self.unnamed_type(false)?;
        self.expect(b'E')?;
        Some(self.add(Node::LambdaExpression(closure)))
    }

    /// Parses a floating-point number: its bytes as hexadecimal digits, most significant first.
    fn float(&mut self, what: u8, count: u32) -> Option<NodeId> {
        self.at += 1;
        let at = self.at;
        for _ in 0..count {
            if !matches!(self.peek(), b'0'..=b'9' | b'a'..=b'f') {
                return None;
            }
            self.at += 1;
        }
        let digits = self.since(at);
        self.expect(b'E')?;
        Some(self.add(Node::Float { what, digits }))
    }
}

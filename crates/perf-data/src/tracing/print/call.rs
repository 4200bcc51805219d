//! Functions of a `print fmt`.
//!
//! Source: `include/trace/stages/stage3_trace_output.h`, the macros that formats use.

use super::constant;
use super::expression::{Expression, Kind, NameTable};
use super::parser::Parser;
use super::token::Token;
use super::types;

impl Parser<'_, '_> {
    /// Reads the arguments of a function; `None` for unknown functions.
    pub(super) fn call(&mut self, name: &[u8]) -> Option<Expression> {
        let kind = match name {
            b"__get_str" | b"__get_rel_str" => Kind::LocatedText(self.field()?),
            b"__get_dynamic_array"
            | b"__get_rel_dynamic_array"
            | b"__get_sockaddr"
            | b"__get_rel_sockaddr" => Kind::LocatedArray(self.field()?),
            b"__get_dynamic_array_len" | b"__get_rel_dynamic_array_len" => {
                Kind::LocatedLength(self.field()?)
            }
            b"__get_bitmask" | b"__get_rel_bitmask" | b"__get_cpumask" | b"__get_rel_cpumask" => {
                Kind::LocatedBits(self.field()?)
            }
            b"__print_flags" | b"__print_flags_u64" => self.flags()?,
            b"__print_symbolic" | b"__print_symbolic_u64" => {
                let value = Box::new(self.expression()?);
                self.expect(b",")?;
                Kind::Symbol { value, names: self.names()? }
            }
            b"__print_hex" | b"__print_hex_str" => {
                let bytes = self.expression()?;
                self.expect(b",")?;
                let parts = Box::new([bytes, self.expression()?]);
                Kind::Hex { parts, has_spaces: name == b"__print_hex" }
            }
            b"__print_array" => {
                let array = self.expression()?;
                self.expect(b",")?;
                let count = self.expression()?;
                self.expect(b",")?;
                Kind::Array(Box::new([array, count, self.expression()?]))
            }
            b"__builtin_expect" => {
                let value = self.expression()?;
                self.expect(b",")?;
                self.expression()?;
                return Some(value);
            }
            b"sizeof" => Kind::Number(self.size()? as u64),
            _ => return None,
        };
        self.make(kind)
    }

    /// Reads the argument of `sizeof`: a field or a type.
    fn size(&mut self) -> Option<usize> {
        if let Some(Token::Name(b"REC")) = self.peek(0) {
            self.next();
            self.expect(b"->")?;
            return Some(self.field()?.size);
        }
        let (words, stars) = self.type_name();
        if words.is_empty() {
            return None;
        }
        (0..words.len() + stars).for_each(|_| {
            self.next();
        });
        Some(if stars > 0 { self.long_size } else { types::size(&words, self.long_size) })
    }

    fn flags(&mut self) -> Option<Kind> {
        let value = Box::new(self.expression()?);
        self.expect(b",")?;
        let separator = match self.expression()?.kind {
            Kind::Text(text) => text,
            // `NULL`.
            Kind::Number(0) => Box::default(),
            _ => return None,
        };
        self.expect(b",")?;
        Some(Kind::Flags { value, separator, names: self.names()? })
    }

    /// Reads pairs of a constant and a name in braces, up to the bracket that ends the function.
    fn names(&mut self) -> Option<NameTable> {
        let mut names = NameTable::new();
        while self.skip(b"{") {
            // Tables can be empty.
            if self.skip(b"}") {
                break;
            }
            let number = self.key()?;
            self.expect(b",")?;
            let name = match self.expression()?.kind {
                Kind::Text(name) => name,
                // `NULL` ends some tables.
                _ => Box::default(),
            };
            self.expect(b"}")?;
            names.push((number, name));
            if !self.skip(b",") {
                break;
            }
        }
        Some(names)
    }

    /// Reads the number of a name. As in perf, negative numbers and unknown constants are -1.
    fn key(&mut self) -> Option<i64> {
        let is_last = self.peek(1).is_some_and(|token| token.is(b","));
        if let (Some(Token::Name(name)), true) = (self.peek(0), is_last) {
            self.next();
            return Some(constant::named(name).map_or(-1, |value| value as i64));
        }
        match self.expression()?.kind {
            Kind::Number(number) => Some((number as i64).max(-1)),
            _ => None,
        }
    }
}

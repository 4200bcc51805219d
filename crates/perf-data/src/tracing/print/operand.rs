//! Operands of expressions: fields, constants, texts, brackets, casts, elements of arrays.

use super::constant;
use super::expression::{Expression, Kind, Prefix, Target};
use super::parser::Parser;
use super::token::{Token, unescape};
use super::types;

impl<'t> Parser<'t, '_> {
    /// Reads an operand with its prefixes and indexes.
    pub(super) fn operand(&mut self) -> Option<Expression> {
        self.nested(|parser| {
            let mut operand = parser.bare_operand()?;
            while parser.skip(b"[") {
                let index = parser.expression()?;
                parser.expect(b"]")?;
                operand = parser.make(Kind::Index(Box::new([operand, index])))?;
            }
            Some(operand)
        })
    }

    fn bare_operand(&mut self) -> Option<Expression> {
        match self.next()? {
            Token::Number(number) => self.make(Kind::Number(constant::number(number)?)),
            Token::Character(text) => {
                let mut bytes = Vec::new();
                unescape(text, &mut bytes);
                self.make(Kind::Number(u64::from(*bytes.first()?)))
            }
            Token::Text(text) => self.text(text),
            Token::Name(b"REC") => {
                self.expect(b"->")?;
                let field = self.field()?;
                self.make(Kind::Field(field))
            }
            Token::Name(name) if self.skip(b"(") => {
                let call = self.call(name)?;
                self.expect(b")")?;
                Some(call)
            }
            // As in perf, constants of unknown value are 0.
            Token::Name(name) => self.make(Kind::Number(constant::named(name).unwrap_or(0))),
            Token::Operator(b"(") => self.bracket(),
            Token::Operator(b"-") => self.prefix(Prefix::Negate),
            Token::Operator(b"~") => self.prefix(Prefix::Complement),
            Token::Operator(b"!") => self.prefix(Prefix::Not),
            Token::Operator(b"+" | b"&") => self.operand(),
            Token::Operator(b"*") => {
                let pointer = self.operand()?;
                self.make(Kind::Dereference(Box::new(pointer)))
            }
            Token::Operator(_) => None,
        }
    }

    fn prefix(&mut self, prefix: Prefix) -> Option<Expression> {
        let operand = self.operand()?;
        self.make(match operand.kind {
            Kind::Number(number) => Kind::Number(prefix.apply(number)),
            _ => Kind::Prefix(prefix, Box::new(operand)),
        })
    }

    /// Reads the rest of a text, which adjacent literals continue.
    fn text(&mut self, first: &'t [u8]) -> Option<Expression> {
        let mut text = Vec::new();
        unescape(first, &mut text);
        while let Some(Token::Text(more)) = self.peek(0) {
            self.next();
            unescape(more, &mut text);
        }
        self.make(Kind::Text(text.into()))
    }

    /// Reads a cast with its operand, or an expression in brackets.
    fn bracket(&mut self) -> Option<Expression> {
        if let Some(target) = self.cast() {
            let operand = self.operand()?;
            return self.make(match (target, &operand.kind) {
                (Target::Number(size), Kind::Number(number)) => {
                    Kind::Number(truncated(*number, size))
                }
                _ => Kind::Cast(target, Box::new(operand)),
            });
        }
        let inner = self.expression()?;
        self.expect(b")")?;
        Some(inner)
    }

    /// Reads the rest of a cast, if the bracket is one: words and stars, then an operand.
    fn cast(&mut self) -> Option<Target> {
        let (words, stars) = self.type_name();
        let end = words.len() + stars;
        if words.is_empty() || !self.peek(end)?.is(b")") {
            return None;
        }
        let is_type =
            words.iter().all(|word| types::is_type_word(word)) || words.len() > 1 || stars > 0;
        let is_cast = match self.peek(end + 1)? {
            Token::Operator(b"(") | Token::Name(_) | Token::Number(_) | Token::Text(_) => true,
            Token::Operator(b"-" | b"~" | b"!" | b"&" | b"*") => is_type,
            _ => false,
        };
        if !is_cast {
            return None;
        }
        (0..=end).for_each(|_| {
            self.next();
        });
        Some(types::target(&words, stars, self.long_size))
    }

    /// Returns the words and the number of stars at the position, without advancing.
    pub(super) fn type_name(&self) -> (Vec<&'t [u8]>, usize) {
        let word = |at| match self.peek(at) {
            Some(Token::Name(name)) if name != b"REC" => Some(name),
            _ => None,
        };
        let words: Vec<_> = (0..MOST_WORDS).map_while(word).collect();
        let is_star = |at: &usize| self.peek(*at).is_some_and(|token| token.is(b"*"));
        let stars = (words.len()..words.len() + MOST_WORDS).take_while(is_star).count();
        (words, stars)
    }
}

/// Maximum number of words of a type, and of its stars.
const MOST_WORDS: usize = 6;

/// Returns the lower `size` bytes of a number.
pub(super) const fn truncated(number: u64, size: usize) -> u64 {
    match size {
        1 => number & 0xff,
        2 => number & 0xffff,
        4 => number & 0xffff_ffff,
        _ => number,
    }
}

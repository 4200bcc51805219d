//! Tokens to expressions: operators by their precedence, and choices.

use budget::Meter;

use super::expression::{Expression, Kind, Operator};
use super::token::Token;
use crate::tracing::format::{TraceField, TraceFormat};

/// Maximum depth of brackets in an argument; formats of the kernel have less than 20.
const MOST_DEPTH: usize = 100;

/// The tokens from a position on. Every function advances it, so that parsing takes one pass.
#[derive(Debug)]
pub(super) struct Parser<'t, 'f> {
    tokens: &'t [Token<'t>],
    format: &'f TraceFormat<'f>,
    meter: &'f Meter,
    depth: usize,
    /// Size of a `long` of the recorded machine, in bytes.
    pub(super) long_size: usize,
}

/// Binary operators with their precedence; higher ones bind closer.
const OPERATORS: [(&[u8], u8, Operator); 18] = [
    (b"*", 10, Operator::Multiply),
    (b"/", 10, Operator::Divide),
    (b"%", 10, Operator::Remainder),
    (b"+", 9, Operator::Add),
    (b"-", 9, Operator::Subtract),
    (b"<<", 8, Operator::ShiftLeft),
    (b">>", 8, Operator::ShiftRight),
    (b"<", 7, Operator::Less),
    (b"<=", 7, Operator::LessEqual),
    (b">", 7, Operator::Greater),
    (b">=", 7, Operator::GreaterEqual),
    (b"==", 6, Operator::Equal),
    (b"!=", 6, Operator::NotEqual),
    (b"&", 5, Operator::And),
    (b"^", 4, Operator::ExclusiveOr),
    (b"|", 3, Operator::Or),
    (b"&&", 2, Operator::BothTrue),
    (b"||", 1, Operator::AnyTrue),
];

impl<'t, 'f> Parser<'t, 'f> {
    pub(super) const fn new(
        tokens: &'t [Token<'t>],
        format: &'f TraceFormat<'f>,
        long_size: usize,
        meter: &'f Meter,
    ) -> Self {
        Self { tokens, format, meter, depth: 0, long_size }
    }

    /// Returns true if all tokens were read.
    pub(super) const fn is_at_end(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Returns the token at a distance from the position.
    pub(super) fn peek(&self, distance: usize) -> Option<Token<'t>> {
        self.tokens.get(distance).copied()
    }

    /// Returns the next token and advances.
    pub(super) fn next(&mut self) -> Option<Token<'t>> {
        let (&first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    /// Advances past an operator or delimiter if it is next.
    pub(super) fn skip(&mut self, operator: &[u8]) -> bool {
        let is_next = self.peek(0).is_some_and(|token| token.is(operator));
        if is_next {
            self.next();
        }
        is_next
    }

    /// Advances past an operator or delimiter that must be next.
    pub(super) fn expect(&mut self, operator: &[u8]) -> Option<()> {
        self.skip(operator).then_some(())
    }

    /// Reads a name.
    pub(super) fn name(&mut self) -> Option<&'t [u8]> {
        match self.next()? {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Reads the name of a field.
    pub(super) fn field(&mut self) -> Option<TraceField<'static>> {
        let name = self.name()?;
        self.meter.steps(self.format.fields.len() as u64).ok()?;
        let field = self.format.fields.iter().find(|field| field.name == name)?;
        Some(TraceField { name: &[], ..*field })
    }

    /// Creates an expression and counts its memory.
    pub(super) fn make(&self, kind: Kind) -> Option<Expression> {
        self.meter.hold(size_of::<Expression>()).ok()?;
        Expression::new(kind)
    }

    /// Reads an expression inside of brackets or an argument.
    pub(super) fn expression(&mut self) -> Option<Expression> {
        self.nested(Self::choice)
    }

    /// Reads a part of the text that can contain itself.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn choice(&mut self) -> Option<Expression> {
        let condition = self.operators(1)?;
        if !self.skip(b"?") {
            return Some(condition);
        }
        let if_true = self.expression()?;
        self.expect(b":")?;
        let if_false = self.expression()?;
        if let Kind::Number(number) = condition.kind {
            return Some(if number != 0 { if_true } else { if_false });
        }
        self.make(Kind::Choice(Box::new([condition, if_true, if_false])))
    }

    /// Reads operands and operators of at least a precedence.
    fn operators(&mut self, least: u8) -> Option<Expression> {
        let mut left = self.operand()?;
        while let Some((precedence, operator)) = self.operator(least) {
            self.next();
            let right = self.nested(|parser| parser.operators(precedence + 1))?;
            left = match (&left.kind, &right.kind) {
                (Kind::Number(left), Kind::Number(right)) => {
                    self.make(Kind::Number(operator.apply(*left, *right)?))?
                }
                _ => self.make(Kind::Binary(operator, Box::new([left, right])))?,
            };
        }
        Some(left)
    }

    /// Returns the next operator if it has at least a precedence.
    fn operator(&self, least: u8) -> Option<(u8, Operator)> {
        let Token::Operator(text) = self.peek(0)? else { return None };
        let (_, precedence, operator) = OPERATORS.iter().find(|(known, ..)| *known == text)?;
        (*precedence >= least).then_some((*precedence, *operator))
    }
}

//! A parsed `print fmt`.

use std::sync::Arc;

use budget::{Budget, Meter};

use super::evaluation::Evaluation;
use super::expression::Expression;
use super::number::{Layout, Output};
use super::parser::Parser;
use super::template::{Extent, Piece, pieces};
use super::text::Arguments;
use super::token::{Token, tokens};
use crate::bytes::Endian;
use crate::tracing::format::TraceFormat;

/// Steps that the text of one sample may take. The longest format of the kernel takes a few hundred.
const MOST_STEPS: u32 = 4096;
/// Size of the text of one sample, in bytes: a base, and an amount for each byte of the raw data.
const TEXT: (usize, usize) = (4096, 8);
/// Maximum length of a `print fmt`, in bytes. The longest one of Linux 6.18 has 4,841.
const MOST_LENGTH: usize = 1 << 16;

/// Printer of the samples of a tracepoint.
#[derive(Debug)]
pub struct PrintFormat {
    pieces: Vec<Piece>,
    arguments: Vec<Expression>,
    printk: Arc<[(u64, Box<[u8]>)]>,
    endian: Endian,
    long_size: usize,
}

/// Properties of the recorded machine that formats depend on.
#[derive(Clone, Debug)]
pub(crate) struct PrintSetting {
    /// Constant texts of the kernel, sorted by their addresses.
    pub(crate) printk: Arc<[(u64, Box<[u8]>)]>,
    pub(crate) endian: Endian,
    /// Size of a `long`, in bytes.
    pub(crate) long_size: usize,
}

impl PrintFormat {
    /// Parses the `print fmt` of a format. `None` if it is not supported or exceeds a limit.
    pub(crate) fn parse(format: &TraceFormat<'_>, setting: &PrintSetting) -> Option<Self> {
        let text = format.print;
        let meter = &Meter::new(&Budget::default(), text.len());
        if text.len() > MOST_LENGTH || text.contains(&0) {
            return None;
        }
        let tokens = tokens(text, meter)?;
        let mut parser = Parser::new(&tokens, format, setting.long_size, meter);
        let mut template = Vec::new();
        let Some(Token::Text(_)) = parser.peek(0) else { return None };
        while let Some(Token::Text(part)) = parser.peek(0) {
            parser.next();
            template.extend_from_slice(part);
        }
        let pieces = pieces(&template)?;
        let mut arguments = Vec::new();
        while parser.skip(b",") {
            arguments.push(parser.expression()?);
        }
        let needed: usize = pieces.iter().map(Piece::arguments).sum();
        let PrintSetting { printk, endian, long_size } = setting.clone();
        let is_whole = parser.is_at_end() && needed <= arguments.len();
        is_whole.then_some(Self { pieces, arguments, printk, endian, long_size })
    }

    /// Returns the text of a sample. Names of kernel functions are marked; see [`super::with_symbols`].
    /// `None` if the raw data are too short, or the text exceeds a limit.
    #[must_use]
    pub fn print(&self, raw: &[u8]) -> Option<Vec<u8>> {
        let (base, per_byte) = TEXT;
        let evaluation = Evaluation::new(raw, self.endian, self.long_size, MOST_STEPS);
        let out = Output::new(base.saturating_add(per_byte.saturating_mul(raw.len())));
        let mut printer = Arguments { evaluation, printk: &self.printk, out };
        let mut arguments = self.arguments.iter();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => printer.out.push(literal)?,
                Piece::Conversion(_) => printer.conversion(piece, &mut arguments)?,
            }
        }
        Some(printer.out.into_text())
    }
}

impl Piece {
    /// Number of arguments that the piece takes.
    fn arguments(&self) -> usize {
        match self {
            Self::Literal(_) => 0,
            Self::Conversion(it) => {
                let extents = [it.width, it.precision];
                1 + extents.iter().filter(|extent| **extent == Extent::Argument).count()
            }
        }
    }
}

impl Arguments<'_, '_> {
    fn conversion<'e>(
        &mut self,
        piece: &Piece,
        arguments: &mut impl Iterator<Item = &'e Expression>,
    ) -> Option<()> {
        let Piece::Conversion(conversion) = piece else { return Some(()) };
        let width = conversion.width.value(|| self.evaluation.value(arguments.next()?))?;
        let precision = conversion.precision.value(|| self.evaluation.value(arguments.next()?))?;
        let layout = Layout {
            conversion,
            width: width.map_or(0, |width| width.unsigned_abs() as usize),
            is_left: conversion.is_left || width.is_some_and(|width| width < 0),
            precision: precision.and_then(|precision| usize::try_from(precision).ok()),
        };
        let argument = arguments.next()?;
        match conversion.letter {
            b's' => self.text(argument, layout),
            b'p' => self.pointer(argument, width, layout),
            _ => {
                let value = self.evaluation.value(argument)?;
                self.out.number(value, layout)
            }
        }
    }
}

//! Values in the notation of the kernel's probes, by the type of the debug information.

use std::fmt;

use crate::absence::Absence;
use crate::probe_argument::{ProbeArgument, ProbeError};
use crate::types::{Bound, Shape, Step};

/// Storage, as a probe reaches it.
#[derive(Clone, Debug)]
pub(crate) enum Fetch {
    Register(String),
    Number(i128),
    Result,
    /// The lowest bits of a register.
    Bits(String, u32),
    Memory(Box<Self>, i64),
}

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(name) | Self::Bits(name, _) => write!(f, "%{name}"),
            Self::Number(number) => write!(f, "\\{number}"),
            Self::Result => f.write_str("$retval"),
            Self::Memory(base, offset) => write!(f, "{offset:+}({base})"),
        }
    }
}

/// Type for the bytes of a text without end: 512, the longest array of the kernel.
const BYTES: &str = "x64[64]";
/// Suffix of the field with the length of a text, in bytes. Such a text has no end of its own.
const LENGTH: &str = "__len";

/// A value without its name.
#[derive(Debug)]
pub(crate) struct Unnamed {
    suffix: &'static str,
    fetch: Fetch,
    kind: String,
}

impl Unnamed {
    pub(crate) fn named(self, name: &str) -> ProbeArgument {
        let name = format!("{name}{}", self.suffix);
        ProbeArgument { name, fetch: self.fetch.to_string(), kind: self.kind }
    }
}

/// Follows the steps of a path, and returns the storage with the type. A text without end has its length, too.
pub(crate) fn fetched(
    pieces: Vec<(u64, Fetch)>,
    bound: &Bound,
) -> Result<Vec<Unnamed>, ProbeError> {
    let mut at = At { pieces, offset: 0 };
    for step in &bound.steps {
        match *step {
            Step::Offset(offset) => at.offset = at.offset.saturating_add(offset),
            Step::Deref(_) => at = At::behind(at.whole()?),
            Step::Element { .. } => return Err(Absence::Operation("element of a slice").into()),
            Step::Bits { first, count } => {
                let size = (first % 8 + count).next_power_of_two().clamp(8, 64);
                at.offset = at.offset.saturating_add(first / 8);
                let kind = format!("b{count}@{}/{size}", first % 8);
                return Ok(vec![Unnamed { suffix: "", fetch: at.whole()?, kind }]);
            }
        }
    }
    typed(&bound.shape, at)
}

pub(crate) fn typed(shape: &Shape, at: At) -> Result<Vec<Unnamed>, ProbeError> {
    let text = |fetch: Fetch| Unnamed { suffix: "", fetch, kind: "string".to_owned() };
    let behind = |fetch: Fetch| Fetch::Memory(Box::new(fetch), 0);
    let unsupported = |name: &str| Err(ProbeError::Absent(Absence::Type(name.into())));
    let kind = match shape {
        Shape::Integer { size: size @ (1 | 2 | 4 | 8), is_signed } => {
            format!("{}{}", if *is_signed { 's' } else { 'u' }, 8 * size)
        }
        Shape::Bool(size @ (1 | 2 | 4)) | Shape::Char(size @ (1 | 2 | 4)) => {
            format!("u{}", 8 * size)
        }
        Shape::Enum(it) if matches!(it.size, 1 | 2 | 4 | 8) => {
            format!("{}{}", if it.is_signed { 's' } else { 'u' }, 8 * it.size)
        }
        Shape::Pointer(size @ (4 | 8)) => format!("x{}", 8 * size),
        Shape::TextPointer(_) => return Ok(vec![text(behind(at.whole()?))]),
        Shape::TextArray(_) => match at.whole()? {
            fetch @ Fetch::Memory(..) => return Ok(vec![text(fetch)]),
            _ => return unsupported("characters in a register"),
        },
        Shape::Span(span) if span.elements.is_none() => {
            let pointer = at.part(span.pointer.offset)?;
            let mut found = vec![text(behind(pointer))];
            if !span.is_terminated {
                // The kernel has no value for a string without a zero in 4 KiB, as constants of Go and Rust are.
                found.iter_mut().for_each(|it| it.kind = BYTES.to_owned());
                let kind = format!("u{}", 8 * span.length.size);
                let fetch = at.part(span.length.offset)?;
                found.push(Unnamed { suffix: LENGTH, fetch, kind });
            }
            return Ok(found);
        }
        Shape::Reference { size: size @ (4 | 8), target }
            if matches!(**target, Shape::Unsupported { .. }) =>
        {
            format!("x{}", 8 * size)
        }
        Shape::Reference { target, .. } => return typed(target, At::behind(at.whole()?)),
        Shape::Unsupported { name, .. } => return unsupported(name),
        _ => return unsupported("without a type of probes"),
    };
    let fetch = at.whole()?;
    let width = 8 * shape.size().unwrap_or(8);
    let kind = match fetch {
        Fetch::Bits(_, count) if u64::from(count) < width => format!("b{count}@0/{width}"),
        _ => kind,
    };
    Ok(vec![Unnamed { suffix: "", fetch, kind }])
}

/// A part of a variable.
pub(crate) struct At {
    pub(crate) pieces: Vec<(u64, Fetch)>,
    pub(crate) offset: u64,
}

impl At {
    /// Object that a pointer in some storage points to.
    pub(crate) fn behind(pointer: Fetch) -> Self {
        Self { pieces: vec![(0, Fetch::Memory(Box::new(pointer), 0))], offset: 0 }
    }

    /// Storage that starts at the offset.
    pub(crate) fn whole(&self) -> Result<Fetch, ProbeError> {
        self.part(0)
    }

    /// Storage that starts at that many bytes after the offset.
    pub(crate) fn part(&self, more: u64) -> Result<Fetch, ProbeError> {
        let offset = self.offset.saturating_add(more);
        let piece = self.pieces.iter().rev().find(|(start, _)| *start <= offset);
        let (start, fetch) = piece.ok_or(Absence::OptimizedOut)?;
        match (offset - start, fetch.clone()) {
            (0, fetch) => Ok(fetch),
            (inside, Fetch::Memory(base, offset)) => {
                Ok(Fetch::Memory(base, offset.saturating_add_unsigned(inside)))
            }
            (_, Fetch::Number(_)) => Err(Absence::Operation("part of a constant").into()),
            _ => Err(Absence::Operation("upper part of a register").into()),
        }
    }
}

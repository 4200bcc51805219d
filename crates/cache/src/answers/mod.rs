//! The answers for one file, in the layout of a cache file.

mod read;
mod write;

pub(crate) use read::{AnswerRow, Answers};
pub(crate) use write::Writer;

use profile::{InlineRow, StringId};
use symbolizer::WhyNoName;

/// A frame of an answer, with its strings by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameRow {
    pub(crate) function: Option<u32>,
    pub(crate) file: Option<u32>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) inlined: bool,
    pub(crate) declared_file: Option<u32>,
    pub(crate) declared_line: u32,
}

impl FrameRow {
    /// Converts a frame with string ids.
    pub(crate) const fn of(frame: &InlineRow) -> Self {
        const fn number(id: Option<StringId>) -> Option<u32> {
            match id {
                Some(id) => Some(id.as_u32()),
                None => None,
            }
        }
        Self {
            function: number(frame.function),
            file: number(frame.file),
            line: frame.line,
            column: frame.column,
            inlined: frame.inlined,
            declared_file: number(frame.declared_file),
            declared_line: frame.declared_line,
        }
    }
}

/// Stored number of a reason; `None` for a reason that is not stored.
pub(crate) const fn number_of_reason(reason: Option<WhyNoName>) -> Option<u8> {
    match reason {
        None => Some(0),
        Some(WhyNoName::NoSymbols) => Some(1),
        Some(WhyNoName::NotCovered) => Some(2),
        Some(_) => None,
    }
}

/// Reason of a stored number; `None` for an unknown number.
pub(crate) const fn reason_of_number(number: u8) -> Option<Option<WhyNoName>> {
    match number {
        0 => Some(None),
        1 => Some(Some(WhyNoName::NoSymbols)),
        2 => Some(Some(WhyNoName::NotCovered)),
        _ => None,
    }
}

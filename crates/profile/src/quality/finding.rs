//! Findings: damage and gaps of the input that did not stop the run.

use std::borrow::Cow;

use super::Advice;
use crate::encoding::encoding;

/// A problem of the input, with its number of occurrences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    /// Keyword for programs, such as `build-id-mismatch`.
    pub kind: String,
    /// Sentence for people about the first occurrence.
    pub message: String,
    /// Remedy; `None` if none is known or the message contains it.
    pub help: Option<Advice>,
    /// Number of occurrences.
    pub count: u64,
}

encoding! { FindingRow { kind: String, message: String, help: Option<Advice>, count: u64, } }

impl FindingRow {
    /// Returns the message, followed by a semicolon and the advice if there is any.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.help {
            Some(help) => format!("{}; {}", self.message, help.text).into(),
            None => self.message.as_str().into(),
        }
    }
}

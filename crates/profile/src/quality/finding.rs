//! Findings: damage and gaps of the input that the work went on in spite of.

use std::borrow::Cow;

use super::Advice;

/// Something wrong with the input, and how often.
#[derive(Debug, Clone)]
pub struct FindingRow {
    /// A word for programs, such as `build-id-mismatch`.
    pub kind: String,
    /// A sentence for people, of the first occurrence.
    pub message: String,
    /// Would help; `None` if nothing is known to, or the message says it.
    pub help: Option<Advice>,
    /// How often it was found.
    pub count: u64,
}

impl FindingRow {
    /// The message and, behind a semicolon, the advice.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.help {
            Some(help) => format!("{}; {}", self.message, help.text).into(),
            None => self.message.as_str().into(),
        }
    }
}

//! How the parts of the summary that want to be seen look on a terminal.

use anstyle::{AnsiColor, Style};

/// A style for each kind of part; by default none has any, and the text is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummaryStyles {
    /// The line that says how many of the stacks are complete.
    pub headline: Style,
    /// A line about what the kernel lost.
    pub loss: Style,
    /// The kind of a finding, in front of its message.
    pub finding: Style,
    /// The word in front of an advice.
    pub hint: Style,
}

impl SummaryStyles {
    /// No styles.
    #[must_use]
    pub const fn plain() -> Self {
        let none = Style::new();
        Self { headline: none, loss: none, finding: none, hint: none }
    }

    /// The usual styles, in colours that are readable on dark and on light.
    #[must_use]
    pub const fn colored() -> Self {
        Self {
            headline: Style::new().bold(),
            loss: AnsiColor::Yellow.on_default(),
            finding: AnsiColor::Yellow.on_default(),
            hint: AnsiColor::Cyan.on_default(),
        }
    }
}

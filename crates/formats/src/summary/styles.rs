//! Styles for the highlighted parts of the summary on a terminal.

use anstyle::{AnsiColor, Style};

/// A style for each kind of part. By default, no part has a style and the text is plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummaryStyles {
    /// The line with the share of complete stacks.
    pub headline: Style,
    /// A line about losses in the kernel.
    pub loss: Style,
    /// The kind of a finding, which precedes its message.
    pub finding: Style,
    /// The word that precedes a piece of advice.
    pub hint: Style,
}

impl SummaryStyles {
    /// Returns no styles.
    #[must_use]
    pub const fn plain() -> Self {
        let none = Style::new();
        Self { headline: none, loss: none, finding: none, hint: none }
    }

    /// Returns the usual styles, in colours that are readable on dark and on light backgrounds.
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

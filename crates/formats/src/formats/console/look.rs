//! Appearance of tables: width, colours, and the spelling of options.

use anstyle::{AnsiColor, Effects, Style};
use options::{Demangle, OptionName, Spelling};

use crate::render::numbers::counted;

/// Appearance of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsoleLook {
    /// Terminal columns to which lines are truncated; `None` for no truncation.
    pub width: Option<usize>,
    /// Whether to use colours.
    pub colors: bool,
    /// Whether functions have short names if these are distinct.
    pub short_names: bool,
    /// Spelling of options in hints.
    pub spelling: Spelling,
}

impl ConsoleLook {
    /// Returns the look with short names, if the user chose no spelling of names.
    #[must_use]
    pub const fn with_names(self, chosen: Option<Demangle>) -> Self {
        Self { short_names: chosen.is_none(), ..self }
    }

    /// Returns a line with the number of further rows and the option that shows them. `share` is its prefix.
    pub(crate) fn more(self, share: &str, rows: usize, row: &str) -> String {
        let (faint, rest) = (self.faint(), counted(rows as u64, row));
        let all = self.spelling.with(OptionName::Limit, "0");
        format!("{faint}{share}{rest}; {all} shows all{faint:#}\n")
    }

    /// Style of column headings.
    pub(crate) fn heading(self) -> Style {
        self.style(Style::new().effects(Effects::BOLD | Effects::UNDERLINE))
    }

    /// Style of text that is less important than the rest of its line.
    pub(crate) fn faint(self) -> Style {
        self.style(Style::new().effects(Effects::DIMMED))
    }

    /// Style of a share of the whole, by its size.
    pub(super) fn share(self, part: u64, whole: u64) -> Style {
        let percent = u128::from(part) * 100 / u128::from(whole.max(1));
        self.style(match percent {
            5.. => AnsiColor::Red.on_default(),
            1..5 => AnsiColor::Green.on_default(),
            0 => Style::new(),
        })
    }

    fn style(self, style: Style) -> Style {
        if self.colors { style } else { Style::new() }
    }

    /// Columns that a name has at least.
    pub(crate) const LEAST_NAME: usize = 20;

    /// Returns the number of columns left in a line after `used`, at least [`Self::LEAST_NAME`].
    pub(crate) fn remaining(self, used: usize) -> Option<usize> {
        self.width.map(|width| width.saturating_sub(used).max(Self::LEAST_NAME))
    }
}

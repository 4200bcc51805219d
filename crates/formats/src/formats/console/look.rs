//! The look of tables: width, colours, and the spelling of options.

use anstyle::{AnsiColor, Effects, Style};
use options::{OptionName, Spelling};

use crate::render::numbers::counted;

/// The look of a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConsoleLook {
    /// Columns of the terminal, to which lines are cut; `None` where nothing is cut.
    pub width: Option<usize>,
    /// Whether there are colours.
    pub colors: bool,
    /// The spelling of options in hints.
    pub spelling: Spelling,
}

impl ConsoleLook {
    /// A line that counts further rows, and says how they are shown. `share` stands before it.
    pub(crate) fn more(self, share: &str, rows: usize, row: &str) -> String {
        let (faint, rest) = (self.faint(), counted(rows as u64, row));
        let all = self.spelling.with(OptionName::Limit, "0");
        format!("{faint}{share}{rest}; {all} shows all{faint:#}\n")
    }

    /// Headings of columns.
    pub(crate) fn heading(self) -> Style {
        self.style(Style::new().effects(Effects::BOLD | Effects::UNDERLINE))
    }

    /// What is of less interest than the rest of its line.
    pub(crate) fn faint(self) -> Style {
        self.style(Style::new().effects(Effects::DIMMED))
    }

    /// A share of the whole, by how much it is.
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

    /// The columns that are left of a line after `used` of them; at least 20.
    pub(crate) fn left(self, used: usize) -> Option<usize> {
        self.width.map(|width| width.saturating_sub(used).max(20))
    }
}

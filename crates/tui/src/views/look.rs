//! Styles. Without colours, bold and reversed text remain.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

/// Number of columns of a bar.
pub(super) const BAR: usize = 6;

/// Whether to use colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) colors: bool,
}

impl Look {
    #[expect(clippy::unused_self, reason = "one way to name styles")]
    pub(super) const fn plain(self) -> Style {
        Style::new()
    }

    const fn color(self, color: Color) -> Style {
        if self.colors { Style::new().fg(color) } else { Style::new() }
    }

    /// The title of the current screen.
    pub(super) const fn current(self) -> Style {
        self.plain().add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED)
    }

    /// Column headings.
    pub(super) const fn heading(self) -> Style {
        self.plain().add_modifier(Modifier::BOLD).add_modifier(Modifier::UNDERLINED)
    }

    /// Text that is less important than the rest of its line.
    pub(super) const fn faint(self) -> Style {
        self.plain().add_modifier(Modifier::DIM)
    }

    /// Filters.
    pub(super) const fn chip(self) -> Style {
        self.color(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// The line of state.
    pub(super) const fn status(self) -> Style {
        self.plain().add_modifier(Modifier::REVERSED)
    }

    /// The selected row.
    pub(super) const fn cursor(self) -> Style {
        self.plain().add_modifier(Modifier::REVERSED)
    }

    /// Bars of costs.
    pub(super) const fn bar(self) -> Style {
        self.color(Color::Cyan)
    }

    /// A share of the whole, by its size.
    pub(super) fn share(self, part: u64, whole: u64) -> Style {
        match u128::from(part) * 100 / u128::from(whole.max(1)) {
            5.. => self.color(Color::Red),
            1..5 => self.color(Color::Green),
            0 => self.plain(),
        }
    }

    /// Returns a line in the style of the selected row, in which nothing is faint.
    #[expect(clippy::unused_self, reason = "one way to name styles")]
    pub(super) fn selected(self, mut line: Line<'static>) -> Line<'static> {
        for span in &mut line.spans {
            span.style = Style::new();
        }
        line
    }
}

/// Returns a bar for a part of a whole, in `width` columns with eighths.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let all = u128::from(part) * 8 * width as u128;
    let eighths = usize::try_from(all.div_ceil(u128::from(whole.max(1)))).unwrap_or(0);
    let eighths = eighths.min(8 * width);
    let mut out = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        out.extend(EIGHTHS.get(eighths % 8));
    }
    format!("{out:<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths() {
        assert_eq!(bar(0, 100, 6), "      ");
        assert_eq!(bar(1, 1000, 6), "▏     ");
        assert_eq!(bar(50, 100, 6), "███   ");
        assert_eq!(bar(60, 100, 6), "███▋  ");
        assert_eq!(bar(100, 100, 6), "██████");
        assert_eq!(bar(5, 0, 6), "██████");
    }
}

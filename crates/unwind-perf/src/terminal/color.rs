//! Colours on standard error: of errors, and of the most important parts of the summary.
//! On standard output, only tables for people have colours.
//!
//! Source: <https://no-color.org>.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Effects, Style};
use formats::{ConsoleLook, SummaryStyles, wrapped_text};

use crate::args::ColorArg;
use crate::spelling::SPELLING;

/// The choice for standard error, which belongs to the whole process.
static CHOSEN: OnceLock<bool> = OnceLock::new();

/// The choice for tables on standard output.
static CHOSEN_FOR_TABLES: OnceLock<bool> = OnceLock::new();

/// Chooses the colours once.
pub(crate) fn choose_colors(arg: ColorArg) {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = std::io::stderr().is_terminal() && !dumb;
    CHOSEN.get_or_init(|| wanted(arg, terminal, set("NO_COLOR")));
    let terminal = std::io::stdout().is_terminal() && !dumb;
    CHOSEN_FOR_TABLES.get_or_init(|| wanted(arg, terminal, set("NO_COLOR")));
}

fn wanted(arg: ColorArg, terminal: bool, no_color: bool) -> bool {
    match arg {
        ColorArg::Auto => terminal && !no_color,
        ColorArg::Always => true,
        ColorArg::Never => false,
    }
}

/// Returns the name that starts an error message, with its style.
pub(crate) fn error(name: &str) -> String {
    let style = if on() { AnsiColor::Red.on_default() | Effects::BOLD } else { Style::new() };
    format!("{style}{name}:{style:#}")
}

/// Returns true if output on a terminal has colours.
#[cfg(feature = "tui")]
pub(crate) fn has_colors() -> bool {
    CHOSEN_FOR_TABLES.get().copied().unwrap_or(false)
}

/// Returns the look of a table on standard output or in a file. A terminal sets its width.
pub(crate) fn console_look(to_stdout: bool) -> ConsoleLook {
    let stdout = std::io::stdout();
    let on_terminal = to_stdout && stdout.is_terminal();
    let size = on_terminal.then(|| terminal_size::terminal_size_of(stdout)).flatten();
    let width = size.map(|(width, _)| usize::from(width.0)).filter(|&width| width > 0);
    let colors = to_stdout && CHOSEN_FOR_TABLES.get().copied().unwrap_or(false);
    ConsoleLook { width, colors, short_names: false, spelling: SPELLING }
}

/// Wraps long lines at words if standard output is a terminal.
pub(crate) fn to_width(text: &str) -> String {
    let Some(width) = console_look(true).width else { return text.to_owned() };
    let lines = text.lines().map(|line| wrapped_text(line, Some(width), 4) + "\n");
    lines.collect()
}

/// The columns of a terminal on standard error; `None` if it is none.
pub(crate) fn stderr_width() -> Option<usize> {
    let stderr = std::io::stderr();
    let size = stderr.is_terminal().then(|| terminal_size::terminal_size_of(stderr)).flatten();
    size.map(|(width, _)| usize::from(width.0)).filter(|&width| width > 0)
}

/// How the summary looks.
pub(crate) fn summary_styles() -> SummaryStyles {
    if on() { SummaryStyles::colored() } else { SummaryStyles::plain() }
}

fn on() -> bool {
    CHOSEN.get().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals() {
        for (arg, terminal, no_color, expected) in [
            (ColorArg::Auto, true, false, true),
            (ColorArg::Auto, true, true, false),
            (ColorArg::Auto, false, false, false),
            (ColorArg::Always, false, true, true),
            (ColorArg::Never, true, false, false),
        ] {
            assert_eq!(wanted(arg, terminal, no_color), expected, "{arg:?} {terminal} {no_color}");
        }
    }
}

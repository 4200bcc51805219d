//! Colours on standard error: of errors, and of those lines of the summary that want to be seen. Output has none.
//!
//! Source: <https://no-color.org>.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

use crate::args::ColorArg;

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[33m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// Standard error is one for the whole process, and so is the choice.
static CHOSEN: OnceLock<bool> = OnceLock::new();

/// Chooses, once.
pub(crate) fn choose_colors(arg: ColorArg) {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = std::io::stderr().is_terminal() && !dumb;
    CHOSEN.get_or_init(|| wanted(arg, terminal, set("NO_COLOR")));
}

fn wanted(arg: ColorArg, terminal: bool, no_color: bool) -> bool {
    match arg {
        ColorArg::Auto => terminal && !no_color,
        ColorArg::Always => true,
        ColorArg::Never => false,
    }
}

/// The name that an error begins with.
pub(crate) fn error(name: &str) -> String {
    if on() { format!("{RED}{name}:{PLAIN}") } else { format!("{name}:") }
}

/// A summary, or lines of findings.
pub(crate) fn paint_summary(text: String) -> String {
    if on() { text.lines().map(painted).collect() } else { text }
}

fn on() -> bool {
    CHOSEN.get().copied().unwrap_or(false)
}

/// A line: how complete the stacks are, what was lost, a finding (a word and a colon), a hint.
fn painted(line: &str) -> String {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if line.contains(" of the stacks are complete") {
        return format!("{BOLD}{line}{PLAIN}\n");
    }
    if line.starts_with("the kernel ") {
        return format!("{YELLOW}{line}{PLAIN}\n");
    }
    match line.split_once(": ") {
        Some(("hint", rest)) => format!("{CYAN}hint:{PLAIN} {rest}\n"),
        Some((word, rest)) if is_word(word) => format!("{YELLOW}{word}:{PLAIN} {rest}\n"),
        _ => format!("{line}\n"),
    }
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

    #[test]
    fn lines_that_want_to_be_seen() {
        for (line, expected) in [
            ("31 samples with 217 frames", "31 samples with 217 frames\n"),
            (
                "50.0 % of the stacks are complete; they ended by",
                "\x1b[1m50.0 % of the stacks are complete; they ended by\x1b[0m\n",
            ),
            ("   50.0 %  /a: b: no file", "   50.0 %  /a: b: no file\n"),
            (
                "the kernel lost 1 sample (<0.1 %)",
                "\x1b[33mthe kernel lost 1 sample (<0.1 %)\x1b[0m\n",
            ),
            ("data-cut: file is cut: 5", "\x1b[33mdata-cut:\x1b[0m file is cut: 5\n"),
            ("hint: record more", "\x1b[36mhint:\x1b[0m record more\n"),
        ] {
            assert_eq!(painted(line), expected);
        }
    }
}

//! `--color`.

use std::ffi::OsString;

use clap::{ColorChoice, ValueEnum};

/// When messages have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Nowhere
    Never,
}

/// The choice, found in the arguments before they are parsed: messages about wrong arguments follow it, too.
pub(crate) fn color_in_arguments(arguments: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut value_follows = false;
    for word in arguments.skip(1) {
        let word = word.to_string_lossy();
        let value = if value_follows { Some(&*word) } else { word.strip_prefix("--color=") };
        choice = match value {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            Some(_) => ColorChoice::Auto,
            None => choice,
        };
        value_follows = word == "--color";
        if word == "--" {
            break;
        }
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_found() {
        let found = |line: &str| color_in_arguments(line.split(' ').map(OsString::from));
        assert_eq!(found("unwind-perf a --color never"), ColorChoice::Never);
        assert_eq!(found("unwind-perf --color=always --bad"), ColorChoice::Always);
        assert_eq!(found("unwind-perf --color"), ColorChoice::Auto);
        assert_eq!(found("unwind-perf -- --color=always"), ColorChoice::Auto);
        assert_eq!(found("--color=always"), ColorChoice::Auto);
    }
}

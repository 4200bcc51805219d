//! The formats of a difference by name.

use std::io;
use std::path::Path;

use profile::query::diff::Diff;

use super::{folded, json, page, pprof, text};
use crate::formats::ConsoleLook;

/// The formats that a difference can be printed in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DiffFormat {
    /// A table for people: the functions of the largest changes.
    Text,
    /// Everything, as one JSON document; `docs/diff.schema.json`.
    Json,
    /// A line for each stack, with its cost before and after, as `inferno-diff-folded` writes it.
    Folded,
    /// A page that shows it in a browser; one file.
    Report,
    /// pprof's protocol buffer, with what was before as negative samples of the base.
    Pprof,
}

/// What a user can choose about the formats of a difference.
#[derive(Clone, Copy, Debug)]
pub struct DiffPrintOptions {
    /// Whether functions are ranked by what they cost with all that they called, instead of by their own cost.
    pub inclusive: bool,
    /// The most rows of the table; 0 for all.
    pub limit: usize,
    /// How the table looks.
    pub look: ConsoleLook,
    /// The verdict of `--fail-above`; `None` if nobody asked for one.
    pub gate: Option<DiffGate>,
}

/// Whether functions cost more than a user allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiffGate {
    /// None does.
    Passed,
    /// One does at least.
    Failed,
    /// Too much of a side is not compared.
    Undecided,
}

impl DiffGate {
    /// The word in output formats.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }
}

impl DiffFormat {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Self] = &[Self::Text, Self::Json, Self::Report, Self::Folded, Self::Pprof];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Report => "report",
            Self::Folded => "folded",
            Self::Pprof => "pprof",
        }
    }

    /// What it is, in a line for people.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Text => "a table of the functions that changed most (the default)",
            Self::Json => "all functions and stacks with their costs on both sides",
            Self::Report => "a page that shows it in a browser",
            Self::Folded => "a line for each stack with both costs, for differential flame graphs",
            Self::Pprof => {
                "pprof's protocol buffer, compressed with gzip; what was before is its base"
            }
        }
    }

    /// The ending of files of this format.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text => ".txt",
            Self::Json => ".json",
            Self::Report => ".html",
            Self::Folded => ".folded",
            Self::Pprof => ".pb.gz",
        }
    }

    /// The format of that name; `None` where there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format that the ending of a file's name asks for; `None` where it asks for none.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let fits = |ending: &str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
        let other = fits(".pprof").then_some(Self::Pprof);
        other.or_else(|| Self::ALL.iter().copied().find(|format| fits(format.ending())))
    }

    /// Whether the bytes are no text, so that a terminal cannot show them.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        matches!(self, Self::Pprof)
    }

    /// Writes `diff` to `out`.
    ///
    /// # Errors
    /// Where writing to `out` fails: its error, unchanged.
    pub fn print(
        self,
        diff: &Diff,
        options: DiffPrintOptions,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        match self {
            Self::Text => text::print(diff, options, out),
            Self::Json => json::print(diff, options, out),
            Self::Report => page::print(diff, options.look.spelling, out),
            Self::Folded => folded::print(diff, out),
            Self::Pprof => pprof::print(diff, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings() {
        for &format in DiffFormat::ALL {
            assert_eq!(DiffFormat::from_name(format.name()), Some(format));
            let path = format!("/a.b/out{}", format.ending());
            assert_eq!(DiffFormat::from_path(Path::new(&path)), Some(format));
            assert_eq!(DiffFormat::from_path(Path::new(format.ending())), None, "a hidden file");
        }
        assert_eq!(DiffFormat::from_path(Path::new("x.pprof")), Some(DiffFormat::Pprof));
        assert_eq!(DiffFormat::from_path(Path::new("x.svg")), None);
        assert_eq!(DiffFormat::from_name("Text"), None);
    }
}

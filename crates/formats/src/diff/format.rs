//! The formats of a difference, by name.

use std::io;
use std::path::Path;

use profile::query::diff::Diff;

use super::{folded, json, page, pprof, text};
use crate::formats::ConsoleLook;

/// A format for a difference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DiffFormat {
    /// A table for people: the functions with the largest changes.
    Text,
    /// All results as one JSON document; the schema is `docs/diff.schema.json`.
    Json,
    /// A line for each stack with its costs before and after, as written by `inferno-diff-folded`.
    Folded,
    /// An HTML page in one file.
    Report,
    /// pprof's protocol buffer, with the baseline as negative samples.
    Pprof,
}

/// User options for the formats of a difference.
#[derive(Clone, Copy, Debug)]
pub struct DiffPrintOptions {
    /// Whether functions are ranked by inclusive cost instead of by their own cost.
    pub inclusive: bool,
    /// Maximum number of table rows; 0 for all.
    pub limit: usize,
    /// Appearance of the table.
    pub look: ConsoleLook,
    /// The verdict of `--fail-above`; `None` if the option was not given.
    pub gate: Option<DiffGate>,
}

/// Verdict on whether functions cost more than the user allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiffGate {
    /// No function exceeds the limit.
    Passed,
    /// At least one function exceeds the limit.
    Failed,
    /// Too much of the baseline or the candidate is not compared.
    Undecided,
}

impl DiffGate {
    /// Keyword in output formats.
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
    /// All formats, in the order of the documentation.
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

    /// Description of the format in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Text => "a table of the functions that changed most (the default)",
            Self::Json => "all functions and stacks with their costs on both sides",
            Self::Report => "a page for a browser",
            Self::Folded => "a line for each stack with both costs, for differential flame graphs",
            Self::Pprof => {
                "pprof's protocol buffer, compressed with gzip; the baseline is its base"
            }
        }
    }

    /// File name ending of this format.
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

    /// Returns the format with this name, or `None`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Returns the format for the ending of a file's name; `None` if no format has that ending.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let fits = |ending: &str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
        let other = fits(".pprof").then_some(Self::Pprof);
        other.or_else(|| Self::ALL.iter().copied().find(|format| fits(format.ending())))
    }

    /// Returns true if the output is not text, so that a terminal cannot show it.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        matches!(self, Self::Pprof)
    }

    /// Writes `diff` to `out`.
    ///
    /// # Errors
    /// Returns the error of writing to `out`, unchanged.
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

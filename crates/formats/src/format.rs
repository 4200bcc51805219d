//! The formats by name, with their file name endings and printers.

use std::path::Path;

use options::Demangle;

use crate::facts::{FormatFacts, ShownWeights};
#[cfg(feature = "arrow")]
use crate::formats::Arrow;
#[cfg(feature = "flamegraph")]
use crate::formats::Flamegraph;
use crate::formats::{
    Callgrind, Firefox, Folded, Hotspot, Json, Ndjson, Otlp, Page, PerfScript, Pprof, Speedscope,
};
#[cfg(feature = "parquet")]
use crate::formats::{Parquet, StacksFile};
use crate::options::{FormatOptions, StackWeight};
use crate::printer::Printer;

/// A format that can be printed. Three of the formats are cargo features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Tables in columns, in one JSON document; the schema is `docs/stacks.schema.json`.
    Json,
    /// One JSON object per sample and line; the schema is `docs/ndjson.schema.json`.
    Ndjson,
    /// The text of `perf script`.
    PerfScript,
    /// Folded stacks for flame graphs: one line for each distinct stack, with its weight.
    Folded,
    /// The gzip-compressed protocol buffer of pprof.
    Pprof,
    /// OpenTelemetry's protocol buffer for profiles.
    Otlp,
    /// speedscope's own JSON.
    Speedscope,
    /// The Firefox Profiler's processed profile format, compressed with gzip.
    Firefox,
    /// Callgrind's call graph with costs.
    Callgrind,
    /// The stream that hotspot reads from its backend.
    Hotspot,
    /// A flame graph as an SVG.
    #[cfg(feature = "flamegraph")]
    Flamegraph,
    /// An HTML page with flame graph, tables and timeline.
    Report,
    /// A Parquet file: one row per sample, with its frames as a list.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrow IPC streams: the tables, or one row per sample.
    #[cfg(feature = "arrow")]
    Arrow,
}

impl Format {
    /// All formats, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Json,
        Self::Ndjson,
        Self::PerfScript,
        Self::Folded,
        Self::Pprof,
        Self::Otlp,
        Self::Speedscope,
        Self::Firefox,
        Self::Callgrind,
        Self::Hotspot,
        #[cfg(feature = "flamegraph")]
        Self::Flamegraph,
        Self::Report,
        #[cfg(feature = "parquet")]
        Self::Parquet,
        #[cfg(feature = "arrow")]
        Self::Arrow,
    ];

    /// Returns true if the format has a place for the values of fields.
    #[must_use]
    pub const fn has_fields(self) -> bool {
        match self {
            Self::Json
            | Self::Ndjson
            | Self::PerfScript
            | Self::Pprof
            | Self::Otlp
            | Self::Firefox
            | Self::Report => true,
            #[cfg(feature = "parquet")]
            Self::Parquet => true,
            #[cfg(feature = "arrow")]
            Self::Arrow => true,
            _ => false,
        }
    }

    /// Returns true if the format has a place for spans.
    #[must_use]
    pub const fn has_spans(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson | Self::Firefox | Self::Report)
    }

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the format with this name, or `None`. `jsonl` is an alias of `ndjson`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "jsonl" => Some(Self::Ndjson),
            _ => Self::ALL.iter().copied().find(|format| format.name() == name),
        }
    }

    /// File name endings of this format, the usual one first.
    #[must_use]
    pub const fn endings(self) -> &'static [&'static str] {
        self.facts().endings
    }

    /// Description of the format in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.facts().about
    }

    /// Media type of the output. Formats of a single program have no registered type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        self.facts().media_type
    }

    /// Returns true if the output is not text, so that a terminal cannot show it.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        self.facts().is_binary
    }

    /// Returns true if the format sums samples up and therefore shows only those of one event.
    #[must_use]
    pub const fn shows_one_event(self) -> bool {
        matches!(self.facts().weights, ShownWeights::Added)
    }

    /// Returns true if selecting `weight` changes the output.
    #[must_use]
    pub const fn shows_weight(self, weight: StackWeight) -> bool {
        match (self.facts().weights, weight) {
            // The stream contains the context switches, from which hotspot computes its own times.
            (ShownWeights::Events, _) => false,
            (_, StackWeight::OffCpu) => true,
            (ShownWeights::Added | ShownWeights::PerSample, _) => true,
            (ShownWeights::Both, _) => false,
        }
    }

    /// Spelling of function names if the user chooses none.
    #[must_use]
    pub const fn usual_names(self) -> Demangle {
        match self {
            Self::PerfScript => Demangle::Perf,
            _ => Demangle::Full,
        }
    }

    /// Properties of the format, without its printer.
    const fn facts(self) -> FormatFacts {
        match self {
            Self::Json => Json::FACTS,
            Self::Ndjson => Ndjson::FACTS,
            Self::PerfScript => PerfScript::FACTS,
            Self::Folded => Folded::FACTS,
            Self::Pprof => Pprof::FACTS,
            Self::Otlp => Otlp::FACTS,
            Self::Speedscope => Speedscope::FACTS,
            Self::Firefox => Firefox::FACTS,
            Self::Callgrind => Callgrind::FACTS,
            Self::Hotspot => Hotspot::FACTS,
            #[cfg(feature = "flamegraph")]
            Self::Flamegraph => Flamegraph::FACTS,
            Self::Report => Page::FACTS,
            #[cfg(feature = "parquet")]
            Self::Parquet => Parquet::FACTS,
            #[cfg(feature = "arrow")]
            Self::Arrow => Arrow::FACTS,
        }
    }

    /// Returns the usual file name in this format for a recording named `stem`.
    #[must_use]
    pub fn file_name(self, stem: &str) -> String {
        match self {
            // KCachegrind looks for names with this prefix.
            Self::Callgrind => format!("callgrind.out.{stem}"),
            _ => format!("{stem}{}", self.endings().first().unwrap_or(&"")),
        }
    }

    /// Returns the format for the ending of a file's name; `None` if no format has that ending.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let fits = |ending: &&str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
        if name.starts_with(b"callgrind.out.") {
            return Some(Self::Callgrind);
        }
        // The longest ending wins: `.speedscope.json` takes precedence over `.json`.
        let fitting = |format: Self| {
            format.endings().iter().filter(|ending| fits(ending)).map(|ending| ending.len()).max()
        };
        Self::ALL
            .iter()
            .copied()
            .filter(|&format| fitting(format).is_some())
            .max_by_key(|&format| fitting(format))
    }

    /// Returns the printer of this format.
    #[must_use]
    pub fn printer(self, options: FormatOptions) -> Box<dyn Printer> {
        match self {
            Self::Json => Box::new(Json { inlines: options.inlines }),
            Self::Ndjson => Box::new(Ndjson { inlines: options.inlines }),
            Self::PerfScript => {
                Box::new(PerfScript { inlines: options.inlines, fields: options.fields })
            }
            Self::Folded => Box::new(folded(&options)),
            #[cfg(feature = "flamegraph")]
            Self::Flamegraph => {
                Box::new(Flamegraph { stacks: folded(&options), inverted: options.inverted })
            }
            Self::Pprof => Box::new(Pprof { inlines: options.inlines }),
            Self::Otlp => Box::new(Otlp { inlines: options.inlines }),
            Self::Speedscope => Box::new(Speedscope {
                inlines: options.inlines,
                keep_unrooted: options.keep_unrooted,
                weight: options.weight,
            }),
            Self::Firefox => Box::new(Firefox {
                inlines: options.inlines,
                keep_unrooted: options.keep_unrooted,
                weight: options.weight,
                plain: options.plain,
            }),
            Self::Report => Box::new(Page::new(options.inlines, None)),
            Self::Hotspot => Box::new(Hotspot { inlines: options.inlines }),
            Self::Callgrind => Box::new(Callgrind { inlines: options.inlines }),
            #[cfg(feature = "parquet")]
            Self::Parquet if options.stacks => Box::new(StacksFile),
            #[cfg(feature = "parquet")]
            Self::Parquet => Box::new(Parquet { inlines: options.inlines }),
            #[cfg(feature = "arrow")]
            Self::Arrow => Box::new(Arrow { inlines: options.inlines, rows: options.rows }),
        }
    }
}

fn folded(options: &FormatOptions) -> Folded {
    let FormatOptions { inlines, keep_unrooted, weight, kernel_suffix, reverse, .. } = *options;
    Folded { inlines, keep_unrooted, weight, kernel_suffix, root: options.root.clone(), reverse }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings() {
        for &format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(Format::from_path(Path::new(&format.file_name("perf"))), Some(format));
            for ending in format.endings() {
                assert_eq!(
                    Format::from_path(Path::new(&format!("/a.b/out{ending}"))),
                    Some(format)
                );
                assert_ne!(
                    Format::from_path(Path::new(ending)),
                    Some(format),
                    "an ending alone is a hidden file"
                );
            }
        }
        let both = [StackWeight::Samples, StackWeight::OffCpu];
        let shown = |format: Format| both.map(|weight| format.shows_weight(weight));
        assert_eq!(shown(Format::Json), [false, true]);
        assert_eq!(shown(Format::Folded), [true, true]);
        assert_eq!(shown(Format::Firefox), [true, true]);
        assert_eq!(shown(Format::Hotspot), [false, false]);
        assert_eq!(Format::Firefox.media_type(), "application/gzip");
        assert_eq!(Format::from_name("jsonl"), Some(Format::Ndjson));
        assert_eq!(Format::from_name("JSON"), None);
        assert_eq!(Format::from_path(Path::new("out.txt")), None);
        assert_eq!(Format::from_path(Path::new("/")), None);
        assert_eq!(Format::from_path(Path::new("dir/callgrind.out.42")), Some(Format::Callgrind));
    }
}

//! The formats by name: which there are, which endings mean them, who prints them.

use std::path::Path;

use crate::facts::{FormatFacts, ShownWeights};
#[cfg(feature = "arrow")]
use crate::formats::Arrow;
#[cfg(feature = "flamegraph")]
use crate::formats::Flamegraph;
#[cfg(feature = "parquet")]
use crate::formats::Parquet;
use crate::formats::{
    Callgrind, Firefox, Folded, Hotspot, Json, Ndjson, Otlp, Page, PerfScript, Pprof, Speedscope,
};
use crate::options::{FormatOptions, StackWeight};
use crate::printer::Printer;

/// The formats that can be printed. Three of them can be left out when the crate is built.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Tables in columns in one JSON document; `docs/stacks.schema.json`.
    Json,
    /// One JSON object a sample, one sample a line; `docs/ndjson.schema.json`.
    Ndjson,
    /// The text of `perf script`.
    PerfScript,
    /// Folded stacks for flame graphs: one line for each distinct stack, with its weight.
    Folded,
    /// The gzip-compressed protocol buffer of pprof.
    Pprof,
    /// OpenTelemetry's protocol buffer of profiles.
    Otlp,
    /// speedscope's own JSON.
    Speedscope,
    /// The Firefox Profiler's processed profile, compressed with gzip.
    Firefox,
    /// Callgrind's call graph with costs.
    Callgrind,
    /// The stream that hotspot reads from its backend.
    Hotspot,
    /// A flame graph as a picture.
    #[cfg(feature = "flamegraph")]
    Flamegraph,
    /// A page with flame graph, tables and timeline, for a browser.
    Report,
    /// A Parquet file: one row a sample, its frames as a list.
    #[cfg(feature = "parquet")]
    Parquet,
    /// Arrow IPC streams: the tables, or one row a sample.
    #[cfg(feature = "arrow")]
    Arrow,
}

impl Format {
    /// Every format, in the order of the documentation.
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

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The format of that name; `None` if there is none. `jsonl` is another name of `ndjson`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "jsonl" => Some(Self::Ndjson),
            _ => Self::ALL.iter().copied().find(|format| format.name() == name),
        }
    }

    /// The endings of file names that mean this format, the usual one first.
    #[must_use]
    pub const fn endings(self) -> &'static [&'static str] {
        self.facts().endings
    }

    /// A line for people.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.facts().about
    }

    /// The media type of its bytes. Types of a program's own have none that is registered.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        self.facts().media_type
    }

    /// Whether the bytes are no text, so that a terminal cannot show them.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        self.facts().is_binary
    }

    /// Whether samples are added up in it, so that it shows those of one event only.
    #[must_use]
    pub const fn shows_one_event(self) -> bool {
        matches!(self.facts().weights, ShownWeights::Added)
    }

    /// Whether a choice of that weight changes it.
    #[must_use]
    pub const fn shows_weight(self, weight: StackWeight) -> bool {
        match (self.facts().weights, weight) {
            // The stream has the records of the switches, of which hotspot makes its own times.
            (ShownWeights::Events, _) => false,
            (_, StackWeight::OffCpu) => true,
            (ShownWeights::Added | ShownWeights::PerSample, _) => true,
            (ShownWeights::Both, _) => false,
        }
    }

    /// Everything about the format but its printer.
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

    /// The usual name of a file of this format, for a recording of that name.
    #[must_use]
    pub fn file_name(self, stem: &str) -> String {
        match self {
            // KCachegrind looks for names that begin so.
            Self::Callgrind => format!("callgrind.out.{stem}"),
            _ => format!("{stem}{}", self.endings().first().unwrap_or(&"")),
        }
    }

    /// The format that the ending of a file's name asks for; `None` where it asks for none.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.as_encoded_bytes();
        let fits = |ending: &&str| name.len() > ending.len() && name.ends_with(ending.as_bytes());
        if name.starts_with(b"callgrind.out.") {
            return Some(Self::Callgrind);
        }
        // The longest ending wins: `.speedscope.json` is not just `.json`.
        let fitting = |format: Self| {
            format.endings().iter().filter(|ending| fits(ending)).map(|ending| ending.len()).max()
        };
        Self::ALL
            .iter()
            .copied()
            .filter(|&format| fitting(format).is_some())
            .max_by_key(|&format| fitting(format))
    }

    /// The printer of this format.
    #[must_use]
    pub fn printer(self, options: FormatOptions) -> Box<dyn Printer> {
        match self {
            Self::Json => Box::new(Json { inlines: options.inlines }),
            Self::Ndjson => Box::new(Ndjson { inlines: options.inlines }),
            Self::PerfScript => {
                Box::new(PerfScript { inlines: options.inlines, fields: options.fields })
            }
            Self::Folded => Box::new(folded(options)),
            #[cfg(feature = "flamegraph")]
            Self::Flamegraph => {
                Box::new(Flamegraph { stacks: folded(options), inverted: options.inverted })
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
            }),
            Self::Report => Box::new(Page { inlines: options.inlines, ..Page::default() }),
            Self::Hotspot => Box::new(Hotspot { inlines: options.inlines }),
            Self::Callgrind => Box::new(Callgrind { inlines: options.inlines }),
            #[cfg(feature = "parquet")]
            Self::Parquet => Box::new(Parquet { inlines: options.inlines }),
            #[cfg(feature = "arrow")]
            Self::Arrow => Box::new(Arrow { inlines: options.inlines, rows: options.rows }),
        }
    }
}

const fn folded(options: FormatOptions) -> Folded {
    let FormatOptions { inlines, keep_unrooted, weight, kernel_suffix, root, reverse, .. } =
        options;
    Folded { inlines, keep_unrooted, weight, kernel_suffix, root, reverse }
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

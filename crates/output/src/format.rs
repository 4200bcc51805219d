//! The seam between the command and the printers: which format, with which options, behind one trait.

use std::io;
use std::path::Path;

use crate::callgrind::Callgrind;
use crate::fields::Fields;
use crate::firefox::Firefox;
use crate::flamegraph::Flamegraph;
use crate::folded::Folded;
use crate::hotspot::Hotspot;
use crate::json::Json;
use crate::ndjson::Ndjson;
use crate::page::Page;
use crate::parquet::Parquet;
use crate::perf_script::PerfScript;
use crate::pprof::Pprof;
use crate::profile::Profile;
use crate::speedscope::Speedscope;

/// Writes a profile in one format.
pub trait Printer {
    /// Writes the whole of `profile` to `out`, in pieces of some hundred kilobytes: `out` needs no buffer of its own.
    /// The bytes depend on the profile and the options only, not on the number of threads.
    ///
    /// # Errors
    /// What `out` returns, unchanged.
    fn print(&self, profile: &Profile, out: &mut dyn io::Write) -> io::Result<()>;
}

/// The formats that can be printed.
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
    /// speedscope's own JSON.
    Speedscope,
    /// The Firefox Profiler's processed profile, compressed with gzip.
    Firefox,
    /// Callgrind's call graph with costs.
    Callgrind,
    /// The stream that hotspot reads from its backend.
    Hotspot,
    /// A flame graph as a picture.
    Flamegraph,
    /// A page with flame graph, tables and timeline, for a browser.
    Report,
    /// A Parquet file: one row a sample, its frames as a list.
    Parquet,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &[Self] = &[
        Self::Json,
        Self::Ndjson,
        Self::PerfScript,
        Self::Folded,
        Self::Pprof,
        Self::Speedscope,
        Self::Firefox,
        Self::Callgrind,
        Self::Hotspot,
        Self::Flamegraph,
        Self::Report,
        Self::Parquet,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::PerfScript => "perf-script",
            Self::Folded => "folded",
            Self::Pprof => "pprof",
            Self::Speedscope => "speedscope",
            Self::Firefox => "firefox",
            Self::Callgrind => "callgrind",
            Self::Hotspot => "hotspot",
            Self::Flamegraph => "flamegraph",
            Self::Report => "report",
            Self::Parquet => "parquet",
        }
    }

    /// The format of that name; `None` where there is none. `jsonl` is another name of `ndjson`.
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
        match self {
            Self::Json => &[".json"],
            Self::Ndjson => &[".ndjson", ".jsonl"],
            Self::PerfScript => &[".perf-script", ".perf.txt", ".script"],
            Self::Folded => &[".folded", ".collapsedstack.txt", ".collapsed"],
            Self::Pprof => &[".pb.gz", ".pprof"],
            Self::Speedscope => &[".speedscope.json"],
            Self::Firefox => &[".json.gz"],
            Self::Callgrind => &[".callgrind"],
            Self::Hotspot => &[".perfparser"],
            Self::Flamegraph => &[".svg"],
            Self::Report => &[".html"],
            Self::Parquet => &[".parquet"],
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
            Self::Folded => Box::new(options.folded()),
            Self::Flamegraph => {
                Box::new(Flamegraph { stacks: options.folded(), inverted: options.inverted })
            }
            Self::Pprof => Box::new(Pprof { inlines: options.inlines }),
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
            Self::Report => Box::new(Page { inlines: options.inlines }),
            Self::Hotspot => Box::new(Hotspot { inlines: options.inlines }),
            Self::Callgrind => Box::new(Callgrind { inlines: options.inlines }),
            Self::Parquet => Box::new(Parquet { inlines: options.inlines }),
        }
    }
}

/// What a user can choose about a format. Folded stacks know all of it, others what they can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormatOptions {
    /// Whether inlined functions are frames of their own; without, only the function that they were inlined into.
    pub inlines: bool,
    /// Folded, speedscope, Firefox: whether incomplete stacks stand beside the complete ones, and not under one `[truncated]` frame.
    pub keep_unrooted: bool,
    /// Folded, speedscope, Firefox: what a stack weighs.
    pub weight: Weight,
    /// Folded: whether kernel functions get the suffix `_[k]`.
    pub kernel_suffix: bool,
    /// Folded: only samples of this event, an index of `Profile::events`; `None` for all of them together.
    pub event: Option<u16>,
    /// Folded: what stands outside of all functions.
    pub root: Root,
    /// Folded: whether stacks begin with the innermost function.
    pub reverse: bool,
    /// perf script: what is printed.
    pub fields: Fields,
    /// Flame graph: whether the outermost functions are at the top.
    pub inverted: bool,
}

impl FormatOptions {
    /// What is printed where the user chose nothing.
    pub const DEFAULT: Self = Self {
        inlines: true,
        keep_unrooted: false,
        weight: Weight::Samples,
        kernel_suffix: false,
        event: None,
        root: Root::Comm,
        reverse: false,
        fields: Fields::DEFAULT,
        inverted: false,
    };

    const fn folded(self) -> Folded {
        Folded {
            inlines: self.inlines,
            keep_unrooted: self.keep_unrooted,
            weight: self.weight,
            kernel_suffix: self.kernel_suffix,
            event: self.event,
            root: self.root,
            reverse: self.reverse,
        }
    }
}

/// What a sample counts in the folded format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// 1.
    Samples,
    /// Its period, in units of its event; 1 where none was recorded.
    Period,
}

/// What the outermost frame of a folded stack is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// The thread's name.
    Comm,
    /// The thread's name and its process: `comm-pid`.
    Process,
    /// The thread's name, its process and itself: `comm-pid/tid`.
    Thread,
    /// Nothing: functions of all threads are counted together.
    None,
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
        assert_eq!(Format::from_name("jsonl"), Some(Format::Ndjson));
        assert_eq!(Format::from_name("JSON"), None);
        assert_eq!(Format::from_path(Path::new("out.txt")), None);
        assert_eq!(Format::from_path(Path::new("/")), None);
        assert_eq!(Format::from_path(Path::new("dir/callgrind.out.42")), Some(Format::Callgrind));
    }
}

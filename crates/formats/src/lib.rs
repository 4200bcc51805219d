//! Printers: one [`Profile`](profile::Profile) in, one text out.
//!
//! A [`Format`] identifies a format by name: `json`, `folded`, `pprof` and others.
//! [`Format::printer`] returns its [`Printer`], which writes a profile in chunks to any [`io::Write`](std::io::Write).
//! The bytes do not depend on the number of threads.
//! [`FormatOptions`] holds the user's options. `docs/OUTPUT.md` describes the formats field by field.
//!
//! [`write_summary`] prints the summary of a run for people.
//! [`HotspotStream`] is the one format that is written while the profile grows.
//! This crate does not depend on how the profile was produced.
//!
//! Each format is a file or a folder below `formats/`; helpers that several formats share are in `render/`.
//! A new format is a printer there and a variant of [`Format`].
//!
//! # Example
//! Prints two samples of one stack as folded stacks.
//! ```
//! use address::{Pid, Tid};
//! use formats::{Format, FormatOptions};
//! use profile::{
//!     EndReason, EventRow, FoundBy, FrameRow, InlineRow, LayoutId, LocationRow, Profile, SampleRow,
//!     StackRow, ThreadRow,
//! };
//!
//! let mut profile = Profile::default();
//! let mut stack = None;
//! // The outermost frame comes first: a node refers to its caller's node.
//! for name in ["main", "parse"] {
//!     let function = Some(profile.strings.intern(name.as_bytes()));
//!     let function = InlineRow { function, ..InlineRow::NAMELESS };
//!     let first_inline = profile.inlines.push(function);
//!     let place = LocationRow::unnamed(None, 0x1000 + first_inline.index() as u64);
//!     let location =
//!         profile.locations.push(LocationRow { first_inline, n_inlines: 1, ..place });
//!     let frame = FrameRow { location, found_by: FoundBy::Cfi, kernel: false, instance: 0 };
//!     let frame = profile.frames.push(frame);
//!     stack = Some(profile.stacks.push(StackRow { parent: stack, frame }));
//! }
//! let comm = profile.strings.intern(b"program");
//! let (pid, tid) = (Pid(42), Tid(42));
//! let thread = profile.threads.push(ThreadRow { pid, tid, comm, process: comm, cgroup: None });
//! let name = profile.strings.intern(b"cpu-clock");
//! let event = EventRow { name, kind: 1, config: 0, frequency: true, rate: 997 };
//! let event = profile.events.push(event);
//! let sample = SampleRow::new(thread, event, EndReason::Root, stack, LayoutId::new(0));
//! profile.samples.extend([sample, sample]);
//!
//! let mut text = Vec::new();
//! Format::Folded.printer(FormatOptions::DEFAULT).print(&profile, &mut text)?;
//! assert_eq!(text, b"program;main;parse 2\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod diff;
mod facts;
mod format;
mod formats;
mod growing;
mod options;
mod printer;
mod render;
mod summary;

pub use diff::{
    DiffFormat, DiffGate, DiffPrintOptions, diff_function, diff_function_name, diff_notes,
    print_diff_tables,
};
pub use format::Format;
#[cfg(feature = "flamegraph")]
pub use formats::Flamegraph;
pub use formats::{
    AnnotatedFunction, AnnotatedSource, Callgrind, ConsoleLook, Details, ErrorKind, ErrorRow,
    FieldValue, Firefox, Folded, GroupRow, Hotspot, HotspotStream, Json, LivePage, LiveStep,
    MemoryNodeRow, Ndjson, Otlp, Page, PageCode, PageFunctionCode, PageSource, PageTarget,
    PerfScript, Pprof, RowKeys, SampleExtra, SpanDocument, SpanDurations, Speedscope, TaskChange,
    TaskEvent, TopTable, TracepointRow, TreeTable, cost_text, cost_title,
};
#[cfg(feature = "arrow")]
pub use formats::{Arrow, ArrowRows};
#[cfg(feature = "parquet")]
pub use formats::{
    MergeError, MergedTable, ModuleFrames, Parquet, PartFile, PlainRows, RowStatistics, StackCount,
    StackReader, StacksError, StacksFile, StoredStacks, TableBytes, TableFile, merge_tables,
    write_named_stacks,
};
pub use growing::GrowingSamples;
pub use options::{ChoiceOrValue, FormatOptions, ScriptFields, StackRoot, StackWeight};
pub use printer::Printer;
pub use render::field_value::value_json;
pub use render::numbers::{counted, grouped, share};
pub use render::text::{is_misleading, push_line_safe};
pub use render::truncation::short_text;
pub use render::width::{columns, cut_middle, wrapped_text};
pub use summary::{
    Packages, ShortSummary, SummaryStyles, write_short_summary, write_styled_summary, write_summary,
};

//! The profile, which is the result of processing a recording, and queries on it.
//!
//! A [`Profile`] is a set of tables. Each table has its own id type, and rows refer to each other by id:
//!
//! ```text
//!   sample -> stack node -> frame -> location -> functions (name, file, line)
//!      |          |           |          '-> module (path, build-id)
//!      |          |           '-> how it was found
//!      |          '-> the caller's node
//!      '-> thread, event, and the layout: the load addresses of the modules in that process
//! ```
//!
//! [`Strings`] stores every string once. Stacks are a prefix tree: the node of its innermost frame identifies a stack,
//! and stacks with equal outer frames share the nodes of these. An address is split into a part that all processes
//! share (the [location](LocationRow)) and the load address of the module in one process (the [layout](LayoutRow)).
//! A thousand processes of one program therefore have one set of locations.
//!
//! Every sample has its end reason ([`EndReason`]), and every frame the evidence for it ([`FoundBy`]).
//! The [`Summary`] lists losses and problems of the input.
//! This crate depends neither on how the profile is produced nor on how it is printed.
//! [`Profile::store`] and [`Profile::restore`] turn it into bytes and back, for caches on disk.
//!
//! # Example
//! A program mapped at 0x5000 was sampled once in `main`.
//! ```
//! use address::{Bias, Pid, Tid};
//! use profile::query::{BiasCache, StackWalker, frame_functions};
//! use profile::{
//!     EndReason, EventRow, FoundBy, FrameRow, InlineRow, LocationRow, ModuleKind, ModuleRow, Profile,
//!     SampleRow, StackRow, ThreadRow,
//! };
//!
//! let mut profile = Profile::default();
//! let mut name = |text: &str| profile.strings.intern(text.as_bytes());
//! let (path, main, comm, cycles) = (name("/bin/x"), name("main"), name("x"), name("cycles"));
//!
//! // The mapped module, an address in it, and the function there.
//! let module = ModuleRow { path, opened: None, build_id: None, kind: ModuleKind::Elf };
//! let module = profile.modules.push(module);
//! let function =
//!     InlineRow { line: 7, ..InlineRow::with_name(main) };
//! let location = LocationRow {
//!     first_inline: profile.inlines.push(function),
//!     n_inlines: 1,
//!     ..LocationRow::unnamed(Some(module), 0x1760)
//! };
//! let location = profile.locations.push(location);
//!
//! // A stack of one frame.
//! let frame = FrameRow { location, found_by: FoundBy::Sampled, kernel: false, instance: 0 };
//! let frame = profile.frames.push(frame);
//! let stack = profile.stacks.push(StackRow { parent: None, frame });
//!
//! // The sample.
//! let event = EventRow { name: cycles, kind: 0, config: 0, frequency: true, rate: 997 };
//! let event = profile.events.push(event);
//! let thread = ThreadRow { pid: Pid(42), tid: Tid(42), comm, process: comm, cgroup: None };
//! let thread = profile.threads.push(thread);
//! let layout = profile.layouts.push([(module, Bias(0x5000))].into_iter().collect());
//! let sample = SampleRow::new(thread, event, EndReason::Root, Some(stack), layout);
//! profile.samples.push(sample);
//!
//! let walker = StackWalker::new(&profile);
//! let mut biases = BiasCache::new();
//! let mut seen = Vec::new();
//! for sample in &profile.samples {
//!     walker.walk(sample, &mut biases, |frame, address| {
//!         for it in frame_functions(&profile, frame, true) {
//!             let name = it.function.and_then(|row| row.function).expect("named above");
//!             seen.push((address.0, profile.strings.get(name)));
//!         }
//!     });
//! }
//! assert_eq!(seen, [(0x6760, b"main".as_slice())]);
//! ```

mod encoding;
mod id;
mod parts;
mod profile;
mod quality;
pub mod query;
mod reason;
mod stored;
mod tables;
mod thread_names;

pub use id::{
    ById, EdgeId, EventId, FrameId, Id, InlineId, LayoutId, LocationId, RowId, SampleId, StackId,
    StringId, ThreadId,
};
pub use parts::{split_copy, whole_function};
pub use profile::Profile;
pub use quality::{
    Advice, AppliedFilter, DUMP_SIZES, DumpAdvice, EventLoss, EventSpan, FindingRow, ModuleLoss,
    NamelessModule, NeedCounts, StackNeeds, Summary, ThreadState, ThreadWithoutSwitch,
};
pub use reason::{EndReason, FoundBy, WaitKind};
pub use stored::{STORED_VERSION, StoredError};
pub use tables::{
    BranchOutcome, BranchRow, BranchTable, EdgeRow, EventRow, FieldRows, FieldTable, FieldValue,
    FrameRow, InlineRow, LONGEST_IN_TABLE, LONGEST_REPEATED, LayoutRow, LocationAddress,
    LocationRow, ModuleBias, ModuleKind, ModuleRow, NoLabel, ProcessKey, RecordingInfo, SampleRow,
    SpanRow, SpanTable, StackRow, StringHasher, Strings, Table, ThreadRow, WallClock,
};
pub use thread_names::folded_thread_name;

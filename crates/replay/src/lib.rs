//! Replay of a recording: one sequential plan in time order, parallel pure walks,
//! repair of truncated chains, and one sequential merge in sample order.
//! Four chunks are in flight: one is planned, one is walked, older ones are repaired, and the repaired ones are merged.
//!
//! ```text
//!   plan    | c0 | c1 | c2 | ...          maps, forks, execs; which space each sample sees
//!   walk         | c0 | c1 | c2 | ...     parallel, slice by slice, each interned by itself
//!   repair            | w0  |  w1    a window of samples at a time: a repair needs later samples
//!   merge                   | w0 |   ids in order of first appearance; slices already have that order
//! ```
//!
//! Chunks, slices and windows have fixed sizes, so neither ids nor order depend on the number of threads.
//!
//! A [`Replayer`] takes the batches of a recording, and unwinds with the rules of an engine of the crate `unwinder`.
//!
//! # Modules
//! Each uses only those above it.
//!
//! | | |
//! |---|---|
//! | `join` | outer frames of truncated chains, taken from other samples of the thread |
//! | `tails` | frames that tail calls removed |
//! | `plan` | records in time order: the space of each sample, and threads |
//! | `variables` | values of functions' variables in the frames of a sample |
//! | `slice` | the walk of a slice of samples, and its tables |
//! | `repair` | windows of walked slices: truncated chains are joined, and tail calls are shown |
//! | `driver` | chunks pass through plan, walk, repair and merge |

mod branches;
mod driver;
mod join;
mod plan;
mod redactor;
mod repair;
mod slice;
mod tails;
mod values;
mod variables;

pub use driver::findings::STACKS_DROPPED;
pub use driver::history::HistoryCounts;
pub use driver::replayer::{
    FieldSelection, Join, LabelOptions, MissedMaps, NoObserver, Replay, ReplayObserver,
    ReplayOptions, ReplayTimings, Replayer, SpanOptions,
};
pub use driver::watch::{PartialReplay, Renewed};
pub use plan::apply::{apply as apply_record, learn_build_ids, learn_files};
pub use plan::filter::{RejectedSamples, ResolvedFilter, has_cgroups, has_cpus};
pub use plan::history::spans::SpanCounts;
pub use plan::off_cpu::{OffCpuSpan, OffCpuTimes, SampleKey, has_switches};
pub use plan::threads::Thread;
pub use plan::without_switches::ThreadWithoutSwitches;
pub use slice::related::SharedMemory;
pub use variables::{
    ListedFunction, NoProbe, ProbeArgument, ProbeError, ProbePlace, ProbePlaces, ProbeRequest,
    RequestedVariables, VariableError, VariableListing, find_probes, list_function,
};

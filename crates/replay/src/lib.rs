//! The replay of a recording: one sequential plan in time order, parallel pure walks, repair of the chains that the dump
//! cut off, one sequential merge in the order of the samples. The plan of the next chunk, the walk of the current one, the
//! repair of the last ones, and the merge of those that are repaired go on beside each other.
//!
//! ```text
//!   plan    | c0 | c1 | c2 | ...          maps, forks, execs; which space each sample sees
//!   walk         | c0 | c1 | c2 | ...     parallel, slice by slice, each interned by itself
//!   repair            | w0  |  w1    a window of samples at a time: what comes after a sample has to be known
//!   merge                   | w0 |   ids in order of first appearance, over what slices have in that order already
//! ```
//!
//! Chunks, slices and windows are of a fixed size, so that neither ids nor order depend on the number of threads.
//!
//! A [`Replayer`] is fed with the batches of a recording, and unwinds with the rules of an engine of the crate `unwinder`.
//!
//! # Rooms
//! Each uses only those above it.
//!
//! | | |
//! |---|---|
//! | `join` | outer frames of chains that the dump cut off, out of other samples of the thread |
//! | `tails` | frames that tail calls removed |
//! | `plan` | records in time order: the space of each sample, and threads |
//! | `slice` | the walk of a slice of samples, and its tables |
//! | `repair` | windows of walked slices: truncated chains are joined, and tail calls are shown |
//! | `driver` | chunks go through plan, walk, repair and merge |

mod driver;
mod join;
mod plan;
mod repair;
mod slice;
mod tails;

pub use driver::replayer::{
    Join, MissedMaps, Replay, ReplayObserver, ReplayOptions, ReplayTimings, Replayer, Unwatched,
};
pub use driver::watch::Partial;
pub use plan::apply::{apply as apply_record, learn_build_ids, learn_files};
pub use plan::filter::{Filter, LeftOut, has_cgroups, has_cpus, matches_pattern};
pub use plan::off_cpu::{OffCpuSpan, OffCpuTimes, SampleKey, has_switches};
pub use plan::threads::Thread;
pub use plan::unswitched::UnswitchedThread;
pub use slice::related::SharedMemory;

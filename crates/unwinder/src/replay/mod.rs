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

mod ahead;
mod apply;
mod chain;
mod chunk;
mod filter;
mod frame_key;
mod in_order;
mod intern;
mod kernel_frames;
mod lane;
mod layout;
mod lengthen;
mod merge;
mod met;
mod needs;
mod off_cpu;
mod plan;
mod position;
mod read_ahead;
mod recent;
mod recorded;
mod related;
mod repaired;
mod repairs;
mod replayer;
mod seen;
mod slice;
mod spaces;
mod threads;
mod unswitched;
mod watch;
mod window;

pub use apply::{apply, learn_build_ids, learn_files};
pub use filter::{Filter, LeftOut, has_cgroups, has_cpus, matches_pattern};
pub use off_cpu::{OffCpuSpan, OffCpuTimes, SampleKey, has_switches};
pub use related::SharedMemory;
pub use replayer::{
    Join, MissedMaps, Replay, ReplayObserver, ReplayOptions, ReplayTimings, Replayer, Unwatched,
};
pub use threads::Thread;
pub use unswitched::UnswitchedThread;
pub use watch::Partial;

//! The replay of a recording: one sequential plan in time order, parallel pure walks, one sequential merge in the
//! order of the samples. The plan of the next batch and the merge of the last one run beside the walk of the current
//! one.
//!
//! ```text
//!   plan    | b0 | b1 | b2 | ...          maps, forks, execs; which space each sample sees
//!   walk         | b0 | b1 | b2 | ...     parallel, each batch interned by itself
//!   merge             | b0 | b1 | ...     ids in order of first appearance
//! ```
//!
//! Batches are of a fixed size, so that neither ids nor order depend on the number of threads.

mod apply;
mod batch;
mod filter;
mod intern;
mod layout;
mod merge;
mod plan;
mod run;
mod watch;

pub use apply::{apply, learn_build_ids, learn_files};
pub use filter::Filter;
pub use plan::Thread;
pub use run::{Replay, ReplayObserver, ReplayOptions, ReplayTimings, Replayer, Unwatched};
pub use watch::Partial;

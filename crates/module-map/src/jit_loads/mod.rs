//! Code made at run time and described by a dump: no map record states when it was loaded, but the dump does.
//! Readers pass dumps as values; their loads wait here for their time.

mod dump;
mod names;
mod schedule;

pub use dump::{JitDump, JitLoad, JitReader};
pub(crate) use names::{is_injected, is_marker};
pub(crate) use schedule::{Pending, PendingLoad};

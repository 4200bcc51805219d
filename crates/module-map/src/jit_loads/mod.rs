//! Code that a process made while it ran, and that its dump describes: no map record states when it came to be, but the
//! dump does. Who reads dumps gives them as values; here they wait for their time.

mod dump;
mod names;
mod schedule;

pub use dump::{JitDump, JitLoad, JitReader};
pub(crate) use names::{is_injected, is_marker};
pub(crate) use schedule::{Pending, PendingLoad};

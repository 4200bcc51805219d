//! Worker processes, seen from the front: started on demand, terminated after a deadline, and restarted.

mod call;
mod process;
mod slot;

pub(crate) use call::{Incoming, WorkerCall};
pub use process::WorkerCommand;
pub(crate) use slot::WorkerSlot;

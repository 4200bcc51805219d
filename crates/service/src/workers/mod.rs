//! The worker processes, as the front sees them: started when they are needed, asked, watched, ended when they take too
//! long, and started again.

mod call;
mod process;
mod slot;

pub(crate) use call::{Call, Incoming};
pub use process::WorkerCommand;
pub(crate) use slot::Slot;

//! The state of a thread at one frame: its registers, and memory from the dump or from files.

mod context;
mod memory;
mod registers;
mod saved;

pub(crate) use context::{WalkContext, WalkMode};
pub(crate) use memory::{MemoryError, SampleMemory, WordForm};
pub(crate) use registers::{RegisterError, Registers};
pub use saved::Saved;

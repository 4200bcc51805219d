//! What is known of a thread at one frame: its registers, and the memory that was recorded or is in files.

mod context;
mod memory;
mod registers;
mod saved;

pub(crate) use context::{Mode, WalkContext};
pub(crate) use memory::{Memory, MemoryError, WordForm};
pub(crate) use registers::{RegisterError, Registers};
pub use saved::Saved;

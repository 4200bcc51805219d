//! The allocator of a program: what it keeps, how much it may have, and how much that should be.

mod counting;
mod freed;
mod parts;
mod usual;

pub(crate) use counting::hold_temporary;
pub use counting::{CountedBytes, CountingAllocator, allocated_bytes, limit_memory};
pub use freed::FreedMemory;
pub use parts::{MemoryPart, memory_is_for};
pub use usual::usual_memory_limit;

//! The allocator of a program: what it keeps, how much it may have, and how much that should be.

mod counting;
mod freed;
mod parts;
mod usual;

pub use counting::{CountingAllocator, allocated_bytes, hold_temporary, limit_memory};
pub use freed::FreedMemory;
pub use parts::{MemoryPart, memory_is_for};
pub use usual::usual_memory_limit;

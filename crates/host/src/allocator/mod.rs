//! The allocator of a program: freed memory, the memory limit, and the default limit.

mod counting;
mod freed;
mod parts;
mod usual;

pub use counting::{
    CountedBytes, CountingAllocator, MemoryWords, allocated_bytes, limit_memory, set_memory_words,
};
pub(crate) use counting::{clean_up_at_end, hold_temporary};
pub use freed::FreedMemory;
pub use parts::{MemoryPart, memory_is_for};
pub use usual::usual_memory_limit;

//! The allocator of a program: freed memory, the memory limit, and the default limit.

mod counting;
mod default_limit;
mod freed;
mod huge_pages;
mod memory_part;

pub use counting::{
    CountedBytes, CountingAllocator, MemoryWords, allocated_bytes, limit_memory,
    restore_before_end, set_memory_words,
};
pub(crate) use counting::{clean_up_at_end, hold_temporary, restore};
pub use default_limit::default_memory_limit;
pub use freed::{FreedMemory, return_freed_memory};
pub use memory_part::{MemoryPart, memory_is_for};

//! Chains that no rule continues: by code from the start of a function, past memory without a file, and from the beginning
//! of the thread inwards.

mod again;
mod anchor;
mod from_start;
mod memory;

pub(super) use memory::Beyond;

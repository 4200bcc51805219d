//! Registers, stack bytes and an address space become frames.

mod reason;

pub use reason::{EndReason, FoundBy};

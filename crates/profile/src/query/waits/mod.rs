//! Waits: their kinds, and the program's functions that caused them.

mod find;
mod fold;
mod names;
#[cfg(test)]
mod tests;

pub use fold::{FoldedFrames, FoldedWaits};

//! The interactive view of a profile on a terminal: functions, call trees, callers, source and instructions, with
//! filters as a stack and the keys of `perf report`.
//!
//! ```text
//!   Feed -> profiles -> Snapshot -> Query -> rows -> picture
//!   keys, signals ------------------^
//! ```
//!
//! [`run`] shows what a [`Feed`] sends: profiles, one after the other if the recording grows, and access to source and
//! [machine code](Code). The costs are those of the query engine of [`profile`]. This crate knows neither recordings
//! nor arguments.

mod app;
mod backend;
mod data;
mod feed;
mod help;
mod run;
mod terminal;
#[cfg(test)]
mod tests;
mod views;

pub use app::ViewOptions;
pub use feed::{Code, Feed, Input, Instruction, Update};
pub use run::run;
pub use terminal::restore_terminal;

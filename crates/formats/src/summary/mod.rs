//! The summary of a run for people.

mod dump_hint;
mod styles;
mod text;
mod threads_without_switch;

pub use styles::SummaryStyles;
pub use text::{write_styled_summary, write_summary};

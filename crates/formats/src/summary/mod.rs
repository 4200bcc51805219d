//! The summary of a run for people: short by default, or with all details.

mod dump_hint;
mod lines;
mod modules;
mod recorded;
mod short;
mod styles;
mod text;
mod threads_without_switch;
mod words;

pub(crate) use dump_hint::unwound_samples;
pub use modules::Packages;
pub use short::{ShortSummary, write_short_summary};
pub use styles::SummaryStyles;
pub use text::{write_styled_summary, write_summary};

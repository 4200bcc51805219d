//! The account of a run for people.

mod text;

pub use text::write_summary;

//! Printers for a difference of recordings. `docs/OUTPUT.md` describes the formats field by field.

mod folded;
mod format;
mod json;
mod labels;
mod notes;
mod page;
mod pprof;
mod scale;
mod stacks;
mod text;

pub use format::{DiffFormat, DiffGate, DiffPrintOptions};
pub use labels::{diff_function, diff_function_name};
pub use notes::diff_notes;
pub use page::print_diff_tables;

//! Call frame information: its location in a file, the description that covers an address, and the rule of its row.

#[cfg(test)]
mod agreement;
mod arm;
mod beginnings;
mod compile;
mod consistency;
mod entries;
mod fast;
mod fde;
mod fde_index;
mod function_ranges;
mod function_starts;
mod go;
mod long;
mod sections;
mod signed;
mod unwind_info;

pub use compile::CfiScratch;
pub(crate) use compile::{CompiledRow, RowKey, signal_row};
pub use function_starts::FunctionStarts;
pub(crate) use sections::FoundFde;
pub(crate) use unwind_info::UnwindInfo;
